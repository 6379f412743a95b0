//! A state that keeps changing is a condition of its own, not a dozen alarms.
//!
//! The last eight changes between well and unwell are remembered. Six within the window raise the condition;
//! it clears only when fewer than three are left in it. Between the two nothing changes, so the condition
//! does not flap itself. While it is raised the agent counts as degraded, whatever the single signs say.

use crate::evidence::{Measure, Severity, Sign};
use crate::signs::Finding;
use crate::time::{Span, Timestamp};

const REMEMBERED: usize = 8;

/// When changes of state count as flapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The time over which changes are counted. Default 1 h.
    pub window: Span,
    /// As many changes raise the condition. Default 6: three times ill, three times well again.
    pub raise_at: u8,
    /// Fewer than this clear it. Default 3.
    pub clear_below: u8,
}

impl Default for Policy {
    fn default() -> Self {
        Self { window: Span::hours(1), raise_at: 6, clear_below: 3 }
    }
}

/// The recent changes of one agent between well and unwell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flapping {
    pub(crate) changes: Vec<Timestamp>,
    pub(crate) raised: bool,
    pub(crate) unwell: bool,
}

impl Flapping {
    /// What the signs say now, before this condition is added to them.
    pub(crate) fn observe(&mut self, now: Timestamp, unwell: bool, policy: &Policy) {
        if unwell != self.unwell {
            self.unwell = unwell;
            if self.changes.len() == REMEMBERED {
                self.changes.remove(0);
            }
            self.changes.push(now);
        }
        self.changes.retain(|at| now.since(*at) < policy.window);
        let limit = if self.raised { policy.clear_below } else { policy.raise_at };
        self.raised = self.changes.len() >= usize::from(limit);
    }

    /// Its state keeps changing.
    pub(crate) fn finding(&self, policy: &Policy) -> Option<Finding> {
        self.raised.then(|| Finding {
            sign: Sign::Flapping,
            value: Measure::Count(self.changes.len() as u64),
            threshold: Measure::Count(u64::from(policy.raise_at)),
            severity: Severity::Degraded,
        })
    }

    /// When the condition clears by itself if nothing more happens.
    pub(crate) fn deadline(&self, policy: &Policy) -> Option<Timestamp> {
        if !self.raised {
            return None;
        }
        let leaving = self.changes.len().checked_sub(usize::from(policy.clear_below).max(1))?;
        self.changes.get(leaving).map(|at| *at + policy.window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x07_flapping_is_raised_once_and_clears_with_hysteresis() {
        let policy = Policy::default();
        let mut flapping = Flapping::default();
        for minute in 0..5 {
            flapping.observe(Timestamp::ZERO + Span::minutes(minute), minute % 2 == 0, &policy);
        }
        assert_eq!(flapping.finding(&policy), None, "five changes are not flapping yet");
        flapping.observe(Timestamp::ZERO + Span::minutes(5), false, &policy);
        assert!(flapping.finding(&policy).is_some());

        let clears = flapping.deadline(&policy).expect("it has a way back");
        assert_eq!(clears, Timestamp::ZERO + Span::minutes(63), "when only the last two changes are left");
        flapping.observe(clears - Span::millis(1), false, &policy);
        assert!(flapping.finding(&policy).is_some());
        flapping.observe(clears, false, &policy);
        assert_eq!(flapping.finding(&policy), None);
        assert_eq!(flapping.deadline(&policy), None);
    }
}
