//! How long to wait before trying again: longer each time, and never all at once.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// Waits that double from the first to the longest, each shortened at random by up to a half, so that a thousand agents
/// whose monitor comes back do not ask it in the same moment.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    first: Duration,
    longest: Duration,
    failures: u32,
}

impl Backoff {
    pub(crate) fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, failures: 0 }
    }

    /// It worked: the next failure waits briefly again.
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }

    /// It failed: how long to wait now. `at_least` is what the monitor asked for.
    pub(crate) fn next(&mut self, at_least: Option<Duration>) -> Duration {
        let whole = self.first.saturating_mul(1 << self.failures.min(16)).min(self.longest);
        self.failures = self.failures.saturating_add(1);
        // A hasher's keys are the randomness that the standard library has.
        let random = RandomState::new().build_hasher().finish() % 1_000;
        let shortened = whole.mul_f64(1.0 - random as f64 / 2_000.0);
        // What a monitor asks for is believed within reason.
        shortened.max(at_least.unwrap_or_default().min(self.longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_stay_within_their_bound_and_begin_anew_after_a_success() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(30));
        let within = |wait: Duration, whole: u64| {
            assert!(
                Duration::from_millis(whole / 2) <= wait && wait <= Duration::from_millis(whole),
                "{wait:?}"
            );
        };
        within(backoff.next(None), 100);
        within(backoff.next(None), 200);
        within(backoff.next(None), 400);
        for _ in 0..100 {
            backoff.next(None);
        }
        within(backoff.next(None), 30_000);
        backoff.reset();
        within(backoff.next(None), 100);
    }

    #[test]
    fn a_monitor_may_ask_for_a_longer_wait_but_not_for_ever() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(30));
        assert_eq!(backoff.next(Some(Duration::from_secs(5))), Duration::from_secs(5));
        assert_eq!(backoff.next(Some(Duration::from_hours(24))), Duration::from_secs(30));
    }
}
