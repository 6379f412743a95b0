//! A service refuses what it is sent, for the same reason however it is put.

use crate::world::text::{Told, Voice, json};

/// Why it refuses.
const REASONS: [&str; 4] = [
    "Error: the payments do not add up to the total price",
    "Error: a reservation of this class cannot be changed",
    "Error: invalid value for field \"quantity\": must be a positive integer",
    "{\"status\":\"rejected\",\"reason\":\"customer has no valid payment method\"}",
];

/// What is sent again and again.
#[derive(Debug)]
pub(super) struct Refusal {
    tool: &'static str,
    subject: String,
    reason: &'static str,
    flagged: bool,
    /// Whether it thinks about it between two attempts, in nearly the same words.
    ponders: bool,
    pondered: bool,
}

impl Refusal {
    pub(super) fn draw(voice: &mut Voice) -> Self {
        Self {
            tool: voice.pick(&["book_reservation", "update_order", "submit_form", "create_invoice"]),
            subject: voice.name(),
            reason: voice.pick(&REASONS),
            flagged: voice.chance(0.6),
            ponders: voice.chance(0.3),
            pondered: false,
        }
    }

    pub(super) fn next(&mut self, voice: &mut Voice) -> Told {
        let subject = &self.subject;
        if self.ponders && !std::mem::replace(&mut self.pondered, true) {
            let thought = format!(
                "I need to make sure that the {subject} is {} before I send it again.",
                voice.pick(&["complete", "correct", "consistent", "right"])
            );
            return Told::new("think", json(&[("thought", &thought)]), "");
        }
        self.pondered = false;
        let (amount, note) = (voice.number(100, 140).to_string(), voice.adjective());
        let args = json(&[
            ("id", subject),
            ("quantity", &amount),
            ("method", voice.pick(&["card", "credit", "gift", "transfer"])),
            ("note", note),
        ]);
        if self.flagged {
            Told::failed(self.tool, args, self.reason)
        } else {
            Told::new(self.tool, args, self.reason)
        }
    }
}
