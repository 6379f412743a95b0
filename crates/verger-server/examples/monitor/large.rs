//! Large fleets: how long after a crash the monitor watches again, and what a million agents need.

use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};

use crate::Measured;
use crate::connection::{Connection, hammer};
use crate::program::Program;
use crate::report::{Aim, Report, p50_p99};
use crate::requests::{BATCH, bare_batches, kept, name, request};

/// How often it is looked whether the monitor is ready.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Vital signs are on disk after a second.
const WRITTEN: Duration = Duration::from_secs(3);

/// Silence for so long is noticed of agents of this role, and nothing else is held against them.
const TIMEOUT: Duration = Duration::from_secs(4);
const QUICK: &str =
    "roles:\n  quick:\n    liveness:\n      beats:\n        interval: 2s\n        timeout: 4s\n";
const QUICK_AGENTS: usize = 200;
/// The silence of all of them is told of long before.
const TOLD_WITHIN: Duration = Duration::from_mins(1);
/// How often agents of 000 beat.
const BEAT_EVERY: Duration = Duration::from_mins(5);

pub(crate) async fn restart(report: &mut Report, agents: usize) -> Measured<()> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("data");
    let monitor = Program::monitor(&data, "")?;
    hammer(monitor.address, 1, agents.div_ceil(BATCH), kept(bare_batches(agents))).await?;
    sleep(WRITTEN).await;
    drop(monitor);
    let begun = Instant::now();
    let monitor = Program::monitor(&data, "")?;
    ready(&monitor).await?;
    let (took, spent) = (begun.elapsed().as_secs_f64(), monitor.cpu()?.as_secs_f64());
    let figure = format!("ready after kill -9 with {agents} agents");
    report.line(&figure, took, " s", Aim::AtMost(2.0), "");
    let known = known(&monitor).await?;
    if known != agents {
        return Err(format!("{known} of {agents} agents are known after the restart").into());
    }
    report.line("the same: CPU until then", spent, " s", Aim::None, "");
    report.line("the same: the most memory it took", monitor.memory()?.1, " MB", Aim::None, "");
    Ok(())
}

async fn ready(monitor: &Program) -> Measured<()> {
    let mut connection = Connection::open(monitor.address).await?;
    while connection.answer(&request("GET /ready", "", "")).await?.0 != 200 {
        sleep(LOOK_EVERY).await;
    }
    Ok(())
}

async fn known(monitor: &Program) -> Measured<usize> {
    let mut connection = Connection::open(monitor.address).await?;
    let text = connection.ask(&request("GET /metrics", &monitor.token, "")).await?;
    let counts = text.lines().filter(|line| line.starts_with("verger_agents{"));
    Ok(counts.filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok()).sum())
}

pub(crate) async fn measure(report: &mut Report, agents: usize) -> Measured<()> {
    let folder = tempfile::tempdir()?;
    let monitor = Program::monitor(&folder.path().join("data"), QUICK)?;
    // Not more than a million are remembered, and the quick ones are among them.
    let beats = kept(bare_batches(agents.saturating_sub(QUICK_AGENTS)));
    hammer(monitor.address, 1, beats.len(), beats).await?;
    sleep(WRITTEN).await;
    let begun = Instant::now();
    hammer(monitor.address, 1, beats.len(), beats).await?;
    let all = begun.elapsed().as_secs_f64();
    sleep(WRITTEN).await;
    report.line(&format!("{agents} agents beat once, 1,000 in a body"), all, " s", Aim::None, "");
    let before = monitor.cpu()?;
    let (late, lasted) = timeout(TOLD_WITHIN, deadlines(&monitor, beats)).await??;
    let share = monitor.cpu()?.saturating_sub(before).as_secs_f64() / lasted.as_secs_f64() * 100.0;
    let (p50, p99) = p50_p99(late);
    report.line("silence noticed and told late by: p50", p50, " ms", Aim::None, "");
    report.line("silence noticed and told late by: p99", p99, " ms", Aim::AtMost(200.0), "");
    report.line("CPU meanwhile, all beating every 5 min", share, " %", Aim::None, "");
    let (now, most) = monitor.memory()?;
    report.line(&format!("memory with {agents} agents"), now, " MB", Aim::AtMost(1_000.0), "");
    report.line("the most it ever was", most, " MB", Aim::AtMost(1_000.0), "");
    Ok(())
}

/// How late it is told that quick agents fell silent, one after another, while all others beat at their usual pace.
async fn deadlines(monitor: &Program, beats: &'static [Vec<u8>]) -> Measured<(Vec<Duration>, Duration)> {
    let address = monitor.address;
    let others = tokio::spawn(async move {
        let mut connection = Connection::open(address).await?;
        let mut ticks = tokio::time::interval(BEAT_EVERY / beats.len() as u32);
        for batch in beats.iter().cycle() {
            ticks.tick().await;
            connection.ask(batch).await?;
        }
        std::io::Result::Ok(())
    });
    let begun = Instant::now();
    let (mut says, mut hears) = (Connection::open(address).await?, Connection::open(address).await?);
    hears.begin(&request("GET /v1/events", &monitor.token, "")).await?;
    let mut last_words = Vec::new();
    for agent in 0..QUICK_AGENTS {
        let beat = format!(r#"{{"agentId":"quick-{}","role":"quick"}}"#, name(agent));
        let answer = says.ask(&request("POST /v1/heartbeats", "", &beat)).await?;
        if !answer.contains(r#""accepted":1"#) {
            return Err(format!("an agent was not taken in: {answer}").into());
        }
        last_words.push(Instant::now());
        // Spread over the buckets of the loop.
        sleep(Duration::from_millis(17)).await;
    }
    let mut late = Vec::new();
    while late.len() < QUICK_AGENTS {
        let event = hears.until(b"\n\n").await?;
        let told = Instant::now();
        let Some(agent) = silent(&event) else { continue };
        late.push(told.saturating_duration_since(last_words[agent] + TIMEOUT));
    }
    others.abort();
    Ok((late, begun.elapsed()))
}

/// Of which quick agent it is told that it is no longer heard.
fn silent(event: &str) -> Option<usize> {
    if !event.contains("event: agent-disconnected") {
        return None;
    }
    let (_, rest) = event.split_once("quick-agent-")?;
    rest.get(..7)?.parse().ok()
}
