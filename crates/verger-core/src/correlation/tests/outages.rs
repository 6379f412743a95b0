//! Providers: an outage is not a stuck agent.

use insta::assert_snapshot;

use super::super::{Kind, Scope};
use super::World;
use super::world::provider;
use crate::time::Span;

#[test]
fn x02_three_reports_are_the_providers_outage_with_its_reset_time() {
    let mut world = World::of(20, 1, 2);
    world.trouble([0], Some(Span::minutes(20)));
    world.trouble([2], Some(Span::minutes(40)));
    assert_eq!(world.machine.outage(&provider(0)), None, "two agents may share a key");
    world.trouble([4], None);
    let outage = world.machine.outage(&provider(0)).expect("an outage");
    assert_eq!(outage.reset_at, Some(world.now + Span::minutes(40)));
    assert!(world.frozen(6), "shared by all who use it");
    assert!(!world.frozen(7), "and by nobody else");
    assert_snapshot!(world.log(), @"1h open provider p0: 3 of 10 refused by the provider since 1h");
}

#[test]
fn x02_an_outage_of_everybodys_provider_is_not_the_fleets() {
    let mut world = World::of(100, 1, 1);
    world.trouble(0..100, None);
    world.bad(0..40, Kind::Stuck);
    world.bad(40..60, Kind::Failing);
    assert_eq!(world.open(), [Scope::Provider(provider(0))], "what the outage explains counts for it");
    world.bad(60..100, Kind::Died);
    world.bad(0..10, Kind::Died);
    assert_eq!(
        world.open(),
        [Scope::Fleet, Scope::Provider(provider(0))],
        "but no provider ends processes: that is another condition"
    );
}

#[test]
fn x02_an_outage_is_over_when_the_provider_serves_again() {
    let mut world = World::of(20, 1, 1);
    world.trouble(0..20, Some(Span::hours(2)));
    world.log();
    world.pass(Span::minutes(30));
    world.served([0, 1]);
    world.trouble([5], None);
    world.served([0, 1]);
    world.pass(Span::minutes(20));
    assert_eq!(world.log(), "", "served twice since the last report: that may be luck");
    world.served([0]);
    world.pass(Span::minutes(2));
    assert_snapshot!(world.log(), @"1h52m resolved provider p0 after 52m: served again");
    world.trouble([5, 6], None);
    assert_eq!(world.log(), "", "another outage needs other reports");
    assert_eq!(world.machine.reset_of(&provider(0)), None, "and the old reset time is void");
}

#[test]
fn x02_an_outage_is_over_when_its_users_are() {
    let mut world = World::of(10, 1, 1);
    world.trouble(0..5, None);
    world.log();
    world.good(0..3);
    world.pass(Span::minutes(10));
    assert_eq!(world.log(), "", "two of three that would open it are not few");
    world.good([3]);
    world.pass(Span::minutes(10));
    assert_snapshot!(world.log(), @"1h12m resolved provider p0 after 12m: recovered");
}

#[test]
fn x02_an_outage_that_nobody_reports_any_more_is_over() {
    let mut world = World::of(10, 1, 1);
    world.trouble(0..5, Some(Span::hours(100)));
    world.log();
    world.pass(Span::hours(6) + Span::minutes(30));
    let log = world.log();
    assert_eq!(log.lines().last(), Some("7h30m resolved provider p0 after 6h30m: quiet"), "{log}");
}

#[test]
fn x02_rate_limits_of_a_few_among_many_are_no_outage() {
    let mut world = World::of(1_000, 10, 1);
    world.trouble(0..99, None);
    assert_eq!(world.log(), "");
    world.trouble([99], None);
    assert_eq!(world.open(), [Scope::Provider(provider(0))]);
}

#[test]
fn x02_users_of_one_provider_that_hang_together_are_its_incident() {
    let mut world = World::of(100, 10, 5);
    world.bad((0..100).step_by(5), Kind::Stuck);
    assert_snapshot!(world.log(), @r"
    1h open provider p0: 10 of 20 stuck since 1h
    1h wider provider p0: 20 of 20 stuck
    ");
    world.trouble((0..15).step_by(5), None);
    assert_snapshot!(world.log(), @"1h wider provider p0: 20 of 20 refused by the provider");
    assert!(world.machine.outage(&provider(0)).is_some(), "it turned out to be an outage");
}

#[test]
fn x02_a_host_that_fails_is_not_its_providers_incident() {
    // Everybody on the first of five hosts uses a provider that nobody else uses.
    let mut world = World::of(50, 5, 1);
    for agent in 0..10 {
        world.join(agent, Some(0), Some(1));
    }
    world.bad(0..10, Kind::Died);
    assert_eq!(world.open(), [Scope::Host("h0".into())]);
}

#[test]
fn x02_a_death_during_an_outage_is_news() {
    let mut world = World::of(10, 1, 1);
    world.trouble(0..10, None);
    let covering = |world: &World, kind| world.machine.covering(&world.agents[0], kind);
    assert_eq!(covering(&world, Kind::Stuck), Some(Scope::Provider(provider(0))));
    assert_eq!(covering(&world, Kind::Died), None, "people are told of it");
}
