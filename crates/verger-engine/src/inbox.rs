//! The inbox port: what came in, and the way answers go back.

use verger_core::Refusal;
use verger_core::command::{Command, CommandError};
use verger_core::effect::EffectKey;
use verger_core::id::Handle;
use verger_core::notice::{Notice, NoticeError, Reply};
use verger_core::signal::{Content, Signal};

use crate::durability::{is_fact, lasts};

/// Hands over what came in, in the order of its arrival, and takes answers back.
///
/// It must be bounded: whatever waits here waits in memory. When too much cannot be written the engine takes nothing,
/// and the inbox decides what to turn away.
pub trait Inbox {
    /// The next input, or nothing if all has been read.
    fn next(&mut self) -> Option<Input>;

    /// The answer for whoever asked for it. An order, and a signal that is acknowledged as a fact, are
    /// answered after they are on disk; other signals at once.
    fn answer(&mut self, ticket: Ticket, answer: Answer);
}

/// One thing that came in.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Who wants an answer, if anybody does.
    pub ticket: Option<Ticket>,
    /// What came in.
    pub message: Message,
}

/// What came in.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// A signal, with its agent's name.
    Signal(Signal),
    /// A signal of an agent whose handle the sender holds: the fast way.
    At(Handle, Content),
    /// An order about one agent.
    Command(Command),
    /// Something told or ordered about what is no agent.
    Notice(Notice),
    /// An effect that was released again, and waited to be fetched, is about to be handed over.
    Handing(EffectKey),
}

impl Message {
    /// Whether whoever sends it is answered only after it is on disk. A report to a breaker that trips it is, too.
    pub fn waits_for_disk(&self) -> bool {
        match self {
            Self::Signal(signal) => is_fact(&signal.content.body),
            Self::At(_, content) => is_fact(&content.body),
            Self::Command(_) | Self::Handing(_) => true,
            Self::Notice(notice) => lasts(notice),
        }
    }
}

/// Names a caller to the inbox that handed its input over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// What a caller is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The signal was accepted. The handle names the agent from now on.
    Accepted(Option<Handle>),
    /// The signal was turned away.
    Refused(Refusal),
    /// What became of the order.
    Ordered(Result<(), CommandError>),
    /// What became of the notice.
    Noticed(Result<Reply, NoticeError>),
    /// Whether the effect is still to be handed over. That it may have been is on disk then.
    Handing(bool),
}
