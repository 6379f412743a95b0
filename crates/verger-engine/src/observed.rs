//! Observed time: how long the monitor was able to see.
//!
//! ```text
//! boot clock    ──┬──┬──┬──────── paused ────────┬──┬──┬──►
//! observed time ──┬──┬──┬┐                      ┌┬──┬──┬──►
//!                        └──── stands still ────┘
//! ```
//!
//! It advances with the boot clock while the loop turns in time. The engine knows how long it asked to
//! sleep; a longer gap means that it was stopped, suspended, blocked by its disk or behind with its
//! inputs. Nothing says when in the gap that began, so none of the gap counts. After a restart it goes on
//! from the last durable mark. Deadlines are moments of observed time: an absence of the monitor moves all
//! of them at once, and no list of deadlines is ever walked.
//!
//! The wall clock plays no part, so setting it changes nothing.

use verger_core::time::{Span, Timestamp};

/// A time in which the monitor could not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blind {
    /// Where in observed time it lies. It has no length there.
    pub at: Timestamp,
    /// How long it really was. After a restart this is an estimate by the wall clock.
    pub lasted: Span,
    /// Why, as far as the engine can tell.
    pub cause: BlindCause,
}

/// Why the monitor could not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlindCause {
    /// It was not running.
    Down,
    /// It was not turned in time: stopped, suspended, starved or blocked by a commit.
    Paused,
    /// More came in than it could read.
    Behind,
    /// It could not write, so it could not act either.
    Store,
}

/// The observed clock.
#[derive(Clone, Debug)]
pub(crate) struct ObservedTime {
    /// The latest moment handed out.
    now: Timestamp,
    /// What was handed out when everything up to `settled_boot` had been read.
    settled: Timestamp,
    settled_boot: u64,
    /// Until when, on the boot clock, the engine asked to sleep.
    asked_boot: u64,
    tolerance: Span,
}

impl ObservedTime {
    /// Goes on from a durable mark, or from the beginning.
    pub(crate) fn resume(mark: Option<Timestamp>, boot: u64, tolerance: Span) -> Self {
        let now = mark.unwrap_or(Timestamp::ZERO);
        Self { now, settled: now, settled_boot: boot, asked_boot: boot, tolerance }
    }

    /// The moment at which inputs taken now are observed. Never earlier than the last answer.
    pub(crate) fn read(&mut self, boot: u64) -> Timestamp {
        let gap = boot.saturating_sub(self.settled_boot);
        if gap <= self.allowed() {
            self.now = self.now.max(self.settled + Span::millis(gap));
        }
        self.now
    }

    /// Everything that had arrived by `boot` has been read. Answers how long the monitor was blind before.
    pub(crate) fn settle(&mut self, boot: u64) -> Option<Span> {
        let gap = boot.saturating_sub(self.settled_boot);
        let counted = self.now.since(self.settled);
        let blind = (gap > self.allowed()).then(|| Span::millis(gap).less(counted));
        self.settled = self.now;
        self.settled_boot = self.settled_boot.max(boot);
        blind
    }

    /// The engine goes to sleep and asks to be turned again by `boot`.
    pub(crate) fn ask(&mut self, boot: u64) {
        self.asked_boot = boot;
    }

    /// How much later than asked the loop is turned.
    pub(crate) fn lateness(&self, boot: u64) -> Span {
        Span::millis(boot.saturating_sub(self.asked_boot))
    }

    fn allowed(&self) -> u64 {
        self.asked_boot.saturating_sub(self.settled_boot).saturating_add(self.tolerance.as_millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turns the clock at each boot time; the engine asks for 500 ms of sleep each time.
    fn observed(turns: &[u64]) -> Vec<(u64, Option<u64>)> {
        let mut time = ObservedTime::resume(None, turns[0], Span::secs(1));
        turns
            .iter()
            .map(|&boot| {
                let now = time.read(boot);
                let blind = time.settle(boot);
                time.ask(boot + 500);
                (now.as_millis(), blind.map(Span::as_millis))
            })
            .collect()
    }

    #[test]
    fn time_advances_while_the_loop_turns_in_time() {
        assert_eq!(observed(&[100, 600, 1_100]), [(0, None), (500, None), (1_000, None)]);
    }

    #[test]
    fn a_little_lateness_is_not_blindness() {
        assert_eq!(observed(&[0, 1_500]), [(0, None), (1_500, None)]);
    }

    #[test]
    fn time_stands_still_while_the_monitor_is_paused() {
        assert_eq!(
            observed(&[0, 500, 3_600_500, 3_601_000]),
            [(0, None), (500, None), (500, Some(3_600_000)), (1_000, None)]
        );
    }

    #[test]
    fn a_clock_that_runs_backwards_does_not_take_time_back() {
        assert_eq!(
            observed(&[1_000, 1_500, 900, 1_500, 2_000]),
            [(0, None), (500, None), (500, None), (500, None), (1_000, None)]
        );
    }

    #[test]
    fn inputs_left_unread_for_longer_than_the_tolerance_are_blindness() {
        let mut time = ObservedTime::resume(None, 0, Span::secs(1));
        let seen: Vec<_> = [400, 900, 1_400, 1_900].map(|boot| time.read(boot).as_millis()).into();
        assert_eq!(seen, [400, 900, 900, 900]);
        assert_eq!(time.settle(1_900), Some(Span::millis(1_000)));
        assert_eq!(time.read(2_000).as_millis(), 1_000);
    }
}
