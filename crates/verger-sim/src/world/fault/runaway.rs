//! Tokens are used at ten to thirty times the agent's usual rate, and nothing comes of it.
//!
//! Recorded: 441 M tokens in 12 idle hours; 1,535 calls for $150 in 2 h; 164 paged reads of one file.

use crate::rng::Rng;
use crate::world::agent::{Kit, ordinary};

/// How many times the usual.
#[derive(Debug)]
pub(crate) struct Runaway {
    factor: f64,
}

impl Runaway {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        Self { factor: rng.log_between(10.0, 30.0) }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think_with(self.factor);
        let told = ordinary(kit);
        kit.call(told);
        true
    }
}
