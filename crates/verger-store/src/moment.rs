//! When something was stored, on both clocks.

use verger_core::time::{Timestamp, WallTime};

/// A moment as it is stored: in observed time, which decides, and in wall time, which people read.
///
/// Retention goes by observed time. It cannot be set, so a clock that is wrong for an hour deletes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// In observed time.
    pub observed: Timestamp,
    /// What people's clocks showed.
    pub wall: WallTime,
}

impl Moment {
    /// Observed time as a column holds it.
    pub(crate) fn observed_ms(self) -> i64 {
        millis(self.observed)
    }
}

/// Observed time as a column holds it. What lies beyond the end of all clocks is stored as that end.
pub(crate) fn millis(at: Timestamp) -> i64 {
    i64::try_from(at.as_millis()).unwrap_or(i64::MAX)
}

/// Observed time out of a column.
pub(crate) fn timestamp(millis: i64) -> Timestamp {
    Timestamp::from_millis(u64::try_from(millis).unwrap_or(0))
}
