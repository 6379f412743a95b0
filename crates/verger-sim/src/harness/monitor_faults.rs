//! What goes wrong with the monitor itself.
//!
//! Drawn from the seed on a stream of its own. The lengths are uniform in order of magnitude, from seconds
//! to hours, because short absences and long ones break different things.

use crate::rng::Rng;
use crate::world::SimTime;

const SECOND: f64 = 1_000.0;
const HOUR: f64 = 3_600.0 * SECOND;
/// Mean time between two mishaps: about ten a day, so that a week sees every kind many times.
const MEAN_GAP: f64 = 2.5 * HOUR;
/// The stream of chance that decides them.
const STREAM: u64 = 0x4D4F_4E49_544F_5200;

/// One mishap of the monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MonitorFault {
    /// It is stopped or suspended for so many milliseconds. What comes in waits in its sockets.
    Pause(u64),
    /// It dies. What comes in is lost until it is back.
    Crash {
        /// Where in its work.
        point: CrashPoint,
        /// For how many milliseconds it is down.
        down: u64,
        /// The machine restarts with it, so that the boot clock begins anew.
        reboot: bool,
    },
    /// Somebody sets its wall clock by so many milliseconds.
    StepWall(i64),
    /// Each of the next commits takes so many milliseconds.
    SlowDisk(Vec<u64>),
    /// The next commits fail.
    FailingDisk {
        /// How many.
        times: u32,
        /// The last of them was written all the same, though the monitor was told otherwise.
        written: bool,
    },
}

/// Where in its work the monitor dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashPoint {
    /// Between two turns.
    Idle,
    /// With a decision that is not on disk yet.
    BeforeCommit,
    /// With a decision on disk and nothing released.
    AfterCommit,
    /// After so many effects have left, and before their outcomes are heard.
    AfterReleases(u8),
}

/// The mishaps of one run, in order of time.
#[derive(Clone, Debug)]
pub struct MonitorFaults {
    rng: Option<Rng>,
    script: std::collections::VecDeque<(SimTime, MonitorFault)>,
    next: Option<SimTime>,
}

impl MonitorFaults {
    /// The mishaps that this seed decides.
    pub fn seeded(seed: u64) -> Self {
        let mut faults = Self { rng: Some(Rng::stream(seed, STREAM)), script: [].into(), next: None };
        faults.draw_next(SimTime::ZERO);
        faults
    }

    /// These and no others. They must be in order of time.
    pub fn scripted(script: impl IntoIterator<Item = (SimTime, MonitorFault)>) -> Self {
        let script: std::collections::VecDeque<_> = script.into_iter().collect();
        Self { rng: None, next: script.front().map(|(at, _)| *at), script }
    }

    /// When the next one comes.
    pub fn next(&self) -> Option<SimTime> {
        self.next
    }

    /// The one that is due.
    pub fn take(&mut self, now: SimTime) -> Option<MonitorFault> {
        if self.next.is_none_or(|next| now < next) {
            return None;
        }
        if let Some(rng) = &mut self.rng {
            let fault = draw(rng);
            self.draw_next(now);
            return Some(fault);
        }
        let (_, fault) = self.script.pop_front()?;
        self.next = self.script.front().map(|(at, _)| *at);
        Some(fault)
    }

    /// No more of them.
    pub fn heal(&mut self) {
        self.next = None;
    }

    fn draw_next(&mut self, now: SimTime) {
        if let Some(rng) = &mut self.rng {
            self.next = Some(now + whole(rng.exponential(MEAN_GAP)));
        }
    }
}

fn draw(rng: &mut Rng) -> MonitorFault {
    match rng.weighted(&[3, 3, 2, 3, 2]) {
        0 => MonitorFault::Pause(whole(rng.log_between(SECOND, 2.0 * HOUR))),
        1 => MonitorFault::Crash {
            point: draw_point(rng),
            down: whole(rng.log_between(0.2 * SECOND, HOUR)),
            reboot: rng.chance(0.3),
        },
        2 => {
            let length = whole(rng.log_between(SECOND, 24.0 * HOUR)).cast_signed();
            MonitorFault::StepWall(if rng.chance(0.5) { length } else { -length })
        }
        3 => {
            let commits = rng.range(1, 20);
            MonitorFault::SlowDisk(
                (0..commits).map(|_| whole(rng.log_between(SECOND, 30.0 * SECOND))).collect(),
            )
        }
        _ => MonitorFault::FailingDisk { times: rng.range(1, 60) as u32, written: rng.chance(0.5) },
    }
}

fn draw_point(rng: &mut Rng) -> CrashPoint {
    match rng.weighted(&[2, 1, 1, 2]) {
        0 => CrashPoint::Idle,
        1 => CrashPoint::BeforeCommit,
        2 => CrashPoint::AfterCommit,
        _ => CrashPoint::AfterReleases(rng.range(0, 3) as u8),
    }
}

#[expect(clippy::cast_sign_loss, reason = "lengths are drawn above nought")]
fn whole(millis: f64) -> u64 {
    millis as u64
}
