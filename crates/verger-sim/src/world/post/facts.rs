//! What really became of a message.

use verger_core::id::MessageId;
use verger_core::messages::Priority;

use crate::world::time::SimTime;

/// One message from one agent to another.
#[derive(Clone, Debug)]
pub struct Letter {
    /// Its name.
    pub id: MessageId,
    /// The place of who wrote it.
    pub from: u32,
    /// The place of whom it is for; nobody's if the name is wrong.
    pub to: Option<u32>,
    /// How important it is.
    pub priority: Priority,
    /// The message that it answers.
    pub reply_to: Option<u32>,
    /// When it was written.
    pub sent: SimTime,
    /// When the monitor said that it has it.
    pub taken: Option<SimTime>,
    /// When the monitor said that it does not take it.
    pub refused: Option<SimTime>,
    /// When it first reached its receiver.
    pub delivered: Option<SimTime>,
    /// When its receiver read it.
    pub read: Option<SimTime>,
    /// When the monitor said that it is acknowledged.
    pub acknowledged: Option<SimTime>,
}

/// The name of the message of this number.
pub(super) fn name(letter: u32) -> MessageId {
    MessageId::from(format!("m-{letter:06}"))
}

/// The number of the message of this name.
pub(crate) fn letter_of(id: &MessageId) -> Option<u32> {
    id.as_str().strip_prefix("m-")?.parse().ok()
}
