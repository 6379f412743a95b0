//! The last calls behind a breaker, two bits for each.

/// Calls that are remembered.
pub(crate) const CALLS_MAX: u8 = 64;

/// The last calls: whether each failed and whether it was slow, the latest in the lowest bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) failed: u64,
    pub(crate) slow: u64,
    pub(crate) calls: u8,
}

impl Window {
    /// One more call, in a window of `size`.
    pub(crate) fn push(&mut self, failed: bool, slow: bool, size: u8) {
        let size = size.clamp(1, CALLS_MAX);
        let mask = u64::MAX >> (CALLS_MAX - size);
        self.failed = (self.failed << 1 | u64::from(failed)) & mask;
        self.slow = (self.slow << 1 | u64::from(slow)) & mask;
        self.calls = self.calls.saturating_add(1).min(size);
    }

    /// Calls in it that failed.
    pub(crate) fn failures(&self) -> u8 {
        self.failed.count_ones() as u8
    }

    /// Calls in it that were slow.
    pub(crate) fn slow_calls(&self) -> u8 {
        self.slow.count_ones() as u8
    }
}
