//! One change in many places: other arguments each time, and the same words in answer.
//!
//! "Same tool, same output six times" fired on 4 of 15 recorded sessions, all wrongly, because `Edit`
//! answers with a constant text; moving files and updating imports made another detector unusable.

use super::kit::Kit;
use crate::rng::Rng;
use crate::world::text::Sweep;

/// A change to be made in many places.
#[derive(Debug)]
pub(crate) struct Batch {
    left: u64,
    /// How it is done: by an edit, a script, or by moving files.
    manner: usize,
    sweep: Option<Sweep>,
}

impl Batch {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        Self { left: rng.range(6, 60), manner: rng.range(0, 3) as usize, sweep: None }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        kit.fresh();
        let sweep = self.sweep.get_or_insert_with(|| Sweep::draw(kit.voice, self.manner));
        let told = sweep.next(kit.voice);
        kit.call(told);
        if kit.rng.chance(0.7) {
            kit.advance(1);
        }
        self.left -= 1;
        self.left > 0
    }
}
