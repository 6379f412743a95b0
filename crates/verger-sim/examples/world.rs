//! Prints what a week of a hundred simulated agents is made of, without a monitor: the base rates of a world.
//!
//! `cargo run --release -p verger-sim --example world`

#![expect(clippy::print_stdout, reason = "people read it")]

use std::collections::BTreeMap;
use std::mem;

use verger_core::signal::Body;
use verger_sim::world::{Connection, Delivery, FaultKind, SimTime, World, WorldOptions};

const DAYS: u64 = 7;
const DAY: u64 = 24 * 3_600_000;
const END: SimTime = SimTime(DAYS * DAY);

fn main() {
    let mut world = World::new(&WorldOptions { seed: 1, agents: 100, days: DAYS as f64, faults: true });
    let (mut out, mut pongs) = (Vec::new(), 0_u64);
    let mut signals: BTreeMap<String, u64> = BTreeMap::new();
    let mut kinds = Vec::new();
    while let Some(now) = world.next().filter(|next| *next <= END) {
        world.advance(now, &mut out);
        for delivery in out.drain(..) {
            let Delivery::Signal(signal) = delivery else { continue };
            *signals.entry(signal.agent.as_str().to_owned()).or_default() += 1;
            pongs += u64::from(matches!(signal.content.body, Body::Pong { .. }));
            count(&mut kinds, &signal.content.body);
        }
    }
    println!("{} signals, {pongs} of them pongs", signals.values().sum::<u64>());
    println!("{} kinds of signal", kinds.len());
    print_connections(&world, &signals);
    print_faults(&world);
    print_conditions(&world);
}

fn count(kinds: &mut Vec<mem::Discriminant<Body>>, body: &Body) {
    let kind = mem::discriminant(body);
    if !kinds.contains(&kind) {
        kinds.push(kind);
    }
}

fn print_connections(world: &World, signals: &BTreeMap<String, u64>) {
    let mut connections: BTreeMap<Connection, (u64, u64)> = BTreeMap::new();
    for agent in world.truth().agents() {
        let (agents, sent) = connections.entry(agent.connection).or_default();
        *agents += 1;
        *sent += signals.get(agent.id.as_str()).copied().unwrap_or_default();
    }
    for (connection, (agents, sent)) in connections {
        println!("{connection:?}: {agents} agents, {} signals per agent-day", sent / agents / DAYS);
    }
}

fn print_faults(world: &World) {
    let mut injected: BTreeMap<FaultKind, u32> = BTreeMap::new();
    for injection in world.truth().injected() {
        *injected.entry(injection.kind).or_default() += 1;
    }
    for (kind, count) in injected {
        println!("{count:>6} {kind}");
    }
}

fn print_conditions(world: &World) {
    let mut spent: BTreeMap<String, u64> = BTreeMap::new();
    for agent in world.truth().agents() {
        let changes = world.truth().changes(&agent.id);
        let ends = changes.iter().skip(1).map(|(at, _)| *at).chain([END]);
        for ((at, condition), end) in changes.iter().zip(ends) {
            *spent.entry(condition.to_string()).or_default() += end.since(*at);
        }
    }
    let whole = (world.truth().agents().len() as u64 * END.0) as f64 / 100.0;
    for (condition, spent) in spent {
        println!("{:6.2} % {condition}", spent as f64 / whole);
    }
    println!("{:6.2} % healthy", world.truth().healthy_time(END) as f64 / whole);
}
