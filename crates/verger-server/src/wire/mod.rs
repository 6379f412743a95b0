//! The core's types and those of the wire: every word that is heard or said, translated in one place.
//!
//! Going out, observed time becomes wall time by the [`Calendar`](crate::monitor::Calendar). Coming in, text becomes
//! fingerprints and an agent's clock readings become spans, so the core sees neither.

mod agent;
mod checkpoint;
mod event;
mod evidence;
mod heartbeat;
mod note;
mod signal;
mod states;

pub use agent::agent_health;
pub use checkpoint::{
    ReferenceTooLong, checkpoint_content, checkpoint_info, checkpoint_state, stored_checkpoint,
};
pub use event::Encoder;
pub(crate) use evidence::all as evidence;
pub use heartbeat::heartbeat;
pub use signal::signal;
