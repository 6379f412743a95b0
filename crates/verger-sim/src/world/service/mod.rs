//! What agents depend on outside, and the clients through which they call it: one idea per file.
//!
//! A client asks the monitor before each call, makes the call if it may, and reports how it went. Calls run beside
//! what the agent does: they change nothing in its work, so that worlds with and without them are the same.

mod catalogue;
mod client;
mod facts;
mod state;
mod trouble;

pub(crate) use catalogue::Catalogue;
pub(crate) use client::{Client, answered};
pub(crate) use facts::AskId;
pub use facts::{Answered, Ask, ServiceFacts, Trouble, TroubleKind};
pub(crate) use state::Services;
