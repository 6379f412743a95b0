//! What all handlers share.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::watch;
use verger_api::Cursors;
use verger_api::ingest::Limits;

use super::once::Reports;
use super::tail::Tail;
use crate::access::{Doorkeeper, Origin};
use crate::monitor::Monitor;
use crate::traffic::Traffic;
use crate::wire::Calls;

/// What all handlers share. Clones share the same.
#[derive(Clone)]
pub struct App(Arc<Shared>);

struct Shared {
    parts: Parts,
    calls: Calls,
    reports: Reports,
    tail: Tail,
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
    /// How much the parts of one body may hold.
    pub limits: Limits,
    /// How much is taken from whom.
    pub traffic: Arc<Traffic>,
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
        let (calls, reports, tail) = (Calls::default(), Reports::default(), Tail::default());
        Self(Arc::new(Shared { parts, calls, reports, tail }))
    }

    /// The newest events.
    pub(super) fn tail(&self) -> &Tail {
        &self.0.tail
    }

    /// Reports that bore a name.
    pub(super) fn reports(&self) -> &Reports {
        &self.0.reports
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
