//! One message, and when which step is due for it.
//!
//! When the next step is due follows from the message and the policy alone, never from the present moment: so a
//! restart finds the same deadlines, and waking early changes nothing.

use std::fmt;

use super::decision::Evidence;
use super::{Policy, Undelivered};
use crate::effect::EffectKey;
use crate::id::{AgentId, MessageId, TaskId};
use crate::standing::Reading;
use crate::time::{Span, Timestamp};

/// How important a message is (001 §1.4.3), from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Nobody need hurry.
    Low,
    /// As usual.
    Normal,
    /// Soon.
    High,
    /// At once.
    Urgent,
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
            Self::Urgent => "urgent",
        })
    }
}

/// One message that is to be acknowledged.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) from: AgentId,
    pub(crate) to: AgentId,
    pub(crate) priority: Priority,
    pub(crate) reply_to: Option<MessageId>,
    pub(crate) task: Option<TaskId>,
    pub(crate) sent_at: Timestamp,
    /// Since when it could be acknowledged: sent, or delivered.
    pub(crate) clock: Timestamp,
    pub(crate) way: Way,
    /// How often it was sent to the receiver.
    pub(crate) attempts: u8,
    /// How often it had to be kept, which makes the next try later.
    pub(crate) failures: u8,
    /// Since when the sender knows that it was not delivered.
    pub(crate) told_at: Option<Timestamp>,
    pub(crate) reminded_at: Option<Timestamp>,
    pub(crate) asked_at: Option<Timestamp>,
    pub(crate) escalated_at: Option<Timestamp>,
    pub(crate) logged_at: Option<Timestamp>,
    /// People are not told before: the receiver is busy, or said that it is there.
    pub(crate) excused_until: Option<Timestamp>,
    pub(crate) ended: Option<Ended>,
    /// The effect that carries it: what became of that returns under this name.
    pub(crate) effect: Option<EffectKey>,
}

/// Where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// On its way, or in an inbox that nobody has read.
    Queued,
    /// The channel confirmed it.
    Delivered,
    /// Kept until it can be delivered.
    Withheld { why: Undelivered, retry_at: Timestamp },
}

/// It is over, and only known for a while in case it comes again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ended {
    pub(crate) at: Timestamp,
    pub(crate) how: How,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Acknowledged,
    NotFound,
    Expired,
}

/// Messages given up to make room, by priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dropped {
    pub(crate) low: u64,
    pub(crate) normal: u64,
    pub(crate) high: u64,
}

/// What is next for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Deliver,
    Remind,
    Escalate,
    Log,
    Expire,
    Forget,
}

impl Message {
    /// What is next, and when.
    pub(super) fn next(&self, policy: &Policy) -> (Timestamp, Next) {
        if let Some(ended) = self.ended {
            return (ended.at + policy.forget_after, Next::Forget);
        }
        let deliver = match self.way {
            Way::Queued | Way::Delivered => None,
            Way::Withheld { retry_at, .. } => Some((retry_at, Next::Deliver)),
        };
        let expire = (self.sent_at + policy.keep, Next::Expire);
        let steps = [deliver, self.course(policy), Some(expire)];
        steps.into_iter().flatten().min_by_key(|(due, _)| *due).unwrap_or(expire)
    }

    /// The next step of 001 §1.4.3.
    fn course(&self, policy: &Policy) -> Option<(Timestamp, Next)> {
        let due = self.clock + policy.timeout(self.priority);
        // What has not arrived needs no reminder.
        let may_remind = self.nudged_at().is_none() && !self.is_withheld();
        match self.priority {
            Priority::High if may_remind && self.escalated_at.is_none() => Some((due, Next::Remind)),
            Priority::High | Priority::Urgent => self.escalation(policy),
            Priority::Normal => may_remind.then_some((due, Next::Remind)),
            Priority::Low => self.logged_at.is_none().then_some((due, Next::Log)),
        }
    }

    fn escalation(&self, policy: &Policy) -> Option<(Timestamp, Next)> {
        if self.escalated_at.is_some() {
            return None;
        }
        let (since, patience) = self.patience(policy)?;
        let due = (since + patience).max(self.excused_until.unwrap_or_default());
        Some((due.min(self.excused_at_most(policy)?), Next::Escalate))
    }

    /// Since when, and for how long, it may be unacknowledged before people are told.
    fn patience(&self, policy: &Policy) -> Option<(Timestamp, Span)> {
        match (self.priority, self.nudged_at()) {
            (Priority::Urgent, _) => Some((self.clock, policy.urgent)),
            (Priority::High, Some(nudged_at)) => Some((nudged_at.max(self.clock), policy.high_reminded)),
            (Priority::High, None) => Some((self.clock + policy.high, policy.high_reminded)),
            (Priority::Normal | Priority::Low, _) => None,
        }
    }

    /// Beyond this nothing keeps people from being told: neither an excuse, nor a receiver that keeps coming and going
    /// and for which the time begins anew with each delivery.
    fn excused_at_most(&self, policy: &Policy) -> Option<Timestamp> {
        let factor = u64::from(policy.busy_factor.max(1));
        let (since, patience) = self.patience(policy)?;
        let in_all = if self.priority == Priority::High { policy.high + patience } else { patience };
        Some((since + patience.times(factor)).min(self.sent_at + in_all.times(factor)))
    }

    /// Gives it until then, within limits; tells whether that is later than now.
    pub(super) fn excuse(&mut self, now: Timestamp, until: Timestamp, policy: &Policy) -> bool {
        let Some(at_most) = self.excused_at_most(policy) else { return false };
        let until = until.min(at_most);
        if until <= now {
            return false;
        }
        self.excused_until = self.excused_until.max(Some(until));
        true
    }

    /// When the receiver was last reminded or asked because of it.
    fn nudged_at(&self) -> Option<Timestamp> {
        self.reminded_at.max(self.asked_at)
    }

    pub(super) fn is_withheld(&self) -> bool {
        matches!(self.way, Way::Withheld { .. })
    }

    /// Whether its time is over, or something was done about it.
    pub(super) fn is_late(&self, now: Timestamp, policy: &Policy) -> bool {
        let acted = self.nudged_at().or(self.escalated_at).or(self.logged_at).is_some();
        acted || policy.timeout(self.priority) <= now.since(self.clock)
    }

    pub(super) fn evidence(&self, now: Timestamp, policy: &Policy, receiver: Option<Reading>) -> Evidence {
        Evidence {
            priority: self.priority,
            unacknowledged: now.since(self.clock),
            limit: policy.timeout(self.priority),
            receiver,
            reminded: self.reminded_at.map(|at| now.since(at)),
            asked: self.asked_at.map(|at| now.since(at)),
        }
    }
}
