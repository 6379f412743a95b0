//! What a breaker's decision costs, and what a breaker takes up.
//!
//! `cargo run --release -p verger-core --example breakers [BREAKERS…]` prints one line for each number of breakers. A
//! decision is a call that asks, passes and reports; by name it is looked up for both. Memory is what the process
//! grew by, names and look-up included.
#![expect(clippy::print_stdout, reason = "it is a program that prints")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "it measures real time; the core does not"
)]

use std::time::Instant;

use verger_core::breaker::{
    Bounds, Breaker, BreakerName, Breakers, CallResult, Kind, Outcome, Policies, Policy,
};
use verger_core::{AgentId, Span, Timestamp};

const DECISIONS: usize = 4_000_000;

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1_000, 100_000] } else { sizes };
    println!(
        "{:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>12}  {:>14}",
        "breakers", "alone", "by handle", "by name", "refused", "bytes itself", "bytes with all"
    );
    for size in sizes {
        measure(size);
    }
}

fn measure(size: usize) {
    let before = resident_bytes();
    let bounds = Bounds { total_max: u32::MAX, ..Bounds::default() };
    let mut breakers = Breakers::new(Policies { bounds, ..Policies::default() }, 7);
    let mut out = Vec::new();
    let start = Timestamp::ZERO;
    for n in 0..size {
        breakers.handle(start, &name(n), &mut out).expect("there is room");
    }
    breakers.take_changed_rows(&mut drop);
    let bytes = resident_bytes().saturating_sub(before) / size;
    let names: Vec<BreakerName> = (0..size).map(name).collect();
    let handles: Vec<_> = names.iter().filter_map(|name| breakers.handle(start, name, &mut out)).collect();

    let done = Outcome { result: CallResult::Ok, took: Some(Span::millis(20)) };
    let mut now = start;
    let by_handle = nanos(|n| {
        now = Timestamp::from_millis(n as u64 / 1_000);
        let handle = handles[n.wrapping_mul(7_919) % size];
        let permit = breakers.acquire_at(now, handle, &mut out).expect("it is closed");
        breakers.report_at(now, handle, permit, done, &mut out);
    });
    let by_name = nanos(|n| {
        let name = &names[n.wrapping_mul(7_919) % size];
        let permit = breakers.acquire(now, name, &mut out).expect("it is closed");
        breakers.report(now, name, permit, done, &mut out);
    });
    for _ in 0..8 {
        breakers.observe(now, &names[0], CallResult::Failed.into(), &mut out);
    }
    let refused = nanos(|_| {
        breakers.acquire_at(now, handles[0], &mut out).expect_err("it is open");
    });
    let itself = size_of::<Breaker>();
    let alone = alone(done);
    println!(
        "{size:>9}  {alone:>7.1}ns  {by_handle:>7.1}ns  {by_name:>7.1}ns  {refused:>7.1}ns  {itself:>12}  {bytes:>14}"
    );
}

/// A breaker outside of any table.
fn alone(done: Outcome) -> f64 {
    let (mut breaker, policy, mut out) = (Breaker::new(Timestamp::ZERO), Policy::default(), Vec::new());
    nanos(|n| {
        let now = Timestamp::from_millis(n as u64 / 1_000);
        let permit = breaker.acquire(now, &policy, &mut out).expect("it is closed");
        std::hint::black_box(breaker.report(now, permit, done, &policy, &mut out));
    })
}

fn name(n: usize) -> BreakerName {
    let agent = AgentId::from(format!("agent-{:07}", n / 4));
    BreakerName::of_agent(&agent, Kind::Tool, &format!("tool-{}", n % 4)).expect("a short name")
}

/// What one round takes on average.
fn nanos(mut round: impl FnMut(usize)) -> f64 {
    let begun = Instant::now();
    (0..DECISIONS).for_each(&mut round);
    begun.elapsed().as_secs_f64() * 1e9 / DECISIONS as f64
}

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4_096
}
