//! What people and the interfaces see of tasks.

use std::fmt;
use std::sync::Arc;

use super::machine::Slot;
use super::task::{Entry, Task};
use super::{Evidence, Policy, TaskStatus, Tasks};
use crate::id::{AgentId, TaskId};
use crate::time::Timestamp;

/// One task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskView {
    /// Its name.
    pub id: TaskId,
    /// Who works at it, or did.
    pub agent: Option<AgentId>,
    /// How it stands.
    pub status: TaskStatus,
    /// What it is. Of a task that is over, only the store knows.
    pub description: Option<Arc<str>>,
    /// When it was given.
    pub assigned_at: Option<Timestamp>,
    /// When it was to be complete.
    pub due: Option<Timestamp>,
    /// When it was last heard to get on.
    pub updated_at: Option<Timestamp>,
    /// How far it is.
    pub percent: Option<u8>,
    /// Why it takes so long, in its agent's words.
    pub explanation: Option<Arc<str>>,
    /// The three parts of a stall, as they are now; nothing of a task that is over.
    pub evidence: Option<Evidence>,
    /// Since when it is stalled.
    pub stalled_since: Option<Timestamp>,
    /// Since when people know that something is wrong with it.
    pub told_at: Option<Timestamp>,
    /// Since when it counts as failed, though it is open.
    pub failed_since: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// How many tasks there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Not over.
    pub open: usize,
    /// Of these: stalled.
    pub stalled: usize,
    /// Over, and remembered.
    pub ended: usize,
}

impl Tasks {
    /// One task, open or ended.
    pub fn view(&self, now: Timestamp, policy: &Policy, id: &TaskId) -> Option<TaskView> {
        self.slots.get_key_value(id).map(|(id, slot)| view(now, policy, id, slot))
    }

    /// A page of tasks, by name, after the one given; of one agent, if asked for.
    pub fn page(
        &self,
        now: Timestamp,
        policy: &Policy,
        agent: Option<&AgentId>,
        after: Option<&TaskId>,
        limit: usize,
    ) -> Vec<TaskView> {
        let begin = after.map_or(std::ops::Bound::Unbounded, std::ops::Bound::Excluded);
        self.slots
            .range::<TaskId, _>((begin, std::ops::Bound::Unbounded))
            .map(|(id, slot)| view(now, policy, id, slot))
            .filter(|view| agent.is_none() || agent == view.agent.as_ref())
            .take(limit)
            .collect()
    }

    /// The open tasks of one agent.
    pub fn of<'a>(&'a self, agent: &AgentId) -> impl Iterator<Item = &'a TaskId> {
        self.index.of(agent)
    }

    /// Who works at an open task; nobody if it is over, not known, or waits for somebody.
    pub fn worker(&self, id: &TaskId) -> Option<&AgentId> {
        self.open(id)?.agent.as_ref()
    }

    /// Whether a task is finished or called off: nobody must do it again.
    pub fn is_finished(&self, id: &TaskId) -> bool {
        let status = self.status(id);
        status.is_some_and(|status| matches!(status, TaskStatus::Done | TaskStatus::Cancelled))
    }

    /// How a task stands; nothing if it is not known.
    pub fn status(&self, id: &TaskId) -> Option<TaskStatus> {
        self.slots.get(id).map(|slot| match &slot.entry {
            Entry::Open(task) => task.status(),
            Entry::Ended(ended) => ended.how.into(),
        })
    }

    /// How many there are.
    pub fn counts(&self) -> Counts {
        let is_stalled = |slot: &&Slot| match &slot.entry {
            Entry::Open(task) => task.stalled_since.is_some(),
            Entry::Ended(_) => false,
        };
        Counts {
            open: self.open_count(),
            stalled: self.slots.values().filter(is_stalled).count(),
            ended: self.index.ended(),
        }
    }
}

fn view(now: Timestamp, policy: &Policy, id: &TaskId, slot: &Slot) -> TaskView {
    match &slot.entry {
        Entry::Open(task) => open(now, policy, id, task),
        Entry::Ended(ended) => TaskView {
            agent: ended.agent.clone(),
            status: ended.how.into(),
            assigned_at: None,
            evidence: None,
            ended_at: Some(ended.at),
            ..open(now, policy, id, &Task::new(ended.at))
        },
    }
}

fn open(now: Timestamp, policy: &Policy, id: &TaskId, task: &Task) -> TaskView {
    TaskView {
        id: id.clone(),
        agent: task.agent.clone(),
        status: task.status(),
        description: task.description.clone(),
        assigned_at: Some(task.assigned_at),
        due: task.due,
        updated_at: task.updated_at,
        percent: task.percent,
        explanation: task.explanation.clone(),
        evidence: Some(task.evidence(now, policy, None)),
        stalled_since: task.stalled_since,
        told_at: task.told.map(|told| told.at),
        failed_since: task.failed.map(|failed| failed.at),
        ended_at: None,
    }
}

impl fmt::Display for TaskView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let worker = self.agent.as_ref().map_or("nobody", AgentId::as_str);
        write!(f, "task {} of {worker}: {}", self.id, self.status)?;
        if let Some(percent) = self.percent {
            write!(f, ", {percent} %")?;
        }
        match (self.failed_since, self.stalled_since) {
            (Some(_), _) => f.write_str(", counts as failed")?,
            (None, Some(_)) => f.write_str(", stalled")?,
            (None, None) => {}
        }
        match &self.evidence {
            Some(evidence) => write!(f, " ({evidence})"),
            None => Ok(()),
        }
    }
}
