//! The clock port: two readings taken together.

use verger_core::time::WallTime;

/// Tells the time. The production clock asks the operating system, the simulator's is virtual.
pub trait Clock {
    /// Both clocks, now.
    fn read(&self) -> Reading;
}

/// What both clocks show at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Milliseconds on a clock that only runs forwards and counts suspend (`CLOCK_BOOTTIME`). It begins
    /// anew when the machine starts.
    pub boot: u64,
    /// What people's clocks show. It may jump, and no deadline depends on it.
    pub wall: WallTime,
}

impl Reading {
    /// Milliseconds from `earlier` to this reading, as far as the two clocks agree that there are any.
    ///
    /// Readings may lie in different lives of the machine, so neither clock is enough: the boot clock
    /// begins anew, the wall clock jumps. The longer of the two answers is given; `None` when the wall clock
    /// ran backwards, because then nothing is known.
    pub fn millis_since(self, earlier: Self) -> Option<u64> {
        let wall = u64::try_from(self.wall.0.checked_sub(earlier.wall.0)?).ok()?;
        Some(wall.max(self.boot.saturating_sub(earlier.boot)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(boot: u64, wall: i64) -> Reading {
        Reading { boot, wall: WallTime(wall) }
    }

    #[test]
    fn an_age_across_a_restart_of_the_machine_is_told_by_the_wall_clock() {
        assert_eq!(reading(5, 90_000).millis_since(reading(7_000, 30_000)), Some(60_000));
    }

    #[test]
    fn an_age_is_unknown_when_the_wall_clock_was_set_back() {
        assert_eq!(reading(9_000, 20_000).millis_since(reading(7_000, 30_000)), None);
    }
}
