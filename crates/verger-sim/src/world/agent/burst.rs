//! Ordinary work: the model thinks, then calls one tool or several at once.
//!
//! Five parallel reads of a new project tripped a detector that was then raised from 5 of 10 to 8 of 15;
//! `Edit` answers every call with the same words. Both happen all the time here.

use verger_core::signal::Author;

use super::kit::Kit;
use crate::rng::Rng;
use crate::world::text::{self, Brings, Told};

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
            let text = text::next(kit.voice);
            kit.say(Author::Agent, text);
        }
        if kit.rng.chance(0.2) {
            let count = kit.rng.range(2, 6) as usize;
            let calls: [_; 5] = std::array::from_fn(|_| ordinary(kit));
            kit.calls_at_once(calls.into_iter().take(count));
        } else {
            let told = ordinary(kit);
            kit.call(told);
        }
        if kit.rng.chance(0.5) {
            let files = u32::from(kit.rng.chance(0.4));
            kit.advance(files);
        }
        self.rounds -= 1;
        self.rounds > 0
    }
}

/// A call like any other, about something that has not been asked before.
pub(crate) fn ordinary(kit: &mut Kit<'_>) -> Told {
    kit.fresh();
    if kit.rng.chance(kit.manner.fails) {
        return trouble(kit);
    }
    match kit.rng.weighted(&[40, 20, 20, 20]) {
        0 => text::read(kit.voice),
        1 => text::search(kit.voice),
        2 if kit.voice.chance(0.2) => text::write(kit.voice),
        2 => {
            let file = kit.voice.file();
            text::edit(kit.voice, &file)
        }
        _ => text::command(kit.voice),
    }
}

/// A call like any other that comes to something: with it an agent gets out of what came to nothing.
pub(crate) fn fruitful(kit: &mut Kit<'_>) -> Told {
    let told = ordinary(kit);
    if told.brings == Brings::Nothing { text::read(kit.voice) } else { told }
}

/// A failure like any other.
pub(crate) fn trouble(kit: &mut Kit<'_>) -> Told {
    kit.fresh();
    let kind = kit.rng.range(0, text::KINDS);
    text::trouble(kit.voice, kind)
}
