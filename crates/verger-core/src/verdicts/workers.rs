//! All workers whose logs are read, and which of them is to be looked at next.

use std::collections::{BTreeMap, BTreeSet};

use super::{JudgePolicy, Worker};
use crate::id::AgentId;
use crate::time::Timestamp;

/// Workers that are followed at the same time: each may hold a few kilobytes.
pub(crate) const WORKERS_MAX: usize = 16_384;

/// The workers of a fleet.
#[derive(Debug, Default)]
pub(crate) struct Workers {
    followed: BTreeMap<AgentId, Box<Worker>>,
    /// When each is to be looked at.
    agenda: BTreeSet<(Timestamp, AgentId)>,
    /// Whose rows are to be written, or deleted.
    changed: BTreeSet<AgentId>,
}

impl Workers {
    pub(crate) fn is_empty(&self) -> bool {
        self.followed.is_empty()
    }

    pub(crate) fn has_changes(&self) -> bool {
        !self.changed.is_empty()
    }

    pub(crate) fn get(&self, id: &AgentId) -> Option<&Worker> {
        self.followed.get(id).map(AsRef::as_ref)
    }

    /// Whether this one is followed, or could be.
    pub(crate) fn has_room_for(&self, id: &AgentId) -> bool {
        self.followed.len() < WORKERS_MAX || self.followed.contains_key(id)
    }

    /// Follows a worker, or puts one back as it was written down.
    pub(crate) fn insert(&mut self, id: AgentId, worker: Worker, policy: &JudgePolicy) {
        self.remove(&id, policy);
        self.agenda.extend(worker.deadline(policy).map(|due| (due, id.clone())));
        self.changed.insert(id.clone());
        self.followed.insert(id, Box::new(worker));
    }

    /// Nobody reads its log any more.
    pub(crate) fn remove(&mut self, id: &AgentId, policy: &JudgePolicy) -> Option<Worker> {
        let worker = self.followed.remove(id)?;
        if let Some(due) = worker.deadline(policy) {
            self.agenda.remove(&(due, id.clone()));
        }
        self.changed.insert(id.clone());
        Some(*worker)
    }

    /// Lends out a worker that is followed.
    pub(crate) fn edit<T>(
        &mut self,
        id: &AgentId,
        policy: &JudgePolicy,
        edit: impl FnOnce(&mut Worker) -> T,
    ) -> Option<T> {
        let worker = self.followed.get_mut(id)?;
        let before = worker.deadline(policy);
        let result = edit(worker);
        let after = worker.deadline(policy);
        if before != after {
            if let Some(due) = before {
                self.agenda.remove(&(due, id.clone()));
            }
            self.agenda.extend(after.map(|due| (due, id.clone())));
        }
        self.changed.insert(id.clone());
        Some(result)
    }

    /// The limits have changed: who is to be looked at when is counted anew.
    pub(crate) fn on_policy(&mut self, policy: &JudgePolicy) {
        let due =
            self.followed.iter().filter_map(|(id, worker)| Some((worker.deadline(policy)?, id.clone())));
        self.agenda = due.collect();
    }

    /// When the next one is to be looked at.
    pub(crate) fn deadline(&self) -> Option<Timestamp> {
        self.agenda.first().map(|(due, _)| *due)
    }

    /// Who is to be looked at by now, each once.
    pub(crate) fn due(&self, now: Timestamp) -> Vec<AgentId> {
        self.agenda.iter().take_while(|(due, _)| *due <= now).map(|(_, id)| id.clone()).collect()
    }

    pub(crate) fn mark_all(&mut self) {
        self.changed.extend(self.followed.keys().cloned());
    }

    /// What is stored is what is here.
    pub(crate) fn mark_none(&mut self) {
        self.changed.clear();
    }

    /// Who changed since the last call; nothing where a worker is gone.
    pub(crate) fn take_changed(&mut self) -> impl Iterator<Item = (AgentId, Option<&Worker>)> {
        let followed = &self.followed;
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(move |id| {
            let worker = followed.get(&id).map(AsRef::as_ref);
            (id, worker)
        })
    }
}
