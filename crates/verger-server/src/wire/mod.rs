//! The core's types and those of the wire: every word that is heard or said, translated in one place.
//!
//! Going out, observed time becomes wall time by the [`Calendar`](crate::monitor::Calendar). Coming in, text becomes
//! fingerprints and an agent's clock readings become spans, so the core sees neither.

mod agent;
mod calls;
mod checkpoint;
mod event;
mod evidence;
mod heartbeat;
mod incident;
mod note;
mod signal;
mod states;
mod step;
mod work;

/// Which monitor says something, where there is one.
pub const SOURCE: &str = "/verger";

pub use agent::{agent_health, last_heartbeat, snapshot};
pub(crate) use agent::{breaker_status, time, waste};
pub use calls::Calls;
pub use checkpoint::{
    ReferenceTooLong, checkpoint_content, checkpoint_info, checkpoint_state, stored_checkpoint,
};
pub use event::Encoder;
pub(crate) use event::{is_alarm, state_after};
pub(crate) use evidence::all as findings;
pub use heartbeat::{heard, heartbeat};
pub use incident::incident;
pub use signal::signal;
pub(crate) use states::mode_in;
pub use work::{recovery, task, task_status_in};
