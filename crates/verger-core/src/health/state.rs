//! The composite state and the changes it may make.
//!
//! ```text
//! UNKNOWN ──► HEALTHY ◄──► DEGRADED ◄──► STUCK ◄──► FAILING      any of them ──► TERMINATED
//!                ▲────────────────────────┘  ▲────────┘
//! ```
//!
//! A living agent may move between any two living states, because the evidence decides and not the path; it
//! never becomes unknown again, and TERMINATED is final for that incarnation.

use std::fmt;

/// How an agent is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HealthState {
    /// No evidence yet.
    Unknown,
    /// It makes progress, or has no reason to.
    Healthy,
    /// Warning signs.
    Degraded,
    /// No progress.
    Stuck,
    /// In an error loop, or broken.
    Failing,
    /// This life is over.
    Terminated,
}

impl HealthState {
    /// Whether a change from this state to `to` can happen at all.
    pub fn may_become(self, to: Self) -> bool {
        match self {
            Self::Terminated => false,
            Self::Unknown => to != Self::Unknown,
            Self::Healthy | Self::Degraded | Self::Stuck | Self::Failing => to != self && to != Self::Unknown,
        }
    }
}

impl fmt::Display for HealthState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "UNKNOWN",
            Self::Healthy => "HEALTHY",
            Self::Degraded => "DEGRADED",
            Self::Stuck => "STUCK",
            Self::Failing => "FAILING",
            Self::Terminated => "TERMINATED",
        })
    }
}
