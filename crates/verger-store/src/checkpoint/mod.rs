//! Checkpoints: saved states of tasks, each state once, with the chain that leads to it.
//!
//! A state is named by its BLAKE3 hash, so two checkpoints of the same state share one body, and a body that has
//! changed on the disk is found out when it is read. Small bodies are rows; those above [`INLINE_MAX`] are files,
//! which a database would have to copy whole for each page that is freed.

mod bodies;
mod list;
mod queue;
mod save;
mod survey;

pub(crate) use bodies::Bodies;
pub use list::{CheckpointBody, CheckpointInfo};
pub use save::{CheckpointRefusal, NewCheckpoint, Saved};
pub(crate) use survey::keepers;

/// The largest body that is a row.
pub const INLINE_MAX: usize = 64 << 10;
/// The largest body that is taken at all.
pub const BODY_MAX: usize = 256 << 20;
