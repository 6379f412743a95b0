//! What becomes of messages: delivered or not, acknowledged, answered; and their receivers, gone or back.

use super::message::{Ended, How, Way};
use super::{Acknowledgement, Decision, Messages, Policy, RowKey, Step, Undelivered};
use crate::effect::EffectKey;
use crate::id::{AgentId, MessageId};
use crate::standing::Reading;

impl Messages {
    /// Its delivery goes out under this name.
    pub fn on_numbered(&mut self, policy: &Policy, id: &MessageId, effect: EffectKey) {
        self.change(id, policy, |message| message.effect = Some(effect));
    }

    /// Which message this effect was to deliver, if that is still of interest.
    pub fn carried_by(&self, effect: &EffectKey) -> Option<&MessageId> {
        self.index.carried_by(effect)
    }

    /// The channel confirmed that a message arrived: its time to be acknowledged begins.
    pub fn on_delivered(&mut self, step: &mut Step<'_>, id: &MessageId) {
        if self.open(id).is_none_or(|message| message.way != Way::Queued) {
            return;
        }
        let now = step.now;
        let told_at = self.change(id, step.policy, |message| {
            message.way = Way::Delivered;
            message.clock = now;
            message.told_at.take()
        });
        if told_at.flatten().is_some() {
            let after = self.open(id).map(|message| now.since(message.sent_at)).unwrap_or_default();
            self.push(step, id, None, Decision::TellSenderDelivered { after });
        }
    }

    /// The channel could not deliver a message (001 §1.4.1): the sender is told at once, and once.
    pub fn on_undelivered(&mut self, step: &mut Step<'_>, id: &MessageId, why: Undelivered) {
        // Known to have arrived, or kept already: the word is late, or comes twice.
        let Some(message) = self.open(id).filter(|message| message.way == Way::Queued) else { return };
        let reading = step.reading(&message.to);
        match why {
            Undelivered::NotFound => self.end(step, id, How::NotFound, Some(reading)),
            Undelivered::Offline | Undelivered::Timeout => self.withhold(step, id, why, Some(reading)),
        }
    }

    /// Somebody acknowledges a message; a person who took care of it, if nobody is named.
    pub fn on_acknowledged(
        &mut self,
        step: &mut Step<'_>,
        id: &MessageId,
        by: Option<&AgentId>,
    ) -> Acknowledgement {
        let Some(slot) = self.slots.get(id) else { return Acknowledgement::Unknown };
        let message = &slot.message;
        if by.is_some_and(|by| *by != message.to) {
            return Acknowledgement::NotTheirs;
        }
        if message.ended.is_some() {
            return Acknowledgement::Again;
        }
        let late = message.is_late(step.now, step.policy);
        self.end(step, id, How::Acknowledged, None);
        Acknowledgement::Over { late }
    }

    /// An agent answered when it was asked how it is: it is busy, and gets more time (001 §1.7).
    pub fn on_answered(&mut self, step: &mut Step<'_>, receiver: &AgentId) {
        let Some(inbox) = self.index.inboxes.get_mut(receiver) else { return };
        if inbox.marks.asked_at.take().is_none() {
            return;
        }
        self.changed.insert(RowKey::Inbox(receiver.clone()));
        let asked: Vec<_> = inbox.open_ids().cloned().collect();
        let now = step.now;
        for id in asked {
            let is_asked = |id| self.open(id).is_some_and(|message| message.asked_at.is_some());
            if is_asked(&id) {
                self.change(&id, step.policy, |message| {
                    message.excuse(now, now + step.policy.inquiry_timeout, step.policy)
                });
            }
        }
    }

