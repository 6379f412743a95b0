//! What the monitor remembers, in one `SQLite` file that anybody can open.
//!
//! ```text
//! engine ──► EngineStore ──┐                       ┌─► rows, effects, events, checkpoints, texts, audit …
//!                          ├─► one writer, one ────┤
//! API ─────► Archive ──────┘   fsync for many      └─► large checkpoints, as files
//!               └──────────────◄ readers of their own, which block nobody
//! ```
//!
//! What it promises:
//!
//! - **Acknowledged is on disk.** Whatever is answered was synced before; a crash at any moment loses nothing of it
//!   and leaves nothing half. A batch that is committed twice is there once.
//! - **Nobody waits for nothing.** All who write at one moment share an fsync; readers never hold the writer up.
//! - **What is read is what was written.** Rows, effects and checkpoints are sealed; what a disk has changed is
//!   refused or reported, never believed.
//! - **One directory, one monitor.** A second one is told who is there. A file that is newer, damaged or another
//!   program's is left as it is.
//!
//! [`open`] gives both ends. Deliberately absent: decisions (the core's), the words of events (the interfaces own
//! them, see [`EncodeEvent`]), async (a [`Receipt`] can be awaited by any runtime), clocks (whoever hands something
//! in says when), and replay.

mod archive;
mod audit;
mod backup;
mod blind;
mod carrier;
mod checkpoint;
mod connection;
mod directory;
mod engine_store;
mod error;
mod followers;
mod incidents;
mod journal;
mod log;
mod moment;
mod outbox;
mod readers;
mod receipt;
mod remedy;
mod retention;
mod rows;
mod schema;
mod soundness;
mod texts;
mod tokens;
mod vitals;
mod writer;

pub use archive::{Archive, Options, examine, open};
pub use audit::{AuditCheck, AuditEntry, AuditLine};
pub use backup::Backup;
pub use blind::BlindTime;
pub use checkpoint::{
    BODY_MAX, CheckpointBody, CheckpointInfo, CheckpointRefusal, INLINE_MAX, NewCheckpoint, Saved,
};
pub use engine_store::EngineStore;
pub use error::Error;
pub use incidents::{IncidentChange, IncidentQuery, KeptIncident, Marked, WrongMark};
pub use journal::{EncodeEvent, EventQuery, EventText, JournalEvent, Place};
pub use moment::Moment;
pub use receipt::Receipt;
pub use retention::{Retention, Swept};
pub use texts::{MessageText, Side, TaskText};
pub use tokens::Token;
pub use vitals::{Sample, Snapshot};
