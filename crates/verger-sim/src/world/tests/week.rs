//! What a week of a hundred agents looks like, printed for people.

use std::collections::BTreeMap;

use verger_core::effect::{Action, Effect, EffectKey};
use verger_core::id::Incarnation;

use super::{kind_of, run, world};
use crate::world::time::DAY;
use crate::world::{Connection, FaultKind, SimTime};

#[test]
#[ignore = "prints figures for people; run it in release mode with --nocapture"]
fn a_week_of_a_hundred_agents() {
    let begun = std::time::Instant::now();
    let mut world = world(1, 100, 7.0, true);
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    let mut per_agent: BTreeMap<String, u64> = BTreeMap::new();
    run(&mut world, SimTime(7 * DAY), |_, signal| {
        *kinds.entry(kind_of(&signal.content.body)).or_default() += 1;
        *per_agent.entry(signal.agent.as_str().to_owned()).or_default() += 1;
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
    let mut spent: BTreeMap<String, u64> = BTreeMap::new();
    for agent in world.truth().agents() {
        let changes = world.truth().changes(&agent.id);
        let ends = changes.iter().skip(1).map(|(at, _)| *at).chain([SimTime(7 * DAY)]);
        for ((at, condition), end) in changes.iter().zip(ends) {
            *spent.entry(condition.to_string()).or_default() += end.since(*at);
        }
    }
    for (condition, spent) in spent {
        println!("{:6.2} % {condition}", spent as f64 / (7.0 * DAY as f64));
    }
    ping_for_a_week();
    println!("healthy {:.1} %", world.truth().healthy_time(SimTime(7 * DAY)) as f64 / (7.0 * DAY as f64));
}

/// Pings every wrapped agent every two seconds, as a monitor does with silent ones.
fn ping_for_a_week() {
    let begun = std::time::Instant::now();
    let mut world = world(1, 100, 7.0, true);
    let wrapped: Vec<_> = world
        .truth()
        .agents()
        .iter()
        .filter(|it| it.connection == Connection::Wrapped)
        .map(|it| it.id.clone())
        .collect();
    let (mut out, mut arrived) = (Vec::new(), 0);
    for second in (2..7 * DAY / 1_000).step_by(2) {
        let now = SimTime(second * 1_000);
        world.advance(now, &mut out);
        arrived += out.len();
        out.clear();
        for agent in &wrapped {
            let incarnation = world.truth().present_incarnation(agent, now).unwrap_or(Incarnation::FIRST);
            let key = EffectKey { agent: agent.clone(), incarnation, seq: second as u32 };
            world.carry_out(now, &Effect { key, action: Action::Ping });
        }
    }
    println!("with pings: took {:?}, deliveries {arrived}", begun.elapsed());
}
