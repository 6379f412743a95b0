//! State rows of recoveries: one for each task, and one for what all share.

use std::collections::BTreeSet;

use super::{Condition, Count, Note, Recoveries, Recovery, Shared};
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
    Counted(Counted),
}

/// What was counted of a task, with whatever else is kept of it. It holds no [`Kept`]: a row could nest without end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counted {
    pub(crate) count: Count,
    pub(crate) recovery: Option<Box<Recovery>>,
    pub(crate) note: Option<Note>,
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
        let kept = self.tasks.keys().chain(self.notes.tasks.keys()).chain(self.counts.tasks.keys());
        self.changed.tasks.extend(kept.cloned());
    }

    /// Gives the rows of all that changed since the last call; without content where it is to be deleted.
    pub fn take_changed_rows(&mut self, push: &mut dyn FnMut(RowKey, Option<Vec<u8>>)) {
        for task in std::mem::take(&mut self.changed.tasks) {
            let row = self.kept(&task).map(|kept| to_row(&kept));
            push(RowKey::Task(task), row);
        }
        if std::mem::take(&mut self.changed.books) {
            push(RowKey::Books, Some(to_row(&(self.shared.clone(), self.raised.clone()))));
        }
    }

    fn kept(&self, task: &TaskId) -> Option<Kept> {
        let recovery = self.tasks.get(task).cloned().map(Box::new);
        let note = self.notes.tasks.get(task).cloned();
        match self.counts.tasks.get(task).cloned() {
            Some(count) => Some(Kept::Counted(Counted { count, recovery, note })),
            None => recovery.map(Kept::Recovery).or_else(|| note.map(Kept::Note)),
        }
    }

    fn recall(&mut self, task: TaskId, kept: Kept) {
        let (recovery, note) = match kept {
            Kept::Recovery(recovery) => (Some(recovery), None),
            Kept::Note(note) => (None, Some(note)),
            Kept::Counted(Counted { count, recovery, note }) => {
                self.counts.tasks.insert(task.clone(), count);
                (recovery, note)
            }
        };
        if let Some(recovery) = recovery {
            self.tasks.insert(task.clone(), *recovery);
        }
        if let Some(note) = note {
            self.notes.recall(task, note);
        }
    }

    /// Reads one row back. One that cannot be read refuses the start.
    pub fn restore(&mut self, key: RowKey, row: &[u8]) -> Result<(), Damaged> {
        match key {
            RowKey::Task(task) => self.recall(task, from_row(row)?),
            RowKey::Books => {
                let (shared, raised): (Shared, Vec<Condition>) = from_row(row)?;
                (self.shared, self.raised) = (shared, raised);
            }
        }
        Ok(())
    }
}
