//! True time: what really passes in the world, whatever anybody's clock shows.

use std::fmt;
use std::ops::{Add, Sub};

use verger_core::time::{AgentTime, Span, WallTime};

/// Where the world begins on the calendar: Monday 2026-01-05, 00:00 UTC, in milliseconds since 1970.
pub const EPOCH_MS: i64 = 1_767_571_200_000;

/// Milliseconds of one second.
pub(crate) const SECOND: u64 = 1_000;
/// Milliseconds of one minute.
pub(crate) const MINUTE: u64 = 60 * SECOND;
/// Milliseconds of one hour.
pub(crate) const HOUR: u64 = 60 * MINUTE;
/// Milliseconds of one day.
pub(crate) const DAY: u64 = 24 * HOUR;

/// A moment of true time: milliseconds since the world began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimTime(pub u64);

impl SimTime {
    /// The moment the world began.
    pub const ZERO: Self = Self(0);

    /// Milliseconds since `earlier`; none if it is not earlier.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The hour of the day, 0 to 23.
    pub const fn hour(self) -> u64 {
        self.0 / HOUR % 24
    }

    /// What a clock shows that is right.
    pub const fn wall(self) -> WallTime {
        WallTime(EPOCH_MS + self.0.cast_signed())
    }

    /// What an agent's clock shows that is off by `skew_ms`.
    pub(crate) const fn agent(self, skew_ms: i64) -> AgentTime {
        AgentTime(EPOCH_MS + self.0.cast_signed() + skew_ms)
    }

    /// When the clock next shows this hour.
    pub(crate) const fn next_hour(self, hour: u64) -> Self {
        let today = self.0 / DAY * DAY + hour * HOUR;
        if self.0 < today { Self(today) } else { Self(today + DAY) }
    }
}

impl Add<u64> for SimTime {
    type Output = Self;

    fn add(self, millis: u64) -> Self {
        Self(self.0.saturating_add(millis))
    }
}

impl Sub<u64> for SimTime {
    type Output = Self;

    fn sub(self, millis: u64) -> Self {
        Self(self.0.saturating_sub(millis))
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span::millis(self.0).fmt(f)
    }
}

/// Whole milliseconds of so many seconds.
#[expect(clippy::cast_sign_loss, reason = "it is clamped to nought just before")]
pub(crate) fn millis(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1_000.0).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_comes_back_every_day() {
        assert_eq!(SimTime(0).next_hour(8), SimTime(8 * HOUR));
        assert_eq!(SimTime(8 * HOUR).next_hour(8), SimTime(DAY + 8 * HOUR));
        assert_eq!(SimTime(DAY + 9 * HOUR).hour(), 9);
    }
}
