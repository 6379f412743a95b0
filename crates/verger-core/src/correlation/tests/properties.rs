//! What holds in whatever order things happen.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::{Change, Correlation, Kind, Policy, Scope};
use super::World;
use super::world::{host, provider};
use crate::record::{from_row, to_row};
use crate::time::{Span, Timestamp};

const AGENTS: usize = 24;

#[derive(Clone, Debug)]
enum Deed {
    Join(usize, Option<usize>, Option<usize>),
    Bad(usize, Kind),
    Burst(usize, usize, Kind),
    Good(usize),
    Trouble(usize, Option<u64>),
    Served(usize),
    Gone(usize),
    Pass(u64),
    Thaw(usize),
    Freeze(usize, u64),
    Dismiss(usize),
    Restart,
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop::sample::select(Kind::ALL.to_vec())
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let agent = 0..AGENTS;
    let place = prop::option::of(0..3_usize);
    let deed = prop_oneof![
        2 => (agent.clone(), place.clone(), place).prop_map(|(a, h, p)| Deed::Join(a, h, p)),
        4 => (agent.clone(), kinds()).prop_map(|(a, k)| Deed::Bad(a, k)),
        2 => (agent.clone(), agent.clone(), kinds()).prop_map(|(a, b, k)| Deed::Burst(a, b, k)),
        3 => agent.clone().prop_map(Deed::Good),
        3 => (agent.clone(), prop::option::of(0..200_000_u64)).prop_map(|(a, s)| Deed::Trouble(a, s)),
        3 => agent.clone().prop_map(Deed::Served),
        1 => agent.prop_map(Deed::Gone),
        4 => prop_oneof![0..120_000_u64, 0..4_000_000_u64, 0..100_000_000_u64].prop_map(Deed::Pass),
        1 => (0..7_usize).prop_map(Deed::Thaw),
        1 => (0..7_usize, 0..100_000_u64).prop_map(|(s, secs)| Deed::Freeze(s, secs)),
        1 => (0..7_usize).prop_map(Deed::Dismiss),
        1 => Just(Deed::Restart),
    ];
    prop::collection::vec(deed, 0..120)
}

fn scope(number: usize) -> Scope {
    match number {
        0 => Scope::Fleet,
        1..=3 => Scope::Host(host(number - 1)),
        _ => Scope::Provider(provider(number - 4)),
    }
}

fn perform(world: &mut World, deed: &Deed) {
    match *deed {
        Deed::Join(agent, on, with) => world.join(agent, on, with),
        Deed::Bad(agent, kind) => world.bad([agent], kind),
        Deed::Burst(from, to, kind) => world.bad(from..to, kind),
        Deed::Good(agent) => world.good([agent]),
        Deed::Trouble(agent, secs) => world.trouble([agent], secs.map(Span::secs)),
        Deed::Served(agent) => world.served([agent]),
        Deed::Gone(agent) => world.on(agent, Correlation::on_gone),
        Deed::Pass(millis) => world.pass(Span::millis(millis)),
        Deed::Thaw(number) => drop(world.order(|machine, step| machine.thaw(step, &scope(number)))),
        Deed::Freeze(number, secs) => {
            world.order(|machine, step| machine.freeze(step, &scope(number), Span::secs(secs)));
        }
        Deed::Dismiss(number) => drop(world.order(|machine, step| machine.dismiss(step, &scope(number)))),
        Deed::Restart => world.restart(),
    }
}

/// The machine as if every scope had just been looked at: counters forget when they are, not before.
fn pruned(machine: &Correlation, now: Timestamp, policy: &Policy) -> Correlation {
    let mut machine = machine.clone();
    for scope in (0..7).map(scope) {
        let floor = machine.floor(now, &scope, policy);
        if let Some(tally) = machine.tally_mut(&scope) {
            tally.forget_before(floor);
        }
    }
    machine
}

/// What must be true between any two calls.
fn check(world: &mut World) {
    let machine = &world.machine;
    let due: BTreeSet<_> =
        machine.incidents.iter().map(|(scope, incident)| (incident.due(), scope.clone())).collect();
    assert_eq!(due, machine.agenda, "the agenda is the incidents'");
    let fleet_open = machine.incidents.contains_key(&Scope::Fleet);
    for (scope, incident) in &machine.incidents {
        let narrower = fleet_open && *scope != Scope::Fleet && incident.outage.is_none();
        assert!(!narrower, "{scope} beside the fleet's");
    }
    let mut recounted: Correlation = from_row(&to_row(machine)).expect("a row that was just written");
    for membership in &world.agents {
        recounted.recall(world.now, membership, &world.policy);
    }
    let here = pruned(machine, world.now, &world.policy);
    assert_eq!(here, pruned(&recounted, world.now, &world.policy), "the counters are the memberships'");

    let told = world.changes.len();
    let before = world.machine.clone();
    world.wake();
    assert_eq!((told, &before), (world.changes.len(), &world.machine), "nothing was due: waking is harmless");
    assert!(world.machine.deadline(world.now).is_none_or(|due| world.now < due));
}

