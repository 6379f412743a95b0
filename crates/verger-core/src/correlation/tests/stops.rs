//! Terminations under way.

use super::super::Held;
use super::World;
use crate::id::AgentId;
use crate::time::Span;

fn stops(world: &mut World, max: usize) -> usize {
    (0..max)
        .take_while(|agent| {
            let allowed = world.machine.may_stop(world.now, &world.agents[0], &world.policy).is_ok();
            if allowed {
                world.machine.on_stopping(world.now, &AgentId::from(format!("a{agent}")), &world.policy);
            }
            allowed
        })
        .count()
}

#[test]
fn x02_the_number_of_terminations_at_once_follows_the_fleet_and_is_bounded() {
    for (fleet, allowed) in [(1, 1), (10, 1), (19, 1), (20, 2), (50, 5), (1_000, 5)] {
        let mut world = World::of(fleet, 1, 1);
        assert_eq!(stops(&mut world, 100), allowed, "in a fleet of {fleet}");
    }
}

#[test]
fn x02_a_place_is_free_when_a_termination_ends_or_is_not_heard_of() {
    let mut world = World::of(20, 1, 1);
    assert_eq!(stops(&mut world, 2), 2);
    let held = world.machine.may_stop(world.now, &world.agents[0], &world.policy).expect_err("full");
    assert_eq!(held, Held::Busy { allowed: 2, until: world.now + Span::minutes(10) });
    world.machine.on_stopped(&"a0".into());
    assert_eq!(stops(&mut world, 1), 1);
    world.restart();
    assert_eq!(stops(&mut world, 1), 0, "a restart frees nothing");
    world.pass(Span::minutes(10));
    assert_eq!(stops(&mut world, 5), 2, "nothing latches");
}

#[test]
fn x02_a_limit_of_no_terminations_does_not_spin() {
    let mut world = World::of(20, 1, 1);
    world.policy.stops_max = 0;
    let held = world.machine.may_stop(world.now, &world.agents[0], &world.policy).expect_err("none");
    assert!(world.now < held.until());
}

#[test]
fn x02_terminations_of_which_no_end_was_heard_are_not_remembered_for_ever() {
    let mut world = World::of(20, 1, 1);
    for agent in 0..3_000 {
        world.machine.on_stopping(world.now, &AgentId::from(format!("a{agent}")), &world.policy);
        world.pass(Span::secs(10));
    }
    assert_eq!(world.machine.stops.under_way.len(), 60, "one in 10 s, for 10 min");
    for agent in 3_000..6_000 {
        world.machine.on_stopping(world.now, &AgentId::from(format!("a{agent}")), &world.policy);
    }
    assert_eq!(world.machine.stops.under_way.len(), 1_024, "nor without limit");
}
