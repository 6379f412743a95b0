//! Worlds: fleets of agents that work, wait, fail and answer, and the truth about them.
//!
//! A world knows nothing of how the monitor judges. Its figures come from recordings of real agents and
//! from what people reported of other monitors; each file says which.

mod agent;
mod blip;
mod condition;
mod connection;
mod effects;
mod fault;
mod moment;
mod people;
mod post;
mod request;
mod run;
mod service;
mod stage;
mod starter;
mod text;
mod time;
mod transport;
mod truth;

#[cfg(test)]
mod tests;

pub use condition::Condition;
pub use connection::Connection;
pub use fault::FaultKind;
pub use post::Letter;
pub use run::{Delivery, World, WorldOptions};
pub use service::{Answered, Ask, ServiceFacts, Trouble, TroubleKind};
pub use starter::Saved;
pub use time::{EPOCH_MS, SimTime};
pub use truth::{AgentFacts, EndedBy, Injection, Truth};
