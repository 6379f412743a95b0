//! The ways to find messages: by when something is due, by whom they are for, and which would be given up first.
//!
//! All of it follows from the messages and is built anew after a restart, but for what was lately done to a receiver.

use std::collections::{BTreeMap, BTreeSet};

use super::message::Message;
use super::{Policy, Priority};
use crate::effect::EffectKey;
use crate::id::{AgentId, MessageId};
use crate::time::Timestamp;

/// Which would be given up first: those that are over, then the least important, each the oldest first.
pub(super) type Rank = (Option<Priority>, Timestamp, MessageId);

/// A message's places in the index.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) due: Timestamp,
    rank: Rank,
    escalated: bool,
    effect: Option<EffectKey>,
}

impl Place {
    pub(super) fn of(id: &MessageId, message: &Message, policy: &Policy) -> Self {
        let is_open = message.ended.is_none();
        Self {
            due: message.next(policy).0,
            rank: (is_open.then_some(message.priority), message.sent_at, id.clone()),
            escalated: is_open && message.escalated_at.is_some(),
            effect: message.effect.clone().filter(|_| is_open),
        }
    }
}

/// What was lately done to one receiver because of its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Marks {
    pub(crate) reminded_at: Option<Timestamp>,
    /// When it was asked how it is, and has not answered since.
    pub(crate) asked_at: Option<Timestamp>,
    /// Since when people know that it leaves messages unacknowledged.
    pub(crate) escalated_since: Option<Timestamp>,
}

/// The messages to one receiver.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Inbox {
    pub(super) marks: Marks,
    pub(super) ranks: BTreeSet<Rank>,
    /// How many of them people know of as unacknowledged.
    pub(super) escalated: u32,
}

impl Inbox {
    /// How many are not over.
    pub(super) fn open(&self) -> usize {
        self.open_ids().count()
    }

    pub(super) fn open_ids(&self) -> impl Iterator<Item = &MessageId> {
        self.ranks.iter().filter(|(priority, ..)| priority.is_some()).map(|(_, _, id)| id)
    }
}

/// The ways to find messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Index {
    agenda: BTreeSet<(Timestamp, MessageId)>,
    ranks: BTreeSet<Rank>,
    /// Which effect carries which message.
    effects: BTreeMap<EffectKey, MessageId>,
    pub(super) inboxes: BTreeMap<AgentId, Inbox>,
}

impl Index {
    pub(super) fn insert(&mut self, to: &AgentId, place: &Place) {
        self.agenda.insert((place.due, place.rank.2.clone()));
        self.ranks.insert(place.rank.clone());
        if let Some(effect) = &place.effect {
            self.effects.insert(effect.clone(), place.rank.2.clone());
        }
        let inbox = self.inboxes.entry(to.clone()).or_default();
        inbox.ranks.insert(place.rank.clone());
        inbox.escalated = inbox.escalated.saturating_add(u32::from(place.escalated));
    }

    /// Takes a message out. An inbox without messages goes with it, unless the message is put back at once.
    pub(super) fn remove(&mut self, to: &AgentId, place: &Place, for_good: bool) {
        self.agenda.remove(&(place.due, place.rank.2.clone()));
        self.ranks.remove(&place.rank);
        if let Some(effect) = &place.effect {
            self.effects.remove(effect);
        }
        let Some(inbox) = self.inboxes.get_mut(to) else { return };
        inbox.ranks.remove(&place.rank);
        inbox.escalated = inbox.escalated.saturating_sub(u32::from(place.escalated));
        if for_good && inbox.ranks.is_empty() {
            self.inboxes.remove(to);
        }
    }

    /// When something is due next.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.agenda.first().map(|(due, _)| *due)
    }

    /// All for which something is due.
    pub(super) fn due(&self, now: Timestamp) -> Vec<MessageId> {
        self.agenda.iter().take_while(|(due, _)| *due <= now).map(|(_, id)| id.clone()).collect()
    }

    /// Which message this effect carries.
    pub(super) fn carried_by(&self, effect: &EffectKey) -> Option<&MessageId> {
        self.effects.get(effect)
    }

    /// Which of all messages would be given up first.
    pub(super) fn least(&self) -> Option<&Rank> {
        self.ranks.first()
    }

    /// Which message to this receiver would be given up first.
    pub(super) fn least_of(&self, to: &AgentId) -> Option<&Rank> {
        self.inboxes.get(to)?.ranks.first()
    }

    pub(super) fn count_of(&self, to: &AgentId) -> usize {
        self.inboxes.get(to).map_or(0, |inbox| inbox.ranks.len())
    }

    /// Whom people know of as leaving messages unacknowledged must have such messages, or it would never be over.
    pub(super) fn agree(&mut self) {
        for inbox in self.inboxes.values_mut().filter(|inbox| inbox.escalated == 0) {
            inbox.marks.escalated_since = None;
        }
    }
}
