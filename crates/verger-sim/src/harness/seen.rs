//! How much of true time the monitor had seen by when.
//!
//! Latency is measured in seen time: a monitor that was down cannot find anything, and says so elsewhere.

use verger_core::time::{Span, Timestamp};

use crate::world::SimTime;

/// A map from true time to observed time: stretches of equal pace, with standstill between them.
#[derive(Clone, Debug, Default)]
pub struct SeenTime {
    stretches: Vec<(SimTime, u64)>,
    returns: Vec<SimTime>,
}

impl SeenTime {
    /// The engine was turned at `at`, and its observed time was `observed`.
    pub fn on_turn(&mut self, at: SimTime, observed: Timestamp) {
        let observed = observed.as_millis();
        let expected = self.stretches.last().map(|(began, seen)| seen + at.since(*began));
        if expected != Some(observed) {
            self.stretches.push((at, observed));
        }
    }

    /// The engine was started again, or says itself that it was blind for long.
    pub fn on_back(&mut self, at: SimTime) {
        self.returns.push(at);
    }

    /// Observed milliseconds by then.
    pub fn at(&self, at: SimTime) -> u64 {
        let after = self.stretches.partition_point(|(began, _)| *began <= at);
        let Some(place) = after.checked_sub(1) else { return 0 };
        let (began, seen) = self.stretches[place];
        let reached = seen + at.since(began);
        self.stretches.get(after).map_or(reached, |(_, next)| reached.min((*next).max(seen)))
    }

    /// Observed milliseconds from `from` to `to`.
    pub fn between(&self, from: SimTime, to: SimTime) -> u64 {
        self.at(to).saturating_sub(self.at(from))
    }

    /// Whether time stood still at that moment.
    pub fn is_blind(&self, at: SimTime) -> bool {
        self.between(at, at + 1) == 0
    }

    /// True time of the end of the last standstill before `at`, if there was one.
    pub fn last_blind(&self, at: SimTime) -> Option<SimTime> {
        let after = self.stretches.partition_point(|(began, _)| *began <= at);
        (after > 1).then(|| self.stretches[after - 1].0)
    }

    /// When the monitor was last back before `at`: after a restart, long blindness, or a standstill of at least `gap`.
    pub fn last_absence(&self, at: SimTime, gap: Span) -> Option<SimTime> {
        let before = self.stretches.partition_point(|(began, _)| *began <= at);
        let unseen = |from: (SimTime, u64), to: (SimTime, u64)| {
            to.0.since(from.0).saturating_sub(to.1.saturating_sub(from.1))
        };
        let mut pairs = self.stretches[..before].windows(2).rev();
        let standstill = pairs.find(|pair| gap.as_millis() <= unseen(pair[0], pair[1])).map(|pair| pair[1].0);
        let back = self.returns.iter().copied().rfind(|back| *back <= at);
        standstill.max(back)
    }

    /// True time up to `until` that was not seen, in milliseconds.
    pub fn blind(&self, until: SimTime) -> u64 {
        until.since(SimTime::ZERO).saturating_sub(self.at(until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stands_still_between_two_stretches() {
        let mut seen = SeenTime::default();
        for (at, observed) in [(0, 0), (1_000, 1_000), (9_000, 1_000), (9_500, 1_500)] {
            seen.on_turn(SimTime(at), Timestamp::from_millis(observed));
        }
        assert_eq!(seen.at(SimTime(500)), 500);
        assert_eq!(seen.at(SimTime(5_000)), 1_000);
        assert_eq!(seen.at(SimTime(9_200)), 1_200);
        assert_eq!(seen.blind(SimTime(9_500)), 8_000);
        assert!(seen.is_blind(SimTime(5_000)) && !seen.is_blind(SimTime(9_100)));
        assert_eq!(seen.last_blind(SimTime(9_200)), Some(SimTime(9_000)));
        assert_eq!(seen.last_blind(SimTime(900)), None);
        assert_eq!(seen.last_absence(SimTime(9_200), Span::secs(8)), Some(SimTime(9_000)));
        assert_eq!(seen.last_absence(SimTime(9_200), Span::secs(9)), None);
        assert_eq!(seen.last_absence(SimTime(8_900), Span::secs(1)), None, "it is not over yet");
        seen.on_back(SimTime(400));
        assert_eq!(seen.last_absence(SimTime(8_900), Span::secs(1)), Some(SimTime(400)));
    }
}
