//! Spans that wait to be sent: so many and no more, the oldest make room, and every one that is lost is counted.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

use super::span::Span;

/// Spans that wait while a receiver is away, besides the batch that is under way.
pub(crate) const WAITING_MAX: usize = 4_096;
/// Spans that are sent together.
pub(crate) const BATCH_MAX: usize = 512;

/// The queue.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    enough: Notify,
    sent: AtomicU64,
    /// Lost because nothing was received for too long; because the receiver did not want them; because their end was
    /// never heard.
    lost: [AtomicU64; 3],
    failures: AtomicU64,
}

#[derive(Debug, Default)]
struct Waiting {
    spans: VecDeque<Span>,
    /// Since when the oldest waits.
    since: Option<Instant>,
}

/// What became of spans, since the program began.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    /// Received.
    pub sent: u64,
    /// Lost, by reason.
    pub lost: Vec<(&'static str, u64)>,
    /// Tries that failed.
    pub failures: u64,
    /// Spans that wait.
    pub waiting: usize,
    /// How long the oldest has waited, in seconds.
    pub oldest_secs: f64,
}

/// Why a span is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    Full,
    Refused,
    Unfinished,
}

impl Queue {
    /// Takes a span; never waits.
    pub(super) fn push(&self, span: Span) {
        let mut waiting = self.lock();
        if waiting.spans.len() >= WAITING_MAX {
            waiting.spans.pop_front();
            self.lose(Loss::Full, 1);
        }
        waiting.since.get_or_insert_with(Instant::now);
        waiting.spans.push_back(span);
        let is_enough = waiting.spans.len() >= BATCH_MAX;
        drop(waiting);
        if is_enough {
            self.enough.notify_one();
        }
    }

    /// Waits until a whole batch is there.
    pub(super) async fn enough(&self) {
        self.enough.notified().await;
    }

    /// The oldest, as many as are sent together.
    pub(super) fn take(&self) -> Vec<Span> {
        let mut waiting = self.lock();
        let count = waiting.spans.len().min(BATCH_MAX);
        let taken = waiting.spans.drain(..count).collect();
        waiting.since = (!waiting.spans.is_empty()).then(Instant::now);
        taken
    }

    /// Those that were taken and not sent are again the oldest.
    pub(super) fn give_back(&self, spans: Vec<Span>) {
        if spans.is_empty() {
            return;
        }
        let mut waiting = self.lock();
        waiting.since.get_or_insert_with(Instant::now);
        for span in spans.into_iter().rev() {
            if waiting.spans.len() < WAITING_MAX {
                waiting.spans.push_front(span);
            } else {
                self.lose(Loss::Full, 1);
            }
        }
    }

    /// Nobody wants them any more.
    pub(super) fn clear(&self) {
        *self.lock() = Waiting::default();
    }

    pub(super) fn lose(&self, why: Loss, spans: usize) {
        self.lost[why as usize].fetch_add(spans as u64, Ordering::Relaxed);
    }

    pub(super) fn on_sent(&self, spans: usize) {
        self.sent.fetch_add(spans as u64, Ordering::Relaxed);
    }

    pub(super) fn on_failure(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> Exported {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let waiting = self.lock();
        Exported {
            sent: count(&self.sent),
            lost: ["full", "refused", "unfinished"].into_iter().zip(self.lost.iter().map(count)).collect(),
            failures: count(&self.failures),
            waiting: waiting.spans.len(),
            oldest_secs: waiting.since.map_or(0.0, |since| since.elapsed().as_secs_f64()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
