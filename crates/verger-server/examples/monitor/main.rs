//! What the whole monitor costs and how fast it is, each figure beside its aim and, where there is one, beside another
//! program's.
//!
//! `cargo build --release -p verger`, then `cargo run --release -p verger-server --example monitor [FIGURES[=SIZE]…]`.
//! The real program is started as a child, on a port that the system picks and a data folder that is removed again.
//! Where an aim is about cost, it is the processor time that the kernel charges to that child, for time on the wall says
//! more about what else a machine does; what is compared takes turns in the same run.
#![expect(clippy::print_stdout, reason = "it is a program that prints")]

mod batches;
mod connection;
mod cost;
mod echo;
mod large;
mod program;
mod quiet;
mod report;
mod requests;
mod waits;

use std::error::Error;

use report::Report;

type Measured<T> = Result<T, Box<dyn Error>>;

/// What can be asked for, and the size of each if none is given.
const FIGURES: [(&str, usize); 7] = [
    // Requests in a round.
    ("cost", 20_000),
    // Heartbeats in a round.
    ("batches", 1_000_000),
    // Requests of each kind.
    ("waits", 2_000),
    // Requests of each of the writers.
    ("checkpoints", 40),
    // Seconds.
    ("quiet", 60),
    // Agents.
    ("restart", 100_000),
    // Agents.
    ("large", 1_000_000),
];

fn main() -> Measured<()> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    if asked.first().is_some_and(|first| first == echo::COMMAND) {
        return echo::run();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut report = Report::begin();
    for (name, size) in chosen(&asked)? {
        match name {
            "cost" => runtime.block_on(cost::measure(&mut report, size))?,
            "batches" => runtime.block_on(batches::measure(&mut report, size))?,
            "waits" => runtime.block_on(waits::measure(&mut report, size))?,
            "checkpoints" => runtime.block_on(waits::checkpoints(&mut report, size))?,
            "quiet" => runtime.block_on(quiet::measure(&mut report, size))?,
            "restart" => runtime.block_on(large::restart(&mut report, size))?,
            _ => runtime.block_on(large::measure(&mut report, size))?,
        }
    }
    report.end();
    Ok(())
}

/// What was asked for, each with its size; everything if nothing was.
fn chosen(asked: &[String]) -> Measured<Vec<(&'static str, usize)>> {
    if asked.is_empty() {
        return Ok(FIGURES.to_vec());
    }
    let one = |asked: &String| {
        let (name, size) =
            asked.split_once('=').map_or((asked.as_str(), None), |(name, size)| (name, Some(size)));
        let known = FIGURES.into_iter().find(|(known, _)| *known == name);
        let (name, default) = known.ok_or_else(|| format!("there is no figure `{name}`"))?;
        Ok((name, size.map_or(Ok(default), str::parse)?))
    };
    asked.iter().map(one).collect()
}
