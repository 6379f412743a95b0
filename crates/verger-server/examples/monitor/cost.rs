//! Processor time of the server for one heartbeat, beside the least that it could cost.

use std::time::Duration;

use crate::Measured;
use crate::connection::hammer;
use crate::program::Program;
use crate::report::{Aim, Report, median, p50_p99};
use crate::requests::{beat, kept};

const AGENTS: usize = 1_000;
const CONNECTIONS: usize = 64;
const ROUNDS: usize = 7;

pub(crate) async fn measure(report: &mut Report, requests: usize) -> Measured<()> {
    let folder = tempfile::tempdir()?;
    let monitor = Program::monitor(&folder.path().join("data"), "")?;
    let echo = Program::echo()?;
    let beats = kept((0..AGENTS).map(|agent| beat(agent, agent)).collect());
    let each = requests.div_ceil(CONNECTIONS);
    // The first round registers the agents, and does not count.
    hammer(monitor.address, CONNECTIONS, each, beats).await?;
    let (mut ours, mut least, mut ratios, mut waits) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (cost, waited) = round(&monitor, each, beats).await?;
        let (bare, _) = round(&echo, each, beats).await?;
        ours.push(cost);
        least.push(bare);
        ratios.push(cost / bare);
        waits.extend(waited);
    }
    let (ours, least) = (median(ours), median(least));
    report.line("a heartbeat, 64 connections: CPU of the server", ours, " us", Aim::None, "");
    report.line("the same bytes echoed by bare axum: CPU", least, " us", Aim::None, "");
    report.line("ratio of the two", median(ratios), "", Aim::AtMost(2.0), "");
    let others = "axum echo 81,000; Alertmanager 16,700; Pushgateway 14,700; Healthchecks 157";
    report.line("heartbeats per second and core of the server", 1e6 / ours, "", Aim::None, others);
    let (p50, p99) = p50_p99(waits);
    report.line("the same heartbeats, answered: p50", p50, " ms", Aim::None, "");
    report.line(
        "the same heartbeats, answered: p99",
        p99,
        " ms",
        Aim::AtMost(50.0),
        "Alertmanager 25; Pushgateway 42",
    );
    Ok(())
}

/// Microseconds of processor time for each request.
async fn round(
    program: &Program,
    each: usize,
    requests: &'static [Vec<u8>],
) -> Measured<(f64, Vec<Duration>)> {
    let before = program.cpu()?;
    let waits = hammer(program.address, CONNECTIONS, each, requests).await?;
    let spent = program.cpu()?.saturating_sub(before);
    Ok((spent.as_secs_f64() * 1e6 / waits.len() as f64, waits))
}
