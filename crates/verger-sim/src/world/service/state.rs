//! How a service is at present, and how calls to it go.
//!
//! A service that is well answers within a second, one call in a hundred much later (Pareto), and fails one in a
//! thousand. A refused connection takes milliseconds, a 503 up to a second; a slow service takes thirty times as long.

use verger_core::breaker::{CallResult, Outcome};
use verger_core::time::Span;

use super::facts::TroubleKind;
use crate::rng::Rng;
use crate::world::time::millis;

/// How often a call fails though all is well.
const FAILS: f64 = 0.001;
/// How many times as long calls to a slow service take.
const SLOWNESS: f64 = 30.0;

/// All services of a world.
#[derive(Debug)]
pub(crate) struct Services {
    /// Chance in what goes wrong with them.
    pub(super) rng: Rng,
    pub(super) all: Vec<Service>,
}

/// One service.
#[derive(Debug)]
pub(crate) struct Service {
    /// Seconds in which half of the calls are answered.
    median: f64,
    /// What is wrong with it.
    pub(super) trouble: Option<TroubleKind>,
    /// Whether a flapping one works just now.
    pub(super) works: bool,
    /// How many troubles it has had.
    pub(super) troubles: u32,
}

impl Services {
    pub(super) const fn new(rng: Rng, all: Vec<Service>) -> Self {
        Self { rng, all }
    }

    /// How a call goes that begins now, and for how many milliseconds it lasts. Its caller waits no longer than
    /// `timeout`.
    pub(super) fn call(&self, service: u32, rng: &mut Rng, timeout: u64) -> (Outcome, u64) {
        let (result, took) = self.all[service as usize].answer(rng);
        let (result, took) =
            if took < timeout { (result, took.max(1)) } else { (CallResult::Failed, timeout) };
        (Outcome { result, took: Some(Span::millis(took)) }, took)
    }
}

impl Service {
    pub(super) const fn new(median: f64) -> Self {
        Self { median, trouble: None, works: true, troubles: 0 }
    }

    fn answer(&self, rng: &mut Rng) -> (CallResult, u64) {
        match self.trouble {
            None => self.answer_well(rng),
            Some(TroubleKind::Flaps) if self.works => self.answer_well(rng),
            Some(TroubleKind::FailsPartly) if rng.chance(0.5) => self.answer_well(rng),
            Some(TroubleKind::Fails | TroubleKind::Flaps | TroubleKind::FailsPartly) => {
                (CallResult::Failed, millis(rng.log_between(0.002, 0.5)))
            }
            Some(TroubleKind::Unavailable) => (CallResult::Outage, millis(rng.log_between(0.02, 1.0))),
            Some(TroubleKind::Hangs) => (CallResult::Failed, u64::MAX),
            Some(TroubleKind::Slow) => (CallResult::Ok, millis(rng.log_normal(self.median * SLOWNESS, 0.7))),
        }
    }

    fn answer_well(&self, rng: &mut Rng) -> (CallResult, u64) {
        let seconds = if rng.chance(0.01) {
            rng.pareto(2.0 + self.median, 1.2)
        } else {
            rng.log_normal(self.median, 0.8)
        };
        (if rng.chance(FAILS) { CallResult::Failed } else { CallResult::Ok }, millis(seconds.min(3_600.0)))
    }
}
