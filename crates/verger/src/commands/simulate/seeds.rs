//! A range of seeds, as it is typed: `1..10`, both ends included.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The most seeds in one call.
const SEEDS_MAX: u64 = 10_000;

/// Some seeds in a row; at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seeds {
    first: u64,
    last: u64,
}

impl Seeds {
    pub(crate) fn one(seed: u64) -> Self {
        Self { first: seed, last: seed }
    }

    pub(crate) fn range(self) -> RangeInclusive<u64> {
        self.first..=self.last
    }

    pub(crate) fn count(self) -> u64 {
        (self.last - self.first).saturating_add(1)
    }
}

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once("..").ok_or("give the first and the last seed, as in 1..10")?;
        let seed =
            |text: &str| text.parse().map_err(|_| format!("`{text}` is not a seed (a whole number from 0)"));
        // `1..=10` means the same: Rust's habit is no reason for an error.
        let seeds = Self { first: seed(first)?, last: seed(last.strip_prefix('=').unwrap_or(last))? };
        if seeds.last < seeds.first {
            return Err(format!("there is no seed from {first} to {last}"));
        }
        if SEEDS_MAX < seeds.count() {
            return Err(format!("more than {SEEDS_MAX} seeds"));
        }
        Ok(seeds)
    }
}

impl fmt::Display for Seeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "seed {}", self.first)
        } else {
            write!(f, "seeds {}..{}", self.first, self.last)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_included() {
        let seeds: Seeds = "1..10".parse().unwrap();
        assert_eq!((seeds.count(), seeds.range().last()), (10, Some(10)));
        assert_eq!("1..=10".parse(), Ok(seeds));
        assert_eq!("4..4".parse(), Ok(Seeds::one(4)));
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in
            ["", "7", "..", "1..", "..4", "a..b", "-1..4", "5..4", "0..10000", "0..18446744073709551615"]
        {
            assert!(text.parse::<Seeds>().is_err(), "{text}");
        }
    }
}
