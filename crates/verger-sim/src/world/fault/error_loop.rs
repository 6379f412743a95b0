//! Every call fails in the same way, and the agent tries again.
//!
//! Recorded: `javac: not found` twenty times in a run that had already written the right fix. Half of the
//! loops here repeat the call to the letter, half vary its arguments; what fails is the same.

use verger_core::fingerprint::ResultPrint;
use verger_core::signal::{Body, Failure};

use crate::rng::Rng;
use crate::world::agent::Kit;
use crate::world::print;

/// What fails.
const COMPLAINTS: [&str; 4] = [
    "javac: command not found",
    "EACCES: permission denied, mkdir '/opt/build'",
    "error: linker `cc` not found",
    "String to replace not found in file",
];

/// One failure over and over.
#[derive(Debug)]
pub(crate) struct ErrorLoop {
    complaint: &'static str,
    result: ResultPrint,
    subject: u64,
    varies: bool,
}

impl ErrorLoop {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let complaint = *rng.choice(&COMPLAINTS);
        let subject = rng.range(0, 1_000_000);
        Self { complaint, result: print::failure(complaint), subject, varies: rng.chance(0.5) }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        let variant = if self.varies { kit.fresh() } else { 0 };
        let call = print::call(&format!("Bash make part{} variant {variant}", self.subject));
        kit.call(call, self.result);
        if kit.rng.chance(0.3) {
            let text = print::said(self.complaint);
            kit.send(Body::Error(Failure { text, unrecoverable: false, provider: false, retry_after: None }));
        }
        true
    }
}
