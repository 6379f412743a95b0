//! Tasks (R06, R07): what the machine is told of them, and what follows from what it decides.
//!
//! People and orchestrators give tasks, update and close them ([`TaskWord`]). Agents say that they were given one, are
//! done, or cannot go on; and lasting progress of an agent is an update of the task it works on. What is decided is
//! recorded; a question goes out to the agent. A declared failure is a fact for people; nothing
//! is recovered by it.

use super::{Collector, Fleet, desk};
use crate::agent::Question;
use crate::event::Fact;
use crate::id::{AgentId, TaskId};
use crate::notice::{NoticeError, Reply, Speaker, TaskWord};
use crate::recovery::Closing;
use crate::signal::{Body, Heartbeat, Spawn, TaskChange, Trust};
use crate::tasks::{Assigned, Assignment, Decided, Decision, Start, Step, TaskStatus, Tasks, Update};
use crate::time::{Span, Timestamp};

impl Fleet {
    /// All tasks.
    pub fn tasks(&self) -> &Tasks {
        &self.machines.tasks
    }

    /// Somebody says something of a task.
    pub(super) fn tell_task(
        &mut self,
        now: Timestamp,
        task: &TaskId,
        by: &Speaker,
        word: &TaskWord,
        out: &mut Collector,
    ) -> Result<Reply, NoticeError> {
        let (agent, trust) = match by {
            Speaker::Agent { id, trust } => (Some(id.clone()), *trust),
            Speaker::Person(_) => (None, Trust::Verified),
        };
        if trust == Trust::Unverified && word.needs_proof() {
            return Err(NoticeError::Unproven);
        }
        let from = out.events.len();
        let before = self.machines.tasks.worker(task).cloned();
        let reply = self.with_tasks(now, out, |tasks, step| match word.clone() {
            TaskWord::Given { agent, description, due_in, ago, start } => {
                let new = Assignment { task: task.clone(), agent, description, ago, due_in, start };
                tasks.on_assigned(step, new).map(Reply::Assigned)
            }
            TaskWord::Update { percent, status, ago } => {
                let update = Update { by: agent, percent, status, ago };
                tasks.on_update(step, task, &update).map(Reply::Updated)
            }
            TaskWord::Due { within } => tasks.on_due(step, task, within).map(|()| Reply::Done),
            TaskWord::Explained { text, lasting } => {
                tasks.on_explained(step, task, agent.as_ref(), text, lasting).map(Reply::Explained)
            }
            TaskWord::CannotGoOn => {
                tasks.on_cannot_go_on(step, task, agent.as_ref(), trust).map(|()| Reply::Done)
            }
        })?;
        if let (TaskWord::Given { .. }, Reply::Assigned(Assigned::Begun)) = (word, &reply) {
            let had = before.as_ref();
            self.on_work_given(now, task, had, out);
        }
        if let Speaker::Person(by) = by {
            let fact = Fact::TaskOrdered { task: task.clone(), by: by.clone(), word: Box::new(word.clone()) };
            let worker = self.machines.tasks.worker(task).cloned().or(before);
            self.record_about(now, worker.as_ref(), fact, out);
            // Who ordered something comes before what it led to.
            out.events[from..].rotate_right(1);
        }
        Ok(reply)
    }

    /// Whether a signal names work that its agent is known to have: that is no news, and may be a late copy.
    pub(super) fn repeats_its_task(&self, slot: u32, body: &Body) -> bool {
        match body {
            Body::Task(TaskChange::Assigned(task))
            | Body::Spawn(Spawn { task: Some(task), .. })
            | Body::Heartbeat(Heartbeat { task: Some(task), .. }) => {
                self.table.agent(slot).is_some_and(|agent| agent.task.as_ref() == Some(task))
            }
            _ => false,
        }
    }

    /// An agent was given work, or is done with it.
    pub(super) fn follow_tasks(
        &mut self,
        now: Timestamp,
        slot: u32,
        body: &Body,
        repeats: bool,
        out: &mut Collector,
    ) {
        match body {
            Body::Task(TaskChange::Assigned(task)) | Body::Spawn(Spawn { task: Some(task), .. }) => {
                self.on_work_named(now, slot, task, repeats, out);
            }
            Body::Task(TaskChange::Ended(task)) => {
                // Done, failed for good or called off: it does not say which, and nobody is to do it again.
                self.on_own_update(now, slot, task, Some(TaskStatus::Done), out);
            }
            _ => {}
        }
    }

    fn on_work_named(
        &mut self,
        now: Timestamp,
        slot: u32,
        task: &TaskId,
        repeats: bool,
        out: &mut Collector,
    ) {
        let Some(agent) = self.table.agent(slot) else { return };
        // A copy of an announcement that the agent is beyond names work that it no longer has.
        if agent.task.as_ref() != Some(task) {
            return;
        }
        let id = agent.id.clone();
        let other = self.machines.tasks.worker(task).filter(|worker| **worker != id);
        if repeats && other.is_some() {
            return;
        }
        let new = Assignment {
            task: task.clone(),
            agent: Some(id),
            description: None,
            ago: Span::ZERO,
            due_in: None,
            start: Start::Same,
        };
        // A finished task is refused, and so is one too many: the agent is watched all the same.
        let _ = self.with_tasks(now, out, |tasks, step| tasks.on_assigned(step, new));
    }

