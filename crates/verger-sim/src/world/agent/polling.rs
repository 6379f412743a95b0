//! Looking again and again whether a long job is done.
//!
//! The largest class of false alarms reported against loop detectors: a poll every 5 min for 15 min was
//! killed after four calls, a 10-minute build after 30 s of `read_output`. The call stays the same, the
//! result often does; it ends when the job does.

use verger_core::fingerprint::CallPrint;

use super::kit::Kit;
use crate::rng::Rng;
use crate::world::print;
use crate::world::time::{MINUTE, SECOND, SimTime, millis};

/// How polls are worded. All but the last two are recognisable as waiting.
const WORDINGS: [&str; 8] = [
    "Bash sleep 30; gh run view",
    "Bash tail -n 5 build.log of job",
    "Bash kubectl rollout status deploy/web",
    "BashOutput wait for shell",
    "Bash squeue --me; sleep 60; job",
    "Bash gh run watch",
    "Bash curl -s http://ci.internal/job",
    "Bash docker compose ps project",
];

/// A job that is polled.
#[derive(Debug)]
pub(crate) struct Polling {
    call: CallPrint,
    pace: u64,
    ends: SimTime,
    /// How many more looks show what the last one showed.
    unchanged: u64,
    shown: u64,
    patient: bool,
}

impl Polling {
    pub(crate) fn draw(rng: &mut Rng, now: SimTime) -> Self {
        let wording = rng.weighted(&[15, 15, 15, 15, 15, 15, 5, 5]);
        let job = rng.range(1_000, 1_000_000);
        Self {
            call: print::call(&format!("{} {job}", WORDINGS[wording])),
            pace: millis(rng.log_between(10.0, 300.0)),
            ends: now + millis(rng.log_normal(12.0 * 60.0, 1.0).clamp(60.0, 4.0 * 3_600.0)),
            unchanged: 0,
            shown: 0,
            patient: wording < 6,
        }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        let done = kit.now >= self.ends;
        if done || self.unchanged == 0 {
            self.shown = kit.fresh();
            self.unchanged = self.next_change(kit.rng);
        } else {
            self.unchanged -= 1;
        }
        let result = print::result(&format!("step {} of the job", self.shown));
        kit.think();
        let asleep = kit.rng.between(0.8, 1.2) * self.pace as f64 / 1_000.0;
        if self.patient && self.pace < 5 * MINUTE {
            kit.call_for(self.call, result, millis(asleep), None);
        } else {
            kit.call(self.call, result);
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
