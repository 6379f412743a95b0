//! Moments as they go over the wire: RFC 3339, in UTC, to the millisecond.
//!
//! Every signal may carry one and every answer carries several, so the usual form
//! (`2026-11-16T14:28:00[.fff]Z`) is read and written by hand; whatever else RFC 3339 and ISO 8601 allow goes to
//! jiff. Written out, a moment always has three decimals: texts of one width sort like the moments they mean.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

const DAY_MS: i64 = 86_400_000;

/// A moment of wall time, in milliseconds since 1970, between the years 0000 and 9999.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

/// A text that is no moment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a time as in 2026-01-31T12:00:00Z")]
pub struct TimeError;

impl Time {
    /// The first moment that can be written.
    pub const MIN: Self = Self(-62_167_219_200_000);
    /// The last moment that can be written.
    pub const MAX: Self = Self(253_402_300_799_999);

    /// The moment so many milliseconds after 1970 began; the nearest that can be written.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(Self::MIN.0, Self::MAX.0))
    }

    /// Milliseconds since 1970 began.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The moment as text, without an allocation.
    fn text(self) -> [u8; 24] {
        let (days, ms) = (self.0.div_euclid(DAY_MS), self.0.rem_euclid(DAY_MS));
        let (year, month, day) = civil(days);
        let mut text = *b"0000-00-00T00:00:00.000Z";
        digits(&mut text[0..4], year);
        digits(&mut text[5..7], month);
        digits(&mut text[8..10], day);
        digits(&mut text[11..13], ms / 3_600_000);
        digits(&mut text[14..16], ms / 60_000 % 60);
        digits(&mut text[17..19], ms / 1_000 % 60);
        digits(&mut text[20..23], ms % 1_000);
        text
    }
}

impl FromStr for Time {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        if let Some(time) = usual(text.as_bytes()) {
            return Ok(time);
        }
        let time: jiff::Timestamp = text.parse().map_err(|_| TimeError)?;
        let millis = i64::try_from(time.as_nanosecond().div_euclid(1_000_000)).map_err(|_| TimeError)?;
        if (Self::MIN.0..=Self::MAX.0).contains(&millis) { Ok(Self(millis)) } else { Err(TimeError) }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.text()).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Time;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time as in \"2026-01-31T12:00:00Z\"")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Time, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

impl PartialSchema for Time {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .description(Some("A moment, as in RFC 3339, in UTC."))
            .examples(["2026-01-31T12:00:00.000Z"])
            .into()
    }
}

impl ToSchema for Time {}

/// Reads `YYYY-MM-DDTHH:MM:SS[.f…](Z|+00:00)`, and leaves everything else alone.
fn usual(text: &[u8]) -> Option<Time> {
    let (stamp, rest) = text.split_at_checked(19)?;
    let separated = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if separated.iter().any(|&(at, separator)| stamp[at] != separator) {
        return None;
    }
    let part = |range: std::ops::Range<usize>| number(&stamp[range]);
    let (year, month, day) = (part(0..4)?, part(5..7)?, part(8..10)?);
    let (hour, minute, second) = (part(11..13)?, part(14..16)?, part(17..19)?);
    if !(1..=12).contains(&month) || day < 1 || days_in(year, month) < day {
        return None;
    }
    if 23 < hour || 59 < minute || 59 < second {
        return None;
    }
    let (millis, zone) = fraction(rest)?;
    if zone != b"Z" && zone != b"+00:00" {
        return None;
    }
    let seconds = hour * 3_600 + minute * 60 + second;
    Some(Time(days_before(year, month, day) * DAY_MS + seconds * 1_000 + millis))
}

/// The milliseconds of a fraction of up to nine digits, and what follows it.
fn fraction(rest: &[u8]) -> Option<(i64, &[u8])> {
    let Some(after) = rest.strip_prefix(b".") else { return Some((0, rest)) };
    let count = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=9).contains(&count) {
        return None;
    }
    let (digits, zone) = after.split_at(count);
    let millis = [100, 10, 1].iter().zip(digits).map(|(weight, digit)| weight * i64::from(digit - b'0'));
    Some((millis.sum(), zone))
}

fn number(text: &[u8]) -> Option<i64> {
    text.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
}

fn digits(into: &mut [u8], mut number: i64) {
    for place in into.iter_mut().rev() {
        *place = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days between 1970-01-01 and a date. Years begin in March, so that the leap day is the last of its year.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date so many days after 1970-01-01: year, month and day.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What jiff reads, within the years that can be written.
    fn by_jiff(text: &str) -> Option<i64> {
        let time: jiff::Timestamp = text.parse().ok()?;
        let millis = i64::try_from(time.as_nanosecond().div_euclid(1_000_000)).expect("within i64");
        (Time::MIN.0..=Time::MAX.0).contains(&millis).then_some(millis)
    }

    #[test]
    fn a_moment_is_written_with_three_decimals() {
        assert_eq!(Time::from_millis(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Time::from_millis(-1).to_string(), "1969-12-31T23:59:59.999Z");
        assert_eq!(Time::from_millis(i64::MAX).to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(Time::from_millis(i64::MIN).to_string(), "0000-01-01T00:00:00.000Z");
    }

    #[test]
    fn what_others_write_is_read() {
        let noon = "2026-01-31T12:00:00Z".parse::<Time>().expect("a time");
        for other in ["2026-01-31T14:00:00+02:00", "2026-01-31t12:00:00.000000z", "2026-01-31 12:00:00+00:00"]
        {
            assert_eq!(other.parse(), Ok(noon), "{other}");
        }
        for none in [
            "",
            "noon",
            "2026-01-31",
            "2026-02-30T12:00:00Z",
            "2026-01-31T12:00:00",
            "-000001-01-01T00:00:00Z",
        ] {
            assert_eq!(none.parse::<Time>(), Err(TimeError), "{none}");
        }
    }

    proptest! {
        #[test]
        fn every_moment_is_read_and_written_as_jiff_does(millis in Time::MIN.0..=Time::MAX.0) {
            let time = Time::from_millis(millis);
            let text = time.to_string();
            let jiff = jiff::Timestamp::from_millisecond(millis).expect("within jiff's years");
            prop_assert_eq!(&text, &format!("{jiff:.3}"));
            prop_assert_eq!(usual(text.as_bytes()), Some(time));
        }

        #[test]
        fn every_text_is_read_as_jiff_does(
            text in "[0-9]{4}-[01][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,10})?(Z|z|[+-][0-2][0-9]:[0-6][0-9])?"
        ) {
            prop_assert_eq!(text.parse::<Time>().ok().map(Time::as_millis), by_jiff(&text));
        }

        #[test]
        fn no_text_is_too_strange(text in "\\PC{0,40}") {
            prop_assert_eq!(text.parse::<Time>().ok().map(Time::as_millis), by_jiff(&text));
        }
    }
}
