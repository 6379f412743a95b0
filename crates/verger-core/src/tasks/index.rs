//! The ways to find tasks: by when one must be looked at, by who works at it, and which end would be forgotten first.
//!
//! All of it follows from the tasks and is built anew after a restart.

use std::collections::{BTreeMap, BTreeSet};

use super::Policy;
use super::task::{Entry, Final};
use crate::id::{AgentId, TaskId};
use crate::time::Timestamp;

/// Which end would be forgotten first: of failed tasks, which may be done again anyway; each the oldest first.
type Rank = (bool, Timestamp, TaskId);

/// A task's places in the index.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) due: Timestamp,
    agent: Option<AgentId>,
    ended: Option<Rank>,
}

impl Place {
    pub(super) fn of(id: &TaskId, entry: &Entry, policy: &Policy) -> Self {
        match entry {
            Entry::Open(task) => Self { due: task.deadline(policy), agent: task.agent.clone(), ended: None },
            Entry::Ended(ended) => Self {
                due: ended.at + policy.remember_ended,
                agent: None,
                ended: Some((ended.how != Final::Failed, ended.at, id.clone())),
            },
        }
    }
}

/// The ways to find tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Index {
    agenda: BTreeSet<(Timestamp, TaskId)>,
    workers: BTreeMap<AgentId, BTreeSet<TaskId>>,
    ended: BTreeSet<Rank>,
}

impl Index {
    pub(super) fn insert(&mut self, id: &TaskId, place: &Place) {
        self.agenda.insert((place.due, id.clone()));
        if let Some(agent) = &place.agent {
            self.workers.entry(agent.clone()).or_default().insert(id.clone());
        }
        self.ended.extend(place.ended.clone());
    }

    pub(super) fn remove(&mut self, id: &TaskId, place: &Place) {
        self.agenda.remove(&(place.due, id.clone()));
        if let Some(agent) = &place.agent
            && let Some(tasks) = self.workers.get_mut(agent)
        {
            tasks.remove(id);
            if tasks.is_empty() {
                self.workers.remove(agent);
            }
        }
        if let Some(rank) = &place.ended {
            self.ended.remove(rank);
        }
    }

    /// When one must be looked at next.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.agenda.first().map(|(due, _)| *due)
    }

    /// All that must be looked at.
    pub(super) fn due(&self, now: Timestamp) -> Vec<TaskId> {
        self.agenda.iter().take_while(|(due, _)| *due <= now).map(|(_, id)| id.clone()).collect()
    }

    /// The open tasks of one agent.
    pub(super) fn of(&self, agent: &AgentId) -> impl Iterator<Item = &TaskId> {
        self.workers.get(agent).into_iter().flatten()
    }

    pub(super) fn count_of(&self, agent: &AgentId) -> usize {
        self.workers.get(agent).map_or(0, BTreeSet::len)
    }

    pub(super) fn ended(&self) -> usize {
        self.ended.len()
    }

    /// Whose end would be forgotten first.
    pub(super) fn first_to_forget(&self) -> Option<&TaskId> {
        self.ended.first().map(|(_, _, id)| id)
    }
}
