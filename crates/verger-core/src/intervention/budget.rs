//! Limits against storms: at most so many within a sliding window.
//!
//! Exact, not a token bucket: "5 within 10 minutes" then holds for every 10 minutes there are, which is what a
//! person who reads the limit expects and what the simulator checks. The moments are part of the state rows, so
//! a restart refills nothing.

use std::collections::VecDeque;

use crate::time::{Span, Timestamp};

/// At most `count` within any `window`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// How many.
    pub count: u16,
    /// In which time.
    pub window: Span,
}

/// What was spent of one limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budget {
    pub(crate) spent: VecDeque<Timestamp>,
}

impl Budget {
    /// When one more is allowed: now, or later.
    pub fn allows_at(&self, now: Timestamp, limit: Limit) -> Timestamp {
        let count = usize::from(limit.count);
        match self.spent.len().checked_sub(count) {
            None => now,
            // A limit of nothing: ask again a window later, the configuration may have changed.
            Some(_) if count == 0 => now + limit.window,
            Some(excess) => (self.spent[excess] + limit.window).max(now),
        }
    }

    /// Spends one.
    pub fn spend(&mut self, now: Timestamp, limit: Limit) {
        while self.spent.front().is_some_and(|at| *at + limit.window <= now) {
            self.spent.pop_front();
        }
        self.spent.push_back(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit { count: 2, window: Span::secs(10) };

    fn at(secs: u64) -> Timestamp {
        Timestamp::ZERO + Span::secs(secs)
    }

    #[test]
    fn l23_no_window_of_any_position_holds_more_than_the_limit() {
        let mut budget = Budget::default();
        assert_eq!(budget.allows_at(at(0), LIMIT), at(0));
        budget.spend(at(0), LIMIT);
        assert_eq!(budget.allows_at(at(6), LIMIT), at(6));
        budget.spend(at(6), LIMIT);
        assert_eq!(budget.allows_at(at(7), LIMIT), at(10), "free when the first leaves the window");
        budget.spend(at(10), LIMIT);
        assert_eq!(budget.allows_at(at(10), LIMIT), at(16), "and not at a window's fixed edge");
        assert_eq!(budget.allows_at(at(30), LIMIT), at(30));
    }

    #[test]
    fn a_limit_of_nothing_allows_nothing_and_does_not_spin() {
        let none = Limit { count: 0, window: Span::secs(10) };
        assert_eq!(Budget::default().allows_at(at(5), none), at(15));
    }
}
