//! A run of failures, each in its own words, until something works.
//!
//! 25 of 171 recorded runs had three failures in a row, 5 had five; no single error said the same twice.

use super::burst::fruitful;
use super::kit::Kit;
use crate::rng::Rng;
use crate::world::text;

/// Some failures in a row.
#[derive(Debug)]
pub(crate) struct Failures {
    left: u64,
    /// The kinds there have been.
    met: Vec<u64>,
}

impl Failures {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        Self { left: 3 + rng.weighted(&[14, 6, 5]) as u64, met: Vec::new() }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        if self.left == 0 {
            let told = fruitful(kit);
            kit.call(told);
            kit.advance(1);
            return false;
        }
        kit.fresh();
        let mut kind = kit.rng.range(0, text::KINDS);
        while self.met.contains(&kind) {
            kind = (kind + 1) % text::KINDS;
        }
        self.met.push(kind);
        let told = text::trouble(kit.voice, kind);
        kit.call(told);
        self.left -= 1;
        true
    }
}
