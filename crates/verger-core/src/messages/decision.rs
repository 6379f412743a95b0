//! What is decided about messages, and the evidence it rests on.

use std::fmt;

use super::Priority;
use crate::id::{AgentId, MessageId};
use crate::standing::Reading;
use crate::time::Span;

/// One decision about one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// Which message.
    pub message: MessageId,
    /// Who sent it.
    pub from: AgentId,
    /// Whom to.
    pub to: AgentId,
    /// What is to be done or recorded.
    pub decision: Decision,
    /// Why.
    pub evidence: Evidence,
}

/// What is to be done or recorded. Each happens to a message at most once, but deliveries.
///
/// `joined` says that the receiver was reminded or asked just now, or that people know already that it leaves messages
/// unacknowledged: it is recorded, and nobody is told again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Put it into the receiver's inbox, and say what became of that.
    Deliver {
        /// Counts from 1.
        attempt: u8,
    },
    /// Remind the receiver.
    Remind {
        /// It was reminded of another one just now.
        joined: bool,
    },
    /// Ask the receiver with high priority how it is.
    Inquire {
        /// It was asked just now.
        joined: bool,
    },
    /// Tell people. It says that a message is unacknowledged, not that the receiver failed.
    Escalate {
        /// They know already that this receiver leaves messages unacknowledged.
        joined: bool,
    },
    /// This was the last message of the receiver that people knew of as unacknowledged: that is over.
    EscalationOver {
        /// How long it lasted.
        lasted: Span,
    },
    /// Log that it is unacknowledged, and no more.
    Log,
    /// Tell the sender that it was not delivered; told once until it is.
    TellSender(Undelivered),
    /// Tell the sender that it arrived after all.
    TellSenderDelivered {
        /// How long after it was sent.
        after: Span,
    },
    /// It is acknowledged, and over.
    Acknowledged {
        /// How long after it was sent.
        after: Span,
        /// After its time, or after something was done about it.
        late: bool,
    },
    /// It was given up to make room for more important ones; never an urgent one. Tell the sender.
    Dropped,
    /// It was given up because nobody acknowledged it in all the time. Tell the sender.
    Expired,
}

impl Decision {
    /// What the sender is told, if it is told anything.
    pub fn for_sender(self) -> Option<ForSender> {
        match self {
            Self::TellSender(why) => Some(ForSender::NotDelivered(why)),
            Self::TellSenderDelivered { after } => Some(ForSender::Delivered { after }),
            Self::Dropped => Some(ForSender::Dropped),
            Self::Expired => Some(ForSender::Expired),
            Self::Deliver { .. }
            | Self::Remind { .. }
            | Self::Inquire { .. }
            | Self::Escalate { .. }
            | Self::EscalationOver { .. }
            | Self::Log
            | Self::Acknowledged { .. } => None,
        }
    }
}

/// What the sender of a message is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForSender {
    /// It was not delivered. Unless nobody is there, it is kept until it can be.
    NotDelivered(Undelivered),
    /// It was delivered after all.
    Delivered {
        /// How long after it was sent.
        after: Span,
    },
    /// It was given up to make room for more important ones.
    Dropped,
    /// It was given up because nobody acknowledged it in all the time.
    Expired,
}

/// Why a message was not delivered (001 §1.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undelivered {
    /// No agent of that name is registered.
    NotFound,
    /// The agent is registered and not connected.
    Offline,
    /// Delivery took too long: the network or the server, not the agent.
    Timeout,
}

impl Undelivered {
    /// The code by which 001 calls it.
    pub fn code(self) -> &'static str {
        match self {
            Self::NotFound => "agent_not_found",
            Self::Offline => "agent_offline",
            Self::Timeout => "timeout",
        }
    }
}

/// What a decision about a message rests on: its age against its limit, together with how the receiver stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// How important it is.
    pub priority: Priority,
    /// For how long it has been unacknowledged, counted from when it could be acknowledged.
    pub unacknowledged: Span,
    /// How long it may be.
    pub limit: Span,
    /// How the receiver stands; nothing where that was of no concern.
    pub receiver: Option<Reading>,
    /// How long ago the receiver was reminded of it.
    pub reminded: Option<Span>,
    /// How long ago the receiver was asked how it is.
    pub asked: Option<Span>,
}

/// The sentence a person reads.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { priority, unacknowledged, limit, .. } = self;
        write!(f, "{priority} message unacknowledged for {unacknowledged} (limit {limit})")?;
        if let Some(reminded) = self.reminded {
            write!(f, ", reminded {reminded} ago")?;
        }
        if let Some(asked) = self.asked {
            write!(f, ", asked how it is {asked} ago")?;
        }
        match self.receiver {
            Some(receiver) => write!(f, "; of the receiver: {receiver}"),
            None => Ok(()),
        }
    }
}

/// What became of a message that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// How it was taken.
    pub taken: Taken,
    /// If it replies to another: what that did.
    pub reply: Option<Acknowledgement>,
}

/// How a message was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is on its way.
    Sent,
    /// The receiver is offline: it is delivered later (`agent_offline`).
    Later,
    /// It is to the sender itself: delivered, and nobody waits for an acknowledgement.
    ToOneself,
    /// The very same message was taken before: nothing changed.
    Again,
}

/// Why a message was not taken. Nothing was changed, but that what it replies to is acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Nobody of that name is registered (`agent_not_found`).
    #[error("no agent `{0}` is registered")]
    AgentNotFound(AgentId),
    /// Another message has that name.
    #[error("another message is called `{0}`")]
    IdTaken(MessageId),
    /// There are too many messages, and none of them is less important.
    #[error("there is no room for more messages to `{0}` of this priority")]
    Full(AgentId),
    /// A name is longer than names are.
    #[error("a name is longer than {0} bytes")]
    NameTooLong(usize),
}

/// What an acknowledgement did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledgement {
    /// It ended the message.
    Over {
        /// After its time, or after something was done about it.
        late: bool,
    },
    /// The message was over already.
    Again,
    /// It is not for whoever acknowledged it.
    NotTheirs,
    /// No such message is known, or it is long over.
    Unknown,
}
