//! What is to be done in the outside world, as plain data.
//!
//! An effect is released only after the decision behind it is on disk. Its key is deterministic, so after
//! a crash it is carried out at most once more; what became of it returns as a signal.

use std::fmt;
use std::sync::Arc;

use crate::evidence::Evidence;
use crate::id::{AgentId, CheckpointId, Incarnation, MessageId, ProbeName, TaskId};
use crate::messages::ForSender;
use crate::probe::Reported;
use crate::recovery;
use crate::time::Span;
use crate::verdicts::Ticket;

/// Names one effect for ever: the agent, the life it is meant for, and a number that only grows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectKey {
    /// Whom it concerns.
    pub agent: AgentId,
    /// The life it is meant for. It must never reach a later one.
    pub incarnation: Incarnation,
    /// Counts the agent's effects.
    pub seq: u32,
}

impl fmt::Display for EffectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}/{}", self.agent, self.incarnation, self.seq)
    }
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Its name.
    pub key: EffectKey,
    /// What to do.
    pub action: Action,
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Ask for a sign of life over the agent's ping channel. The key's `seq` is the ping's number.
    Ping,
    /// Ask the agent with high priority how it is (001 §1.5.3); any answer of its own counts.
    Inquire {
        /// The task that gives rise to the question, if one does.
        task: Option<TaskId>,
        /// How long it has for an answer.
        within: Span,
        /// The text to deliver.
        text: Arc<str>,
    },
    /// Put a reminder into the agent's context.
    Nudge {
        /// Which attempt of this sequence.
        attempt: u8,
        /// The text to deliver.
        text: Arc<str>,
    },
    /// Tell the orchestrator and ask for a decision.
    Escalate(Escalation),
    /// Refuse the repeated call, or interrupt the turn that makes it. Not a kill.
    Interrupt {
        /// How often the call has repeated.
        repeats: u32,
    },
    /// Ask the agent to save its work and stop within this time.
    RequestHandoff {
        /// The time it has.
        within: Span,
    },
    /// End the whole process tree: ask, then force after this time. Keep what was done.
    Stop {
        /// The time it has to clean up.
        within: Span,
    },
    /// Look through a task's checkpoints and say which there are ([`Body::Surveyed`](crate::signal::Body)).
    Survey {
        /// Which task.
        task: TaskId,
    },
    /// Start a new life that goes on with a task.
    Spawn(Box<recovery::Spawn>),
    /// Take a start back: drop it if it is not done yet, and end what it began.
    Withdraw {
        /// For which task.
        task: TaskId,
        /// Which start.
        start: u64,
        /// The life that it began, if it is known.
        incarnation: Option<Incarnation>,
    },
    /// Give a message to the agent; the store has its text. It is delivered when the agent's channel confirms it:
    /// what merely lies somewhere for it has reached nobody.
    Deliver {
        /// Which message.
        message: MessageId,
        /// Who sent it.
        from: AgentId,
        /// Counts from 1.
        attempt: u8,
    },
    /// Remind the agent that a message to it is unacknowledged.
    RemindOfMessage {
        /// Which message.
        message: MessageId,
        /// Who sent it.
        from: AgentId,
        /// How many messages to it are unacknowledged, with this one.
        unread: u32,
    },
    /// Tell the agent what became of a message that it sent.
    TellSender {
        /// Which message.
        message: MessageId,
        /// Whom it was for.
        to: AgentId,
        /// What became of it.
        news: ForSender,
    },
    /// Write a checkpoint of the agent to its store. Done twice it changes nothing.
    WriteCheckpoint {
        /// Which.
        id: CheckpointId,
        /// Where to.
        store: Arc<str>,
        /// The how manieth try it is, from 1.
        attempt: u32,
    },
    /// Look at the agent from outside, once. What is found comes back as a notice, and never as an outcome: it
    /// says nothing about the way to the agent.
    Probe(Box<ProbeStart>),
    /// Ask a language model what it thinks of a ticket. Its advice comes back as a notice, and never as an
    /// outcome; without it the ticket is decided when its time is up.
    AskAdvice(Box<Question>),
}

/// One run of a probe, with what its predecessors found (P01).
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeStart {
    /// Which probe.
    pub probe: ProbeName,
    /// The number that its result must bear.
    pub run: u64,
    /// The time it may take.
    pub timeout: Span,
    /// Failures in a row so far.
    pub failures: u32,
    /// The last result that said something.
    pub last: Option<Reported>,
}

/// What a language model gets to think about.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The ticket.
    pub ticket: Ticket,
    /// The time it has.
    pub within: Span,
}

/// What the orchestrator gets to decide on.
#[derive(Clone, Debug, PartialEq)]
pub struct Escalation {
    /// Why now.
    pub reason: Arc<str>,
    /// The findings behind it.
    pub evidence: Arc<[Evidence]>,
    /// What the agent works on.
    pub task: Option<TaskId>,
    /// Where its work could resume.
    pub checkpoint: Option<CheckpointId>,
    /// Reminders sent in vain.
    pub nudges: u8,
    /// When it is decided without the orchestrator, if it is.
    pub timeout: Span,
}

/// What became of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The channel's own receipt: it reached the agent (a ping: it left for a live connection).
    Delivered,
    /// Nobody listens there: the process is gone or the channel is closed.
    Refused,
    /// The way there is broken: no route, no name, timed out.
    Unreachable,
    /// The agent's process tree has ended, and its partial state was kept.
    Stopped,
    /// It could not be done for another reason; trying again may help.
    Failed,
    /// The checkpoint to begin with could not be read, and nothing runs.
    Unreadable,
    /// Who was to do it works, and never will: trying again does not help.
    Rejected,
}
