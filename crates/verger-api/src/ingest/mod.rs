//! What agents send: heartbeats and signals, one, an array, or a line each.
//!
//! ```text
//! body ──► frame (one, array, lines) ──► fields of one item ──► Heartbeat or Signal
//!          bounds of items               names, both spellings   required ones, types, limits
//! ```
//!
//! A bad item is told by its place in the body and a sentence that names the field; the good ones around it are
//! kept. Nothing is copied but strings with escapes in them: what comes out points into the body. The work is
//! linear in the body's length, whatever it holds.

mod field;
mod frame;
mod given;
mod limits;
mod reader;
mod report;

pub use frame::{Batch, Ingest};
pub use limits::Limits;
pub use report::{IngestReport, Rejected};

use crate::heartbeat::Heartbeat;
use crate::signal::Signal;

pub(crate) use field::{Field, Fields};
pub(crate) use reader::{Reader, required};

/// Reads the body of `POST /v1/heartbeats`. One object takes the short way: no list is made for it.
pub fn heartbeats<'a>(body: &'a [u8], limits: &Limits) -> Ingest<Heartbeat<'a>> {
    frame::read(body, limits, Heartbeat::from_fields)
}

/// Reads the body of `POST /v1/signals`.
pub fn signals<'a>(body: &'a [u8], limits: &Limits) -> Ingest<Signal<'a>> {
    frame::read(body, limits, Signal::from_fields)
}
