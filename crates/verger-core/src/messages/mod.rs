//! Messages between agents that somebody has to acknowledge, and what follows when nobody does (R04, R05).
//!
//! ```text
//!            2 min                       people are told
//! urgent ───────────────────────────────────────────────►
//! high   ── 5 min ──► reminder ── 5 min ──► people are told
//! normal ── 15 min ─► reminder
//! low    ── 1 h ────► a line in the log
//! an acknowledgement at any time, however late ──► over
//! ```
//!
//! Silence about a message is never by itself a proof that anybody failed: the receiver may be busy, wait for a
//! person or read a long text. So before anything is done it is asked how the receiver stands
//! ([`Standing`]):
//!
//! | receiver | what is done when the time is over |
//! |---|---|
//! | shows life | what the table above says |
//! | busy, or waits on something | it is reminded; people are told only when the time, stretched, is over as well |
//! | silent, or never heard | it is asked how it is, in place of a reminder; people learn that it may have failed |
//! | offline | the message is delivered when it is back, and the sender is told at once |
//! | not there | it is over, and the sender is told |
//!
//! The text of a message is not here: the store keeps it, and the machine needs its name alone.

mod decision;
mod index;
mod machine;
mod message;
mod outcome;
mod policy;
mod rows;
mod view;
mod wake;

#[cfg(test)]
mod tests;

pub use decision::{
    Acknowledgement, Decided, Decision, Evidence, ForSender, Receipt, Refusal, Taken, Undelivered,
};
pub(crate) use index::Marks;
pub use machine::{Messages, NewMessage, Step};
pub use message::Priority;
pub(crate) use message::{Dropped, Ended, How, Message, Way};
pub use policy::Policy;
pub use rows::RowKey;
pub use view::{Counts, MessageView};
