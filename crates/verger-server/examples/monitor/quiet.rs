//! What it costs to watch when nothing is wrong.
//!
//! Several programs run side by side for the same minute. A thousand agents beat every five seconds: each over a
//! connection of its own that it keeps, the same towards a bare server that only echoes, and all of them through one
//! supervisor. A hundred others are silent under the production preset: each holds its inbox open, is pinged every two
//! seconds and answers.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, interval, interval_at, sleep};

use crate::Measured;
use crate::connection::Connection;
use crate::program::Program;
use crate::report::{Aim, Report};
use crate::requests::{beat, full_batches, name, request};

const BEATING: usize = 1_000;
const BEAT_EVERY: Duration = Duration::from_secs(5);
const PINGED: usize = 100;
const PRODUCTION: &str = "roles:\n  default:\n    liveness:\n      pings:\n        preset: production\n";

type Agents = JoinSet<std::io::Result<()>>;

/// Programs that are watched, each with what it does.
struct Side {
    beaten: Program,
    echo: Program,
    supervised: Program,
    pinging: Program,
    idle: Program,
}

pub(crate) async fn measure(report: &mut Report, seconds: usize) -> Measured<()> {
    let folder = tempfile::tempdir()?;
    let side = Side::start(folder.path())?;
    let mut agents = side.populate().await?;
    // Until everybody is registered, and what that took is on disk.
    sleep(2 * BEAT_EVERY).await;
    let before = side.cpu()?;
    let window = Duration::from_secs(seconds as u64);
    sleep(window).await;
    let after = side.cpu()?;
    if let Some(ended) = agents.try_join_next() {
        return Err(format!("an agent could not go on: {ended:?}").into());
    }
    let share = |at: usize| after[at].saturating_sub(before[at]).as_secs_f64() / window.as_secs_f64() * 100.0;
    side.tell(report, share)
}

impl Side {
    fn start(folder: &Path) -> Measured<Self> {
        let monitor = |name: &str, configuration| Program::monitor(&folder.join(name), configuration);
        Ok(Self {
            beaten: monitor("beaten", "")?,
            echo: Program::echo()?,
            supervised: monitor("supervised", "")?,
            pinging: monitor("pinging", PRODUCTION)?,
            idle: monitor("idle", "")?,
        })
    }

    async fn populate(&self) -> Measured<Agents> {
        let mut agents = Agents::new();
        for agent in 0..BEATING {
            agents.spawn(beats(self.beaten.address, agent));
            agents.spawn(beats(self.echo.address, agent));
        }
        agents.spawn(supervises(self.supervised.address));
        for agent in 0..PINGED {
            let token = token(&self.pinging, agent).await?;
            agents.spawn(answers(self.pinging.address, agent, token));
        }
        Ok(agents)
    }

    fn cpu(&self) -> Measured<[Duration; 5]> {
        let Self { beaten, echo, supervised, pinging, idle } = self;
        Ok([beaten.cpu()?, echo.cpu()?, supervised.cpu()?, pinging.cpu()?, idle.cpu()?])
    }

    fn tell(&self, report: &mut Report, share: impl Fn(usize) -> f64) -> Measured<()> {
        let others = "Alertmanager 0.07; supervisord 0.47; monit 0.87; Prometheus 8.67";
        report.line("1,000 agents beat every 5 s: CPU of a core", share(0), " %", Aim::AtMost(0.5), others);
        report.line("the same bytes echoed by bare axum: CPU", share(1), " %", Aim::None, "");
        let others = "monit 9.8; supervisord 28.7; Alertmanager 44; Prometheus 118";
        let figure = "1,000 agents, each with a connection of its own: memory";
        report.line(figure, self.beaten.memory()?.0, " MB", Aim::AtMost(30.0), others);
        report.line("1,000 agents through one supervisor: CPU", share(2), " %", Aim::AtMost(0.5), "");
        report.line("the same: memory", self.supervised.memory()?.0, " MB", Aim::AtMost(30.0), "");
        let others = "supervisord 0.10; monit 0.17; Prometheus 1.50; Uptime Kuma 4.30";
        let figure = "100 agents, production preset, pinged every 2 s: CPU";
        report.line(figure, share(3), " %", Aim::AtMost(0.1), others);
        report.line("the same, by H02", share(3), " %", Aim::AtMost(1.0), "");
        report.line(
            "the same: memory",
            self.pinging.memory()?.0,
            " MB",
            Aim::None,
            "monit 7.4; supervisord 24.7",
        );
        report.line("nobody to watch: CPU", share(4), " %", Aim::None, "");
        report.line("the same: memory", self.idle.memory()?.0, " MB", Aim::None, "");
        Ok(())
    }
}

/// Beats for ever, at a moment of its own within the interval.
async fn beats(address: SocketAddr, agent: usize) -> std::io::Result<()> {
    let mut connection = Connection::open(address).await?;
    let first = Instant::now() + BEAT_EVERY * agent as u32 / BEATING as u32;
    let mut ticks = interval_at(first, BEAT_EVERY);
    for count in 0.. {
        ticks.tick().await;
        connection.ask(&beat(agent, count)).await?;
    }
    Ok(())
}

/// Tells of everybody at once, for ever.
async fn supervises(address: SocketAddr) -> std::io::Result<()> {
    let mut connection = Connection::open(address).await?;
    let batches = full_batches(BEATING);
    let mut ticks = interval(BEAT_EVERY);
    loop {
        ticks.tick().await;
        for batch in &batches {
            connection.ask(batch).await?;
        }
    }
}

async fn token(monitor: &Program, agent: usize) -> Measured<String> {
    let mut connection = Connection::open(monitor.address).await?;
    connection.ask(&beat(agent, 0)).await?;
    let wanted = format!(r#"{{"scope":"agent","agentId":"{}"}}"#, name(agent));
    let made: serde_json::Value =
        serde_json::from_str(connection.ask(&request("POST /v1/tokens", &monitor.token, &wanted)).await?)?;
    Ok(made["secret"].as_str().ok_or("no token was made")?.to_owned())
}

/// Holds its inbox open, and answers every ping, for ever.
async fn answers(address: SocketAddr, agent: usize, token: String) -> std::io::Result<()> {
    let (mut inbox, mut says) = (Connection::open(address).await?, Connection::open(address).await?);
    let line = format!("GET /v1/agents/{}/inbox HTTP/1.1\r\nHost: localhost\r\n", name(agent));
    let rest = format!("Accept: text/event-stream\r\nAuthorization: Bearer {token}\r\n\r\n");
    inbox.begin((line + &rest).as_bytes()).await?;
    loop {
        let item = inbox.until(b"\n\n").await?;
        let seq = item.split_once(r#""seq":"#).map(|(_, rest)| rest.chars().take_while(char::is_ascii_digit));
        let Some(seq) = seq.map(String::from_iter) else { continue };
        let pong = format!(r#"{{"kind":"pong","agentId":"{}","seq":{seq}}}"#, name(agent));
        says.ask(&request("POST /v1/signals", &token, &pong)).await?;
    }
}
