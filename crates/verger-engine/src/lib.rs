//! The loop around the core: orders inputs, keeps observed time, commits, then releases effects.
//!
//! The core decides and knows nothing of clocks, disks or the network. This crate gives it all three, as
//! ports: a [`Clock`], an [`Inbox`], a [`Store`] and an [`Outbox`]. It is synchronous and owned by one
//! thread, so the simulator runs this very loop against seeded worlds with a virtual clock.
//!
//! One [`turn`](Engine::turn) of the loop:
//!
//! ```text
//! read the clock ─► take every input ─► wake what is due ─► commit ─► answer callers ─► release effects
//!      │                  │                                   │
//!      │                  └ more left than one turn takes:    └ failed: nothing is released or answered,
//!      │                    deadlines wait until it is read     and the same batch is tried again
//!      └ the loop was not turned in time: observed time stands still
//! ```
//!
//! What it promises:
//!
//! - **Write, then act.** Events, effects and changed state rows are one [`Batch`] and one commit. An
//!   effect leaves only after that commit, and an order is answered only then.
//! - **At most once more.** An effect whose outcome was not heard before a crash is released once more,
//!   however many restarts follow. What is too late to be right is not done: the core hears that it failed
//!   and decides again.
//! - **Read before judging.** No deadline is woken while an input that arrived earlier lies unread.
//! - **Doubt thyself first.** Time in which the monitor was down, paused, overloaded or unable to write is
//!   not part of [observed time](observed), so it is never held against an agent. It is reported as
//!   [`Blind`].
//!
//! Deliberately absent: threads, async, sockets, files and encodings (whoever implements a port brings
//! them), decisions (the core's), and replay: a restart reads state rows, never the journal.

mod clock;
mod durability;
mod engine;
mod inbox;
mod ledger;
pub mod observed;
mod outbox;
mod parcel;
mod settings;
mod store;

pub use clock::{Clock, Reading};
pub use engine::{Engine, OpenError, Turn};
pub use inbox::{Answer, Inbox, Input, Message, Ticket};
pub use observed::{Blind, BlindCause};
pub use outbox::Outbox;
pub use settings::Settings;
pub use store::{Batch, Loaded, Mark, Store, StoreError, Unfinished};
