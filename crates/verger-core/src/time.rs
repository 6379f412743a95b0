//! The three clocks, as three types that cannot be mixed up.
//!
//! [`Timestamp`] is observed time: milliseconds for which the monitor was able to see. It stands still
//! while the monitor is down, paused or blocked, so a deadline measured on it never holds the monitor's
//! own absence against an agent. [`WallTime`] is what people read; [`AgentTime`] is what an agent claims,
//! and decides nothing about liveness.

use std::fmt;
use std::num::NonZeroU64;
use std::ops::{Add, AddAssign, Sub};

/// A moment of observed time. It never runs backwards.
///
/// Stored one higher than it is, so that `Option<Timestamp>` needs no more room: an agent holds a dozen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(NonZeroU64);

impl Timestamp {
    /// The moment the fleet was first observed.
    pub const ZERO: Self = Self(NonZeroU64::MIN);
    /// Later than every moment that will be reached; a deadline that is never due.
    pub const NEVER: Self = Self(NonZeroU64::MAX);

    /// The moment `millis` after the fleet was first observed.
    pub const fn from_millis(millis: u64) -> Self {
        Self(NonZeroU64::MIN.saturating_add(millis))
    }

    /// Milliseconds since the fleet was first observed.
    pub const fn as_millis(self) -> u64 {
        self.0.get() - 1
    }

    /// How long ago `earlier` was; nothing if it is not earlier.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.get().saturating_sub(earlier.0.get()))
    }
}

impl Add<Span> for Timestamp {
    type Output = Self;

    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Timestamp {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Span> for Timestamp {
    type Output = Self;

    fn sub(self, span: Span) -> Self {
        Self::from_millis(self.as_millis().saturating_sub(span.0))
    }
}

impl Default for Timestamp {
    fn default() -> Self {
        Self::ZERO
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.as_millis()).fmt(f)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Timestamp({})", self.as_millis())
    }
}

/// A length of time in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than anything that will be waited for.
    pub const FOREVER: Self = Self(u64::MAX);

    /// A span of `millis` milliseconds.
    pub const fn millis(millis: u64) -> Self {
        Self(millis)
    }

    /// A span of `secs` seconds.
    pub const fn secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000))
    }

    /// A span of `minutes` minutes.
    pub const fn minutes(minutes: u64) -> Self {
        Self::secs(minutes.saturating_mul(60))
    }

    /// A span of `hours` hours.
    pub const fn hours(hours: u64) -> Self {
        Self::minutes(hours.saturating_mul(60))
    }

    /// The span in milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The span in whole seconds.
    pub const fn as_secs(self) -> u64 {
        self.0 / 1_000
    }

    /// This span, `times` over.
    #[must_use]
    pub const fn times(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }

    /// Half of this span.
    #[must_use]
    pub const fn half(self) -> Self {
        Self(self.0 / 2)
    }

    /// What is left of this span after `other`; nothing if `other` is longer.
    #[must_use]
    pub const fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Span {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// As people write it: `1d2h`, `90m` as `1h30m`, `4s`, `250ms`; at most the two largest units.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 5] =
            [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms")];
        if self.0 == 0 {
            return f.write_str("0s");
        }
        if self.0 == u64::MAX {
            return f.write_str("for ever");
        }
        let first = UNITS.iter().position(|(size, _)| *size <= self.0).expect("a millisecond always fits");
        let mut rest = self.0;
        for (size, unit) in UNITS.iter().skip(first).take(2) {
            if rest / size > 0 {
                write!(f, "{}{unit}", rest / size)?;
            }
            rest %= size;
        }
        Ok(())
    }
}

/// A span as exact as a sentence needs it: from a second on to a tenth, from ten on to a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Roughly(pub(crate) Span);

impl fmt::Display for Roughly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.0 {
            millis @ 1_000..10_000 if millis / 100 % 10 != 0 => {
                write!(f, "{}.{}s", millis / 1_000, millis / 100 % 10)
            }
            millis @ 1_000..60_000 => write!(f, "{}s", millis / 1_000),
            _ => self.0.fmt(f),
        }
    }
}

/// What people's clocks show: milliseconds since the Unix epoch. It may jump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallTime(pub i64);

/// What an agent's own clock showed: milliseconds since the Unix epoch, as far as that clock is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentTime(pub i64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_does_not_count_milliseconds() {
        let shown = |millis| Roughly(Span::millis(millis)).to_string();
        let spans = [0, 250, 999, 1_000, 1_099, 4_250, 9_999, 10_100, 59_999, 60_001, 90_500, u64::MAX];
        let read = "0s 250ms 999ms 1s 1s 4.2s 9.9s 10s 59s 1m 1m30s for ever";
        assert_eq!(spans.map(shown).join(" "), read);
    }

    #[test]
    fn a_span_reads_as_people_write_it() {
        let shown = |millis| Span::millis(millis).to_string();
        assert_eq!(shown(0), "0s");
        assert_eq!(shown(250), "250ms");
        assert_eq!(shown(90_000), "1m30s");
        assert_eq!(shown(3_600_000), "1h");
        assert_eq!(shown(3_661_000), "1h1m");
        assert_eq!(shown(93_600_000), "1d2h");
        assert_eq!(shown(1_500), "1s500ms");
    }

    #[test]
    fn time_saturates_instead_of_wrapping() {
        assert_eq!(Timestamp::NEVER + Span::secs(1), Timestamp::NEVER);
        assert_eq!(Timestamp::ZERO.since(Timestamp::NEVER), Span::ZERO);
        assert_eq!(Span::hours(u64::MAX), Span::FOREVER);
        assert_eq!(Timestamp::from_millis(5) - Span::millis(9), Timestamp::ZERO);
    }
}
