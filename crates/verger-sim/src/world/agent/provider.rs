//! The model's provider refuses: for moments now and then, for long in an outage.
//!
//! 429 and 5xx are an outage, not a stuck agent; one project counted 132 "stuck" events in 13 h of 503.

use verger_core::fingerprint::{CallPrint, ResultPrint};
use verger_core::signal::{Awaited, Body, Failure, Status};
use verger_core::time::Span;

use super::kit::Kit;
use crate::rng::Rng;
use crate::world::print;
use crate::world::time::{MINUTE, SECOND};

/// What providers say.
const REFUSALS: [&str; 3] = ["429 rate_limit_error", "529 overloaded_error", "503 service unavailable"];

/// Some refusals, after which the provider, or a service behind a tool, answers again.
#[derive(Debug)]
pub(crate) struct Hiccup {
    left: u64,
    /// The call whose service refuses, if it is not the model's.
    call: Option<CallPrint>,
}

impl Hiccup {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let service = rng.range(0, 1_000_000);
        let call = rng.chance(0.4).then(|| print::call(&format!("WebFetch https://api.internal/{service}")));
        Self { left: rng.range(1, 4), call }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        match self.call {
            Some(call) => refused_call(kit, call),
            None => refused(kit, 5 * SECOND, 45 * SECOND),
        }
        self.left -= 1;
        self.left > 0
    }
}

/// One attempt during an outage: refused, and tried again after minutes.
pub(crate) fn outage_round(kit: &mut Kit<'_>) {
    if kit.rng.chance(0.3) {
        kit.status(Status::Waiting, Some(Awaited::Provider));
    }
    refused(kit, 20 * SECOND, 5 * MINUTE);
}

/// A service behind a tool refuses: a failure like others to the letter, but the network's.
fn refused_call(kit: &mut Kit<'_>, call: CallPrint) {
    kit.think();
    let result = ResultPrint { outage: true, ..print::failure("HTTP 503 Service Unavailable") };
    kit.call(call, result);
    let back_off = kit.rng.range(5 * SECOND, 45 * SECOND);
    kit.wait(back_off);
}

fn refused(kit: &mut Kit<'_>, least: u64, most: u64) {
    kit.send(Body::ModelStarted);
    let latency = kit.rng.range(200, 4 * SECOND);
    kit.wait(latency);
    kit.send(Body::ModelFinished);
    let back_off = kit.rng.range(least, most);
    let refusal = *kit.rng.choice::<&str>(&REFUSALS);
    let told = kit.rng.chance(0.7);
    kit.send(Body::Error(Failure {
        text: print::said(refusal),
        unrecoverable: false,
        provider: true,
        retry_after: told.then(|| Span::millis(back_off)),
    }));
    kit.wait(back_off);
}
