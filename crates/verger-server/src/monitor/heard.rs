//! Heartbeats as they come, for whoever wants to see them. They are not kept: who is too slow misses some.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::broadcast;

/// Heartbeats that a slow reader may be behind.
const BEHIND_MAX: usize = 1_024;

/// Passes heartbeats on.
#[derive(Debug)]
pub struct Heard {
    readers: broadcast::Sender<HeardBeat>,
    count: AtomicU64,
}

/// A heartbeat in the words in which it is served.
#[derive(Clone, Debug)]
pub struct HeardBeat {
    /// Whose it is.
    pub agent: Arc<str>,
    /// What its agent says it works on.
    pub task: Option<Arc<str>>,
    /// All of it, as JSON.
    pub body: Arc<str>,
}

impl Default for Heard {
    fn default() -> Self {
        Self { readers: broadcast::Sender::new(BEHIND_MAX), count: AtomicU64::new(0) }
    }
}

impl Heard {
    /// Whether anybody wants to see them. Most of the time nobody does, and then they cost nothing.
    pub fn is_wanted(&self) -> bool {
        self.readers.receiver_count() > 0
    }

    /// The number of the next heartbeat that is passed on.
    pub fn number(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }

    /// Passes one on.
    pub fn pass_on(&self, beat: HeardBeat) {
        // That everybody left meanwhile is no loss.
        let _ = self.readers.send(beat);
    }

    /// From now on.
    pub fn listen(&self) -> broadcast::Receiver<HeardBeat> {
        self.readers.subscribe()
    }
}
