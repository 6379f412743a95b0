//! What happened to a breaker, for events and for people.

use std::fmt;

use super::call::{Mode, State};
use super::name::BreakerName;
use crate::time::Span;

/// Something changed about a breaker. If `from` and `to` differ, it is a `CIRCUIT_BREAKER_STATE_CHANGED`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which.
    pub name: BreakerName,
    /// How it let calls through before, and does now, and why.
    pub transition: Transition,
}

/// A change of one breaker, without its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The state before, as people see it.
    pub from: State,
    /// The state now.
    pub to: State,
    /// Why.
    pub reason: Reason,
}

/// Why a breaker changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It opened: so many failures in a row.
    Streak {
        /// How many.
        failures: u16,
    },
    /// It opened: too many of the last calls failed.
    FailureRate {
        /// How many failed,
        failures: u8,
        /// of how many.
        calls: u8,
    },
    /// It opened: too many of the last calls were slow.
    SlowRate {
        /// How many were slow,
        slow: u8,
        /// of how many.
        calls: u8,
    },
    /// It opened again: a call that tried it failed, or was slow.
    ProbeFailed,
    /// It opened again: a call that tried it was never reported back.
    ProbeExpired,
    /// It is half open: the time is over.
    Waited {
        /// For how long it was open.
        open_for: Span,
    },
    /// It closed: the calls that tried it succeeded.
    ProbesSucceeded,
    /// A person gave it another mode.
    ModeSet {
        /// The mode before.
        from: Mode,
        /// The mode now.
        to: Mode,
    },
    /// A person reset it.
    Reset,
    /// It is gone, because its agent is.
    Deregistered,
    /// It is gone: others needed its place, and nobody had used it for longer.
    MadeRoom,
    /// It could not be made, as nothing may be forgotten for it: calls go unwatched.
    NoRoom,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Streak { failures: 1 } => f.write_str("a failure"),
            Self::Streak { failures } => write!(f, "{failures} failures in a row"),
            Self::FailureRate { failures, calls } => write!(f, "{failures} of the last {calls} calls failed"),
            Self::SlowRate { slow, calls } => write!(f, "{slow} of the last {calls} calls were slow"),
            Self::ProbeFailed => f.write_str("the call that tried it failed"),
            Self::ProbeExpired => f.write_str("the call that tried it was never reported back"),
            Self::Waited { open_for } => write!(f, "open for {open_for}, it may be tried again"),
            Self::ProbesSucceeded => f.write_str("it works again"),
            Self::ModeSet { from, to } => write!(f, "set from {from} to {to}"),
            Self::Reset => f.write_str("reset by a person"),
            Self::Deregistered => f.write_str("its agent is gone"),
            Self::MadeRoom => f.write_str("forgotten to make room for others"),
            Self::NoRoom => f.write_str("there are too many breakers: calls to it go unwatched"),
        }
    }
}
