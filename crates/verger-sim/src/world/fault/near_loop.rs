//! The same attempt in ever different words: nearly the same search, nearly the same result.
//!
//! Of 38 runs that people labelled resource abuse, repetition rules find 9; the other 29 are of this kind.

use crate::rng::Rng;
use crate::world::agent::Kit;
use crate::world::print;

/// How one search is worded.
const WORDINGS: [&str; 6] =
    ["Grep", "Bash rg -n", "Bash grep -rn", "Bash git grep", "WebSearch how to fix", "Bash find . -name"];

/// What is searched for in vain.
#[derive(Debug)]
pub(crate) struct NearLoop {
    subject: u64,
}

impl NearLoop {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        Self { subject: rng.range(0, 1_000_000) }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        let wording = kit.rng.choice(&WORDINGS);
        let (subject, variant) = (self.subject, kit.rng.range(0, 400));
        let call = print::call(&format!("{wording} symbol{subject} variant {variant}"));
        let result = match kit.rng.weighted(&[60, 25, 15]) {
            0 => print::result("no matches"),
            1 => print::result(&format!("no results for symbol{subject}")),
            _ => print::failure("exit code 1"),
        };
        kit.call(call, result);
        true
    }
}
