//! Asking before judging: may a failure be declared? (001 §1.5.3)
//!
//! The inquiry about an agent's silence is in `agent::inquiry`; this one is about one task. It is asked twice, since a
//! question may be lost and so may its answer, and its time counts from the first.

use std::fmt;

use super::Policy;
use crate::standing::Reading;
use crate::time::{Span, Timestamp};

/// Whether a failure may be declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was asked, and has time to answer.
    NotYet {
        /// When to look again.
        until: Timestamp,
    },
    /// Ask it first.
    Ask,
    /// Yes.
    MayDeclareFailure {
        /// Why.
        why: Failure,
    },
    /// No.
    No {
        /// Why not.
        why: Spared,
    },
}

/// Why a failure may be declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It did not answer, and its heartbeats have stopped.
    Unanswered {
        /// For how long it has not answered.
        lasting: Span,
    },
    /// It says itself that it cannot go on.
    CannotGoOn,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unanswered { lasting } => {
                write!(f, "a status inquiry went unanswered for {lasting} and heartbeats have stopped")
            }
            Self::CannotGoOn => f.write_str("the agent says that it cannot go on"),
        }
    }
}

/// Why no failure may be declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spared {
    /// No such task is open.
    NotOpen,
    /// The task is not stalled.
    NotStalled,
    /// Its agent is alive; the task may be blocked.
    Alive,
    /// Of its agent no heartbeats are known that could have stopped.
    NothingKnown,
}

/// What was asked about one task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Inquiry {
    pub(crate) asked_at: Option<Timestamp>,
    /// Whether it was asked the second time.
    pub(crate) repeated: bool,
    /// A busy worker is not judged before.
    pub(crate) look_at: Option<Timestamp>,
    /// It has led to nothing: its agent is alive. It is asked again when that changes.
    pub(crate) spent: bool,
}

impl Inquiry {
    pub(super) fn verdict(&self, now: Timestamp, worker: Reading, policy: &Policy) -> Verdict {
        let Some(asked_at) = self.asked_at else {
            return if self.spent && !worker.has_stopped() {
                Verdict::No { why: spared(worker) }
            } else {
                Verdict::Ask
            };
        };
        let over = asked_at + policy.inquiry_timeout;
        let again = asked_at + policy.inquiry_timeout.half();
        if !self.repeated && again <= now {
            return Verdict::Ask;
        }
        if now < over {
            return Verdict::NotYet { until: if self.repeated { over } else { again } };
        }
        let at_most = asked_at + policy.inquiry_timeout.times(u64::from(policy.busy_factor));
        match worker {
            Reading::Silent | Reading::Offline => {
                Verdict::MayDeclareFailure { why: Failure::Unanswered { lasting: now.since(asked_at) } }
            }
            Reading::Engaged { left, .. } if now < at_most => {
                Verdict::NotYet { until: left.map_or(at_most, |left| at_most.min(now + left)) }
            }
            Reading::There | Reading::Engaged { .. } | Reading::Unknown | Reading::Nobody => {
                Verdict::No { why: spared(worker) }
            }
        }
    }

    /// It is asked now.
    pub(super) fn on_asked(&mut self, now: Timestamp) {
        self.repeated = self.asked_at.is_some();
        self.asked_at.get_or_insert(now);
        self.spent = false;
    }

    /// It has led to nothing.
    pub(super) fn on_spent(&mut self) {
        *self = Self { spent: true, ..Self::default() };
    }

    /// When to look at it again, if ever.
    pub(super) fn deadline(&self, policy: &Policy) -> Option<Timestamp> {
        let asked_at = self.asked_at?;
        let over = asked_at + policy.inquiry_timeout;
        let again = asked_at + policy.inquiry_timeout.half();
        Some(if self.repeated { over.max(self.look_at.unwrap_or(over)) } else { again })
    }
}

fn spared(worker: Reading) -> Spared {
    match worker {
        Reading::There | Reading::Engaged { .. } => Spared::Alive,
        Reading::Silent | Reading::Offline | Reading::Unknown | Reading::Nobody => Spared::NothingKnown,
    }
}
