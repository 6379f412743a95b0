//! How long somebody waits who asks or tells one thing, while a thousand agents beat.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use crate::Measured;
use crate::connection::{Connection, hammer};
use crate::program::Program;
use crate::report::{Aim, Report, p50_p99};
use crate::requests::{beat, full_batches, kept, name, request};

const AGENTS: usize = 1_000;
/// From one heartbeat of the others to the next: a thousand in each second.
const OTHERS_EVERY: Duration = Duration::from_millis(1);
const WRITERS: usize = 64;
const STATE_BYTES: usize = 2_000;

pub(crate) async fn measure(report: &mut Report, requests: usize) -> Measured<()> {
    let folder = tempfile::tempdir()?;
    let monitor = Program::monitor(&folder.path().join("data"), "")?;
    hammer(monitor.address, 1, AGENTS.div_ceil(1_000), kept(full_batches(AGENTS))).await?;
    let others = beat_on(monitor.address);
    let beats = kept((0..AGENTS).map(|agent| beat(agent, agent)).collect());
    let looks =
        kept((0..AGENTS).map(|agent| ask_for(&monitor, &format!("/v1/agents/{}", name(agent)))).collect());
    let checks = kept(vec![request("GET /health", "", "")]);
    for (figure, requests_of, aim) in [
        ("heartbeat, answered", beats, Aim::AtMost(50.0)),
        ("GET agent", looks, Aim::AtMost(100.0)),
        ("GET health", checks, Aim::AtMost(100.0)),
    ] {
        tell(report, figure, hammer(monitor.address, 1, requests, requests_of).await?, aim);
    }
    tell(
        report,
        "signal to event, on disk and sent",
        to_event(&monitor, requests / 4).await?,
        Aim::AtMost(100.0),
    );
    others.abort();
    Ok(())
}

fn tell(report: &mut Report, figure: &str, waits: Vec<Duration>, aim: Aim) {
    let (p50, p99) = p50_p99(waits);
    report.line(&format!("{figure}: p50"), p50, " ms", Aim::None, "");
    report.line(&format!("{figure}: p99"), p99, " ms", aim, "");
}

fn ask_for(monitor: &Program, path: &str) -> Vec<u8> {
    request(&format!("GET {path}"), &monitor.token, "")
}

/// What other agents do meanwhile.
fn beat_on(address: SocketAddr) -> JoinHandle<std::io::Result<()>> {
    tokio::spawn(async move {
        let mut connection = Connection::open(address).await?;
        let mut ticks = tokio::time::interval(OTHERS_EVERY);
        for count in 0.. {
            ticks.tick().await;
            connection.ask(&beat(count % AGENTS, count)).await?;
        }
        Ok(())
    })
}

/// From the moment at which an agent says its first word to the one at which a stream tells of it.
async fn to_event(monitor: &Program, count: usize) -> Measured<Vec<Duration>> {
    let (mut says, mut hears) =
        (Connection::open(monitor.address).await?, Connection::open(monitor.address).await?);
    hears.begin(&ask_for(monitor, "/v1/events")).await?;
    let mut waits = Vec::new();
    for number in 0..count {
        let new = beat(AGENTS + number, 0);
        let begun = Instant::now();
        says.ask(&new).await?;
        while !hears.until(b"\n\n").await?.contains(&name(AGENTS + number)) {}
        waits.push(begun.elapsed());
    }
    Ok(waits)
}

/// Many who save one state after another over HTTP, and wait for the disk each time.
pub(crate) async fn checkpoints(report: &mut Report, each: usize) -> Measured<()> {
    let folder = tempfile::tempdir()?;
    let monitor = Program::monitor(&folder.path().join("data"), "")?;
    let save = |number: usize| {
        let (task, text) = (number % WRITERS, "x".repeat(STATE_BYTES));
        let body = format!(
            r#"{{"taskId":"task-{task}","agentId":"{}","id":"{number}","state":{{"text":"{text}"}}}}"#,
            name(task)
        );
        request("POST /v1/checkpoints", &monitor.token, &body)
    };
    // Each writer has its own stretch of them, and no name is used twice.
    let saves =
        kept((0..WRITERS * each).map(|number| save(number / each + number % each * WRITERS)).collect());
    let begun = Instant::now();
    let waits = hammer(monitor.address, WRITERS, each, saves).await?;
    let rate = waits.len() as f64 / begun.elapsed().as_secs_f64();
    report.line("checkpoints of 2 kB saved over HTTP, 64 writers", rate, "/s", Aim::None, "");
    tell(report, "the same, on disk and answered", waits, Aim::None);
    Ok(())
}
