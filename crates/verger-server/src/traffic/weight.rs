//! What bodies weigh that are being read or taken in, all together.
//!
//! One body may be large, and there may be thousands of connections; both at once would be more than a machine has. So
//! bodies share one measure. Small ones are not weighed: what comes with the head is in a buffer of bounded size already.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a body may weigh without being counted.
const FREE: u64 = 32 << 10;
/// A body whose length nobody told is given room in steps.
const STEP: u64 = 256 << 10;

/// The weight of all.
#[derive(Debug, Default)]
pub(super) struct Weights {
    held: AtomicU64,
}

impl Weights {
    pub(super) fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }
}

/// The part of one body, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    weights: Arc<Weights>,
    held: u64,
}

impl Share {
    pub(super) fn new(weights: &Arc<Weights>) -> Self {
        Self { weights: Arc::clone(weights), held: 0 }
    }

    /// Makes it hold so many bytes, if all together then hold no more than `most`. One alone always fits.
    pub(crate) fn hold(&mut self, bytes: u64, most: u64) -> bool {
        if bytes <= FREE.max(self.held) {
            return true;
        }
        let more = bytes.next_multiple_of(STEP) - self.held;
        let own = self.held;
        let grown = self.weights.held.try_update(Ordering::Relaxed, Ordering::Relaxed, |held| {
            (held + more <= most || held == own).then_some(held + more)
        });
        if grown.is_ok() {
            self.held += more;
        }
        grown.is_ok()
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.weights.held.fetch_sub(self.held, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x13_bodies_together_hold_what_they_may_and_one_alone_always_fits() {
        let weights = Arc::<Weights>::default();
        let most = 4 * STEP;
        let (mut first, mut second) = (Share::new(&weights), Share::new(&weights));
        assert!(first.hold(3 * STEP, most) && second.hold(STEP, most));
        assert!(!second.hold(STEP + 1, most) && second.hold(STEP, most), "what it has, it has");
        assert!(Share::new(&weights).hold(FREE, most), "small ones pass");
        drop(second);
        assert!(first.hold(9 * STEP, most), "nobody else is there");
        drop(first);
        assert_eq!(weights.held(), 0);
    }
}
