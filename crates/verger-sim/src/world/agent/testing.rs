//! Changing things and running the same tests after each change.
//!
//! A rule that counts six identical calls anywhere in a turn hit 7 of 431 modern runs, 4 of them
//! successes, all by this. A change need not change what the tests say: one result in four is the last one's. Who gets
//! it again looks into it, and nobody who gets on gets it four times: of identical streaks that long, 74 % went on to the
//! end of the run, and those are faults.

use verger_core::signal::{Body, Output};

use super::kit::Kit;
use crate::rng::Rng;
use crate::world::text::{self, Suite};

/// So often the same result comes in a row at most.
const SAME_MAX: u32 = 3;

/// Tests that do not pass yet.
#[derive(Debug)]
pub(crate) struct Testing {
    suite: Option<Suite>,
    failing: u32,
    passing: u32,
    /// How often the last result has come.
    same: u32,
}

impl Testing {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        // One draw has no use any more; without it every world would be another.
        let _ = rng.bits();
        Self { suite: None, failing: rng.range(2, 12) as u32, passing: rng.range(10, 200) as u32, same: 0 }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        let suite = self.suite.get_or_insert_with(|| Suite::draw(kit.voice, self.failing));
        if self.same > 1 {
            kit.think();
            let told = text::read(kit.voice);
            kit.call(told);
        }
        for _ in 0..kit.rng.range(1, 4) {
            kit.think();
            kit.fresh();
            let told = suite.change(kit.voice);
            kit.call(told);
        }
        self.same += 1;
        if !kit.rng.chance(0.25) || self.same > SAME_MAX {
            self.same = 1;
            let mended = kit.rng.range(1, 4) as u32;
            self.passing += mended.min(self.failing);
            self.failing -= mended.min(self.failing);
        }
        let (failing, passing) = (self.failing, self.passing);
        let told = suite.run(kit.voice, passing, failing);
        kit.call(told);
        kit.advance(1);
        let counts = Output { tests_passed: Some(passing), tests_failed: Some(failing), ..Output::default() };
        kit.send(Body::Output(counts));
        failing > 0
    }
}
