//! The disk of the simulated monitor: keeps what was committed and nothing else.

use std::collections::BTreeMap;
use std::rc::Rc;

use verger_core::effect::EffectKey;
use verger_core::fleet::RowKey;
use verger_engine::{Batch, Loaded, Mark, Store, StoreError, Unfinished};

use super::machine::{Machine, Record};
use super::monitor_faults::CrashPoint;

/// What survives a crash.
#[derive(Debug)]
pub(super) struct Disk {
    machine: Rc<Machine>,
    mark: Option<Mark>,
    rows: BTreeMap<RowKey, Vec<u8>>,
    effects: BTreeMap<EffectKey, Unfinished>,
}

impl Disk {
    pub(super) fn new(machine: Rc<Machine>) -> Self {
        Self { machine, mark: None, rows: BTreeMap::new(), effects: BTreeMap::new() }
    }

    /// The rows as a restart would read them.
    pub(super) fn rows(&self) -> impl Iterator<Item = (RowKey, Vec<u8>)> {
        self.rows.iter().map(|(key, bytes)| (key.clone(), bytes.clone()))
    }

    fn write(&mut self, batch: &Batch) {
        if self.mark.is_some_and(|mark| mark.number >= batch.mark.number) {
            return;
        }
        self.mark = Some(batch.mark);
        for effect in &batch.effects {
            let left = Unfinished { effect: effect.clone(), attempts: 1, decided: batch.mark.taken };
            self.effects.insert(effect.key.clone(), left);
        }
        for key in &batch.retried {
            if let Some(left) = self.effects.get_mut(key) {
                left.attempts += 1;
            }
        }
        for key in &batch.finished {
            self.effects.remove(key);
        }
        self.write_rows(batch);
        self.record(batch);
    }

    /// One row per agent and second is by far the most that is written: its place is used again.
    fn write_rows(&mut self, batch: &Batch) {
        for row in batch.rows.iter() {
            match (&row.bytes, self.rows.get_mut(&row.key)) {
                (Some(bytes), Some(kept)) => kept.clone_from(bytes),
                (Some(bytes), None) => drop(self.rows.insert(row.key.clone(), bytes.clone())),
                (None, _) => drop(self.rows.remove(&row.key)),
            }
        }
    }

    /// Batches of vital signs alone are of no interest to anybody outside.
    fn record(&self, batch: &Batch) {
        if batch.events.is_empty() && batch.effects.is_empty() && batch.blind.is_empty() {
            return;
        }
        let decided = self.machine.true_time(batch.mark.taken.boot);
        let batch = Batch {
            mark: batch.mark,
            events: batch.events.clone(),
            effects: batch.effects.clone(),
            retried: batch.retried.clone(),
            finished: batch.finished.clone(),
            blind: batch.blind.clone(),
            ..Batch::default()
        };
        self.machine.record(Record::Committed { batch, decided });
    }
}

impl Store for Disk {
    fn commit(&mut self, batch: &Batch) -> Result<(), StoreError> {
        let failed =
            || StoreError { doing: "write to", is_slow: false, cause: "the simulated disk failed".into() };
        let machine = Rc::clone(&self.machine);
        let decides = !batch.effects.is_empty();
        if machine.dead.get() || (machine.doom.get() == Some(CrashPoint::BeforeCommit) && decides) {
            machine.dead.set(true);
            return Err(failed());
        }
        if let Some(millis) = machine.slow.borrow_mut().pop() {
            machine.block(millis);
        }
        if let Some(left) = machine.failing.get().checked_sub(1) {
            machine.failing.set(left);
            if left == 0 && machine.failed_written.get() {
                self.write(batch);
            }
            return Err(failed());
        }
        self.write(batch);
        if machine.doom.get() == Some(CrashPoint::AfterCommit) && decides {
            machine.dead.set(true);
        }
        Ok(())
    }

    fn load(&mut self) -> Result<Loaded, StoreError> {
        Ok(Loaded {
            mark: self.mark,
            rows: self.rows().collect(),
            unfinished: self.effects.values().cloned().collect(),
        })
    }
}
