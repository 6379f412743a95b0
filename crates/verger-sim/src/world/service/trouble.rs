//! When a service is not well, in which way, and for how long.
//!
//! Providers' own reports name an incident of some kind every day or two, of twenty minutes up to a few hours; a
//! flapping endpoint is mended or gone within the hour. What belongs to one agent alone fails once in a week or two.

use super::facts::{Trouble, TroubleKind};
use crate::world::moment::Moment;
use crate::world::stage::Stage;
use crate::world::time::{HOUR, SECOND, SimTime, millis};

/// Mean hours between two troubles of what many share, and of what one has for itself.
const GAPS: (f64, f64) = (28.0, 200.0);
/// How often each kind comes, and between how many seconds it lasts.
const KINDS: [(TroubleKind, u32, (f64, f64)); 6] = [
    (TroubleKind::Fails, 3, (1_200.0, 14_400.0)),
    (TroubleKind::Unavailable, 2, (1_200.0, 10_800.0)),
    (TroubleKind::Hangs, 2, (1_200.0, 7_200.0)),
    (TroubleKind::Slow, 2, (600.0, 10_800.0)),
    (TroubleKind::Flaps, 2, (600.0, 3_600.0)),
    (TroubleKind::FailsPartly, 1, (1_200.0, 7_200.0)),
];

impl Stage {
    /// Draws when each service first gets into trouble.
    pub(crate) fn schedule_troubles(&mut self) {
        for service in 0..self.services.all.len() as u32 {
            self.schedule_trouble(service, SimTime::ZERO);
        }
    }

    fn schedule_trouble(&mut self, service: u32, now: SimTime) {
        let shared = self.truth.services()[service as usize].breaker.is_shared();
        let gap = if shared { GAPS.0 } else { GAPS.1 };
        let wait = (self.services.rng.exponential(gap) * HOUR as f64 / 1_000.0).max(60.0);
        self.queue.set(now + millis(wait), Moment::TroubleBegins { service });
    }

    /// Something goes wrong with a service.
    pub(crate) fn begin_trouble(&mut self, service: u32, now: SimTime) {
        if self.calm || now >= self.end {
            return;
        }
        let weights = KINDS.map(|(_, weight, _)| weight);
        let (kind, _, (least, most)) = KINDS[self.services.rng.weighted(&weights)];
        let lasts = millis(self.services.rng.log_between(least, most));
        self.trouble(service, now, kind);
        let number = self.services.all[service as usize].troubles;
        self.queue.set(now + lasts, Moment::TroubleEnds { service, number });
        if kind == TroubleKind::Flaps {
            self.flap(service, now, number);
        }
    }

    /// This goes wrong with a service, until it is over.
    pub(crate) fn trouble(&mut self, service: u32, now: SimTime, kind: TroubleKind) {
        let state = &mut self.services.all[service as usize];
        state.troubles += 1;
        state.trouble = Some(kind);
        let facts = &mut self.truth.services_mut()[service as usize];
        facts.troubles.push(Trouble { kind, began: now, ended: None });
    }

    /// A flapping service fails, or works for a moment.
    pub(crate) fn flap(&mut self, service: u32, now: SimTime, number: u32) {
        let state = &mut self.services.all[service as usize];
        if state.troubles != number || state.trouble != Some(TroubleKind::Flaps) {
            return;
        }
        state.works = !state.works;
        let wait = millis(self.services.rng.log_between(3.0, 90.0)).max(SECOND);
        self.queue.set(now + wait, Moment::Flap { service, number });
    }

    /// A service is well again.
    pub(crate) fn end_trouble(&mut self, service: u32, now: SimTime, number: u32) {
        let state = &mut self.services.all[service as usize];
        if state.troubles != number || state.trouble.take().is_none() {
            return;
        }
        state.works = true;
        if let Some(trouble) = self.truth.services_mut()[service as usize].troubles.last_mut() {
            trouble.ended = Some(now);
        }
        self.schedule_trouble(service, now);
    }

    /// Every service is well from now on.
    pub(crate) fn end_troubles(&mut self, now: SimTime) {
        for service in 0..self.services.all.len() as u32 {
            let number = self.services.all[service as usize].troubles;
            self.end_trouble(service, now, number);
        }
    }
}
