//! All tasks: given, updated, ended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::index::{Index, Place};
use super::task::{Ended, Entry, Final, Task};
use super::{Assigned, Decided, Decision, Policy, Refusal, TaskStatus, Updated};
use crate::id::{AgentId, TaskId};
use crate::standing::{Reading, Surroundings};
use crate::time::Span;

/// Names longer than this are refused: they are kept in memory.
const NAME_MAX: usize = 256;
/// Of what is said about a task, so many bytes are kept.
const TEXT_MAX: usize = 500;

/// All tasks.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    pub(super) slots: BTreeMap<TaskId, Slot>,
    pub(super) index: Index,
    pub(super) changed: BTreeSet<TaskId>,
}

/// A task and where the index has it.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) entry: Entry,
    pub(super) place: Place,
}

/// A task is given to an agent, or made known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Which task.
    pub task: TaskId,
    /// Whom to. Nobody leaves it with who has it; a new one waits for somebody.
    pub agent: Option<AgentId>,
    /// What it is.
    pub description: Option<Arc<str>>,
    /// How long ago it was given; nothing, unless it is read from elsewhere.
    pub ago: Span,
    /// In what time from now it is expected to be complete, nothing at all if that has passed. The edge has made a
    /// span of it. A task of which nobody says it is never overdue, and so never stalled.
    pub due_in: Option<Span>,
    /// Whether this is a new start.
    pub start: Start,
}

/// Whether an assignment is a new start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// Not if the agent has the task already.
    #[default]
    Same,
    /// A new try, as after a recovery: the time begins anew, even for the same agent.
    Anew,
    /// A person wants it done again although it is finished or called off.
    Again,
}

/// Word of a task's progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// Who says so; a person or the orchestrator, if no agent.
    pub by: Option<AgentId>,
    /// How far it is; beyond 100 counts as 100.
    pub percent: Option<u8>,
    /// How it stands.
    pub status: Option<TaskStatus>,
    /// How long ago; nothing, unless it is read from elsewhere.
    pub ago: Span,
}

/// The surroundings of one step.
pub type Step<'a> = Surroundings<'a, Policy, Decided>;

impl Tasks {
    /// A task is given to an agent. Who had it before has it no longer.
    pub fn on_assigned(&mut self, step: &mut Step<'_>, new: Assignment) -> Result<Assigned, Refusal> {
        let agent = new.agent.as_ref().map_or("", AgentId::as_str);
        if NAME_MAX < new.task.as_str().len().max(agent.len()) {
            return Err(Refusal::NameTooLong(NAME_MAX));
        }
        match self.slots.get(&new.task).map(|slot| &slot.entry) {
            Some(Entry::Open(task)) => {
                let had = task.agent.clone();
                return self.reassign(step, new, had);
            }
            Some(Entry::Ended(ended)) if ended.how != Final::Failed && new.start != Start::Again => {
                return Err(Refusal::Ended { task: new.task, status: ended.how.into() });
            }
            Some(Entry::Ended(_)) | None => {}
        }
        self.has_room(step, new.agent.as_ref())?;
        if step.policy.open_max as usize <= self.open_count() {
            return Err(Refusal::Full(step.policy.open_max));
        }
        self.put(new.task.clone(), Entry::Open(Box::new(Task::new(step.now))), step.policy);
        self.begin(step, new);
        Ok(Assigned::Begun)
    }

    fn reassign(
        &mut self,
        step: &mut Step<'_>,
        mut new: Assignment,
        had: Option<AgentId>,
    ) -> Result<Assigned, Refusal> {
        new.agent = new.agent.or_else(|| had.clone());
        let same = had == new.agent;
        if same && new.start == Start::Same {
            let Assignment { task, description, due_in, .. } = new;
            let due = due_in.map(|span| step.now + span);
            self.change(step, &task, |task| {
                task.description = description.map(bounded).or(task.description.take());
                task.due = due.or(task.due);
            });
            self.settle(step, &task);
            return Ok(Assigned::Again);
        }
        if !same {
            self.has_room(step, new.agent.as_ref())?;
        }
        self.clear(step, &new.task);
        let id = new.task.clone();
        self.begin(step, new);
        if let Some(from) = had.filter(|_| !same) {
            self.push(step, &id, None, Decision::Superseded { from });
        }
        Ok(Assigned::Begun)
    }

