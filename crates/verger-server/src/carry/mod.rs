//! Carries out what was decided, and says what became of it.
//!
//! ```text
//!            ┌─ Escalate ────────────► the orchestrator's webhook ─► its answer may decide (L21)
//! effects ──►├─ Stop, Spawn, Withdraw ► the program or webhook that is configured
//!            ├─ Survey ───────────────► the checkpoints of a task
//!            └─ WriteCheckpoint ──────► those that waited in line (L26)
//! journal ──► followers ──────────────► notify.command, and the orchestrator, event by event
//! ```
//!
//! Nothing is tried again here that the core tries again: it hears that something failed and decides. What a follower
//! is told of is nobody's decision, so a follower tries by itself, and its place in the journal is on disk. What was
//! under way when the monitor ends is released by the engine once more after its next start.

mod damage;
mod dead_man;
mod documents;
mod effects;
mod follower;
mod narrator;
mod outcome;
mod reach;
mod trouble;
mod upkeep;
mod way;

pub(crate) use damage::look_for_damage;
pub(crate) use dead_man::{Called, call_while_well};
pub(crate) use effects::Carrying;
pub(crate) use follower::{Receiver, Which, follow};
pub(crate) use narrator::narrate;
pub(crate) use reach::{Live, Reach};
pub(crate) use trouble::tell_of_trouble;
pub(crate) use upkeep::keep_up;
