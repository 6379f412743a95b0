//! What the loop has taken in and given out since the program began, for `/metrics`.
//!
//! The loop counts for itself and adds up once a turn, so counting costs a signal nothing that could be measured.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use verger_core::effect::Action;
use verger_core::signal::Body;
use verger_engine::{Answer, Blind, BlindCause, Message, Turn};

use crate::carry::Called;

/// The kinds of what comes in.
pub(super) const KINDS: [&str; 28] = [
    "heartbeat",
    "activity",
    "tool_started",
    "tool_finished",
    "message",
    "model_started",
    "model_finished",
    "subagent_started",
    "subagent_finished",
    "compaction",
    "tokens",
    "output",
    "error",
    "status",
    "handoff",
    "blocker",
    "pong",
    "spawn",
    "exit",
    "checkpoint",
    "task",
    "channel",
    "outcome",
    "surveyed",
    "load",
    "order",
    "notice",
    "handing",
];

/// What is given out to be done.
pub(super) const ACTIONS: [&str; 16] = [
    "ping",
    "inquire",
    "nudge",
    "escalate",
    "interrupt",
    "request_handoff",
    "stop",
    "survey",
    "spawn",
    "withdraw",
    "deliver",
    "remind_of_message",
    "tell_sender",
    "write_checkpoint",
    "probe",
    "ask_advice",
];

/// Why the monitor could not see.
pub(super) const CAUSES: [&str; 4] = ["down", "paused", "behind", "store"];

/// Numbers that only grow.
#[derive(Debug, Default)]
pub struct Counters {
    inputs: [AtomicU64; KINDS.len()],
    refused: AtomicU64,
    actions: [AtomicU64; ACTIONS.len()],
    commits: AtomicU64,
    commits_failed: AtomicU64,
    blind_millis: [AtomicU64; CAUSES.len()],
    /// Of the configuration: those that hold, and those that were refused.
    reloads: [AtomicU64; 2],
    reload_failed: AtomicBool,
    /// Calls to who sounds the alarm when they end: heard, failed, withheld.
    dead_man: [AtomicU64; 3],
}