    fn begin(&mut self, step: &mut Step<'_>, new: Assignment) {
        let (at, due) = (step.now - new.ago, new.due_in.map(|span| step.now + span));
        self.change(step, &new.task, |task| {
            task.begin(at, new.agent, due);
            task.description = new.description.map(bounded).or(task.description.take());
        });
    }

    fn has_room(&self, step: &Step<'_>, agent: Option<&AgentId>) -> Result<(), Refusal> {
        let max = step.policy.per_agent_max;
        let is_full = agent.is_some_and(|agent| max as usize <= self.index.count_of(agent));
        if is_full { Err(Refusal::Full(max)) } else { Ok(()) }
    }

    /// Somebody says how far a task is, or that it is over.
    pub fn on_update(
        &mut self,
        step: &mut Step<'_>,
        id: &TaskId,
        update: &Update,
    ) -> Result<Updated, Refusal> {
        let how = match update.status {
            Some(TaskStatus::Done) => Some(Final::Done),
            Some(TaskStatus::Failed) => Some(Final::Failed),
            Some(TaskStatus::Cancelled) => Some(Final::Cancelled),
            Some(TaskStatus::Assigned | TaskStatus::InProgress) | None => None,
        };
        if let Some(Entry::Ended(ended)) = self.slots.get(id).map(|slot| &slot.entry) {
            let ended = ended.clone();
            return self.update_ended(step, id, update, &ended, how);
        }
        self.theirs(id, update.by.as_ref())?;
        match how {
            Some(how) => self.end(step, id, how),
            None => self.note(step, id, update),
        }
        Ok(if how.is_some() { Updated::Ended } else { Updated::Noted })
    }

    /// Word of a task that is over: it stays over. Only what had failed may turn out to be done, or be called off.
    fn update_ended(
        &mut self,
        step: &mut Step<'_>,
        id: &TaskId,
        update: &Update,
        ended: &Ended,
        how: Option<Final>,
    ) -> Result<Updated, Refusal> {
        let theirs = update.by.is_none() || update.by == ended.agent;
        match how {
            Some(how) if how == ended.how => Ok(Updated::Again),
            Some(how @ (Final::Done | Final::Cancelled)) if ended.how == Final::Failed && theirs => {
                let entry = Entry::Ended(Ended { at: step.now, how, ..ended.clone() });
                self.put(id.clone(), entry, step.policy);
                self.push(step, id, None, Decision::Ended { status: how.into() });
                Ok(Updated::Ended)
            }
            Some(_) | None => Err(Refusal::Ended { task: id.clone(), status: ended.how.into() }),
        }
    }

    fn note(&mut self, step: &mut Step<'_>, id: &TaskId, update: &Update) {
        let at = step.now - update.ago;
        let percent = update.percent.map(|percent| percent.min(100));
        let before = self.change(step, id, |task| {
            let before = task.percent;
            task.updated_at = task.updated_at.max(Some(at));
            task.begun = update.status != Some(TaskStatus::Assigned);
            task.percent = percent.or(before);
            if percent.is_some_and(|percent| task.best < percent) {
                task.best = percent.unwrap_or_default();
                task.explanations = 0;
            }
            before
        });
        if let (Some(from), Some(to)) = (before.flatten(), percent)
            && to < from
        {
            self.push(step, id, None, Decision::WentBack { from, to });
        }
        if update.ago == Span::ZERO {
            self.clear(step, id);
        }
        self.settle(step, id);
    }

    /// When a task is expected to be complete has changed: in so long from now.
    pub fn on_due(&mut self, step: &mut Step<'_>, id: &TaskId, due_in: Span) -> Result<(), Refusal> {
        self.theirs(id, None)?;
        let due = step.now + due_in;
        self.change(step, id, |task| task.due = Some(due));
        self.settle(step, id);
        Ok(())
    }

    fn end(&mut self, step: &mut Step<'_>, id: &TaskId, how: Final) {
        self.clear(step, id);
        self.push(step, id, None, Decision::Ended { status: how.into() });
        let agent = self.open(id).and_then(|task| task.agent.clone());
        self.remove(id);
        while step.policy.ended_max.max(1) as usize <= self.index.ended() {
            self.forget_first(step);
        }
        self.put(id.clone(), Entry::Ended(Ended { at: step.now, agent, how }), step.policy);
    }

