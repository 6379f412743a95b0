//! What is done about a message whose time is over, once it was asked how its receiver stands.

use super::message::{How, Next, Way};
use super::{Decision, Messages, RowKey, Step, Undelivered};
use crate::id::{AgentId, MessageId};
use crate::standing::Reading;
use crate::time::Timestamp;

/// Steps of one message in one moment. Times of nothing at all must not keep us here.
const STEPS_MAX: u8 = 4;

impl Messages {
    /// Does what is due. Calling early is harmless.
    pub fn wake(&mut self, step: &mut Step<'_>) {
        for id in self.index.due(step.now) {
            for _ in 0..STEPS_MAX {
                let next = self.slots.get(&id).map(|slot| slot.message.next(step.policy));
                match next {
                    Some((due, next)) if due <= step.now => self.advance(step, &id, next),
                    Some(_) | None => break,
                }
            }
            // The limits may have changed since its place was found.
            self.replace(step, &id);
        }
    }

    fn replace(&mut self, step: &mut Step<'_>, id: &MessageId) {
        let Some(slot) = self.slots.get(id) else { return };
        if slot.place.due != slot.message.next(step.policy).0 {
            self.change(id, step.policy, |_| ());
        }
    }

    fn advance(&mut self, step: &mut Step<'_>, id: &MessageId, next: Next) {
        match next {
            Next::Forget => self.remove(id),
            Next::Expire => self.end(step, id, How::Expired, None),
            Next::Deliver | Next::Remind | Next::Escalate | Next::Log => self.consult(step, id, next),
        }
    }

    /// Nothing follows from a message alone: first it is asked how its receiver stands.
    fn consult(&mut self, step: &mut Step<'_>, id: &MessageId, next: Next) {
        let Some(message) = self.open(id) else { return };
        let (to, way) = (message.to.clone(), message.way);
        let reading = step.reading(&to);
        match (reading, way) {
            (Reading::Nobody, _) => self.end(step, id, How::NotFound, Some(reading)),
            (Reading::Offline, Way::Queued | Way::Delivered) => {
                self.withhold(step, id, Undelivered::Offline, Some(reading));
            }
            (Reading::Offline, Way::Withheld { .. }) if next == Next::Deliver => {
                self.withhold(step, id, Undelivered::Offline, Some(reading));
            }
            // Somebody may be there again, or the way may be open: it is tried.
            (_, Way::Withheld { why, .. })
                if next == Next::Deliver || (why == Undelivered::Offline && reading != Reading::Offline) =>
            {
                self.deliver(step, id, Some(reading));
            }
            (_, Way::Queued | Way::Delivered | Way::Withheld { .. }) => {
                self.act(step, id, &to, next, reading);
            }
        }
    }

    fn act(&mut self, step: &mut Step<'_>, id: &MessageId, to: &AgentId, next: Next, reading: Reading) {
        match (next, reading) {
            (Next::Remind, Reading::Silent | Reading::Unknown) => self.inquire(step, id, to, reading),
            (Next::Remind, _) => self.remind(step, id, to, reading),
            (Next::Escalate, Reading::Engaged { left, .. }) => {
                let until = left.map_or(Timestamp::NEVER, |left| step.now + left);
                if !self.excuse(step, id, until) {
                    self.escalate(step, id, to, reading);
                } else if self.open(id).is_some_and(|message| message.reminded_at.is_none()) {
                    self.remind(step, id, to, reading);
                }
            }
            (Next::Escalate, Reading::Silent | Reading::Unknown) => {
                if self.open(id).is_some_and(|message| message.asked_at.is_none()) {
                    self.inquire(step, id, to, reading);
                }
                self.escalate(step, id, to, reading);
            }
            // It was asked in place of a reminder, and is there again: the reminder comes first.
            (Next::Escalate, Reading::There) if self.was_only_asked(id) => self.remind(step, id, to, reading),
            (Next::Escalate, _) => self.escalate(step, id, to, reading),
            (Next::Log, _) => {
                self.push(step, id, Some(reading), Decision::Log);
                let now = step.now;
                self.change(id, step.policy, |message| message.logged_at = Some(now));
            }
            (Next::Deliver | Next::Expire | Next::Forget, _) => {}
        }
    }

    fn was_only_asked(&self, id: &MessageId) -> bool {
        self.open(id).is_some_and(|message| message.asked_at.is_some() && message.reminded_at.is_none())
    }

    fn excuse(&mut self, step: &mut Step<'_>, id: &MessageId, until: Timestamp) -> bool {
        let now = step.now;
        self.change(id, step.policy, |message| message.excuse(now, until, step.policy)).unwrap_or(false)
    }

    fn remind(&mut self, step: &mut Step<'_>, id: &MessageId, to: &AgentId, reading: Reading) {
        let (now, gather) = (step.now, step.policy.gather);
        let Some(inbox) = self.index.inboxes.get_mut(to) else { return };
        let joined = inbox.marks.reminded_at.is_some_and(|at| now < at + gather);
        if !joined {
            inbox.marks.reminded_at = Some(now);
            self.changed.insert(RowKey::Inbox(to.clone()));
        }
        self.push(step, id, Some(reading), Decision::Remind { joined });
        self.change(id, step.policy, |message| message.reminded_at = Some(now));
    }

    fn inquire(&mut self, step: &mut Step<'_>, id: &MessageId, to: &AgentId, reading: Reading) {
        let now = step.now;
        let Some(inbox) = self.index.inboxes.get_mut(to) else { return };
        let joined = inbox.marks.asked_at.is_some_and(|at| now < at + step.policy.inquiry_timeout);
        if !joined {
            inbox.marks.asked_at = Some(now);
            self.changed.insert(RowKey::Inbox(to.clone()));
        }
        self.push(step, id, Some(reading), Decision::Inquire { joined });
        self.change(id, step.policy, |message| message.asked_at = Some(now));
    }

    fn escalate(&mut self, step: &mut Step<'_>, id: &MessageId, to: &AgentId, reading: Reading) {
        let now = step.now;
        let Some(inbox) = self.index.inboxes.get_mut(to) else { return };
        let joined = inbox.marks.escalated_since.is_some();
        if !joined {
            inbox.marks.escalated_since = Some(now);
            self.changed.insert(RowKey::Inbox(to.clone()));
        }
        self.push(step, id, Some(reading), Decision::Escalate { joined });
        self.change(id, step.policy, |message| message.escalated_at = Some(now));
    }
}
