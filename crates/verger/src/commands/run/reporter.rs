//! What the monitor is told of the program, and what it wants to know.
//!
//! Pings are answered here, for the program: only while that is not frozen. No heartbeats are sent, for those would show
//! that the wrapper lives. Without a monitor what there is to tell waits for one.

use std::borrow::Cow;
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use verger_api::signal::{Exit, Pong, Spawn, StatusReport};
use verger_api::{AgentStatus, Awaited, PendingItem, SignalBody};
use verger_client::{Agent, AgentOptions};

use super::ending::Ending;
use super::monitor::Known;

/// How long the last words may take to be sent.
const LAST_WITHIN: Duration = Duration::from_secs(2);
/// What is said before a person stops the program should not keep the person waiting.
const PAUSE_WITHIN: Duration = Duration::from_millis(500);
/// What waits for a first monitor.
const EARLY_MAX: usize = 100;
/// How long a thread waits for something before it looks whether it is still needed.
const ITEM_WITHIN: Duration = Duration::from_hours(1);

/// Who is watched.
#[derive(Clone, Debug)]
pub(super) struct Whom {
    pub(super) id: String,
    pub(super) task: Option<String>,
    pub(super) role: Option<String>,
    pub(super) incarnation: Option<u32>,
}

/// The line to the monitor.
pub(super) struct Reporter {
    whom: Whom,
    known: Option<Known>,
    agent: Option<Agent>,
    early: Vec<SignalBody<'static>>,
    items: UnboundedSender<PendingItem>,
}

impl Reporter {
    pub(super) fn new(whom: Whom, items: UnboundedSender<PendingItem>) -> Self {
        Self { whom, known: None, agent: None, early: Vec::new(), items }
    }

    /// There is a monitor. What waited for it goes first.
    pub(super) fn connect(&mut self, known: &Known) {
        self.known = Some(known.clone());
        if self.whom.incarnation.is_none() && self.early.is_empty() {
            self.whom.incarnation = known.incarnation;
        }
        self.resume();
        for body in std::mem::take(&mut self.early) {
            self.tell(body);
        }
    }

    pub(super) fn is_connected(&self) -> bool {
        self.known.is_some()
    }

    /// The program runs as this process.
    pub(super) fn started(&mut self, pid: u32, command: String) {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
        let host = host.map(|host| host.trim().to_owned()).filter(|host| !host.is_empty());
        self.tell(SignalBody::Spawn(Spawn {
            pid: Some(pid),
            host: host.map(Cow::Owned),
            command: Some(command.into()),
            role: self.whom.role.clone().map(Cow::Owned),
            provider: None,
        }));
        // That it runs was seen. Without this nobody would hold a freeze against it as long as programs may take to start.
        self.tell(SignalBody::Activity);
    }

    /// It does something.
    pub(super) fn active(&mut self) {
        if self.agent.is_some() {
            self.tell(SignalBody::Activity);
        }
    }

    pub(super) fn say(
        &mut self,
        status: AgentStatus,
        until: Option<verger_api::Time>,
        reason: Option<String>,
    ) {
        let reason = reason.map(Cow::Owned);
        self.tell(SignalBody::Status(StatusReport { status, waiting_on: None, until, reason }));
    }

    /// A ping is answered, for the program could.
    pub(super) fn pinged(&mut self, seq: u32) {
        self.tell(SignalBody::Pong(Pong { seq, status: None }));
    }

    /// A person is about to stop the program and this wrapper with it: nobody is to take that for a freeze.
    pub(super) fn pause(&mut self) {
        self.tell(SignalBody::Status(StatusReport {
            status: AgentStatus::Waiting,
            waiting_on: Some(Awaited::Person),
            until: None,
            reason: Some("a person stopped it from the terminal".into()),
        }));
        if let Some(agent) = self.agent.take() {
            agent.finish(PAUSE_WITHIN);
        }
    }

    /// The line is up again.
    pub(super) fn resume(&mut self) {
        let Some(known) = &self.known else { return };
        let options = AgentOptions {
            incarnation: self.whom.incarnation,
            role: self.whom.role.clone(),
            answers_pings: false,
            beats: false,
            ..AgentOptions::new(&self.whom.id, known.access.clone())
        };
        let agent = Agent::start(options);
        agent.works_on(self.whom.task.clone());
        let (inbox, items) = (agent.inbox(), self.items.clone());
        let listen = move || {
            while !inbox.is_over() {
                if let Some(item) = inbox.wait(ITEM_WITHIN)
                    && items.send(item).is_err()
                {
                    return;
                }
            }
        };
        // Without it nothing can be asked, and the program runs all the same.
        let _ = thread::Builder::new().name("inbox".to_owned()).spawn(listen);
        self.agent = Some(agent);
    }

    /// The program ended. These are the last words of this life; whether they arrived.
    pub(super) fn ended(&mut self, ending: Ending, reason: String) -> bool {
        self.tell(SignalBody::Exit(Exit {
            code: ending.code(),
            signal: ending.signal(),
            reason: Some(reason.into()),
        }));
        self.agent.take().is_some_and(|agent| agent.finish(LAST_WITHIN))
    }

    fn tell(&mut self, body: SignalBody<'static>) {
        match &self.agent {
            Some(agent) => agent.tell(body),
            None if self.early.len() < EARLY_MAX => self.early.push(body),
            None => {}
        }
    }
}