    fn forget_first(&mut self, step: &mut Step<'_>) {
        let Some(first) = self.index.first_to_forget().cloned() else { return };
        if let Some(Entry::Ended(ended)) = self.slots.get(&first).map(|slot| &slot.entry) {
            let status = ended.how.into();
            self.push(step, &first, None, Decision::Forgotten { status });
        }
        self.remove(&first);
    }

    /// Whether a task is open, and the agent that speaks of it, if one does, is the one that has it.
    pub(super) fn theirs(&self, id: &TaskId, by: Option<&AgentId>) -> Result<(), Refusal> {
        match self.slots.get(id).map(|slot| &slot.entry) {
            None => Err(Refusal::Unknown(id.clone())),
            Some(Entry::Ended(ended)) => Err(Refusal::Ended { task: id.clone(), status: ended.how.into() }),
            Some(Entry::Open(task)) if by.is_some() && by != task.agent.as_ref() => {
                Err(Refusal::NotTheirs { task: id.clone(), worker: task.agent.clone() })
            }
            Some(Entry::Open(_)) => Ok(()),
        }
    }

    pub(super) fn open_count(&self) -> usize {
        self.slots.len().saturating_sub(self.index.ended())
    }

    pub(super) fn open(&self, id: &TaskId) -> Option<&Task> {
        match &self.slots.get(id)?.entry {
            Entry::Open(task) => Some(task),
            Entry::Ended(_) => None,
        }
    }

    /// Puts a task in the place of whatever was known of it.
    fn put(&mut self, id: TaskId, entry: Entry, policy: &Policy) {
        self.remove(&id);
        let place = Place::of(&id, &entry, policy);
        self.index.insert(&id, &place);
        self.changed.insert(id.clone());
        self.slots.insert(id, Slot { entry, place });
    }

    pub(super) fn remove(&mut self, id: &TaskId) {
        let Some(slot) = self.slots.remove(id) else { return };
        self.index.remove(id, &slot.place);
        self.changed.insert(id.clone());
    }

    /// Something was heard of an open task: changes it and its places in the index together.
    pub(super) fn change<R>(
        &mut self,
        step: &Step<'_>,
        id: &TaskId,
        change: impl FnOnce(&mut Task) -> R,
    ) -> Option<R> {
        self.adjust(step, id, |task| {
            let result = change(task);
            task.touched_at = step.now;
            result
        })
    }

    /// The same for what only the machine does: nothing was heard.
    pub(super) fn adjust<R>(
        &mut self,
        step: &Step<'_>,
        id: &TaskId,
        change: impl FnOnce(&mut Task) -> R,
    ) -> Option<R> {
        let slot = self.slots.get_mut(id)?;
        let Entry::Open(task) = &mut slot.entry else { return None };
        let result = change(task);
        self.replace(step.policy, id);
        Some(result)
    }

    /// Finds the places of a task anew.
    pub(super) fn replace(&mut self, policy: &Policy, id: &TaskId) {
        let Some(slot) = self.slots.get_mut(id) else { return };
        let place = Place::of(id, &slot.entry, policy);
        self.index.remove(id, &slot.place);
        self.index.insert(id, &place);
        slot.place = place;
        self.changed.insert(id.clone());
    }

    pub(super) fn push(&self, step: &mut Step<'_>, id: &TaskId, worker: Option<Reading>, decision: Decision) {
        let Some(slot) = self.slots.get(id) else { return };
        let (agent, evidence) = match &slot.entry {
            Entry::Open(task) => (task.agent.clone(), task.evidence(step.now, step.policy, worker)),
            Entry::Ended(ended) => {
                let over = Task::new(ended.at);
                (ended.agent.clone(), over.evidence(step.now, step.policy, worker))
            }
        };
        step.out.push(Decided { task: id.clone(), agent, decision, evidence });
    }
}

/// The first part of a text, cut where a character ends.
pub(super) fn bounded(text: Arc<str>) -> Arc<str> {
    if text.len() <= TEXT_MAX { text } else { text[..text.floor_char_boundary(TEXT_MAX)].into() }
}