/// What was counted up to now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Inputs by kind.
    pub inputs: Vec<(&'static str, u64)>,
    /// Signals that were turned away.
    pub refused: u64,
    /// Effects by action.
    pub actions: Vec<(&'static str, u64)>,
    /// Batches that reached the disk.
    pub commits: u64,
    /// Batches that could not be written at once.
    pub commits_failed: u64,
    /// Milliseconds in which the monitor could not see, by cause.
    pub blind_millis: Vec<(&'static str, u64)>,
    /// How often the configuration was loaded again, by what came of it.
    pub reloads: Vec<(&'static str, u64)>,
    /// Whether the last try was refused: what is in the file is not what holds.
    pub reload_failed: bool,
    /// Calls to who sounds the alarm when they end, by what came of them.
    pub dead_man: Vec<(&'static str, u64)>,
}

impl Counters {
    /// All of them.
    pub fn read(&self) -> Counted {
        let one = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let all = |names: &[&'static str], counters: &[AtomicU64]| {
            names.iter().copied().zip(counters.iter().map(one)).collect()
        };
        Counted {
            inputs: all(&KINDS, &self.inputs),
            refused: one(&self.refused),
            actions: all(&ACTIONS, &self.actions),
            commits: one(&self.commits),
            commits_failed: one(&self.commits_failed),
            blind_millis: all(&CAUSES, &self.blind_millis),
            reloads: all(&["done", "refused"], &self.reloads),
            reload_failed: self.reload_failed.load(Ordering::Relaxed),
            dead_man: all(&["heard", "failed", "withheld"], &self.dead_man),
        }
    }

    pub(crate) fn on_effect(&self, action: &Action) {
        self.actions[action_place(action)].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn on_reload(&self, done: bool) {
        self.reloads[usize::from(!done)].fetch_add(1, Ordering::Relaxed);
        self.reload_failed.store(!done, Ordering::Relaxed);
    }

    pub(crate) fn on_dead_man(&self, called: Called) {
        let place = match called {
            Called::Heard => 0,
            Called::Failed => 1,
            Called::Withheld => 2,
        };
        self.dead_man[place].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn on_turn(&self, turn: &Turn) {
        self.commits.fetch_add(turn.committed.into(), Ordering::Relaxed);
        self.commits_failed.fetch_add(turn.refused.into(), Ordering::Relaxed);
    }

    pub(crate) fn on_blind(&self, blind: &Blind) {
        let place = match blind.cause {
            BlindCause::Down => 0,
            BlindCause::Paused => 1,
            BlindCause::Behind => 2,
            BlindCause::Store => 3,
        };
        self.blind_millis[place].fetch_add(blind.lasted.as_millis(), Ordering::Relaxed);
    }
}

/// What came in during one turn.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    inputs: [u64; KINDS.len()],
    refused: u64,
}

impl Tally {
    pub(crate) fn on_input(&mut self, message: &Message) {
        self.inputs[place(message)] += 1;
    }

    pub(crate) fn on_answer(&mut self, answer: &Answer) {
        self.refused += u64::from(matches!(answer, Answer::Refused(_)));
    }

    /// Adds up, and begins anew.
    pub(crate) fn add_to(&mut self, counters: &Counters) {
        for (sum, new) in counters.inputs.iter().zip(&mut self.inputs).filter(|(_, new)| **new > 0) {
            sum.fetch_add(std::mem::take(new), Ordering::Relaxed);
        }
        counters.refused.fetch_add(std::mem::take(&mut self.refused), Ordering::Relaxed);
    }
}

fn place(message: &Message) -> usize {
    match message {
        Message::Signal(signal) => body_place(&signal.content.body),
        Message::At(_, content) => body_place(&content.body),
        Message::Command(_) => 25,
        Message::Notice(_) => 26,
        Message::Handing(_) => 27,
    }
}

fn body_place(body: &Body) -> usize {
    match body {
        Body::Heartbeat(_) => 0,
        Body::Activity => 1,
        Body::ToolStarted { .. } => 2,
        Body::ToolFinished { .. } => 3,
        Body::Message { .. } => 4,
        Body::ModelStarted => 5,
        Body::ModelFinished => 6,
        Body::SubagentStarted { .. } => 7,
        Body::SubagentFinished { .. } => 8,
        Body::Compaction => 9,
        Body::Tokens { .. } => 10,
        Body::Output(_) => 11,
        Body::Error(_) => 12,
        Body::Status(_) => 13,
        Body::Handoff { .. } => 14,
        Body::Blocker { .. } => 15,
        Body::Pong { .. } => 16,
        Body::Spawn(_) => 17,
        Body::Exit(_) => 18,
        Body::Checkpoint { .. } => 19,
        Body::Task(_) => 20,
        Body::Channel(_) => 21,
        Body::Outcome { .. } => 22,
        Body::Surveyed { .. } => 23,
        Body::Load(_) => 24,
    }
}

fn action_place(action: &Action) -> usize {
    match action {
        Action::Ping => 0,
        Action::Inquire { .. } => 1,
        Action::Nudge { .. } => 2,
        Action::Escalate(_) => 3,
        Action::Interrupt { .. } => 4,
        Action::RequestHandoff { .. } => 5,
        Action::Stop { .. } => 6,
        Action::Survey { .. } => 7,
        Action::Spawn(_) => 8,
        Action::Withdraw { .. } => 9,
        Action::Deliver { .. } => 10,
        Action::RemindOfMessage { .. } => 11,
        Action::TellSender { .. } => 12,
        Action::WriteCheckpoint { .. } => 13,
        Action::Probe(_) => 14,
        Action::AskAdvice(_) => 15,
    }
}
