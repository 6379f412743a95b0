//! Runs the seeds on several threads and hands the reports over in the order of the seeds.
//!
//! A fleet is a pure function of its options, so the number of threads changes when a report is ready, never
//! what it says. The threads are not joined when the reader gives up: they own nothing that needs an end, and a
//! fleet in the middle of its week would keep the user waiting.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use verger_sim::Mode;
use verger_sim::harness::{self, Options, Report};

use super::progress::Bar;
use super::seeds::Seeds;

/// What is the same for every seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) days: f64,
    pub(super) agents: u32,
    pub(super) faults: bool,
    pub(super) mode: Mode,
}

impl Plan {
    fn with(&self, seed: u64) -> Options {
        Options { seed, days: self.days, agents: self.agents, faults: self.faults, mode: self.mode }
    }
}

/// As many threads as there are cores to run them.
pub(super) fn available() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Calls `done` with one report after the other, in the order of the seeds, as soon as each is there.
pub(super) fn run(
    seeds: Seeds,
    plan: &Plan,
    threads: usize,
    bar: &Bar,
    mut done: impl FnMut(Report) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let queue = Arc::new(Mutex::new(seeds.range()));
    let (sender, reports) = mpsc::channel();
    for _ in 0..threads.min(usize::try_from(seeds.count()).unwrap_or(usize::MAX)) {
        let (queue, sender, plan, bar) = (Arc::clone(&queue), sender.clone(), *plan, bar.clone());
        thread::spawn(move || {
            let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some(seed) = next() {
                let report = catch_unwind(AssertUnwindSafe(|| {
                    harness::run(&plan.with(seed), &mut bar.of_one_fleet())
                }));
                if sender.send((seed, report)).is_err() {
                    return;
                }
            }
        });
    }
    drop(sender);
    let mut early = BTreeMap::new();
    for seed in seeds.range() {
        let report = loop {
            if let Some(report) = early.remove(&seed) {
                break report;
            }
            let (other, report) = reports.recv().expect("a thread reports every seed that it takes");
            // The panic itself was printed by its thread.
            let report = report.map_err(|_| anyhow::anyhow!("the simulation of seed {other} panicked"))?;
            early.insert(other, report);
        };
        done(report)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reports(threads: usize) -> Vec<Report> {
        let seeds = "3..8".parse().unwrap();
        let plan = Plan { days: 0.1, agents: 3, faults: true, mode: Mode::Full };
        let mut reports = Vec::new();
        run(seeds, &plan, threads, &Bar::new(6, 0.1), |report| {
            reports.push(report);
            Ok(())
        })
        .unwrap();
        reports
    }

    #[test]
    fn reports_come_in_the_order_of_the_seeds_whatever_the_number_of_threads() {
        let alone = reports(1);
        assert_eq!(
            alone.iter().map(|report| report.seed).collect::<Vec<_>>(),
            (3..=8).map(Some).collect::<Vec<_>>()
        );
        assert_eq!(alone, reports(4));
    }

    #[test]
    fn a_reader_that_gives_up_ends_the_run() {
        let plan = Plan { days: 0.1, agents: 2, faults: false, mode: Mode::Observe };
        let result =
            run("1..1000".parse().unwrap(), &plan, 2, &Bar::new(1000, 0.1), |_| anyhow::bail!("enough"));
        assert_eq!(result.unwrap_err().to_string(), "enough");
    }
}
