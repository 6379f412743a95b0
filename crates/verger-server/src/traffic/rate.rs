//! Rates of so many senders as there may be, in memory that does not grow.
//!
//! A name has a place in each of two tables, by its hash; a place says up to when what was sent is paid for at the allowed
//! rate (GCRA). Whoever shares one place with a noisy sender does not share the other, except once in a billion times; so
//! the lower of the two counts. Hashes are seeded: nobody can choose a name to sit beside somebody else.

use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Places in each of the tables.
const PLACES: usize = 1 << 15;

/// What senders have used up.
#[derive(Debug)]
pub(super) struct Rates {
    /// Microseconds since the beginning.
    paid_until: [Box<[AtomicU64]>; 2],
    hasher: RandomState,
    began: Instant,
}

impl Default for Rates {
    fn default() -> Self {
        let table = || (0..PLACES).map(|_| AtomicU64::new(0)).collect();
        Self { paid_until: [table(), table()], hasher: RandomState::new(), began: Instant::now() }
    }
}

impl Rates {
    /// Whether more may come at so many in a second and so many more at once; else, after which time.
    pub(super) fn allows<K: Hash>(&self, who: K, rate: u64, burst: u32) -> Result<(), Duration> {
        self.allows_at(self.now(), self.hasher.hash_one(who), rate, burst)
    }

    /// Something came.
    pub(super) fn spend<K: Hash>(&self, who: K, rate: u64) {
        self.spend_at(self.now(), self.hasher.hash_one(who), rate);
    }

    fn allows_at(&self, now: u64, hash: u64, rate: u64, burst: u32) -> Result<(), Duration> {
        let paid_until = self.places(hash).map(|place| place.load(Ordering::Relaxed)).into_iter().min();
        let ahead = paid_until.unwrap_or(0).saturating_sub(now);
        let most = u64::from(burst) * 1_000_000 / rate;
        if ahead <= most { Ok(()) } else { Err(Duration::from_micros(ahead - most)) }
    }

    fn spend_at(&self, now: u64, hash: u64, rate: u64) {
        // More than a million in a second cannot be told from as many as come.
        let price = 1_000_000 / rate;
        for place in self.places(hash) {
            // Two at one moment may count as one: whoever sends so much is found out soon enough.
            let paid = place.load(Ordering::Relaxed).max(now) + price;
            place.store(paid, Ordering::Relaxed);
        }
    }

    fn places(&self, hash: u64) -> [&AtomicU64; 2] {
        let [first, second] = &self.paid_until;
        [&first[hash as usize % PLACES], &second[(hash >> 32) as usize % PLACES]]
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000;

    /// How many of so many pass, one each at these moments.
    fn passed(rates: &Rates, hash: u64, moments: impl Iterator<Item = u64>) -> usize {
        let pass = |now| {
            let is_allowed = rates.allows_at(now, hash, 10, 20).is_ok();
            if is_allowed {
                rates.spend_at(now, hash, 10);
            }
            is_allowed
        };
        moments.filter(|now| pass(*now)).count()
    }

    #[test]
    fn x13_a_burst_passes_and_then_so_many_in_a_second() {
        let rates = Rates::default();
        assert_eq!(passed(&rates, 1, std::iter::repeat_n(SECOND, 100)), 21);
        assert_eq!(rates.allows_at(SECOND, 1, 10, 20), Err(Duration::from_millis(100)));
        let later = (2 * SECOND..=12 * SECOND).step_by(10_000);
        assert_eq!(passed(&rates, 1, later), 110, "ten in a second, also for the second in between");
        assert_eq!(passed(&rates, 1, std::iter::repeat_n(100 * SECOND, 100)), 21, "time pays for all");
    }

    #[test]
    fn x13_who_shares_one_place_with_the_noisy_is_not_held_back() {
        let rates = Rates::default();
        assert_eq!(passed(&rates, 7, std::iter::repeat_n(SECOND, 100)), 21);
        let neighbours = [7 | 1 << 32, 8];
        assert!(neighbours.iter().all(|hash| rates.allows_at(SECOND, *hash, 10, 20).is_ok()));
        assert!(rates.allows_at(SECOND, 7 | 1 << 63, 10, 20).is_err(), "the same two places");
    }
}
