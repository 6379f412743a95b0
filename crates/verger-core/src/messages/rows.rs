//! The rows that a restart reads: one for each message, and for each receiver what was lately done to it.

use super::index::{Marks, Place};
use super::machine::Slot;
use super::message::Message;
use super::{Messages, Policy};
use crate::id::{AgentId, MessageId};
use crate::record::{Damaged, from_row, to_row};

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowKey {
    /// One message.
    Message(MessageId),
    /// What was lately done to one receiver because of its messages.
    Inbox(AgentId),
    /// What was counted.
    Books,
}

impl Messages {
    /// Whether [`take_changed_rows`](Self::take_changed_rows) has something to give.
    pub fn has_changes(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Has all rows given by the next call, changed or not.
    pub fn mark_all_changed(&mut self) {
        self.changed.extend(self.slots.keys().cloned().map(RowKey::Message));
        self.changed.extend(self.index.inboxes.keys().cloned().map(RowKey::Inbox));
        self.changed.insert(RowKey::Books);
    }

    /// Gives the rows of all that changed since the last call; without content where it is to be deleted.
    pub fn take_changed_rows(&mut self, push: &mut dyn FnMut(RowKey, Option<Vec<u8>>)) {
        for key in std::mem::take(&mut self.changed) {
            let row = match &key {
                RowKey::Message(id) => self.slots.get(id).map(|slot| to_row(&slot.message)),
                RowKey::Inbox(agent) => self.index.inboxes.get(agent).map(|inbox| to_row(&inbox.marks)),
                RowKey::Books => Some(to_row(&self.dropped)),
            };
            push(key, row);
        }
    }

    /// Reads the rows back. What they do not agree on is put right; what cannot be read refuses the start.
    pub fn restore(
        rows: impl IntoIterator<Item = (RowKey, Vec<u8>)>,
        policy: &Policy,
    ) -> Result<Self, Damaged> {
        let mut messages = Self::default();
        let mut marks = Vec::new();
        for (key, row) in rows {
            match key {
                RowKey::Message(id) => messages.restore_one(id, from_row(&row)?, policy),
                RowKey::Inbox(agent) => marks.push((agent, from_row::<Marks>(&row)?)),
                RowKey::Books => messages.dropped = from_row(&row)?,
            }
        }
        for (agent, marks) in marks {
            if let Some(inbox) = messages.index.inboxes.get_mut(&agent) {
                inbox.marks = marks;
            }
        }
        messages.index.agree();
        Ok(messages)
    }

    fn restore_one(&mut self, id: MessageId, message: Message, policy: &Policy) {
        if self.slots.contains_key(&id) {
            return;
        }
        let place = Place::of(&id, &message, policy);
        self.index.insert(&message.to, &place);
        self.slots.insert(id, Slot { message, place });
    }
}
