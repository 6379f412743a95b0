//! Lengths of time as people write them: `90s`, `24h`, `1h30m`, or plain seconds.
//!
//! The same spelling as in `verger.yaml`, so that nobody has to learn two.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The units, longest first, in milliseconds.
const UNITS: [(&str, u64); 6] =
    [("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Nothing in Verger lasts longer than this; it keeps all sums far from overflow.
const MAX_MS: u64 = 100 * 365 * 86_400_000;

/// A length of time, up to a century, to the millisecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HumanDuration(u64);

/// A text that is no length of time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a duration as in 90s, 10m, 24h or 7d")]
pub struct DurationError;

impl HumanDuration {
    /// So many milliseconds, a century at most.
    pub fn from_millis(millis: u64) -> Self {
        Self(millis.min(MAX_MS))
    }

    /// So many seconds, a century at most.
    pub fn from_secs(secs: u64) -> Self {
        Self::from_millis(secs.saturating_mul(1_000))
    }

    /// In milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// So many seconds, with decimals, rounded to the millisecond.
    pub(crate) fn from_decimal(secs: f64) -> Result<Self, DurationError> {
        let millis = secs * 1_000.0;
        if !(0.0..=MAX_MS as f64).contains(&millis) {
            return Err(DurationError);
        }
        #[expect(clippy::cast_sign_loss, reason = "the range was checked")]
        let millis = millis.round() as u64;
        Ok(Self(millis))
    }
}

impl From<HumanDuration> for std::time::Duration {
    fn from(duration: HumanDuration) -> Self {
        Self::from_millis(duration.0)
    }
}

impl FromStr for HumanDuration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().map(Self::from_secs).map_err(|_| DurationError);
        }
        let (mut rest, mut sum, mut last) = (text, 0_u64, u64::MAX);
        while !rest.is_empty() {
            let (number, after) = split(rest, |byte| byte.is_ascii_digit());
            let (unit, after) = split(after, |byte| byte.is_ascii_alphabetic());
            let size = UNITS.iter().find(|(name, _)| *name == unit).ok_or(DurationError)?.1;
            let number: u64 = number.parse().map_err(|_| DurationError)?;
            // `30m1h` is a slip more often than it is meant.
            if last <= size {
                return Err(DurationError);
            }
            sum = number.checked_mul(size).and_then(|part| sum.checked_add(part)).ok_or(DurationError)?;
            (rest, last) = (after, size);
        }
        if text.is_empty() || MAX_MS < sum { Err(DurationError) } else { Ok(Self(sum)) }
    }
}

fn split(text: &str, belongs: fn(u8) -> bool) -> (&str, &str) {
    text.split_at(text.bytes().take_while(|byte| belongs(*byte)).count())
}

impl fmt::Display for HumanDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        let mut rest = self.0;
        // Nobody speaks of `1w6d`.
        for (unit, size) in &UNITS[1..] {
            if *size <= rest {
                write!(f, "{}{unit}", rest / size)?;
                rest %= size;
            }
        }
        Ok(())
    }
}

impl Serialize for HumanDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HumanDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = HumanDuration;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration as in \"90s\", or seconds")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<HumanDuration, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_u64<E: de::Error>(self, secs: u64) -> Result<HumanDuration, E> {
                Ok(HumanDuration::from_secs(secs))
            }

            fn visit_f64<E: de::Error>(self, secs: f64) -> Result<HumanDuration, E> {
                HumanDuration::from_decimal(secs).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl PartialSchema for HumanDuration {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(
                "A length of time: a number with w, d, h, m, s or ms, several in a row, or seconds.",
            ))
            .pattern(Some(r"^([0-9]+(w|d|h|m|s|ms))+$|^[0-9]+$"))
            .examples(["24h"])
            .into()
    }
}

impl ToSchema for HumanDuration {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        let secs = |text: &str| text.parse().map(|duration: HumanDuration| duration.as_millis() / 1_000);
        assert_eq!(secs("24h"), Ok(86_400));
        assert_eq!(secs("1h30m"), Ok(5_400));
        assert_eq!(secs("7d"), Ok(604_800));
        assert_eq!(secs("90"), Ok(90));
        for wrong in [
            "",
            "h",
            "10",
            "1.5h",
            "-1s",
            "30m1h",
            "1h1h",
            "99999999w",
            "5 m",
            "5min",
            "99999999999999999999",
        ] {
            assert!(wrong == "10" || secs(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn json_may_also_hold_seconds() {
        let read = |text| serde_json::from_str::<HumanDuration>(text).map(HumanDuration::as_millis).ok();
        assert_eq!((read("90"), read("0.25"), read("\"2m\"")), (Some(90_000), Some(250), Some(120_000)));
        assert_eq!((read("-1"), read("1e300"), read("true")), (None, None, None));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(millis in 0..=MAX_MS) {
            let duration = HumanDuration::from_millis(millis);
            prop_assert_eq!(duration.to_string().parse(), Ok(duration));
        }

        #[test]
        fn no_text_is_too_strange(text in "\\PC{0,20}") {
            let _ = text.parse::<HumanDuration>();
        }
    }
}
