//! What is really the case with an agent.

use std::fmt;

use super::fault::FaultKind;

/// What is really the case with an agent at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// At work: model requests and tool calls, none of them longer than a minute.
    Working,
    /// A tool call runs for more than a minute.
    LongTool,
    /// The model takes more than a minute to answer.
    Thinking,
    /// It looks again and again whether something is done.
    Polling,
    /// It reads through something long, page by page.
    Paging,
    /// It changes things and runs the same tests after each change.
    Testing,
    /// A sub-agent works for it.
    Subagent,
    /// It waits for a person's answer.
    WaitingPerson,
    /// It waits for the model's provider.
    WaitingProvider,
    /// It has nothing to do.
    Idle,
    /// Its process has begun and is not ready yet.
    Starting,
    /// There is no process, and there should be none: not yet begun, or ended in good order or by a stop.
    Gone,
    /// Something is wrong with it.
    Faulty(FaultKind),
}

impl Condition {
    /// The fault, if this is one.
    pub const fn fault(self) -> Option<FaultKind> {
        match self {
            Self::Faulty(kind) => Some(kind),
            Self::Working
            | Self::LongTool
            | Self::Thinking
            | Self::Polling
            | Self::Paging
            | Self::Testing
            | Self::Subagent
            | Self::WaitingPerson
            | Self::WaitingProvider
            | Self::Idle
            | Self::Starting
            | Self::Gone => None,
        }
    }

    /// Whether a process is there and nothing is wrong with it.
    pub const fn is_healthy(self) -> bool {
        !matches!(self, Self::Gone | Self::Faulty(_))
    }

    /// Whether it is healthy and has work to do.
    pub const fn is_at_work(self) -> bool {
        self.is_healthy() && !matches!(self, Self::Idle | Self::Starting)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Working => "working",
            Self::LongTool => "in a long tool call",
            Self::Thinking => "waiting for a slow model",
            Self::Polling => "polling",
            Self::Paging => "paging",
            Self::Testing => "testing",
            Self::Subagent => "waiting for a sub-agent",
            Self::WaitingPerson => "waiting for a person",
            Self::WaitingProvider => "waiting for the provider",
            Self::Idle => "idle",
            Self::Starting => "starting",
            Self::Gone => "gone",
            Self::Faulty(kind) => return write!(f, "faulty: {kind}"),
        })
    }
}
