//! Breakers as rows that survive a restart, one for each.

use super::machine::Breaker;
use super::name::BreakerName;
use super::policy::Policies;
use super::registry::{Breakers, mark};
use crate::record::{Damaged, from_row, to_row};
use crate::time::Timestamp;

/// A row that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakerRow {
    /// Whose it is.
    pub name: BreakerName,
    /// What it holds now; nothing if the breaker is gone.
    pub bytes: Option<Vec<u8>>,
}

impl Breakers {
    /// Whether a row is to be written.
    pub fn has_changes(&self) -> bool {
        !self.changed.is_empty() || !self.forgotten.is_empty()
    }

    /// Has every row written with the next ones.
    pub fn mark_all(&mut self) {
        for (at, slot) in self.slots.iter_mut().enumerate() {
            if let Some(entry) = &mut slot.entry {
                mark(entry, at as u32, &mut self.changed);
            }
        }
    }

    /// Takes the rows that changed since they were last taken, those that are gone first.
    pub fn take_changed_rows(&mut self, push: &mut dyn FnMut(BreakerRow)) {
        for name in self.forgotten.drain(..) {
            push(BreakerRow { name, bytes: None });
        }
        for slot in self.changed.drain(..) {
            // A slot may be listed twice, or be empty again.
            let entry = self.slots.get_mut(slot as usize).and_then(|slot| slot.entry.as_mut());
            let Some(entry) = entry.filter(|entry| entry.changed) else { continue };
            entry.changed = false;
            push(BreakerRow { name: entry.name.clone(), bytes: Some(to_row(&entry.breaker)) });
        }
    }

    /// All breakers from their rows. What is due by `now` is done at the next [`wake`](Self::wake).
    pub fn restore(
        policies: Policies,
        seed: u64,
        rows: impl IntoIterator<Item = (BreakerName, Vec<u8>)>,
        now: Timestamp,
    ) -> Result<Self, Damaged> {
        let mut breakers = Self::new(policies, seed);
        for (name, bytes) in rows {
            let mut breaker: Breaker = from_row(&bytes)?;
            breaker.fit(now, breakers.policies.of(name.kind()));
            if breakers.find(&name).is_some() {
                return Err(Damaged);
            }
            let slot = breakers.insert(name, breaker);
            if let Some(entry) = breakers.slots.get_mut(slot as usize).and_then(|slot| slot.entry.as_mut()) {
                entry.changed = false;
            }
        }
        breakers.changed.clear();
        Ok(breakers)
    }
}
