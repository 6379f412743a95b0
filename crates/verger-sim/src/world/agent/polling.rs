//! Looking again and again whether a long job is done.
//!
//! The largest class of false alarms reported against loop detectors: a poll every 5 min for 15 min was
//! killed after four calls, a 10-minute build after 30 s of `read_output`. The call stays the same, the
//! result often does; it ends when the job does.

use super::kit::Kit;
use crate::rng::Rng;
use crate::world::text::Job;
use crate::world::time::{MINUTE, SECOND, SimTime, millis};

/// A job that is polled.
#[derive(Debug)]
pub(crate) struct Polling {
    job: Job,
    pace: u64,
    ends: SimTime,
    /// How many more looks show what the last one showed.
    unchanged: u64,
    patient: bool,
}

impl Polling {
    pub(crate) fn draw(rng: &mut Rng, now: SimTime) -> Self {
        let manner = rng.weighted(&[15, 15, 15, 15, 15, 15, 5, 5]);
        let number = rng.range(1_000, 1_000_000);
        Self {
            job: Job::new(manner, number),
            pace: millis(rng.log_between(10.0, 300.0)),
            ends: now + millis(rng.log_normal(12.0 * 60.0, 1.0).clamp(60.0, 4.0 * 3_600.0)),
            unchanged: 0,
            patient: manner < 6,
        }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        let done = kit.now >= self.ends;
        if done || self.unchanged == 0 {
            kit.fresh();
            self.job.get_on(kit.voice, done);
            self.unchanged = self.next_change(kit.rng);
        } else {
            self.unchanged -= 1;
        }
        kit.think();
        let told = self.job.look(kit.voice);
        let asleep = kit.rng.between(0.8, 1.2) * self.pace as f64 / 1_000.0;
        if self.patient && self.pace < 5 * MINUTE {
            kit.call_for(told, millis(asleep), None);
        } else {
            kit.call(told);
            kit.wait(millis(asleep).max(SECOND));
        }
        if done {
            kit.advance(0);
        }
        !done
    }

    /// Half of the looks show something new; otherwise a stage lasts up to 20 min, or up to 3 looks where
    /// nobody would know the call for a poll.
    fn next_change(&self, rng: &mut Rng) -> u64 {
        if rng.chance(0.5) {
            return 0;
        }
        let most = if self.patient { 20 * MINUTE / self.pace.max(1) } else { 3 };
        rng.range(1, most.max(1) + 1)
    }
}
