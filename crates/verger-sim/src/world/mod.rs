//! Worlds: fleets of agents that work, wait, fail and answer, and the truth about them.
//!
//! A world knows nothing of how the monitor judges. Its figures come from recordings of real agents.

mod condition;
mod connection;
mod fault;
mod run;
mod time;
mod truth;

pub use condition::Condition;
pub use connection::Connection;
pub use fault::FaultKind;
pub use run::{Delivery, World, WorldOptions};
pub use time::{EPOCH_MS, SimTime};
pub use truth::{AgentFacts, EndedBy, Injection, Truth};
