//! Ordinary work: the model thinks, then calls one tool or several at once.
//!
//! Five parallel reads of a new project tripped a detector that was then raised from 5 of 10 to 8 of 15;
//! `Edit` answers every call with the same words. Both happen all the time here.

use verger_core::fingerprint::{CallPrint, ResultPrint};
use verger_core::signal::Author;

use super::kit::Kit;
use crate::rng::Rng;
use crate::world::print;

/// What `Edit` answers whatever it edits.
pub(crate) const UPDATED: &str = "The file has been updated successfully.";

/// Ordinary failures, told apart by what follows.
const COMPLAINTS: [&str; 6] = [
    "error: no such file or directory:",
    "error[E0308]: mismatched types in",
    "fatal: ambiguous argument",
    "Traceback: KeyError in",
    "permission denied:",
    "String to replace not found in",
];

/// Some rounds of ordinary work.
#[derive(Debug)]
pub(crate) struct Burst {
    rounds: u64,
}

impl Burst {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        Self { rounds: rng.range(3, 16) }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        if kit.rng.chance(0.25) {
            kit.say(Author::Agent, "Next I look at");
        }
        if kit.rng.chance(0.2) {
            let count = kit.rng.range(2, 6) as usize;
            let calls: [_; 5] = std::array::from_fn(|_| ordinary(kit));
            kit.calls_at_once(&calls[..count]);
        } else {
            let (call, result) = ordinary(kit);
            kit.call(call, result);
        }
        if kit.rng.chance(0.5) {
            let files = u32::from(kit.rng.chance(0.4));
            kit.advance(files);
        }
        self.rounds -= 1;
        self.rounds > 0
    }
}

/// A call like any other, with arguments that have not been used before.
pub(crate) fn ordinary(kit: &mut Kit<'_>) -> (CallPrint, ResultPrint) {
    let number = kit.fresh();
    if kit.rng.chance(kit.manner.fails) {
        return (print::call(&format!("Bash ./run {number}")), complaint(kit));
    }
    match kit.rng.weighted(&[40, 20, 20, 20]) {
        0 => (print::call(&format!("Read src/part{number}.rs")), found(number)),
        1 => (print::call(&format!("Grep symbol{number}")), found(number)),
        2 => (print::call(&format!("Edit src/part{number}.rs")), print::result(UPDATED)),
        _ => (print::call(&format!("Bash git diff part{number}")), found(number)),
    }
}

/// A failure like any other.
pub(crate) fn complaint(kit: &mut Kit<'_>) -> ResultPrint {
    let number = kit.fresh();
    let complaint = kit.rng.choice(&COMPLAINTS);
    print::failure(&format!("{complaint} part{number}"))
}

fn found(number: u64) -> ResultPrint {
    print::result(&format!("contents {number}"))
}
