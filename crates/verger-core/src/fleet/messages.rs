//! Messages between agents (R05): what the machine is told of them, and what follows from what it decides.
//!
//! What is decided is recorded. Deliveries, reminders and what a sender is told go out to the present life of the
//! agent concerned; if it has none, they are recorded only. That people are to know of something is a fact.

use super::{Collector, Fleet, desk};
use crate::agent::Question;
use crate::effect::{Action, EffectKey, Outcome};
use crate::event::Fact;
use crate::id::{AgentId, MessageId};
use crate::messages::{Acknowledgement, Decided, Decision, Messages, NewMessage, Step, Undelivered};
use crate::notice::{NoticeError, Reply, Speaker};
use crate::policy::Mode;
use crate::signal::Trust;
use crate::time::Timestamp;

impl Fleet {
    /// All messages that are to be acknowledged.
    pub fn messages(&self) -> &Messages {
        &self.machines.messages
    }

    /// An agent sends a message. That its receiver is offline the sender learns by the answer.
    pub(super) fn send(
        &mut self,
        now: Timestamp,
        new: &NewMessage,
        out: &mut Collector,
    ) -> Result<Reply, NoticeError> {
        let (result, decided) = self.messages_step(now, |messages, step| messages.on_sent(step, new.clone()));
        for decided in decided {
            let answered = decided.message == new.id && decided.decision.for_sender().is_some();
            if answered {
                self.record_message(now, decided, out);
            } else {
                self.on_message_decided(now, decided, out);
            }
        }
        Ok(Reply::Sent(result?))
    }

    /// Its receiver acknowledges a message, or a person took care of it.
    pub(super) fn acknowledge(
        &mut self,
        now: Timestamp,
        message: &MessageId,
        by: &Speaker,
        out: &mut Collector,
    ) -> Result<Reply, NoticeError> {
        let agent = match by {
            Speaker::Agent { trust: Trust::Unverified, .. } => return Err(NoticeError::Unproven),
            Speaker::Agent { id, trust: Trust::Verified } => Some(id),
            Speaker::Person(_) => None,
        };
        let from = out.events.len();
        let what =
            self.with_messages(now, out, |messages, step| messages.on_acknowledged(step, message, agent));
        match what {
            Acknowledgement::Unknown => return Err(NoticeError::UnknownMessage(message.clone())),
            Acknowledgement::NotTheirs => return Err(NoticeError::NotTheirMessage(message.clone())),
            Acknowledgement::Over { .. } | Acknowledgement::Again => {}
        }
        if let (Speaker::Person(by), Acknowledgement::Over { .. }) = (by, what) {
            let fact = Fact::MessageSettled { message: message.clone(), by: by.clone() };
            self.record_about(now, None, fact, out);
            // Who settled it comes before what that led to.
            out.events[from..].rotate_right(1);
        }
        Ok(Reply::Acknowledged(what))
    }

    /// It went silent, came back, or is gone.
    pub(super) fn on_receiver_changed(&mut self, now: Timestamp, agent: &AgentId, out: &mut Collector) {
        if self.machines.messages.expects_of(agent) {
            self.with_messages(now, out, |messages, step| messages.on_receiver_changed(step, agent));
        }
    }

    /// A new life of it began.
    pub(super) fn on_receiver_reborn(&mut self, now: Timestamp, agent: &AgentId, out: &mut Collector) {
        if self.machines.messages.expects_of(agent) {
            self.with_messages(now, out, |messages, step| messages.on_new_life(step, agent));
        }
    }

    pub(super) fn on_receiver_answered(&mut self, now: Timestamp, agent: &AgentId, out: &mut Collector) {
        self.with_messages(now, out, |messages, step| messages.on_answered(step, agent));
    }

