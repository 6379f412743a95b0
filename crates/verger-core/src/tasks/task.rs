//! One task, the three parts of its stall, and when it must be looked at.
//!
//! When that is follows from the task and the policy alone, never from the present moment: so a restart finds the same
//! deadlines, and waking early changes nothing.

use std::fmt;
use std::sync::Arc;

use super::decision::{Evidence, WhyTold};
use super::{Inquiry, Policy};
use crate::id::AgentId;
use crate::signal::Awaited;
use crate::standing::Reading;
use crate::time::{Span, Timestamp};

/// How a task stands, in the words of the interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStatus {
    /// Given to an agent that has not begun.
    Assigned,
    /// At work.
    InProgress,
    /// Finished.
    Done,
    /// Given up; it may be given to somebody again.
    Failed,
    /// Called off.
    Cancelled,
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Assigned => "assigned",
            Self::InProgress => "in_progress",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        })
    }
}

/// What is known of a task.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    Open(Box<Task>),
    Ended(Ended),
}

/// How a task ended. As small as it can be: many are remembered for long.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ended {
    pub(crate) at: Timestamp,
    pub(crate) agent: Option<AgentId>,
    pub(crate) how: Final,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Final {
    Done,
    Failed,
    Cancelled,
}

impl From<Final> for TaskStatus {
    fn from(how: Final) -> Self {
        match how {
            Final::Done => Self::Done,
            Final::Failed => Self::Failed,
            Final::Cancelled => Self::Cancelled,
        }
    }
}

/// A task that is not over.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Task {
    pub(crate) agent: Option<AgentId>,
    pub(crate) description: Option<Arc<str>>,
    pub(crate) assigned_at: Timestamp,
    pub(crate) due: Option<Timestamp>,
    pub(crate) updated_at: Option<Timestamp>,
    pub(crate) percent: Option<u8>,
    /// The highest percentage so far: only beyond it is progress.
    pub(crate) best: u8,
    pub(crate) begun: bool,
    /// When anything was last heard of it.
    pub(crate) touched_at: Timestamp,
    pub(crate) explanation: Option<Arc<str>>,
    pub(crate) explained_until: Option<Timestamp>,
    /// Explanations since the last progress.
    pub(crate) explanations: u8,
    /// A wait that its agent announced explains the delay until then.
    pub(crate) waits_until: Option<Timestamp>,
    pub(crate) stalled_since: Option<Timestamp>,
    pub(crate) inquiry: Inquiry,
    pub(crate) told: Option<Told>,
    pub(crate) failed: Option<Failed>,
}

/// People were told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) at: Timestamp,
    pub(crate) why: WhyTold,
}

/// A failure was declared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Failed {
    pub(crate) at: Timestamp,
    /// Its agent said that it cannot go on.
    pub(crate) by_own_word: bool,
}

impl Task {
    pub(super) fn status(&self) -> TaskStatus {
        if self.begun { TaskStatus::InProgress } else { TaskStatus::Assigned }
    }

    /// The three parts of a stall, as they are now.
    pub(super) fn evidence(&self, now: Timestamp, policy: &Policy, worker: Option<Reading>) -> Evidence {
        Evidence {
            quiet: now.since(self.quiet_since()),
            quiet_limit: policy.quiet,
            overdue: self.due.map(|due| now.since(due)).filter(|late| *late != Span::ZERO),
            explained: self
                .explained_at_most()
                .map(|until| until.since(now))
                .filter(|left| *left != Span::ZERO),
            worker,
            asked: self.inquiry.asked_at.map(|at| now.since(at)),
        }
    }

    fn quiet_since(&self) -> Timestamp {
        self.updated_at.map_or(self.assigned_at, |at| at.max(self.assigned_at))
    }

    fn explained_at_most(&self) -> Option<Timestamp> {
        self.explained_until.max(self.waits_until)
    }

    /// When it must be looked at.
    pub(super) fn deadline(&self, policy: &Policy) -> Timestamp {
        let next = if self.stalled_since.is_some() { self.judged_at(policy) } else { self.stalls_at(policy) };
        let abandoned = self.touched_at + policy.abandoned_after;
        next.map_or(abandoned, |next| next.min(abandoned))
    }

    /// When all three parts hold for the first time, if nothing happens.
    pub(super) fn stalls_at(&self, policy: &Policy) -> Option<Timestamp> {
        // Nobody is to blame for what nobody does, and who cannot go on need not be found out.
        if self.agent.is_none() || self.failed.is_some() {
            return None;
        }
        let beyond = Span::millis(1);
        let quiet = self.quiet_since() + policy.quiet + beyond;
        let overdue = self.due? + beyond;
        Some(quiet.max(overdue).max(self.explained_at_most().unwrap_or_default()))
    }

    fn judged_at(&self, policy: &Policy) -> Option<Timestamp> {
        self.inquiry.deadline(policy).filter(|_| self.failed.is_none())
    }

    /// Begins anew, with this agent; what was said by and of the one before counts no more.
    pub(super) fn begin(&mut self, at: Timestamp, agent: Option<AgentId>, due: Option<Timestamp>) {
        // The next one has as long as the one before, if nobody says otherwise.
        let lasting = self.due.map(|due| due.since(self.assigned_at));
        *self = Self {
            agent,
            description: self.description.take(),
            assigned_at: at,
            due: due.or(lasting.map(|span| at + span)),
            updated_at: None,
            percent: self.percent,
            best: self.best,
            ..Self::new(at)
        };
    }

    pub(super) fn new(at: Timestamp) -> Self {
        Self {
            agent: None,
            description: None,
            assigned_at: at,
            due: None,
            updated_at: None,
            percent: None,
            best: 0,
            begun: false,
            touched_at: at,
            explanation: None,
            explained_until: None,
            explanations: 0,
            waits_until: None,
            stalled_since: None,
            inquiry: Inquiry::default(),
            told: None,
            failed: None,
        }
    }
}

/// For how much longer a wait of its agent explains a delay: what holds it up, and what it announced itself. A call or
/// a thought is work like any other.
pub(super) fn explaining_wait(worker: Reading) -> Option<Span> {
    match worker {
        Reading::Engaged { awaited: Some(Awaited::Person | Awaited::Provider | Awaited::Timer), left } => {
            left
        }
        Reading::Engaged { .. }
        | Reading::There
        | Reading::Silent
        | Reading::Offline
        | Reading::Unknown
        | Reading::Nobody => None,
    }
}
