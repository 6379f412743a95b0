//! The context window is full; the agent neither compacts it nor hands over, and gets nowhere.
//!
//! Every request is cut short or refused for its length, and the agent begins the same step again.

use verger_core::signal::Author;

use crate::world::agent::{Kit, ordinary};
use crate::world::text;

/// A full window.
#[derive(Debug)]
pub(crate) struct Exhaustion;

impl Exhaustion {
    #[expect(clippy::unused_self, reason = "it is one of many behaviours with state")]
    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        if kit.rng.chance(0.5) {
            let text = format!("I will begin with this. {}", text::next(kit.voice));
            kit.say(Author::Agent, text);
        } else {
            let told = ordinary(kit);
            kit.call(told);
        }
        let pause = kit.rng.range(5_000, 60_000);
        kit.wait(pause);
        true
    }
}
