//! What people and the interfaces see of messages.

use std::fmt::{self, Write as _};

use super::machine::Slot;
use super::message::Way;
use super::{Messages, Priority};
use crate::id::{AgentId, MessageId, TaskId};
use crate::time::{Span, Timestamp};

/// One message that is not acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageView {
    /// Its name.
    pub id: MessageId,
    /// Who sent it.
    pub from: AgentId,
    /// Whom to.
    pub to: AgentId,
    /// How important it is.
    pub priority: Priority,
    /// The message it answers.
    pub reply_to: Option<MessageId>,
    /// The task it is about.
    pub task: Option<TaskId>,
    /// When it was sent.
    pub sent_at: Timestamp,
    /// For how long it has been unacknowledged.
    pub age: Span,
    /// Where it is and what was done about it, in words.
    pub words: String,
}

/// How many messages there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages that nobody has acknowledged.
    pub unacknowledged: usize,
    /// Of these: such as people were told of.
    pub escalated: usize,
    /// Given up since the beginning to make room.
    pub dropped: u64,
}

impl Messages {
    /// How many unacknowledged messages there are for this agent (001's `unread_messages`).
    pub fn unread(&self, receiver: &AgentId) -> usize {
        self.index.inboxes.get(receiver).map_or(0, super::index::Inbox::open)
    }

    /// Whether a message to this agent is known, be it over.
    pub fn expects_of(&self, receiver: &AgentId) -> bool {
        self.index.inboxes.contains_key(receiver)
    }

    /// How many there are in all.
    pub fn counts(&self) -> Counts {
        let open = self.slots.values().filter(|slot| slot.message.ended.is_none());
        let escalated = open.clone().filter(|slot| slot.message.escalated_at.is_some());
        let dropped = [self.dropped.low, self.dropped.normal, self.dropped.high];
        Counts {
            unacknowledged: open.count(),
            escalated: escalated.count(),
            dropped: dropped.into_iter().fold(0, u64::saturating_add),
        }
    }

    /// One unacknowledged message.
    pub fn view(&self, now: Timestamp, id: &MessageId) -> Option<MessageView> {
        self.slots.get_key_value(id).and_then(|(id, slot)| view(now, id, slot))
    }

    /// A page of unacknowledged messages, by name, after the one given; to an agent or from one, if asked for.
    pub fn page(
        &self,
        now: Timestamp,
        to: Option<&AgentId>,
        from: Option<&AgentId>,
        after: Option<&MessageId>,
        limit: usize,
    ) -> Vec<MessageView> {
        let fits = |wanted: Option<&AgentId>, is: &AgentId| wanted.is_none_or(|wanted| wanted == is);
        let begin = after.map_or(std::ops::Bound::Unbounded, std::ops::Bound::Excluded);
        self.slots
            .range::<MessageId, _>((begin, std::ops::Bound::Unbounded))
            .filter(|(_, slot)| fits(to, &slot.message.to) && fits(from, &slot.message.from))
            .filter_map(|(id, slot)| view(now, id, slot))
            .take(limit)
            .collect()
    }
}

fn view(now: Timestamp, id: &MessageId, slot: &Slot) -> Option<MessageView> {
    let message = &slot.message;
    message.ended.is_none().then(|| MessageView {
        id: id.clone(),
        from: message.from.clone(),
        to: message.to.clone(),
        priority: message.priority,
        reply_to: message.reply_to.clone(),
        task: message.task.clone(),
        sent_at: message.sent_at,
        age: now.since(message.sent_at),
        words: words(now, slot),
    })
}

fn words(now: Timestamp, slot: &Slot) -> String {
    let message = &slot.message;
    let mut words = match message.way {
        Way::Queued => "sent".to_owned(),
        Way::Delivered => "delivered".to_owned(),
        Way::Withheld { why, .. } => format!("not delivered ({}), kept until it can be", why.code()),
    };
    let done = [
        ("receiver reminded", message.reminded_at),
        ("receiver asked how it is", message.asked_at),
        ("people told", message.escalated_at),
        ("logged", message.logged_at),
    ];
    for (what, at) in done {
        if let Some(at) = at {
            let _ = write!(words, ", {what} {} ago", now.since(at));
        }
    }
    words
}

impl fmt::Display for MessageView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, from, to, priority, age, words, .. } = self;
        write!(f, "{priority} message {id} from {from} to {to}, unacknowledged for {age}: {words}")
    }
}
