//! The truth agrees with itself and with what is to be seen.

use std::collections::{BTreeMap, BTreeSet};

use verger_core::fingerprint::{CallPrint, ResultPrint};
use verger_core::id::AgentId;
use verger_core::signal::Body;

use super::{run, world};
use crate::world::time::{DAY, HOUR, MINUTE};
use crate::world::{Condition, Delivery, FaultKind, Injection, SimTime, Truth};

#[test]
fn a_fault_shows_in_the_condition_for_as_long_as_it_lasts_and_no_longer() {
    for seed in 0..6 {
        let mut world = world(seed, 40, 2.0, true);
        run(&mut world, SimTime(2 * DAY), |_, _| {});
        assert_consistent(world.truth());
    }
}

/// No faulty condition without its fault, and no fault that disables without its condition.
pub(super) fn assert_consistent(truth: &Truth) {
    for agent in truth.agents() {
        for (at, condition) in truth.changes(&agent.id) {
            if let Condition::Faulty(kind) = condition {
                assert!(
                    truth.active_at(&agent.id, *at).any(|injection| injection.kind == *kind),
                    "{agent:?} {at}"
                );
            }
        }
    }
    for injection in truth.injected().iter().filter(|injection| injection.kind.disables()) {
        let faulty = Condition::Faulty(injection.kind);
        assert_eq!(truth.condition_at(&injection.agent, injection.began), faulty, "{injection:?}");
        if let Some(ended) = injection.ended {
            assert_eq!(truth.condition_at(&injection.agent, ended - 1), faulty, "{injection:?}");
            assert_ne!(truth.condition_at(&injection.agent, ended), faulty, "{injection:?}");
        }
    }
}

#[test]
fn every_condition_occurs_and_most_of_the_time_all_is_well() {
    let mut world = world(12, 100, 4.0, true);
    run(&mut world, SimTime(4 * DAY), |_, _| {});
    let truth = world.truth();
    let seen: BTreeSet<Condition> = truth
        .agents()
        .iter()
        .flat_map(|agent| truth.changes(&agent.id))
        .map(|(_, condition)| *condition)
        .collect();
    assert_eq!(seen.len(), 12 + FaultKind::OF_AGENTS.len() + 1, "{seen:?}");
    let injected: BTreeSet<FaultKind> = truth.injected().iter().map(|injection| injection.kind).collect();
    assert_eq!(injected.len(), FaultKind::ALL.len() - 1, "all but those of effects: {injected:?}");
    let healthy = truth.healthy_time(SimTime(4 * DAY)) as f64 / (400.0 * DAY as f64);
    assert!((0.8..0.98).contains(&healthy), "{healthy}");
}

#[test]
fn in_a_world_without_faults_nothing_goes_wrong() {
    let mut world = world(13, 40, 3.0, false);
    run(&mut world, SimTime(3 * DAY), |_, _| {});
    let truth = world.truth();
    assert!(truth.injected().is_empty());
    for agent in truth.agents() {
        assert!(truth.changes(&agent.id).iter().all(|(_, condition)| condition.fault().is_none()));
    }
}

#[test]
fn agents_work_two_fifths_of_the_day() {
    let mut world = world(14, 60, 5.0, false);
    run(&mut world, SimTime(5 * DAY), |_, _| {});
    let truth = world.truth();
    let samples = (1..5 * 24 * 4).map(|quarter| SimTime(quarter * 15 * MINUTE));
    let (mut at_work, mut all) = (0_u32, 0_u32);
    for at in samples {
        for agent in truth.agents() {
            let condition = truth.condition_at(&agent.id, at);
            at_work += u32::from(condition.is_at_work() && condition != Condition::WaitingPerson);
            all += 1;
        }
    }
    let share = f64::from(at_work) / f64::from(all);
    assert!((0.3..0.5).contains(&share), "{share}");
}

/// What was seen of one agent while a fault of it lasted.
#[derive(Default)]
struct Seen {
    calls: BTreeMap<CallPrint, u32>,
    results: Vec<ResultPrint>,
    count: u32,
    tokens: Vec<u64>,
    full: u32,
}

#[test]
fn every_fault_of_an_agent_shows_in_its_signals() {
    let mut world = world(15, 80, 3.0, true);
    let mut seen: BTreeMap<u32, Seen> = BTreeMap::new();
    let mut faults: BTreeMap<AgentId, Vec<u32>> = BTreeMap::new();
    let (mut known, mut out) = (0, Vec::new());
    while let Some(now) = world.next().filter(|next| *next <= SimTime(3 * DAY)) {
        world.advance(now, &mut out);
        for injection in world
            .truth()
            .injected()
            .iter()
            .skip(std::mem::replace(&mut known, world.truth().injected().len()))
        {
            faults.entry(injection.agent.clone()).or_default().push(injection.id);
        }
        for delivery in out.drain(..) {
            let Delivery::Signal(signal) = delivery else { continue };
            for id in faults.get(&signal.agent).into_iter().flatten() {
                let injection = &world.truth().injected()[*id as usize];
                // Late signals of before blur the first minute.
                if injection.is_active_at(now) && now.since(injection.began) > MINUTE {
                    see(seen.entry(*id).or_default(), &signal.content.body);
                }
            }
        }
    }
    let truth = world.truth();
    for injection in truth.injected().iter().filter(|injection| injection.kind.is_agent_fault()) {
        if lasted(injection) > 3 * HOUR && !was_cut_off(truth, injection) {
            let seen = seen.remove(&injection.id).unwrap_or_default();
            assert!(shows(injection.kind, &seen), "{injection:?}: {} signals", seen.count);
        }
    }
}

fn lasted(injection: &Injection) -> u64 {
    injection.ended.unwrap_or(SimTime(3 * DAY)).since(injection.began)
}

fn was_cut_off(truth: &Truth, injection: &Injection) -> bool {
    let of_world = |other: &&Injection| other.agent == injection.agent && other.kind == FaultKind::Partition;
    truth
        .injected()
        .iter()
        .filter(of_world)
        .any(|other| injection.is_active_at(other.began) || other.is_active_at(injection.began))
}

fn see(seen: &mut Seen, body: &Body) {
    seen.count += u32::from(!matches!(body, Body::Channel(_)));
    match body {
        Body::ToolFinished { print, result, .. } => {
            *seen.calls.entry(*print).or_default() += 1;
            seen.results.push(*result);
        }
        Body::Heartbeat(heartbeat) => {
            seen.tokens.extend(heartbeat.tokens);
            seen.full += u32::from(heartbeat.context.is_some_and(|context| context.used == context.limit));
        }
        Body::Tokens { input, .. } => seen.tokens.push(*input),
        _ => {}
    }
}

fn shows(kind: FaultKind, seen: &Seen) -> bool {
    let most = seen.calls.values().max().copied().unwrap_or(0);
    match kind {
        FaultKind::Freeze | FaultKind::Crash => seen.count == 0,
        FaultKind::ExactLoop => seen.calls.len() == 1 && most > 20,
        FaultKind::Alternation => seen.calls.len() == 2 && most > 10,
        // An edit that is applied again is one call with many results, a search in other words the reverse.
        FaultKind::NearLoop => seen.results.len() > 10,
        FaultKind::ErrorLoop => seen.results.iter().all(|result| result.failed) && seen.count > 10,
        FaultKind::TokenRunaway => seen.tokens.len() > 5,
        FaultKind::ContextExhaustion => seen.full > 5,
        _ => true,
    }
}
