//! The thread that turns the loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use verger_core::time::WallTime;
use verger_engine::{Clock, Engine, Store, StoreError, Turn};

use super::calendar::Calendar;
use super::clock::{SystemClock, boot_millis, wall_now};
use super::counters::Counters;
use super::door::Door;
use super::outlet::Outlet;
use super::queue::Queue;
use crate::trace::Tracer;

/// Turns after which the end is not waited for any longer when the store cannot be written.
const LAST_TRIES: u32 = 20;
/// A disk that takes long is no trouble before this: one large batch on a busy machine may take a second.
const SLOW_IS_TROUBLE: Duration = Duration::from_secs(2);

/// How the loop is doing, for whoever asks while it may be stuck itself.
#[derive(Debug, Default)]
pub struct Pulse {
    turned_boot: AtomicU64,
    store_failed: AtomicBool,
    /// On the boot clock, the first of the turns in a row that could not write.
    failing_boot: AtomicU64,
    /// So much waits to be written that nothing is taken.
    stalled: AtomicBool,
    turns: AtomicU64,
    late_millis: AtomicU64,
    trouble: watch::Sender<Option<Trouble>>,
}

/// Why nothing can be written, while that is so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// In a sentence.
    pub why: Arc<str>,
    /// What a person can do about it.
    pub remedy: Option<Arc<str>>,
    /// Since when.
    pub since: WallTime,
    /// Events that were judged and are not on disk.
    pub events: usize,
    /// Things that were decided and are not done before they are on disk.
    pub effects: usize,
}

impl Trouble {
    fn of(error: &StoreError, lasted: Duration, (events, effects): (usize, usize)) -> Self {
        let behind = error.cause.downcast_ref::<verger_store::Error>();
        let remedy = behind.and_then(verger_store::Error::remedy).map(Arc::from);
        let lasted = i64::try_from(lasted.as_millis()).unwrap_or(i64::MAX);
        // To the second, so that it is the same however often it is asked.
        let since = WallTime(wall_now().0.saturating_sub(lasted) / 1_000 * 1_000);
        Self { why: Arc::from(told(error)), remedy, since, events, effects }
    }
}

impl Pulse {
    /// How long ago the loop last turned.
    pub fn age(&self) -> Duration {
        Duration::from_millis(boot_millis().saturating_sub(self.turned_boot.load(Ordering::Relaxed)))
    }

    /// Whether the last batch could not be written.
    pub fn store_failed(&self) -> bool {
        self.store_failed.load(Ordering::Relaxed)
    }

    /// For how long nothing could be written; not at all if the last batch could be.
    pub fn failing_for(&self) -> Option<Duration> {
        let since = self.failing_boot.load(Ordering::Relaxed);
        self.store_failed().then(|| Duration::from_millis(boot_millis().saturating_sub(since)))
    }

    /// Whether so much waits to be written that nothing is taken.
    pub fn is_stalled(&self) -> bool {
        self.stalled.load(Ordering::Relaxed)
    }

    /// Why nothing can be written, while that is so; whoever listens hears of every change.
    pub fn trouble(&self) -> watch::Receiver<Option<Trouble>> {
        self.trouble.subscribe()
    }

    /// Turns so far.
    pub fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// How much later than it wanted to the loop last turned.
    pub fn late(&self) -> Duration {
        Duration::from_millis(self.late_millis.load(Ordering::Relaxed))
    }

    fn beat(&self, turn: &Turn) {
        self.late_millis.store(turn.late.as_millis(), Ordering::Relaxed);
        self.turned_boot.store(boot_millis(), Ordering::Relaxed);
        self.stalled.store(turn.stalled, Ordering::Relaxed);
        if !self.store_failed.swap(turn.store_failed, Ordering::Relaxed) && turn.store_failed {
            self.failing_boot.store(boot_millis(), Ordering::Relaxed);
        }
        self.turns.fetch_add(1, Ordering::Relaxed);
    }
}

/// One loop and everything that its thread owns.
pub(crate) struct Turning<S> {
    pub(crate) engine: Engine<SystemClock, S, Outlet>,
    pub(crate) door: Door,
    pub(crate) queue: Arc<Queue>,
    pub(crate) calendar: Calendar,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) tracer: Arc<Tracer>,
}

impl<S: Store> Turning<S> {
    /// Turns until it is told to stop, and everything that was taken is on disk.
    pub(crate) fn run(mut self) {
        loop {
            if let Some(change) = self.queue.take_change() {
                let (policies, settings) = *change;
                self.engine.reconfigure(policies, settings);
            }
            let began = Instant::now();
            let turn = self.engine.turn(&mut self.door);
            let took = began.elapsed();
            self.after(&turn);
            self.tracer.figures.turns.add(took);
            if self.queue.is_stopping() {
                break;
            }
            // What was not read is read at once.
            if turn.complete || turn.stalled {
                self.queue.wait(until(turn.sleep_until), !turn.stalled);
            }
        }
        self.end();
    }

    fn after(&mut self, turn: &Turn) {
        self.door.end_turn();
        self.pulse.beat(turn);
        self.tell_trouble();
        self.counters.on_turn(turn);
        if turn.committed {
            self.tracer.on_commit();
        }
        if let Some(blind) = self.calendar.on_turn(turn.now, SystemClock.read(), turn.blind) {
            self.counters.on_blind(&blind);
        }
        // What is not on disk is shown only when everybody can know that it is not.
        let is_said = !turn.stalled && self.pulse.trouble.borrow().is_some();
        if !turn.store_failed || is_said {
            for look in self.queue.looks() {
                look(self.engine.fleet(), &self.calendar);
            }
        }
    }

    fn tell_trouble(&self) {
        let lasted = self.pulse.failing_for().unwrap_or_default();
        let error = self.engine.trouble().filter(|error| !error.is_slow || lasted >= SLOW_IS_TROUBLE);
        let trouble = error.map(|error| Trouble::of(error, lasted, self.engine.unwritten()));
        self.pulse.trouble.send_if_modified(|known| {
            let is_news = *known != trouble;
            *known = trouble;
            is_news
        });
    }

    /// The last turns: what waits is done, and what is known is written down.
    fn end(&mut self) {
        for _ in 0..LAST_TRIES {
            let turn = self.engine.flush(&mut self.door);
            self.after(&turn);
            if turn.complete && turn.committed && !turn.store_failed {
                return;
            }
            if turn.store_failed {
                std::thread::sleep(until(turn.sleep_until));
            }
        }
    }
}

/// An error with what is behind it: "could not write" alone helps nobody.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let behind = std::iter::successors(error.source(), |error| error.source());
    behind.fold(error.to_string(), |text, error| format!("{text}: {error}"))
}

fn until(boot: u64) -> Duration {
    Duration::from_millis(boot.saturating_sub(boot_millis()))
}
