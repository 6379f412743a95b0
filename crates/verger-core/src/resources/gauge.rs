//! A sampled value that must be over its limit for a while.

use super::Policy;
use crate::time::{Span, Timestamp};

/// One sampled value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Gauge {
    pub(crate) value: u64,
    pub(crate) sampled_at: Option<Timestamp>,
    /// Since when every sample was near the limit, over it, or not over it.
    pub(crate) near_since: Option<Timestamp>,
    pub(crate) over_since: Option<Timestamp>,
    pub(crate) under_since: Option<Timestamp>,
}

impl Gauge {
    pub(super) fn on_sample(&mut self, now: Timestamp, value: u64, limit: Option<u64>, policy: &Policy) {
        let gap = self.sampled_at.map_or(Span::ZERO, |at| now.since(at));
        if policy.sample_gap_max < gap {
            *self = Self::default();
        }
        let since = |begun: Option<Timestamp>, holds: bool| holds.then(|| begun.unwrap_or(now));
        let near = limit.is_some_and(|limit| policy.near_of(limit) <= value);
        let over = limit.is_some_and(|limit| limit < value);
        self.near_since = since(self.near_since, near);
        self.over_since = since(self.over_since, over);
        self.under_since = since(self.under_since, !over);
        self.value = value;
        self.sampled_at = Some(now);
    }

    pub(super) fn is_near(&self, policy: &Policy) -> bool {
        self.lasted(self.near_since, policy)
    }

    /// Whether it is over its limit; between over and not over for long enough, what it was stays.
    pub(super) fn is_over(&self, was_over: bool, policy: &Policy) -> bool {
        if was_over { !self.lasted(self.under_since, policy) } else { self.lasted(self.over_since, policy) }
    }

    /// Up to the last sample, not to now: nothing is known of the time since.
    fn lasted(&self, since: Option<Timestamp>, policy: &Policy) -> bool {
        let (Some(since), Some(at)) = (since, self.sampled_at) else { return false };
        policy.sustained <= at.since(since)
    }
}
