//! One change in many places: other arguments each time, and the same words in answer.
//!
//! "Same tool, same output six times" fired on 4 of 15 recorded sessions, all wrongly, because `Edit`
//! answers with a constant text; moving files and updating imports made another detector unusable.

use super::burst::UPDATED;
use super::kit::Kit;
use crate::rng::Rng;
use crate::world::print;

/// What the tools of batch work answer, whatever they did.
const ANSWERS: [&str; 3] = [UPDATED, "ok", "1 file moved"];

/// A change to be made in many places.
#[derive(Debug)]
pub(crate) struct Batch {
    left: u64,
    answer: &'static str,
}

impl Batch {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        Self { left: rng.range(6, 60), answer: *rng.choice::<&str>(&ANSWERS) }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        let number = kit.fresh();
        kit.call(print::call(&format!("Edit imports of src/part{number}.rs")), print::result(self.answer));
        if kit.rng.chance(0.7) {
            kit.advance(1);
        }
        self.left -= 1;
        self.left > 0
    }
}
