//! How fast one core judges, and what an agent costs, from a thousand agents to a million.
//!
//! `cargo run --release -p verger-core --example throughput [AGENTS…]` prints one line for each fleet size. Agents
//! only beat, every five minutes of virtual time, as 000 has it; memory is what the process grew by.
#![expect(clippy::print_stdout, reason = "it is a program that prints")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "it measures real time; the core does not"
)]

use std::time::Instant;

use verger_core::policy::Policies;
use verger_core::signal::{Body, Content, Heartbeat, Signal, Trust};
use verger_core::time::WallTime;
use verger_core::{AgentId, Collector, Fleet, Handle, Span, Timestamp};

const ROUNDS: u64 = 3;

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1_000, 10_000, 100_000, 1_000_000] } else { sizes };
    println!(
        "{:>9}  {:>12}  {:>12}  {:>11}  {:>9}  {:>9}  {:>9}",
        "agents", "by handle/s", "by id/s", "bytes/agent", "tick avg", "tick p99", "tick max"
    );
    for size in sizes {
        measure(size);
    }
}

fn measure(agents: usize) {
    let before = resident_bytes();
    let mut fleet = Fleet::new(Policies::default(), 1);
    let mut out = Collector::default();
    let ids: Vec<AgentId> = (0..agents).map(|n| AgentId::from(format!("agent-{n:07}"))).collect();
    let ids_cost = resident_bytes().saturating_sub(before);
    let handles: Vec<Handle> = ids.iter().map(|id| beat(&mut fleet, Timestamp::ZERO, id, &mut out)).collect();
    out = Collector::default();
    // The names are shared with the table, so they count as the agents' own.
    let handles_cost = agents * size_of::<Handle>() + agents * size_of::<AgentId>();
    let bytes = (resident_bytes().saturating_sub(before)).saturating_sub(handles_cost) / agents;
    let _ = ids_cost;

    let mut now = Timestamp::ZERO;
    let by_handle = rate(agents, || {
        now += Span::minutes(5);
        for handle in &handles {
            fleet.observe_at(now, *handle, &content(), &mut out).expect("it is registered");
        }
        out.events.clear();
    });
    let order = shuffled(agents);
    let by_id = rate(agents, || {
        now += Span::minutes(5);
        for at in &order {
            beat(&mut fleet, now, &ids[*at], &mut out);
        }
        out.events.clear();
    });
    let (average, p99, max) = ticks(&mut fleet, &handles, now);
    println!(
        "{agents:>9}  {by_handle:>12.0}  {by_id:>12.0}  {bytes:>11}  {average:>7.1}us  {p99:>7.1}us  {max:>7.1}us"
    );
}

/// Five minutes of beats spread evenly, with a tick every 100 ms; what a tick alone costs, in microseconds.
fn ticks(fleet: &mut Fleet, handles: &[Handle], start: Timestamp) -> (f64, f64, f64) {
    let mut out = Collector::default();
    let mut spent = Vec::new();
    let ticks = 2 * 3_000;
    for tick in 0..ticks {
        let now = start + Span::millis(100 * (tick + 1));
        let share = handles.len() as u64;
        let from = (tick % 3_000) * share / 3_000;
        let to = (tick % 3_000 + 1) * share / 3_000;
        for handle in &handles[from as usize..to as usize] {
            fleet.observe_at(now, *handle, &content(), &mut out).expect("it is registered");
        }
        let begun = Instant::now();
        fleet.wake(now, &mut out);
        spent.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    spent.sort_unstable_by(f64::total_cmp);
    let average = spent.iter().sum::<f64>() / spent.len() as f64;
    (average, spent[spent.len() * 99 / 100], spent[spent.len() - 1])
}

fn rate(agents: usize, mut round: impl FnMut()) -> f64 {
    let begun = Instant::now();
    let rounds = ROUNDS.max(1_000_000 / agents as u64);
    (0..rounds).for_each(|_| round());
    (rounds * agents as u64) as f64 / begun.elapsed().as_secs_f64()
}

fn beat(fleet: &mut Fleet, now: Timestamp, id: &AgentId, out: &mut Collector) -> Handle {
    let signal = Signal { agent: id.clone(), content: content() };
    fleet.observe(now, &signal, out).expect("a first life is never refused")
}

fn content() -> Content {
    Content {
        incarnation: None,
        sent_at: None,
        received_at: WallTime(0),
        trust: Trust::Verified,
        body: Body::Heartbeat(Heartbeat::default()),
    }
}

/// A fixed order in which neighbours are far apart.
fn shuffled(agents: usize) -> Vec<usize> {
    (0..agents).map(|n| n.wrapping_mul(7_919_999) % agents).collect()
}

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4_096
}
