//! A run of failures, each in its own words, until something works.
//!
//! 25 of 171 recorded runs had three failures in a row, 5 had five; no single error said the same twice.

use super::burst::{complaint, ordinary};
use super::kit::Kit;
use crate::rng::Rng;
use crate::world::print;

/// Some failures in a row.
#[derive(Debug)]
pub(crate) struct Failures {
    left: u64,
}

impl Failures {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        Self { left: 3 + rng.weighted(&[14, 6, 5]) as u64 }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        if self.left == 0 {
            let (call, result) = ordinary(kit);
            kit.call(call, result);
            kit.advance(1);
            return false;
        }
        let number = kit.fresh();
        let result = complaint(kit);
        kit.call(print::call(&format!("Bash ./try {number}")), result);
        self.left -= 1;
        true
    }
}
