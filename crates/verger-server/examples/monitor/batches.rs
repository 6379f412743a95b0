//! Heartbeats by the thousand in one body, as whoever watches many agents sends them.

use std::time::Instant;

use crate::Measured;
use crate::connection::hammer;
use crate::program::Program;
use crate::report::{Aim, Report, median};
use crate::requests::{BATCH, full_batches, kept};

const AGENTS: usize = 10_000;
const CONNECTIONS: usize = 4;
const ROUNDS: usize = 5;

pub(crate) async fn measure(report: &mut Report, heartbeats: usize) -> Measured<()> {
    let folder = tempfile::tempdir()?;
    let monitor = Program::monitor(&folder.path().join("data"), "")?;
    let batches = kept(full_batches(AGENTS));
    let each = heartbeats.div_ceil(CONNECTIONS * BATCH);
    hammer(monitor.address, CONNECTIONS, batches.len(), batches).await?;
    let (mut rates, mut costs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (before, begun) = (monitor.cpu()?, Instant::now());
        let answered = hammer(monitor.address, CONNECTIONS, each, batches).await?.len() * BATCH;
        rates.push(answered as f64 / begun.elapsed().as_secs_f64());
        costs.push(monitor.cpu()?.saturating_sub(before).as_secs_f64() * 1e6 / answered as f64);
    }
    let aim = Aim::AtLeast(500_000.0);
    report.line(
        "heartbeats/s, 1,000 in a body, 10,000 agents",
        median(rates),
        "",
        aim,
        "redis SET -P16 363,306",
    );
    report.line("CPU of the server for each of them", median(costs), " us", Aim::None, "");
    Ok(())
}
