//! Waiting for a person: minutes by day, until the morning by night.
//!
//! "Idle ≠ hung": a watchdog that took 30 min without output for death killed sessions in which somebody
//! was simply at lunch.

use verger_core::signal::{Author, Awaited, Status};

use super::kit::Kit;
use crate::rng::Rng;
use crate::world::text;
use crate::world::time::{HOUR, SimTime, millis};

/// A question put to a person.
#[derive(Debug)]
pub(crate) struct Person {
    answered: SimTime,
}

impl Person {
    pub(crate) fn draw(rng: &mut Rng, now: SimTime) -> Self {
        Self { answered: answered(rng, now) }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        let question = text::question(kit.voice);
        kit.say(Author::Agent, question);
        kit.status(Status::Waiting, Some(Awaited::Person));
        kit.wait(self.answered.since(kit.now).max(1));
        let answer = text::answer(kit.voice);
        kit.say(Author::Person, answer);
        if kit.rng.chance(0.5) {
            kit.status(Status::Busy, None);
        }
        false
    }
}

/// When a person answers who is asked now: after 8 min in the median, hours sometimes, and nobody at night.
pub(crate) fn answered(rng: &mut Rng, now: SimTime) -> SimTime {
    let prompt = now + millis(rng.log_normal(480.0, 1.5).clamp(5.0, 6.0 * 3_600.0));
    let there = |at: SimTime| (7..20).contains(&at.hour());
    if there(now) && there(prompt) { prompt } else { prompt.next_hour(8) + rng.range(0, 2 * HOUR) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_at_night_waits_until_the_morning() {
        let mut rng = Rng::stream(1, 1);
        for _ in 0..50 {
            let answered = answered(&mut rng, SimTime(22 * HOUR));
            assert!((8..10).contains(&answered.hour()), "{answered}");
        }
    }
}
