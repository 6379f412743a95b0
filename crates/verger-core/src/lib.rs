//! Every decision of Verger, as pure logic.
//!
//! Signals come in, verdicts are judged, events (facts to record) and effects (things to do) go out. There is
//! no clock, no randomness, no I/O and no async here: time and seeds are arguments, so the simulator runs
//! this very code through weeks in seconds, and any program can embed it without a server, a store or a
//! runtime (see `examples/embed.rs`).
//!
//! The way in is [`Fleet`]: [`observe`](Fleet::observe) a signal, give a [`command`](Fleet::command),
//! [`wake`](Fleet::wake) what is due, and ask when that is ([`next_wake`](Fleet::next_wake)). Calling early is
//! harmless.
//!
//! Deliberately absent: wall-clock arithmetic (the edge turns clock readings into spans), raw text (the edge
//! turns it into fingerprints), formats (the store and the interfaces own theirs; [`record`] holds the one
//! encoding of an agent's state).

mod agent;
pub mod breaker;
pub mod cardinality;
pub mod command;
pub mod correlation;
pub mod effect;
pub mod event;
pub mod evidence;
pub mod fingerprint;
pub mod flapping;
pub mod fleet;
pub mod health;
pub mod id;
pub mod intervention;
pub mod liveness;
pub mod messages;
pub mod notice;
pub mod policy;
pub mod probe;
pub mod progress;
pub mod record;
pub mod recovery;
pub mod resources;
pub mod signal;
pub mod signs;
pub mod skew;
pub mod standing;
pub mod stretch;
pub mod stuck;
pub mod tasks;
mod text;
pub mod time;
pub mod verdicts;
pub mod waiting;
pub mod waste;

pub use agent::{AgentView, Intervention, LivenessView, Metrics, Refusal};
pub use fleet::{Collector, Fleet, RestoreError, Row, RowKey};
pub use id::{AgentId, Handle, Incarnation};
pub use time::{Span, Timestamp};
