//! What became of messages between agents, in figures.

use serde::Serialize;
use verger_core::event::{Event, Fact};
use verger_core::messages::Decision;

use crate::world::{SimTime, Truth};

/// Who was not read for so long will not be.
const UNREAD: u64 = 3_600_000;

/// Messages between agents.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageReport {
    /// How many were written.
    pub sent: u64,
    /// How many of them nobody has read, though they were an hour old and more.
    pub lost: u64,
    /// How many the monitor knows to be acknowledged by their receivers.
    pub acknowledged: u64,
    /// How often people were told that an agent leaves messages unacknowledged.
    pub told: u64,
}

impl MessageReport {
    /// A fact was recorded.
    pub(super) fn on_event(&mut self, event: &Event) {
        if let Fact::Message(decided) = &event.fact {
            self.told += u64::from(decided.decision == Decision::Escalate { joined: false });
        }
    }

    /// The same with everything that really happened.
    pub(super) fn with_truth(&self, truth: &Truth, until: SimTime) -> Self {
        let letters = truth.letters();
        let lost = letters.iter().filter(|letter| letter.read.is_none() && letter.sent + UNREAD <= until);
        Self {
            sent: letters.len() as u64,
            lost: lost.count() as u64,
            acknowledged: letters.iter().filter(|letter| letter.acknowledged.is_some()).count() as u64,
            told: self.told,
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.lost += other.lost;
        self.acknowledged += other.acknowledged;
        self.told += other.told;
    }
}
