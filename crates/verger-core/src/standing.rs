//! How the one who should act stands: the receiver of a message, the worker at a task.
//!
//! Whether anybody is there is judged elsewhere, from heartbeats and pings. Messages and tasks only ask, before they
//! conclude anything (R05, R10).

use std::fmt;

use crate::id::AgentId;
use crate::liveness::LivenessStatus;
use crate::signal::Awaited;
use crate::time::{Span, Timestamp};
use crate::waiting::Wait;

/// What is known of an agent: whether it is there, and what it waits on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Online, idle, busy, unresponsive or offline; nothing if it was never heard.
    pub status: Option<LivenessStatus>,
    /// What it waits on, and until when that excuses it. An announced `busy until` is a wait on a timer.
    pub wait: Option<Wait>,
}

/// What that means for whom something is expected of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It shows life, and nothing is known that would keep it (001: failure unlikely).
    There,
    /// It is busy, or waits on something.
    Engaged {
        /// What it waits on, if it waits.
        awaited: Option<Awaited>,
        /// For how much longer that excuses it, if that is known.
        left: Option<Span>,
    },
    /// The way to it works, and it shows no life: it may have failed.
    Silent,
    /// There is no way to it (001: failure likely, investigate).
    Offline,
    /// It was never heard, so its silence says nothing.
    Unknown,
    /// No such agent is registered (001: check the name).
    Nobody,
}

impl Reading {
    /// What `standing` means; nobody is there if there is none.
    pub fn of(standing: Option<Standing>, now: Timestamp) -> Self {
        let Some(standing) = standing else { return Self::Nobody };
        let wait = standing.wait.filter(|wait| now < wait.until);
        match (standing.status, wait) {
            (None, _) => Self::Unknown,
            (Some(LivenessStatus::Offline), _) => Self::Offline,
            (Some(LivenessStatus::Unresponsive), _) => Self::Silent,
            (Some(LivenessStatus::Online | LivenessStatus::Idle | LivenessStatus::Busy), Some(wait)) => {
                Self::Engaged { awaited: Some(wait.awaited), left: Some(wait.until.since(now)) }
            }
            (Some(LivenessStatus::Busy), None) => Self::Engaged { awaited: None, left: None },
            (Some(LivenessStatus::Online | LivenessStatus::Idle), None) => Self::There,
        }
    }

    /// Whether its heartbeats are known to have stopped.
    pub fn has_stopped(self) -> bool {
        match self {
            Self::Silent | Self::Offline => true,
            Self::There | Self::Engaged { .. } | Self::Unknown | Self::Nobody => false,
        }
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::There => f.write_str("it shows life"),
            Self::Engaged { awaited: None, .. } => f.write_str("it is busy"),
            Self::Engaged { awaited: Some(awaited), left: None } => write!(f, "it waits on {awaited}"),
            Self::Engaged { awaited: Some(awaited), left: Some(left) } => {
                write!(f, "it waits on {awaited} for {left} at most")
            }
            Self::Silent => f.write_str("it is unresponsive and may have failed"),
            Self::Offline => f.write_str("it is offline"),
            Self::Unknown => f.write_str("it was never heard"),
            Self::Nobody => f.write_str("no such agent is registered"),
        }
    }
}

/// The surroundings of one step of a machine that expects something of agents.
pub struct Surroundings<'a, Policy, Decided> {
    /// The present moment.
    pub now: Timestamp,
    /// The limits.
    pub policy: &'a Policy,
    /// How an agent stands; nothing if none of that name is registered.
    pub standing: &'a dyn Fn(&AgentId) -> Option<Standing>,
    /// Where decisions go.
    pub out: &'a mut Vec<Decided>,
}

impl<Policy, Decided> Surroundings<'_, Policy, Decided> {
    pub(crate) fn reading(&self, agent: &AgentId) -> Reading {
        Reading::of((self.standing)(agent), self.now)
    }
}
