//! State rows of recoveries: one for each task, and one for what all share.

use std::collections::BTreeSet;

use super::{Condition, Note, Recoveries, Recovery, Shared};
use crate::id::TaskId;
use crate::record::{Damaged, from_row, to_row};

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowKey {
    /// What is known of one task.
    Task(TaskId),
    /// Limits, and what people were told of the fleet.
    Books,
}

/// What is kept of a task.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kept {
    Recovery(Box<Recovery>),
    Note(Note),
}

/// What is to be written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changed {
    pub(crate) tasks: BTreeSet<TaskId>,
    pub(crate) books: bool,
}

/// What is still to be written makes no difference to what is known.
impl PartialEq for Changed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Recoveries {
    /// Whether [`take_changed_rows`](Self::take_changed_rows) has something to give.
    pub fn has_changes(&self) -> bool {
        self.changed.books || !self.changed.tasks.is_empty()
    }

    /// Has all rows written.
    pub fn touch_all(&mut self) {
        self.changed.books = true;
        self.changed.tasks.extend(self.tasks.keys().chain(self.notes.tasks.keys()).cloned());
    }

    /// Gives the rows of all that changed since the last call; without content where it is to be deleted.
    pub fn take_changed_rows(&mut self, push: &mut dyn FnMut(RowKey, Option<Vec<u8>>)) {
        for task in std::mem::take(&mut self.changed.tasks) {
            let recovery = self.tasks.get(&task).map(|kept| Kept::Recovery(Box::new(kept.clone())));
            let kept = recovery.or_else(|| self.notes.tasks.get(&task).cloned().map(Kept::Note));
            push(RowKey::Task(task), kept.map(|kept| to_row(&kept)));
        }
        if std::mem::take(&mut self.changed.books) {
            push(RowKey::Books, Some(to_row(&(self.shared.clone(), self.raised.clone()))));
        }
    }

    /// Reads one row back. One that cannot be read refuses the start.
    pub fn restore(&mut self, key: RowKey, row: &[u8]) -> Result<(), Damaged> {
        match key {
            RowKey::Task(task) => match from_row(row)? {
                Kept::Recovery(recovery) => {
                    self.tasks.insert(task, *recovery);
                }
                Kept::Note(note) => {
                    self.notes.recall(task, note);
                }
            },
            RowKey::Books => {
                let (shared, raised): (Shared, Vec<Condition>) = from_row(row)?;
                (self.shared, self.raised) = (shared, raised);
            }
        }
        Ok(())
    }
}
