//! The machine's clocks.

use std::time::{SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use verger_core::time::WallTime;
use verger_engine::{Clock, Reading};

/// Asks the operating system. The boot clock counts suspend and cannot be set; the wall clock is what people read.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn read(&self) -> Reading {
        Reading { boot: boot_millis(), wall: wall_now() }
    }
}

/// Milliseconds on the clock that counts suspend.
pub(crate) fn boot_millis() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let (secs, nanos) = (now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs());
    secs.saturating_mul(1_000).saturating_add(nanos / 1_000_000)
}

/// What people's clocks show. Signals are stamped with it when they are read from a socket.
pub fn wall_now() -> WallTime {
    let millis = |span: std::time::Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    WallTime(match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => millis(since),
        Err(before) => -millis(before.duration()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_run_forwards() {
        let (before, after) = (SystemClock.read(), SystemClock.read());
        assert!(before.boot <= after.boot && 0 < before.boot);
        assert!(0 < after.wall.0, "the machine's year is not before 1970");
    }
}
