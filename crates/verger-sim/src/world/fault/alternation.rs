//! Two calls in turn, A B A B, each with its own unchanging result.
//!
//! 10 of 57 recorded loops were cycles of several calls; ping-pong is the miss most often reported of
//! detectors that count consecutive repeats.

use verger_core::fingerprint::{CallPrint, ResultPrint};

use crate::rng::Rng;
use crate::world::agent::Kit;
use crate::world::print;

/// Two calls and whose turn it is.
#[derive(Debug)]
pub(crate) struct Alternation {
    calls: [(CallPrint, ResultPrint); 2],
    turn: usize,
}

impl Alternation {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let number = rng.range(0, 1_000_000);
        let first = (
            print::call(&format!("Edit src/part{number}.rs: true -> false")),
            print::result("The file has been updated successfully."),
        );
        let second = if rng.chance(0.5) {
            (print::call(&format!("Edit src/part{number}.rs: false -> true")), first.1)
        } else {
            (print::call(&format!("Bash make check{number}")), print::failure("1 check failed"))
        };
        Self { calls: [first, second], turn: 0 }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        let (call, result) = self.calls[self.turn];
        kit.call(call, result);
        self.turn = 1 - self.turn;
        true
    }
}