/// Each incident is opened before anything else is said of it, and resolved once.
fn one_at_a_time(changes: &[Change], policy: &Policy) {
    let mut open = BTreeSet::new();
    for change in changes {
        match change {
            Change::Opened { scope, affected, of, .. } => {
                assert!(open.insert(scope.clone()), "{scope} was open");
                assert!(policy.affected_min.min(policy.outage_min) <= *affected && affected <= of);
            }
            Change::Resolved { scope, lasted, .. } => {
                assert!(open.remove(scope), "{scope} was not open");
                assert!(*lasted <= policy.lasts_max);
            }
            Change::Widened { scope, .. }
            | Change::StillFrozen { scope, .. }
            | Change::Frozen { scope, .. }
            | Change::Thawed { scope, .. } => assert!(open.contains(scope)),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn x02_counters_agenda_and_incidents_agree_whatever_happens(deeds in deeds()) {
        let mut world = World::of(AGENTS, 3, 3);
        for deed in &deeds {
            perform(&mut world, deed);
            check(&mut world);
        }
        one_at_a_time(&world.changes, &world.policy);
    }

    #[test]
    fn x02_a_freeze_always_ends(deeds in deeds()) {
        let mut world = World::of(AGENTS, 3, 3);
        for deed in &deeds {
            perform(&mut world, deed);
        }
        world.pass(world.policy.freeze_max);
        prop_assert!((0..AGENTS).all(|agent| !world.frozen(agent)), "no freeze outlasts its limit");
        world.pass(world.policy.lasts_max);
        prop_assert_eq!(world.open(), Vec::<Scope>::new(), "no incident outlasts its limit");
        prop_assert_eq!(world.machine.deadline(world.now), None);
    }

    #[test]
    fn x02_a_restart_at_any_point_changes_nothing(deeds in deeds(), at in 0..120_usize) {
        let (mut steady, mut restarted) = (World::of(AGENTS, 3, 3), World::of(AGENTS, 3, 3));
        for (number, deed) in deeds.iter().enumerate() {
            if number == at {
                restarted.restart();
            }
            perform(&mut steady, deed);
            perform(&mut restarted, deed);
        }
        prop_assert_eq!(&steady.changes, &restarted.changes);
        prop_assert_eq!(steady.agents, restarted.agents);
    }

    #[test]
    fn x02_independent_single_failures_over_weeks_open_nothing(
        failures in prop::collection::vec((0..AGENTS, 480_u64..40_000, kinds(), any::<bool>()), 0..300),
    ) {
        // At most two turn bad within any quarter of an hour; some never get well.
        let mut world = World::of(AGENTS, 3, 3);
        for (agent, secs, kind, recovers) in failures {
            world.bad([agent], kind);
            world.pass(Span::secs(secs));
            if recovers {
                world.good([agent]);
            }
        }
        prop_assert_eq!(world.log(), "");
    }

    #[test]
    fn x02_half_of_any_fleet_failing_together_is_one_incident_and_no_termination(
        size in 6..120_usize, hosts in 1..6_usize, providers in 1..4_usize, seed in any::<u64>(),
        kind in prop::sample::select(vec![Kind::Silent, Kind::Stuck, Kind::Failing, Kind::Died]),
    ) {
        let mut world = World::of(size, hosts, providers);
        let mut order: Vec<_> = (0..size).collect();
        order.sort_by_key(|agent| (*agent as u64 + 1).wrapping_mul(seed | 1));
        world.bad(order.into_iter().take(size.div_ceil(2)), kind);
        prop_assert_eq!(world.open(), [Scope::Fleet]);
        for agent in 0..size {
            let membership = &world.agents[agent];
            prop_assert!(world.machine.may_stop(world.now, membership, &world.policy).is_err());
            prop_assert!(world.machine.covering(membership, kind).is_some());
        }
    }

    #[test]
    fn a_damaged_row_is_refused_or_read_and_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(machine) = from_row::<Correlation>(&bytes) {
            let mut world = World::empty();
            world.machine = machine;
            world.pass(Span::hours(1));
            world.now = Timestamp::NEVER;
            world.wake();
        }
    }
}
