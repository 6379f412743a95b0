//! The rows that a restart reads: one for each task, open or ended.

use super::index::Place;
use super::machine::Slot;
use super::task::Entry;
use super::{Policy, Tasks};
use crate::id::TaskId;
use crate::record::{Damaged, from_row, to_row};

impl Tasks {
    /// Whether [`take_changed_rows`](Self::take_changed_rows) has something to give.
    pub fn has_changes(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Has all rows given by the next call, changed or not.
    pub fn mark_all_changed(&mut self) {
        self.changed.extend(self.slots.keys().cloned());
    }

    /// Gives the rows of all that changed since the last call; without content where it is to be deleted.
    pub fn take_changed_rows(&mut self, push: &mut dyn FnMut(TaskId, Option<Vec<u8>>)) {
        for id in std::mem::take(&mut self.changed) {
            let row = self.slots.get(&id).map(|slot| to_row(&slot.entry));
            push(id, row);
        }
    }

    /// Reads the rows back. One that cannot be read refuses the start.
    pub fn restore(
        rows: impl IntoIterator<Item = (TaskId, Vec<u8>)>,
        policy: &Policy,
    ) -> Result<Self, Damaged> {
        let mut tasks = Self::default();
        for (id, row) in rows {
            let entry: Entry = from_row(&row)?;
            if tasks.slots.contains_key(&id) {
                continue;
            }
            let place = Place::of(&id, &entry, policy);
            tasks.index.insert(&id, &place);
            tasks.slots.insert(id, Slot { entry, place });
        }
        Ok(tasks)
    }
}
