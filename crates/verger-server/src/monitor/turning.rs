//! The thread that turns the loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use verger_engine::{Clock, Engine, Store, Turn};

use super::calendar::Calendar;
use super::clock::{SystemClock, boot_millis};
use super::counters::Counters;
use super::door::Door;
use super::outlet::Outlet;
use super::queue::Queue;

/// Turns after which the end is not waited for any longer when the store cannot be written.
const LAST_TRIES: u32 = 20;

/// How the loop is doing, for whoever asks while it may be stuck itself.
#[derive(Debug, Default)]
pub struct Pulse {
    turned_boot: AtomicU64,
    store_failed: AtomicBool,
    /// On the boot clock, the first of the turns in a row that could not write.
    failing_boot: AtomicU64,
    turns: AtomicU64,
    late_millis: AtomicU64,
    trouble: watch::Sender<Option<Arc<str>>>,
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

    /// Why nothing can be written, while that is so; whoever listens hears of every change.
    pub fn trouble(&self) -> watch::Receiver<Option<Arc<str>>> {
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
}

impl<S: Store> Turning<S> {
    /// Turns until it is told to stop, and everything that was taken is on disk.
    pub(crate) fn run(mut self) {
        loop {
            if let Some(change) = self.queue.take_change() {
                let (policies, settings) = *change;
                self.engine.reconfigure(policies, settings);
            }
            let turn = self.engine.turn(&mut self.door);
            self.after(&turn);
            if self.queue.is_stopping() {
                break;
            }
            // What was not read is read at once.
            if turn.complete || turn.store_failed {
                self.queue.wait(until(turn.sleep_until), !turn.store_failed);
            }
        }
        self.end();
    }

    fn after(&mut self, turn: &Turn) {
        self.door.end_turn();
        self.pulse.beat(turn);
        self.tell_trouble();
        self.counters.on_turn(turn);
        if let Some(blind) = self.calendar.on_turn(turn.now, SystemClock.read(), turn.blind) {
            self.counters.on_blind(&blind);
        }
        if !turn.store_failed {
            for look in self.queue.looks() {
                look(self.engine.fleet(), &self.calendar);
            }
        }
    }

    fn tell_trouble(&self) {
        let trouble = self.engine.trouble().map(|error| Arc::from(told(error)));
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
            if turn.complete && turn.committed {
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
