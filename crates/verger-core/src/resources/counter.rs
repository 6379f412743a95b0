//! From the totals that an agent reports to what it really used.

use crate::time::{Span, Timestamp};

/// No agent reads and writes more tokens in a second: hundreds of answers at once, with caches. What is more is a
/// broken counter.
const TOKENS_PER_SEC: u64 = 1_000_000;
/// Nor does one spend more, in millionths of a US dollar.
const COST_PER_SEC: u64 = 100_000_000;
/// A report may cover this much more than the time since the last one.
const SLACK_SECS: u64 = 60;

/// Tokens and money that were used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Tokens.
    pub tokens: u64,
    /// Money, in millionths of a US dollar.
    pub cost_micros: u64,
}

impl Used {
    /// Both together.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(more.tokens),
            cost_micros: self.cost_micros.saturating_add(more.cost_micros),
        }
    }

    /// What would have been used in another time at the same rate.
    #[must_use]
    pub(crate) fn scaled(self, to: Span, from: Span) -> Self {
        let scale = |used: u64| {
            let scaled = u128::from(used) * u128::from(to.as_millis()) / u128::from(from.as_millis().max(1));
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        Self { tokens: scale(self.tokens), cost_micros: scale(self.cost_micros) }
    }

    /// The smaller of each.
    #[must_use]
    pub(crate) fn at_most(self, limit: Self) -> Self {
        Self { tokens: self.tokens.min(limit.tokens), cost_micros: self.cost_micros.min(limit.cost_micros) }
    }
}

/// One total, in one life.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counter {
    /// The highest total that was believed.
    pub(crate) high: Option<u64>,
    /// Whether the first total was too high to be of this life: the agent was there before it was watched.
    pub(crate) adopted: bool,
    /// When a total was last believed; at first, when the life began.
    pub(crate) at: Timestamp,
}

impl Counter {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { high: None, adopted: false, at: now }
    }

    pub(super) fn on_tokens(&mut self, now: Timestamp, total: u64) -> u64 {
        self.on_total(now, total, TOKENS_PER_SEC)
    }

    pub(super) fn on_cost(&mut self, now: Timestamp, total: u64) -> u64 {
        self.on_total(now, total, COST_PER_SEC)
    }

    /// How much was used since the last report.
    fn on_total(&mut self, now: Timestamp, total: u64, per_sec: u64) -> u64 {
        let secs = now.since(self.at).as_secs().saturating_add(SLACK_SECS);
        let plausible = per_sec.saturating_mul(secs);
        let (growth, believed) = match self.high {
            None => {
                self.adopted = plausible < total;
                (if self.adopted { 0 } else { total }, true)
            }
            // What was there before the agent was watched turns out to be less: begin from there.
            Some(high) if total < high && self.adopted => {
                self.adopted = plausible < total;
                (0, true)
            }
            Some(high) => {
                let growth = total.saturating_sub(high);
                (growth, 0 < growth && growth <= plausible)
            }
        };
        if !believed {
            return 0;
        }
        self.high = Some(total);
        self.at = now;
        growth
    }
}