    /// What became of an effect; of interest here if it was a delivery.
    pub(super) fn on_delivery_outcome(
        &mut self,
        now: Timestamp,
        slot: u32,
        key: &EffectKey,
        outcome: Outcome,
        out: &mut Collector,
    ) {
        let Some(message) = self.machines.messages.carried_by(key).cloned() else { return };
        // Nobody says what became of what was sent to another.
        if self.table.id(slot) != Some(&key.agent) {
            return;
        }
        let why = match outcome {
            Outcome::Delivered => None,
            Outcome::Refused => Some(Undelivered::Offline),
            Outcome::Unreachable | Outcome::Failed | Outcome::Unreadable | Outcome::Rejected => {
                Some(Undelivered::Timeout)
            }
            // Nothing that is delivered can be stopped.
            Outcome::Stopped => return,
        };
        self.with_messages(now, out, |messages, step| match why {
            None => messages.on_delivered(step, &message),
            Some(why) => messages.on_undelivered(step, &message, why),
        });
    }

    pub(super) fn wake_messages(&mut self, now: Timestamp, out: &mut Collector) {
        if self.machines.messages.deadline(Timestamp::ZERO).is_some_and(|due| due <= now) {
            self.with_messages(now, out, Messages::wake);
        }
    }

    /// Has the machine take a step, and does what it decides.
    fn with_messages<T>(
        &mut self,
        now: Timestamp,
        out: &mut Collector,
        tell: impl FnOnce(&mut Messages, &mut Step<'_>) -> T,
    ) -> T {
        let (result, decided) = self.messages_step(now, tell);
        for decided in decided {
            self.on_message_decided(now, decided, out);
        }
        result
    }

    fn messages_step<T>(
        &mut self,
        now: Timestamp,
        tell: impl FnOnce(&mut Messages, &mut Step<'_>) -> T,
    ) -> (T, Vec<Decided>) {
        let (table, index, policies) = (&self.table, &self.index, &self.policies);
        let standing = |id: &AgentId| desk::standing(now, id, table, index, policies);
        let mut decided = Vec::new();
        let mut step = Step { now, policy: &policies.messages, standing: &standing, out: &mut decided };
        let result = tell(&mut self.machines.messages, &mut step);
        (result, decided)
    }

    fn on_message_decided(&mut self, now: Timestamp, decided: Decided, out: &mut Collector) {
        let Decided { message, from, to, decision, .. } = decided.clone();
        self.record_message(now, decided, out);
        match decision {
            Decision::Deliver { attempt } => {
                let action = Action::Deliver { message: message.clone(), from, attempt };
                if let Some(key) = self.act_on(&to, action, out) {
                    self.machines.messages.on_numbered(&self.policies.messages, &message, key);
                }
            }
            Decision::Remind { joined: false } if self.may_remind(&to) => {
                let unread = u32::try_from(self.machines.messages.unread(&to)).unwrap_or(u32::MAX);
                self.act_on(&to, Action::RemindOfMessage { message, from, unread }, out);
            }
            Decision::Inquire { joined: false } => self.inquire(now, &to, Question::of_itself(false), out),
            Decision::TellSender(_)
            | Decision::TellSenderDelivered { .. }
            | Decision::Dropped
            | Decision::Expired => {
                if let Some(news) = decision.for_sender() {
                    self.act_on(&from, Action::TellSender { message, to, news }, out);
                }
            }
            Decision::Remind { .. }
            | Decision::Inquire { joined: true }
            | Decision::Escalate { .. }
            | Decision::EscalationOver { .. }
            | Decision::Log
            | Decision::Acknowledged { .. } => {}
        }
    }

    fn record_message(&self, now: Timestamp, decided: Decided, out: &mut Collector) {
        let to = decided.to.clone();
        self.record_about(now, Some(&to), Fact::Message(Box::new(decided)), out);
    }

    /// A reminder is something done to an agent: not to one that is only to be looked at.
    fn may_remind(&self, agent: &AgentId) -> bool {
        let slot = self.index.get(agent, &self.table);
        let agent = slot.and_then(|slot| self.table.agent(slot));
        agent.is_some_and(|agent| Mode::Nudge <= agent.mode(self.policies.at(agent.role)))
    }
}