    /// An agent went, came back or is no longer registered. Telling it twice is harmless.
    pub fn on_receiver_changed(&mut self, step: &mut Step<'_>, receiver: &AgentId) {
        let Some(inbox) = self.index.inboxes.get(receiver) else { return };
        let reading = step.reading(receiver);
        let ids: Vec<_> = inbox.open_ids().cloned().collect();
        for id in ids {
            let Some(way) = self.open(&id).map(|message| message.way) else { continue };
            match (reading, way) {
                (Reading::Nobody, _) => self.end(step, &id, How::NotFound, Some(reading)),
                (Reading::Offline, Way::Queued) => {
                    self.withhold(step, &id, Undelivered::Offline, Some(reading));
                }
                (
                    Reading::There | Reading::Engaged { .. } | Reading::Silent | Reading::Unknown,
                    Way::Withheld { why: Undelivered::Offline, .. },
                ) => self.deliver(step, &id, Some(reading)),
                (_, Way::Queued | Way::Delivered | Way::Withheld { .. }) => {}
            }
        }
    }

    /// A new life of an agent began. It knows nothing of what the one before was sent, so it gets all that is not
    /// acknowledged; what is kept for it already comes in its time.
    pub fn on_new_life(&mut self, step: &mut Step<'_>, receiver: &AgentId) {
        let Some(inbox) = self.index.inboxes.get(receiver) else { return };
        let reading = step.reading(receiver);
        let ids: Vec<_> = inbox.open_ids().cloned().collect();
        for id in ids {
            if self.open(&id).is_some_and(|message| !message.is_withheld()) {
                self.deliver(step, &id, Some(reading));
            }
        }
    }

    /// Keeps a message until it can be delivered, and tells its sender unless that was done.
    pub(super) fn withhold(
        &mut self,
        step: &mut Step<'_>,
        id: &MessageId,
        why: Undelivered,
        reading: Option<Reading>,
    ) {
        let now = step.now;
        let is_news = self.change(id, step.policy, |message| {
            message.failures = message.failures.saturating_add(1);
            let retry_at = now + step.policy.redeliver_in(message.failures);
            message.way = Way::Withheld { why, retry_at };
            message.told_at.replace(message.told_at.unwrap_or(now)).is_none()
        });
        if is_news == Some(true) {
            self.push(step, id, reading, Decision::TellSender(why));
        }
    }

    /// Sends a message, for the first time or again; its time to be acknowledged begins.
    pub(super) fn deliver(&mut self, step: &mut Step<'_>, id: &MessageId, reading: Option<Reading>) {
        let now = step.now;
        let attempts = self.change(id, step.policy, |message| {
            message.way = Way::Queued;
            message.clock = now;
            message.attempts = message.attempts.saturating_add(1);
            message.attempts
        });
        if let Some(attempt) = attempts {
            self.push(step, id, reading, Decision::Deliver { attempt });
        }
    }

    /// It is over; its name is known for a while.
    pub(super) fn end(&mut self, step: &mut Step<'_>, id: &MessageId, how: How, reading: Option<Reading>) {
        let Some(message) = self.open(id) else { return };
        let decision = match how {
            How::Acknowledged => Decision::Acknowledged {
                after: step.now.since(message.sent_at),
                late: message.is_late(step.now, step.policy),
            },
            How::NotFound => Decision::TellSender(Undelivered::NotFound),
            How::Expired => Decision::Expired,
        };
        self.push(step, id, reading, decision);
        self.close(step, id, reading);
        let at = step.now;
        self.change(id, step.policy, |message| message.ended = Some(Ended { at, how }));
    }

    /// Tells people that a receiver has no unacknowledged message left that they know of, if this is the last.
    pub(super) fn close(&mut self, step: &mut Step<'_>, id: &MessageId, reading: Option<Reading>) {
        let Some(message) = self.open(id) else { return };
        let receiver = message.to.clone();
        let is_escalated = message.escalated_at.is_some();
        let Some(inbox) = self.index.inboxes.get_mut(&receiver) else { return };
        if !is_escalated || 1 < inbox.escalated {
            return;
        }
        let Some(since) = inbox.marks.escalated_since.take() else { return };
        self.changed.insert(RowKey::Inbox(receiver));
        self.push(step, id, reading, Decision::EscalationOver { lasted: step.now.since(since) });
    }
}
