//! What must hold over many seeds: the promises of the product as numbers.

use std::sync::atomic::{AtomicU64, Ordering};

use verger_sim::harness::{Options, Report, run};

/// Runs these seeds on all cores, a week of a hundred agents each.
fn runs(seeds: std::ops::RangeInclusive<u64>) -> Vec<Report> {
    let next = AtomicU64::new(*seeds.start());
    let work = || {
        std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)))
            .take_while(|seed| seeds.contains(seed))
            .map(|seed| run(&Options { seed, ..Options::default() }, &mut ()))
            .collect::<Vec<_>>()
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut reports: Vec<Report> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a run does not panic")).collect()
    });
    reports.sort_by_key(|report| report.seed);
    reports
}

fn assert_gates(reports: &[Report]) {
    let sum = Report::sum(reports);
    let shown = serde_json::to_string_pretty(&sum).expect("a report is plain data");
    assert_eq!(sum.wrong_terminations, 0, "{shown}");
    assert!(sum.is_green(), "{shown}");
    assert!(sum.false_alarms * 100 < sum.alarms, "{shown}");
    assert!((sum.false_alarms as f64) < sum.healthy_agent_days / 100.0, "{shown}");
    assert!(sum.mean_time_to_intervention_seconds.is_some_and(|mean| mean < 600.0), "{shown}");
    assert!(sum.recovery.succeeded * 100 >= sum.recovery.attempted * 95, "{shown}");
    for kind in ["freeze", "crash", "exact-loop", "alternation", "error-loop", "token-runaway", "host-loss"] {
        let faults = &sum.faults[kind];
        assert!(faults.injected < 1_000 || faults.found * 100 >= faults.injected * 99, "{kind}: {shown}");
    }
}

#[test]
#[ignore = "ten weeks of a hundred agents: minutes in release mode"]
fn the_gates_hold_on_ten_seeds() {
    assert_gates(&runs(1..=10));
}

#[test]
#[ignore = "two years of a hundred agents: for `make soak`"]
fn the_gates_hold_on_a_hundred_seeds() {
    assert_gates(&runs(1..=100));
}
