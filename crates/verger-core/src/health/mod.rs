//! How an agent is doing, as one composite state.

mod state;

pub use state::HealthState;
