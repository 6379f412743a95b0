//! A conversation that goes in circles: the agent asks what it was told, is told again, and looks it up in vain.

use verger_core::signal::Author;

use super::Round;
use crate::world::text::{Told, Voice, json};

/// What it is about.
#[derive(Debug)]
pub(super) struct Dialogue {
    thing: &'static str,
    number: u64,
}

impl Dialogue {
    pub(super) fn draw(voice: &mut Voice) -> Self {
        Self {
            thing: voice.pick(&["booking", "order", "ticket", "account"]),
            number: voice.number(1_000, 99_999),
        }
    }

    pub(super) fn next(&self, voice: &mut Voice) -> Round {
        let Self { thing, number } = self;
        let ask = match voice.number(0, 4) {
            0 => format!("Could you please tell me the number of your {thing}?"),
            1 => format!("To help you I need the number of your {thing}, please."),
            2 => format!("I am sorry, I cannot find this {thing}. Please give me its number."),
            _ => format!("Please check the number of your {thing} and send it to me again."),
        };
        let answer = match voice.number(0, 4) {
            0 => format!("It is {number}."),
            1 => format!("As I said, the number is {number}."),
            2 => format!("{number}, I told you already."),
            _ => format!("The number of my {thing} is {number}."),
        };
        let form = match voice.number(0, 4) {
            0 => number.to_string(),
            1 => format!("#{number}"),
            2 => format!("{}-{number}", thing[..2].to_uppercase()),
            _ => format!("{number} "),
        };
        let told = Told::new(
            "lookup",
            json(&[("kind", thing), ("number", &form)]),
            format!("Error: {thing} not found"),
        );
        Round { said: vec![(Author::Agent, ask), (Author::Person, answer)], told }
    }
}