    /// It did something that lasts: that is an update of what it works on.
    pub(super) fn on_worked(&mut self, now: Timestamp, slot: u32, out: &mut Collector) {
        let Some(agent) = self.table.agent(slot) else { return };
        if agent.progress.last_lasting != now {
            return;
        }
        if let Some(task) = agent.task.clone() {
            self.on_own_update(now, slot, &task, None, out);
        }
    }

    fn on_own_update(
        &mut self,
        now: Timestamp,
        slot: u32,
        task: &TaskId,
        status: Option<TaskStatus>,
        out: &mut Collector,
    ) {
        let Some(agent) = self.table.id(slot) else { return };
        if self.machines.tasks.worker(task) != Some(agent) {
            return;
        }
        let update = Update { by: Some(agent.clone()), percent: None, status, ago: Span::ZERO };
        // It is theirs and open, so that nothing is refused.
        let _ = self.with_tasks(now, out, |tasks, step| tasks.on_update(step, task, &update));
    }

    /// It says that it cannot go on, with what it works on; or with its only task, if it did not say what that is.
    pub(super) fn on_blocker(&mut self, now: Timestamp, slot: u32, out: &mut Collector) {
        let Some(agent) = self.table.agent(slot) else { return };
        let id = agent.id.clone();
        let theirs: Vec<_> = self.machines.tasks.of(&id).take(2).collect();
        let only = if let [only] = theirs[..] { Some(only) } else { None };
        let Some(task) = agent.task.as_ref().or(only).cloned() else { return };
        // Such a word without proof is turned away. A task that nobody gave to it is not known, or another's.
        let _ = self.with_tasks(now, out, |tasks, step| {
            tasks.on_cannot_go_on(step, &task, Some(&id), Trust::Verified)
        });
    }

    /// It went silent, came back, began to wait, or is gone.
    pub(super) fn on_worker_changed(&mut self, now: Timestamp, agent: &AgentId, out: &mut Collector) {
        if self.machines.tasks.of(agent).next().is_some() {
            self.with_tasks(now, out, |tasks, step| tasks.on_worker_changed(step, agent));
        }
    }

    pub(super) fn on_worker_answered(&mut self, now: Timestamp, agent: &AgentId, out: &mut Collector) {
        self.with_tasks(now, out, |tasks, step| tasks.on_answered(step, agent));
    }

    pub(super) fn wake_tasks(&mut self, now: Timestamp, out: &mut Collector) {
        if self.machines.tasks.deadline(Timestamp::ZERO).is_some_and(|due| due <= now) {
            self.with_tasks(now, out, Tasks::wake);
        }
    }

    /// Has the machine take a step, and does what it decides.
    fn with_tasks<T>(
        &mut self,
        now: Timestamp,
        out: &mut Collector,
        tell: impl FnOnce(&mut Tasks, &mut Step<'_>) -> T,
    ) -> T {
        let (table, index, policies) = (&self.table, &self.index, &self.policies);
        let standing = |id: &AgentId| desk::standing(now, id, table, index, policies);
        let mut decided = Vec::new();
        let mut step = Step { now, policy: &policies.tasks, standing: &standing, out: &mut decided };
        let result = tell(&mut self.machines.tasks, &mut step);
        for decided in decided {
            self.on_task_decided(now, decided, out);
        }
        result
    }

    fn on_task_decided(&mut self, now: Timestamp, decided: Decided, out: &mut Collector) {
        let agent = decided.agent.clone();
        let question = match decided.decision {
            Decision::Inquire { again, joined: false } => Some(again),
            Decision::Inquire { joined: true, .. }
            | Decision::Stalled
            | Decision::Unstalled { .. }
            | Decision::Escalate { .. }
            | Decision::EscalationOver { .. }
            | Decision::DeclareFailed { .. }
            | Decision::FailureOver { .. }
            | Decision::Superseded { .. }
            | Decision::WentBack { .. }
            | Decision::Ended { .. }
            | Decision::Abandoned
            | Decision::Forgotten { .. } => None,
        };
        let over = match decided.decision {
            Decision::Ended { status: TaskStatus::Done } => Some(Closing::Finished),
            Decision::Ended { status: TaskStatus::Failed } => Some(Closing::Failed),
            Decision::Ended { status: TaskStatus::Cancelled } => Some(Closing::Cancelled),
            _ => None,
        };
        let task = decided.task.clone();
        self.record_about(now, agent.as_ref(), Fact::Task(Box::new(decided)), out);
        if let Some(why) = over {
            self.close_work(now, &task, why, out);
        }
        if let Some((agent, again)) = agent.zip(question) {
            self.inquire(now, &agent, Question { again, task: Some(&task) }, out);
        }
    }
}
