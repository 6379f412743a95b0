//! How often a task was started, once its recovery is over.
//!
//! An agent that was brought back may say that its work is done, or leave in peace, before its run counts as
//! stable. Its recovery is over then. If the task is begun again meanwhile and fails, that is not a first failure:
//! a task that is recovered, leaves and is begun anew every twenty minutes would have no limit at all.

use std::collections::BTreeMap;

use super::task::Scope;
use super::{Blame, Phase, Recovery};
use crate::id::TaskId;
use crate::time::Timestamp;

/// What was counted of one task, and until when that matters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Count {
    pub(crate) attempt: u8,
    pub(crate) blamed: Vec<Blame>,
    /// When its run would have been stable.
    pub(crate) until: Timestamp,
}

/// What was counted of tasks whose recovery is over. When there are too many, what matters least long goes first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    pub(crate) tasks: BTreeMap<TaskId, Count>,
}

impl Counts {
    /// When the next of them matters no more.
    pub(crate) fn deadline(&self) -> Option<Timestamp> {
        self.tasks.values().map(|count| count.until).min()
    }

    /// Takes out those that matter no more, and those that are too many.
    pub(crate) fn take_passed(&mut self, now: Timestamp, max: usize) -> Vec<TaskId> {
        let passed = self.tasks.extract_if(.., |_, count| count.until <= now);
        let mut forgotten: Vec<TaskId> = passed.map(|(task, _)| task).collect();
        while self.tasks.len() > max.max(1) {
            let soonest = self.tasks.iter().min_by_key(|(_, count)| count.until);
            let Some(soonest) = soonest.map(|(task, _)| task.clone()) else { break };
            self.tasks.remove(&soonest);
            forgotten.push(soonest);
        }
        forgotten
    }
}

impl Recovery {
    /// Its task is over: what was counted outlives it until the run would have been stable.
    pub(crate) fn leave_count(&mut self, scope: &mut Scope<'_, '_>) {
        if let Phase::Succeeded { stable_at: until } = self.phase
            && self.attempt > 0
        {
            let count = Count { attempt: self.attempt, blamed: std::mem::take(&mut self.blamed), until };
            scope.counts.tasks.insert(scope.task.clone(), count);
        }
        self.attempt = 0;
    }

    /// The task is recovered again.
    pub(crate) fn go_on_counting(&mut self, counted: Count) {
        (self.attempt, self.blamed) = (counted.attempt, counted.blamed);
    }
}
