//! The outside's formats, read as one: what an agent called, what came back, what was said.
//!
//! A recorded run is read step by step ([`read()`]), whichever of the [`Format`]s it is in, and given to a [`Sink`]
//! as it is read: a transcript of gigabytes needs no more memory than its longest line. A [`Watch`] is such a sink for
//! one run. It judges the run as a live monitor would have, with the same rules, and keeps the last steps so that
//! the repeated stretch can be shown ([`Stretch`]).
//!
//! Recordings come from anywhere. What cannot be read is counted and named ([`Flaw`]), the rest is read; no content
//! makes this crate panic.
//!
//! What a running program says of itself in systemd's words is read by [`sd_notify`].
//!
//! Deliberately absent: every rule of the judgement, which is `verger-core`'s; printing; the network.

mod expand;
mod flaw;
mod format;
mod formats;
mod inspect;
mod lines;
mod read;
mod run;
pub mod scenario;
pub mod sd_notify;
mod stream;
mod stretch;
mod values;

pub use expand::{Expanded, Recording, expand};
pub use flaw::{Flaw, Place, ReadError};
pub use format::Format;
pub use inspect::{Finding, Inspector, State, Watch, inspect};
pub use read::{Sink, read};
pub use run::{Call, Event, Run, Runs, Step, Talker};
pub use stretch::{Lap, Sameness, Shown, Stretch};
pub use verger_core::stuck::Kind;
