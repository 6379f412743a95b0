//! What is remembered of tasks that have no recovery: that they are over, or who has them now.
//!
//! Words arrive in any order. The end of an agent may be heard of after its task was finished, or after
//! another agent took it over, and must not set off a recovery then.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::{AgentId, Incarnation, TaskId};
use crate::time::Timestamp;

/// One life of one agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Life {
    /// Whose.
    pub agent: AgentId,
    /// Which.
    pub incarnation: Incarnation,
}

/// How a task came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// It is done.
    Finished,
    /// Somebody called it off.
    Cancelled,
    /// It failed for good.
    Failed,
}

/// What is known of a task.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Word {
    /// It is over.
    Closed(Closing),
    /// This life was the last that was heard of.
    Last(Life),
    /// This life has it, and no other agent.
    TakenOver(Life),
}

/// What is known, and since when.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Note {
    pub(crate) at: Timestamp,
    pub(crate) word: Word,
}

/// What is known of tasks without recovery. When there are too many, the oldest is forgotten.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Notes {
    pub(crate) tasks: BTreeMap<TaskId, Note>,
    /// The same by age, the oldest first: to find it must not cost more, the more is known.
    by_age: BTreeSet<(Timestamp, TaskId)>,
}

impl Notes {
    /// Remembers this, and gives what was forgotten for it.
    pub(crate) fn put(&mut self, now: Timestamp, task: TaskId, word: Word, max: usize) -> Vec<TaskId> {
        self.recall(task, Note { at: now, word });
        let mut forgotten = Vec::new();
        while self.tasks.len() > max.max(1) {
            let Some((_, oldest)) = self.by_age.pop_first() else { break };
            self.tasks.remove(&oldest);
            forgotten.push(oldest);
        }
        forgotten
    }

    /// Puts a note in the place of whatever was known.
    pub(crate) fn recall(&mut self, task: TaskId, note: Note) {
        self.forget(&task);
        self.by_age.insert((note.at, task.clone()));
        self.tasks.insert(task, note);
    }

    pub(crate) fn closing(&self, task: &TaskId) -> Option<Closing> {
        match self.tasks.get(task)?.word {
            Word::Closed(closing) => Some(closing),
            Word::Last(_) | Word::TakenOver(_) => None,
        }
    }

    /// Whether a word of this life about the task comes too late.
    pub(crate) fn is_stale(&self, task: &TaskId, life: &Life) -> bool {
        match self.tasks.get(task).map(|note| &note.word) {
            Some(Word::TakenOver(holder)) if holder.agent != life.agent => true,
            Some(Word::Last(known) | Word::TakenOver(known)) => {
                known.agent == life.agent && life.incarnation < known.incarnation
            }
            Some(Word::Closed(_)) | None => false,
        }
    }

    /// Tells whether anything was known.
    pub(crate) fn forget(&mut self, task: &TaskId) -> bool {
        let Some(note) = self.tasks.remove(task) else { return false };
        self.by_age.remove(&(note.at, task.clone()));
        true
    }
}
