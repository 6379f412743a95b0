//! The same call with the same result, for ever.
//!
//! Recorded: 53 identical calls in a run of a hundred, 517 identical shell reads with exit code 0, 1,794
//! identical `Glob` calls in one sub-agent. Of streaks that reach ten, all go on to the end.

use verger_core::fingerprint::{CallPrint, ResultPrint};
use verger_core::signal::Author;

use crate::rng::Rng;
use crate::world::agent::Kit;
use crate::world::print;

/// What is called over and over.
const CALLS: [(&str, &str); 4] = [
    ("Glob **/*.rs in", "no files found"),
    ("Read src/main.rs of", "fn main() {}"),
    ("Bash cat notes.md of", "# Notes"),
    ("Grep TODO in", "no matches"),
];

/// One call and its result.
#[derive(Debug)]
pub(crate) struct ExactLoop {
    call: CallPrint,
    result: ResultPrint,
    /// Whether the words around the call differ each time, as they did in 9 of 57 recorded loops.
    talks: bool,
}

impl ExactLoop {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let (call, result) = rng.choice(&CALLS);
        let call = print::call(&format!("{call} {}", rng.range(0, 1_000_000)));
        Self { call, result: print::result(result), talks: rng.chance(0.4) }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        if self.talks {
            kit.say(Author::Agent, "Let me look at this once more");
        }
        kit.call(self.call, self.result);
        true
    }
}
