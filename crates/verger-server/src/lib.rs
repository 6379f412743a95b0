//! The monitor as a program that runs: its loop on a thread of its own, and the ways in and out of it.
//!
//! ```text
//!  HTTP, sockets ──► Monitor::tell ──► queue ──► engine thread ──► store
//!        ▲                                            │
//!        │           Monitor::look ◄── committed ─────┤
//!        └── pending items of each agent ◄── outlet ◄─┘──► whoever carries effects out
//! ```
//!
//! What it promises:
//!
//! - **One thread decides.** Everything that comes in waits in one bounded queue; what does not fit is turned away at
//!   once, with a word, and never piles up.
//! - **Nobody takes for written what is not on disk.** Who looks at the fleet does so between two turns of the loop.
//!   While the store cannot be written the fleet is judged from memory, and whoever looks is told so.
//! - **A reminder is delivered when it was handed over,** and known not to be when it was not.
//!
//! Deliberately absent: decisions (the core's), words on the wire (`verger-api`'s), the way to programs and addresses
//! outside (`verger-act`'s).

pub mod access;
mod carry;
pub mod history;
pub mod http;
pub mod monitor;
mod runs;
pub mod serve;
pub mod trace;
mod traffic;
pub mod unix;
pub mod wire;

pub use traffic::Traffic;
pub use verger_store::{Error as DataError, examine};
