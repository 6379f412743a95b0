//! For agents: tell the monitor how it goes, and hear what it wants, without ever waiting for it.
//!
//! ```text
//! the agent's threads ──set, tell──► desk ──► courier: beats by timer, signals in order ──► monitor
//!                     ◄──next_item── desk ◄── listener: the inbox's long poll ◄────────────┘
//! ```
//!
//! Courier and listener share one thread of their own. The desk between is a few fields behind a lock that nobody
//! holds across anything that waits.

mod buffer;
mod courier;
mod desk;
mod listener;

use std::sync::Arc;
use std::time::Duration;

use verger_api::signal::Pong;
use verger_api::{PendingItem, SignalBody, Vitals};

pub use desk::Tally;

use crate::access::Access;
use crate::ancestry;
use desk::Desk;

/// How an agent is watched.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// Its name, across all its lives.
    pub agent_id: String,
    /// Which of its lives this is, if whoever started it said so.
    pub incarnation: Option<u32>,
    /// The profile it is to be watched under.
    pub role: Option<String>,
    /// How often it beats. The monitor may ask for another rhythm. Default: 30 s.
    pub every: Duration,
    /// Whether it beats at all. Who stands for a process that is not this one lets pings be the proof of life.
    pub beats: bool,
    /// Whether pings are answered here. That shows that the process lives, not that the agent's own loop turns: an agent
    /// that wants to be caught when its loop hangs takes pings from [`Agent::next_item`] and answers them itself.
    pub answers_pings: bool,
    /// How many signals are kept while the monitor is away. Default: 1,000.
    pub signals_max: usize,
    /// How many bytes these may hold. Default: 4 MiB.
    pub bytes_max: usize,
    /// The monitor, and the token by which this agent is known there. Without one its word is not proven, and what
    /// waits for it comes with the replies to its heartbeats alone.
    pub access: Access,
}

impl AgentOptions {
    /// An agent of this name, with everything else as is usual.
    pub fn new(agent_id: impl Into<String>, access: Access) -> Self {
        Self {
            agent_id: agent_id.into(),
            incarnation: None,
            role: None,
            every: Duration::from_secs(30),
            beats: true,
            answers_pings: true,
            signals_max: 1_000,
            bytes_max: 4 << 20,
            access,
        }
    }
}

/// An agent's line to its monitor. No call waits, fails or panics; when it is dropped, the beats end.
#[derive(Debug)]
pub struct Agent {
    desk: Arc<Desk>,
}

impl Agent {
    /// Begins to beat.
    pub fn start(options: AgentOptions) -> Self {
        let desk = Arc::new(Desk::new(&options));
        courier::start(options, &desk);
        Self { desk }
    }

    /// Begins to beat as the agent that the environment names: `VERGER_AGENT_ID`, `VERGER_INCARNATION`, `VERGER_URL`,
    /// `VERGER_TOKEN`. Nothing is sent if it names none, so that an agent also runs where nobody watches.
    pub fn from_environment() -> Self {
        let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        let Some(id) = variable(ancestry::VARIABLE) else {
            return Self::silent(format!("{} is not set", ancestry::VARIABLE));
        };
        match Access::of_agent() {
            Ok(access) => {
                let incarnation = variable("VERGER_INCARNATION").and_then(|life| life.parse().ok());
                Self::start(AgentOptions { incarnation, ..AgentOptions::new(id, access) })
            }
            Err(error) => Self::silent(error.to_string()),
        }
    }

    fn silent(why: String) -> Self {
        Self { desk: Arc::new(Desk::silent(why)) }
    }

    /// What it says of itself from now on, with every beat. What is not given stays as it was.
    pub fn set(&self, vitals: Vitals<'static>) {
        self.desk.set(vitals);
    }

    /// What it works on from now on.
    pub fn works_on(&self, task: Option<String>) {
        self.desk.works_on(task);
    }

    /// Tokens were used. They are summed, and told with the beats: a sum that is sent twice is still right.
    pub fn used(&self, tokens: u64, cost_usd: f64) {
        self.desk.used(tokens, cost_usd);
    }

    /// Something happened. It is sent soon, in order; of too many the oldest vital signs are given up first.
    pub fn tell(&self, what: SignalBody<'static>) {
        self.desk.tell(what);
    }

    /// Beats now, ahead of time.
    pub fn beat(&self) {
        self.desk.beat();
    }

    /// What the monitor wants, if there is anything: a reminder, a cancellation, a word that another life took over.
    pub fn next_item(&self) -> Option<PendingItem> {
        self.desk.next_item()
    }

    /// The same, waiting for up to so long.
    pub fn wait_item(&self, within: Duration) -> Option<PendingItem> {
        self.desk.wait_item(within)
    }

    /// The same for a thread that does nothing else, also beyond the end of this one.
    pub fn inbox(&self) -> Inbox {
        Inbox { desk: Arc::clone(&self.desk) }
    }

    /// Answers a ping that was taken by [`next_item`](Self::next_item).
    pub fn pong(&self, seq: u32) {
        self.tell(SignalBody::Pong(Pong { seq, status: None }));
    }

    /// Whether another life of this agent has taken over. Nothing is sent any more; this one should end.
    pub fn is_superseded(&self) -> bool {
        self.desk.is_superseded()
    }

    /// What became of what was told.
    pub fn tally(&self) -> Tally {
        self.desk.tally()
    }

    /// Sends what is still to be sent and ends, within this time. Whether all of it went out.
    pub fn finish(self, within: Duration) -> bool {
        self.desk.finish(within)
    }
}

/// What the monitor wants of an agent, for a thread that waits for it.
#[derive(Clone, Debug)]
pub struct Inbox {
    desk: Arc<Desk>,
}

impl Inbox {
    /// What the monitor wants, waiting for up to so long.
    pub fn wait(&self, within: Duration) -> Option<PendingItem> {
        self.desk.wait_item(within)
    }

    /// Whether nothing will come any more.
    pub fn is_over(&self) -> bool {
        self.desk.is_over()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.desk.stop();
    }
}

#[cfg(test)]
mod tests;
