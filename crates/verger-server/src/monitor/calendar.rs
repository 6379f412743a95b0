//! When something was, for people: observed time as wall time.
//!
//! Observed time stands still while the monitor is blind, so the two clocks drift apart with every such time. Counted
//! back from now, each blind time in between has to be added.

use std::collections::VecDeque;

use verger_core::time::{Span, Timestamp, WallTime};
use verger_engine::{Blind, Reading};

/// Blind times that are remembered. Moments before the oldest of them are told too late by what was forgotten.
const REMEMBERED: usize = 4_096;

/// Tells wall times of observed moments.
#[derive(Clone, Debug, Default)]
pub struct Calendar {
    now: Timestamp,
    wall: WallTime,
    /// Oldest first.
    blind: VecDeque<(Timestamp, Span)>,
}

impl Calendar {
    /// With blind times of earlier lives of the monitor, in any order.
    pub(crate) fn new(blind: impl IntoIterator<Item = (Timestamp, Span)>) -> Self {
        let mut blind: Vec<(Timestamp, Span)> = blind.into_iter().collect();
        blind.sort_unstable();
        blind.drain(..blind.len().saturating_sub(REMEMBERED));
        Self { blind: blind.into(), ..Self::default() }
    }

    /// It is so late by both clocks now. Answers the blind time before it, the first time that it is told.
    pub(crate) fn on_turn(
        &mut self,
        now: Timestamp,
        reading: Reading,
        blind: Option<Blind>,
    ) -> Option<Blind> {
        (self.now, self.wall) = (now, reading.wall);
        let new = blind?;
        // The loop says the same blind time again until it is on disk.
        if self.blind.back() == Some(&(new.at, new.lasted)) {
            return None;
        }
        self.blind.push_back((new.at, new.lasted));
        if self.blind.len() > REMEMBERED {
            self.blind.pop_front();
        }
        Some(new)
    }

    /// Now, in observed time.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Now, on people's clocks.
    pub fn wall_now(&self) -> WallTime {
        self.wall
    }

    /// What people's clocks showed at a moment that was, or will show at one to come if nothing happens meanwhile.
    pub fn wall(&self, at: Timestamp) -> WallTime {
        if self.now < at {
            return WallTime(self.wall.0.saturating_add(millis(at.since(self.now))));
        }
        let later = self.blind.iter().rev().take_while(|(blind, _)| at < *blind);
        let unseen = later.fold(Span::ZERO, |sum, (_, lasted)| sum + *lasted);
        WallTime(self.wall.0.saturating_sub(millis(self.now.since(at) + unseen)))
    }
}

fn millis(span: Span) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use verger_engine::BlindCause;

    fn at(secs: u64) -> Timestamp {
        Timestamp::ZERO + Span::secs(secs)
    }

    fn turned(calendar: &mut Calendar, now: u64, wall: i64, blind: Option<(u64, u64)>) {
        let cause = BlindCause::Paused;
        let blind = blind.map(|(from, lasted)| Blind { at: at(from), lasted: Span::secs(lasted), cause });
        calendar.on_turn(at(now), Reading { boot: 0, wall: WallTime(wall * 1_000) }, blind);
    }

    #[test]
    fn a_blind_time_lies_between_what_was_before_and_what_came_after() {
        let mut calendar = Calendar::new([]);
        turned(&mut calendar, 100, 5_000, None);
        assert_eq!(calendar.wall(at(90)), WallTime(4_990_000));
        turned(&mut calendar, 110, 8_610, Some((105, 3_600)));
        turned(&mut calendar, 110, 8_610, Some((105, 3_600)));
        assert_eq!(calendar.wall(at(106)), WallTime(8_606_000), "after it");
        assert_eq!(calendar.wall(at(90)), WallTime(4_990_000), "before it, the same as ever");
        assert_eq!(calendar.wall(at(120)), WallTime(8_620_000), "to come");
    }

    #[test]
    fn what_earlier_lives_did_not_see_counts_too() {
        let mut calendar = Calendar::new([(at(50), Span::secs(10)), (at(20), Span::secs(5))]);
        turned(&mut calendar, 60, 1_000, None);
        assert_eq!(calendar.wall(at(55)), WallTime(995_000));
        assert_eq!(calendar.wall(at(30)), WallTime(960_000));
        assert_eq!(calendar.wall(at(10)), WallTime(935_000));
    }
}
