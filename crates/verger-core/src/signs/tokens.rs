//! Whether an agent uses the tokens it usually uses.

use crate::signs::Finding;
use crate::time::{Span, Timestamp};

/// What is unusual.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Minutes in a row that are far above the usual before it counts as a spike.
    pub spike_minutes: u32,
    /// The shortest pause that can count as a stop.
    pub stop_min: Span,
    /// How many times its longest usual pause an agent must pause for it to count as a stop.
    pub stop_pauses: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self { spike_minutes: 3, stop_min: Span::minutes(15), stop_pauses: 6 }
    }
}

/// How many tokens an agent uses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenUse {}

impl TokenUse {
    /// Tokens were used just now.
    pub fn observe_used(&mut self, _now: Timestamp, _tokens: u64) {}

    /// A heartbeat told how many tokens were used in this life.
    pub fn observe_total(&mut self, _now: Timestamp, _total: u64) {}

    /// A new life: its count begins anew; what is usual for this agent remains.
    pub fn reset(&mut self) {}

    /// Whether tokens are used far faster than usual.
    pub fn spike(&self, _now: Timestamp, _policy: &Policy) -> Option<Finding> {
        None
    }

    /// Whether an agent that uses tokens steadily stopped. Ask only while it is expected to work.
    pub fn stop(&self, _now: Timestamp, _policy: &Policy) -> Option<Finding> {
        None
    }

    /// When the answer may next change by itself.
    pub fn deadline(&self, _policy: &Policy) -> Option<Timestamp> {
        None
    }
}
