//! The model's provider refuses: for moments now and then, for long in an outage.
//!
//! 429 and 5xx are an outage, not a stuck agent; one project counted 132 "stuck" events in 13 h of 503.

use std::sync::Arc;

use verger_core::fingerprint::TextPrint;
use verger_core::signal::{Awaited, Body, Failure, Status};
use verger_core::time::Span;

use super::kit::Kit;
use crate::rng::Rng;
use crate::world::text::{self, Told};
use crate::world::time::{MINUTE, SECOND};

/// What providers say.
const REFUSALS: [&str; 3] = ["429 rate_limit_error", "529 overloaded_error", "503 service unavailable"];

/// Some refusals, after which the provider, or a service behind a tool, answers again.
#[derive(Debug)]
pub(crate) struct Hiccup {
    left: u64,
    /// Whether a tool's service refuses, and not the model's.
    service: bool,
    /// The call that is refused.
    call: Option<Arc<Told>>,
}

impl Hiccup {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        // One draw has no use any more; without it every world would be another.
        let _ = rng.bits();
        let service = rng.chance(0.4);
        Self { left: rng.range(1, 4), service, call: None }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        if self.service {
            let call = self.call.get_or_insert_with(|| Arc::new(text::outage(kit.voice)));
            refused_call(kit, Arc::clone(call));
        } else {
            refused(kit, 5 * SECOND, 45 * SECOND);
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
fn refused_call(kit: &mut Kit<'_>, call: Arc<Told>) {
    kit.think();
    kit.call(call);
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
        text: TextPrint::of(refusal),
        unrecoverable: false,
        provider: true,
        retry_after: told.then(|| Span::millis(back_off)),
    }));
    kit.wait(back_off);
}
