//! All messages that are to be acknowledged, and how one is taken.

use std::collections::{BTreeMap, BTreeSet};

use super::index::{Index, Place};
use super::message::{Dropped, Message, Way};
use super::{
    Acknowledgement, Decided, Decision, Policy, Priority, Receipt, Refusal, RowKey, Taken, Undelivered,
};
use crate::id::{AgentId, MessageId, TaskId};
use crate::standing::{Reading, Surroundings};
use crate::time::{Span, Timestamp};

/// Names longer than this are refused: they are kept in memory.
const NAME_MAX: usize = 256;

/// All messages that are to be acknowledged.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    pub(super) slots: BTreeMap<MessageId, Slot>,
    pub(super) index: Index,
    pub(super) dropped: Dropped,
    pub(super) changed: BTreeSet<RowKey>,
}

/// A message and where the index has it.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) message: Message,
    pub(super) place: Place,
}

/// A message as its sender hands it over. Pings, pongs and bare acknowledgements are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    /// Its name.
    pub id: MessageId,
    /// Who sends it.
    pub from: AgentId,
    /// Whom to.
    pub to: AgentId,
    /// How important it is.
    pub priority: Priority,
    /// The message that it answers, which it acknowledges by that.
    pub reply_to: Option<MessageId>,
    /// The task it is about.
    pub task: Option<TaskId>,
}

/// The surroundings of one step.
pub type Step<'a> = Surroundings<'a, Policy, Decided>;

impl Messages {
    /// A message was sent. What it replies to is acknowledged, even if it cannot be taken itself.
    pub fn on_sent(&mut self, step: &mut Step<'_>, new: NewMessage) -> Result<Receipt, Refusal> {
        let names = [new.id.as_str(), new.from.as_str(), new.to.as_str()];
        let more = [new.reply_to.as_ref().map(MessageId::as_str), new.task.as_ref().map(TaskId::as_str)];
        if names.into_iter().chain(more.into_iter().flatten()).any(|name| NAME_MAX < name.len()) {
            return Err(Refusal::NameTooLong(NAME_MAX));
        }
        if let Some(known) = self.slots.get(&new.id).map(|slot| &slot.message) {
            let same = (&known.from, &known.to, known.priority) == (&new.from, &new.to, new.priority);
            let receipt = Receipt { taken: Taken::Again, reply: None };
            return if same { Ok(receipt) } else { Err(Refusal::IdTaken(new.id)) };
        }
        let reply = new.reply_to.as_ref().map(|original| self.on_reply(step, original, &new));
        self.take(step, new).map(|taken| Receipt { taken, reply })
    }

    /// A reply acknowledges what it answers, if that went the other way.
    fn on_reply(&mut self, step: &mut Step<'_>, original: &MessageId, new: &NewMessage) -> Acknowledgement {
        match self.slots.get(original) {
            Some(slot) if slot.message.from != new.to => Acknowledgement::NotTheirs,
            Some(_) | None => self.on_acknowledged(step, original, Some(&new.from)),
        }
    }

    fn take(&mut self, step: &mut Step<'_>, new: NewMessage) -> Result<Taken, Refusal> {
        let reading = step.reading(&new.to);
        if reading == Reading::Nobody {
            return Err(Refusal::AgentNotFound(new.to));
        }
        let to_oneself = new.from == new.to;
        if !to_oneself {
            self.make_room(step, &new)?;
        }
        let (id, message) = begin(step.now, new);
        if to_oneself {
            decide(step, &id, &message, Some(reading), Decision::Deliver { attempt: 1 });
            return Ok(Taken::ToOneself);
        }
        self.put(id.clone(), message, step.policy);
        if reading == Reading::Offline {
            self.withhold(step, &id, Undelivered::Offline, Some(reading));
            return Ok(Taken::Later);
        }
        self.deliver(step, &id, Some(reading));
        Ok(Taken::Sent)
    }

    /// Gives up what is over or less important, until one more has room.
    fn make_room(&mut self, step: &mut Step<'_>, new: &NewMessage) -> Result<(), Refusal> {
        let full = |count: usize, max: u32| usize::try_from(max).is_ok_and(|max| max <= count);
        while full(self.index.count_of(&new.to), step.policy.per_receiver_max) {
            self.give_up(step, self.index.least_of(&new.to).cloned(), new)?;
        }
        while full(self.slots.len(), step.policy.total_max) {
            self.give_up(step, self.index.least().cloned(), new)?;
        }
        Ok(())
    }

