//! What all handlers share.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::watch;
use verger_api::Cursors;
use verger_api::ingest::Limits;

use crate::access::{Doorkeeper, Origin};
use crate::monitor::Monitor;
use crate::wire::Calls;

/// The largest body that is read.
pub(crate) const BODY_MAX: usize = 16 << 20;

/// What all handlers share. Clones share the same.
#[derive(Clone)]
pub struct App(Arc<Shared>);

struct Shared {
    parts: Parts,
    calls: Calls,
}

/// What it is made of.
pub struct Parts {
    /// The monitor.
    pub monitor: Monitor,
    /// Knows who asks.
    pub doorkeeper: Doorkeeper,
    /// Knows from where one may ask.
    pub origin: Origin,
    /// Seals where a page ends.
    pub cursors: Cursors,
    /// How much one body may hold.
    pub limits: Limits,
    /// The newest event that is on disk, as the store tells it after each commit.
    pub newest: watch::Receiver<i64>,
    /// When the program began.
    pub started: Instant,
    /// Its version.
    pub version: &'static str,
}

impl App {
    /// Shares these.
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(Shared { parts, calls: Calls::default() }))
    }

    /// Calls that agents have under way.
    pub(super) fn calls(&self) -> &Calls {
        &self.0.calls
    }
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0.parts
    }
}
