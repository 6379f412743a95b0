//! Whole worlds, driven without a monitor or with a simple one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use verger_core::signal::Body;

use super::time::{DAY, HOUR};
use super::*;

fn options(seed: u64, agents: u32, days: f64, faults: bool) -> WorldOptions {
    WorldOptions { seed, agents, days, faults }
}

/// Runs a world to its end and hands every delivery over with its time.
fn run(world: &mut World, until: SimTime, mut see: impl FnMut(SimTime, &Delivery)) {
    let mut out = Vec::new();
    while let Some(now) = world.next().filter(|next| *next <= until) {
        world.advance(now, &mut out);
        for delivery in out.drain(..) {
            see(now, &delivery);
        }
    }
}

fn kind_of(body: &Body) -> &'static str {
    match body {
        Body::Heartbeat(_) => "heartbeat",
        Body::Activity => "activity",
        Body::ToolStarted { .. } => "tool started",
        Body::ToolFinished { .. } => "tool finished",
        Body::Message { .. } => "message",
        Body::ModelStarted => "model started",
        Body::ModelFinished => "model finished",
        Body::SubagentStarted { .. } => "subagent started",
        Body::SubagentFinished { .. } => "subagent finished",
        Body::Compaction => "compaction",
        Body::Tokens { .. } => "tokens",
        Body::Output(_) => "output",
        Body::Error(_) => "error",
        Body::Status(_) => "status",
        Body::Handoff { .. } => "handoff",
        Body::Blocker { .. } => "blocker",
        Body::Pong { .. } => "pong",
        Body::Spawn(_) => "spawn",
        Body::Exit(_) => "exit",
        Body::Checkpoint { .. } => "checkpoint",
        Body::Task(_) => "task",
        Body::Channel(_) => "channel",
        Body::Outcome { .. } => "outcome",
    }
}

#[test]
#[ignore = "prints what a week of a hundred agents looks like; run it in release mode"]
fn a_week_of_a_hundred_agents() {
    let begun = std::time::Instant::now();
    let mut world = World::new(&options(1, 100, 7.0, true));
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    let mut per_agent: BTreeMap<String, u64> = BTreeMap::new();
    run(&mut world, SimTime(7 * DAY), |_, delivery| {
        if let Delivery::Signal(signal) = delivery {
            *kinds.entry(kind_of(&signal.content.body)).or_default() += 1;
            *per_agent.entry(signal.agent.as_str().to_owned()).or_default() += 1;
        }
    });
    println!("took {:?}, signals {}", begun.elapsed(), kinds.values().sum::<u64>());
    println!("{kinds:#?}");
    let mut by_connection: BTreeMap<Connection, (u64, u64)> = BTreeMap::new();
    for agent in world.truth().agents() {
        let entry = by_connection.entry(agent.connection).or_default();
        entry.0 += 1;
        entry.1 += per_agent[agent.id.as_str()];
    }
    for (connection, (agents, signals)) in by_connection {
        println!("{connection:?}: {agents} agents, {} signals per agent-day", signals / agents / 7);
    }
    let mut injected: BTreeMap<FaultKind, u32> = BTreeMap::new();
    for injection in world.truth().injected() {
        *injected.entry(injection.kind).or_default() += 1;
    }
    println!("{injected:#?}");
    let mut time: BTreeMap<String, u64> = BTreeMap::new();
    for agent in world.truth().agents() {
        let changes = world.truth().changes(&agent.id);
        let ends = changes.iter().skip(1).map(|(at, _)| *at).chain([SimTime(7 * DAY)]);
        for ((at, condition), end) in changes.iter().zip(ends) {
            *time.entry(condition.to_string()).or_default() += end.since(*at);
        }
    }
    for (condition, spent) in time {
        println!("{:6.2} % {condition}", spent as f64 / (7.0 * DAY as f64));
    }
    println!("healthy {:.1} %", world.truth().healthy_time(SimTime(7 * DAY)) as f64 / (7.0 * DAY as f64));
}

#[test]
fn one_seed_gives_identical_deliveries() {
    let log = |seed| {
        let mut world = World::new(&options(seed, 20, 0.5, true));
        let mut log = String::new();
        run(&mut world, SimTime(12 * HOUR), |now, delivery| {
            writeln!(log, "{now:?} {delivery:?}").unwrap();
        });
        log
    };
    assert_eq!(log(5), log(5));
    assert_ne!(log(5), log(6));
}
