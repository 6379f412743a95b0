//! The machine on which the simulated monitor runs: its clocks, its luck with the disk, and its death.
//!
//! True time passes in the world. The boot clock and the wall clock are derived from it; a restart of the
//! machine begins the one anew, and somebody may set the other.

use std::cell::{Cell, RefCell};

use verger_core::effect::{Action, Effect};
use verger_core::time::WallTime;
use verger_engine::{Batch, Clock, Outbox, Reading};

use super::monitor_faults::CrashPoint;
use crate::world::SimTime;

/// The machine. Shared by the clock, the disk and the outbox of one monitor.
#[derive(Debug, Default)]
pub(super) struct Machine {
    now: Cell<SimTime>,
    booted: Cell<SimTime>,
    wall_off: Cell<i64>,
    /// How long each of the next commits takes.
    pub(super) slow: RefCell<Vec<u64>>,
    /// How many of the next commits fail.
    pub(super) failing: Cell<u32>,
    /// The last of the failing commits was written all the same.
    pub(super) failed_written: Cell<bool>,
    /// Where the process is about to die.
    pub(super) doom: Cell<Option<CrashPoint>>,
    /// The process is dead: nothing it does reaches anybody.
    pub(super) dead: Cell<bool>,
    /// What the outside got from the monitor since it was last looked at.
    pub(super) records: RefCell<Vec<(SimTime, Record)>>,
    /// Pings that left since they were last looked at.
    pub(super) pings: RefCell<Vec<Effect>>,
}

/// What the outside got from the monitor.
#[derive(Debug)]
pub(super) enum Record {
    /// A batch is on disk.
    Committed {
        /// Without its rows.
        batch: Batch,
        decided: SimTime,
    },
    /// An effect left, other than a ping.
    Released(Effect),
}

impl Machine {
    pub(super) fn now(&self) -> SimTime {
        self.now.get()
    }

    /// What the machine's wall clock shows, right or wrong.
    pub(super) fn wall(&self) -> WallTime {
        WallTime(self.now.get().wall().0 + self.wall_off.get())
    }

    /// Time passes in the world.
    pub(super) fn set(&self, now: SimTime) {
        debug_assert!(now >= self.now.get(), "true time never runs backwards");
        self.now.set(now);
    }

    /// Time passes while the process is blocked.
    pub(super) fn block(&self, millis: u64) {
        self.now.set(self.now.get() + millis);
    }

    /// Somebody sets the wall clock.
    pub(super) fn step_wall(&self, millis: i64) {
        self.wall_off.set(self.wall_off.get() + millis);
    }

    /// The machine starts anew.
    pub(super) fn reboot(&self) {
        self.booted.set(self.now.get());
    }

    /// The true time of a moment on the boot clock.
    pub(super) fn true_time(&self, boot: u64) -> SimTime {
        self.booted.get() + boot
    }

    pub(super) fn record(&self, record: Record) {
        self.records.borrow_mut().push((self.now.get(), record));
    }
}

/// The clock and the outbox of the process on this machine.
#[derive(Clone, Debug)]
pub(super) struct Port(pub(super) std::rc::Rc<Machine>);

impl Clock for Port {
    fn read(&self) -> Reading {
        Reading { boot: self.0.now().since(self.0.booted.get()), wall: self.0.wall() }
    }
}

impl Outbox for Port {
    fn release(&mut self, effect: &Effect) {
        let is_ping = matches!(effect.action, Action::Ping);
        if !is_ping && let Some(CrashPoint::AfterReleases(left)) = self.0.doom.get() {
            match left.checked_sub(1) {
                None => self.0.dead.set(true),
                Some(left) => self.0.doom.set(Some(CrashPoint::AfterReleases(left))),
            }
        }
        if self.0.dead.get() {
            return;
        }
        if is_ping {
            self.0.pings.borrow_mut().push(effect.clone());
        } else {
            self.0.record(Record::Released(effect.clone()));
        }
    }
}