    fn give_up(
        &mut self,
        step: &mut Step<'_>,
        least: Option<super::index::Rank>,
        new: &NewMessage,
    ) -> Result<(), Refusal> {
        let Some((priority, _, id)) = least else { return Err(Refusal::Full(new.to.clone())) };
        match priority {
            None => {}
            Some(Priority::Urgent) => return Err(Refusal::Full(new.to.clone())),
            Some(priority) if new.priority < priority => return Err(Refusal::Full(new.to.clone())),
            Some(priority) => {
                self.dropped.count(priority);
                self.changed.insert(RowKey::Books);
                self.push(step, &id, None, Decision::Dropped);
                self.close(step, &id, None);
            }
        }
        self.remove(&id);
        Ok(())
    }

    /// When [`wake`](Self::wake) is due next, after `now`.
    pub fn deadline(&self, now: Timestamp) -> Option<Timestamp> {
        self.index.next_due().map(|due| due.max(now + Span::millis(1)))
    }

    /// The limits have changed: what is due when is counted anew.
    pub fn on_policy(&mut self, policy: &Policy) {
        let ids: Vec<_> = self.slots.keys().cloned().collect();
        for id in ids {
            self.change(&id, policy, |_| ());
        }
    }

    pub(super) fn put(&mut self, id: MessageId, message: Message, policy: &Policy) {
        let place = Place::of(&id, &message, policy);
        self.index.insert(&message.to, &place);
        self.changed.insert(RowKey::Message(id.clone()));
        self.slots.insert(id, Slot { message, place });
    }

    /// Changes a message and its places in the index together.
    pub(super) fn change<R>(
        &mut self,
        id: &MessageId,
        policy: &Policy,
        change: impl FnOnce(&mut Message) -> R,
    ) -> Option<R> {
        let slot = self.slots.get_mut(id)?;
        let result = change(&mut slot.message);
        let place = Place::of(id, &slot.message, policy);
        self.index.remove(&slot.message.to, &slot.place, false);
        self.index.insert(&slot.message.to, &place);
        slot.place = place;
        self.changed.insert(RowKey::Message(id.clone()));
        Some(result)
    }

    pub(super) fn remove(&mut self, id: &MessageId) {
        let Some(slot) = self.slots.remove(id) else { return };
        self.index.remove(&slot.message.to, &slot.place, true);
        self.changed.insert(RowKey::Message(id.clone()));
        self.changed.insert(RowKey::Inbox(slot.message.to));
    }

    /// The message of that name, unless it is over.
    pub(super) fn open(&self, id: &MessageId) -> Option<&Message> {
        self.slots.get(id).map(|slot| &slot.message).filter(|message| message.ended.is_none())
    }

    pub(super) fn push(
        &self,
        step: &mut Step<'_>,
        id: &MessageId,
        reading: Option<Reading>,
        decision: Decision,
    ) {
        if let Some(slot) = self.slots.get(id) {
            decide(step, id, &slot.message, reading, decision);
        }
    }
}

fn decide(
    step: &mut Step<'_>,
    id: &MessageId,
    message: &Message,
    reading: Option<Reading>,
    decision: Decision,
) {
    step.out.push(Decided {
        message: id.clone(),
        from: message.from.clone(),
        to: message.to.clone(),
        decision,
        evidence: message.evidence(step.now, step.policy, reading),
    });
}

fn begin(now: Timestamp, new: NewMessage) -> (MessageId, Message) {
    let NewMessage { id, from, to, priority, reply_to, task } = new;
    let message = Message {
        from,
        to,
        priority,
        reply_to,
        task,
        sent_at: now,
        clock: now,
        way: Way::Queued,
        attempts: 0,
        failures: 0,
        told_at: None,
        reminded_at: None,
        asked_at: None,
        escalated_at: None,
        logged_at: None,
        excused_until: None,
        ended: None,
        effect: None,
    };
    (id, message)
}

impl Dropped {
    fn count(&mut self, priority: Priority) {
        let counter = match priority {
            Priority::Low => &mut self.low,
            Priority::Normal => &mut self.normal,
            // Urgent ones are never given up.
            Priority::High | Priority::Urgent => &mut self.high,
        };
        *counter = counter.saturating_add(1);
    }
}
