//! The way to a monitor from Rust: for people's programs, and for agents.
//!
//! ```text
//! a person's program ──► Control ──► HTTP, or the monitor's socket ──► monitor
//! an agent ──► Agent (never waits) ──► a thread of its own ──► the same
//! ```
//!
//! What it promises:
//!
//! - **A refusal is kept whole.** What the monitor says of a request that it turned down is in the error, as the problem
//!   document that it sent ([`Error::Refused`]).
//! - **An agent never pays for being watched.** No call of [`Agent`] waits for the network, fails, or panics, whether
//!   the monitor is there, slow, gone or something else altogether. What cannot be sent is kept up to a bound, and sent
//!   in order when the monitor is back.
//! - **An agent does not decide about itself.** The local admin's token is found for people, and not from inside the
//!   tree of processes of a watched agent ([`Access::discover`]). It is sent to this machine alone.
//!
//! Deliberately absent: decisions, the wire types (`verger-api`'s), where the data folder is (`verger-config`'s rule:
//! whoever calls says so), and anything that prints.

mod access;
mod address;
mod agent;
mod ancestry;
mod backoff;
mod breaker;
mod control;
mod error;
mod transport;

pub use access::{Access, Surroundings, Withheld};
pub use address::{Address, AddressError};
pub use agent::{Agent, AgentOptions, Inbox, Tally};
pub use ancestry::Watched;
pub use breaker::Guarded;
pub use control::{
    AgentFilter, BreakerFilter, Control, Event, EventStream, IncidentFilter, Page, SignIn, Streamed,
};
pub use error::Error;
