//! How many terminations may be under way at once.
//!
//! The budget counts what was done; this counts what is being done. A kill takes up to minutes, and a monitor that
//! is wrong about many agents is noticed while the first are still saving their work.

use std::collections::BTreeMap;

use super::{Correlation, Freeze, Membership, Policy};
use crate::id::AgentId;
use crate::time::Timestamp;

/// Terminations that are remembered, whatever the policy allows.
const REMEMBERED: usize = 1_024;

/// Why an agent is not ended now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// Many failed together.
    Frozen(Freeze),
    /// As many as allowed are being ended.
    Busy {
        /// How many may be.
        allowed: u32,
        /// When a place is free at the latest.
        until: Timestamp,
    },
}

impl Held {
    /// When to ask again, if nothing else happens before.
    pub fn until(&self) -> Timestamp {
        match self {
            Self::Frozen(freeze) => freeze.until,
            Self::Busy { until, .. } => *until,
        }
    }
}

/// Terminations under way, each with when its place is free at the latest.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stops {
    pub(crate) under_way: BTreeMap<AgentId, Timestamp>,
}

impl Correlation {
    /// Whether an agent may be ended now without a person's order; if not, why.
    pub fn may_stop(&self, now: Timestamp, membership: &Membership, policy: &Policy) -> Result<(), Held> {
        if let Some(freeze) = self.is_frozen(now, membership) {
            return Err(Held::Frozen(freeze));
        }
        let allowed = policy.stops_allowed(self.fleet.members);
        let running = self.stops.under_way.values().filter(|until| now < **until);
        if (running.clone().count() as u64) < u64::from(allowed) {
            return Ok(());
        }
        // None may be allowed at all: ask again when the policy may have changed.
        let until = running.min().copied().unwrap_or(now + policy.stop_lasts_max);
        Err(Held::Busy { allowed, until })
    }

    /// An agent is being ended.
    pub fn on_stopping(&mut self, now: Timestamp, agent: &AgentId, policy: &Policy) {
        let under_way = &mut self.stops.under_way;
        under_way.retain(|_, until| now < *until);
        if under_way.len() < REMEMBERED || under_way.contains_key(agent) {
            under_way.insert(agent.clone(), now + policy.stop_lasts_max);
        }
    }

    /// It ended, or nobody tries any longer. Tells whether that is news.
    pub fn on_stopped(&mut self, agent: &AgentId) -> bool {
        self.stops.under_way.remove(agent).is_some()
    }
}
