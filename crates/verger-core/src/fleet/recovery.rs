//! Work whose agent ended goes on (L27–L29): what recovery is told, and how what it decides goes out.
//!
//! Recovery is of tasks. An agent that was never given one is recovered all the same, under a task that bears its
//! name.

use std::sync::Arc;

use super::errands::Errand;
use super::starts::verdict;
use super::{Collector, Fleet};
use crate::agent::Agent;
use crate::correlation::Membership;
use crate::effect::{Action, Outcome};
use crate::event::{Event, Fact};
use crate::evidence::{Measure, Sign};
use crate::health::HealthState;
use crate::id::{Actor, AgentId, Incarnation, TaskId};
use crate::intervention::Ladder;
use crate::notice::{NoticeError, Reply};
use crate::policy::Mode;
use crate::recovery::{
    self, Closing, Decision, Ended, Life, Order, OrderError, Recoveries, Started, Step, walk,
};
use crate::signal::{Body, Heartbeat, Spawn, TaskChange};
use crate::tasks::TaskStatus;
use crate::time::{Span, Timestamp};

/// A start that must not be made now is put off by this, again and again.
const HELD_AGAIN: Span = Span::minutes(1);

/// How the task begins that bears an agent's name.
const OWN: &str = "agent:";

/// What an agent is recovered under that has no task.
fn own_task(agent: &AgentId) -> TaskId {
    TaskId::from(format!("{OWN}{agent}"))
}

/// How a life ended.
struct EndOfLife {
    reason: Arc<str>,
    /// Its work is to be recovered.
    recover: bool,
    /// It left by itself, and said that all went well.
    peaceful: bool,
    /// Somebody saw it end.
    seen: bool,
    /// What may be done to it allows a recovery that was begun to go on.
    may_go_on: bool,
}

/// By whose word a life has a task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// It was assigned.
    Assignment,
    /// The agent says what it works on.
    Itself,
}

impl Agent {
    /// What it says it works on.
    fn named_work(&self) -> Option<&TaskId> {
        self.task.as_ref().filter(|task| !task.as_str().starts_with(OWN))
    }

    /// Whether this is what another agent is recovered under that has no task: nobody else has a say in that.
    fn is_anothers(&self, task: &TaskId) -> bool {
        task.as_str().strip_prefix(OWN).is_some_and(|whose| whose != self.id.as_str())
    }

    fn life(&self) -> Life {
        Life { agent: self.id.clone(), incarnation: self.incarnation }
    }

    /// Whether its life ended by itself, and it said that all went well.
    fn left_in_peace(&self) -> bool {
        self.evidence.iter().any(|found| found.sign == Sign::Exit && found.value == Measure::Code(0))
    }

    /// Whether somebody ordered its end, and nothing is to follow.
    fn is_ended_for_good(&self) -> bool {
        let ladder = self.case.as_ref().map(|case| &case.ladder);
        matches!(ladder, Some(Ladder::Stopping(stopping)) if !stopping.recover)
    }
}

impl Fleet {
    /// All recoveries, for views.
    pub fn recoveries(&self) -> &Recoveries {
        &self.machines.recoveries
    }

    /// What an agent works on: what it says; else what is recovered for it, which it may not know to say; else the one
    /// task that somebody gave to it. Itself, if none of these.
    fn work_of(&self, agent: &Agent) -> TaskId {
        let named = agent
            .named_work()
            .filter(|task| agent.progress.task_proven || !self.is_anothers_work(agent, task));
        if let Some(task) = named {
            return task.clone();
        }
        let mut given = self.machines.tasks.of(&agent.id).take(2);
        let only = given.next().filter(|_| given.next().is_none());
        let recovered = self.machines.recoveries.expected_of(&agent.id);
        recovered.or(only).cloned().unwrap_or_else(|| own_task(&agent.id))
    }

    /// Whether another agent has this task, and lives.
    fn is_anothers_work(&self, agent: &Agent, task: &TaskId) -> bool {
        let had_by = self.machines.recoveries.life(task).map(|life| &life.agent);
        let mut holders = had_by.into_iter().chain(self.machines.tasks.worker(task));
        let theirs = |holder: &AgentId| *holder == agent.id;
        holders.clone().all(|holder| !theirs(holder)) && holders.any(|holder| self.lives(holder))
    }

    pub(super) fn lives(&self, agent: &AgentId) -> bool {
        let agent = self.index.get(agent, &self.table).and_then(|slot| self.table.agent(slot));
        agent.is_some_and(|agent| agent.state != HealthState::Terminated)
    }

    /// What happened to an agent may concern the recovery of its work.
    pub(super) fn follow_recovery(&mut self, now: Timestamp, slot: u32, fact: &Fact, out: &mut Collector) {
        // Of most fleets nothing is to be recovered most of the time.
        if self.machines.recoveries.is_empty() && !matches!(fact, Fact::Terminated { .. }) {
            return;
        }
        let Some(agent) = self.table.agent(slot) else { return };
        let (task, life) = (self.work_of(agent), agent.life());
        match fact {
            Fact::Registered { .. } => self.on_new_life(now, &task, &life, out),
            Fact::StateChanged { to, .. } => self.on_state(now, &life, *to, out),
            Fact::TerminationOrdered { .. }
                if agent.is_ended_for_good() && self.is_recovered_for(&task, &life) =>
            {
                self.close_work(now, &task, Closing::Cancelled, out);
            }
            Fact::Terminated { reason, recover, seen, .. } => {
                let peaceful = agent.left_in_peace();
                let may_go_on = *recover || agent.mode(self.policies.at(agent.role)) >= Mode::Escalate;
                let (reason, recover, seen) = (Arc::clone(reason), *recover, *seen);
                let end = EndOfLife { reason, recover, peaceful, seen, may_go_on };
                self.on_end_of_life(now, (task, life), end, out);
            }
            Fact::Unregistered { .. } => self.on_forgotten(now, &life, out),
            _ => {}
        }
    }

    fn on_new_life(&mut self, now: Timestamp, task: &TaskId, life: &Life, out: &mut Collector) {
        if task.as_str().starts_with(OWN) {
            // An agent's own task is never over: who lives again has it again.
            self.machines.recoveries.on_reopened(task);
        }
        // That it has another's work it must say, and prove who it is (`follow_claim`).
        let is_own = self.is_recovered_for(task, life);
        let itself = own_task(&life.agent);
        self.recovery(now, out, |recoveries, step| {
            recoveries.on_back(step, &itself, life);
            if is_own {
                recoveries.on_alive(step, task, life, now);
            } else {
                recoveries.keep_busy(step, task, life);
            }
        });
    }

    /// How a life is doing concerns whatever it was brought back for, also if it works on something else by now.
    fn on_state(&mut self, now: Timestamp, life: &Life, state: HealthState, out: &mut Collector) {
        let tasks: Vec<TaskId> = self.machines.recoveries.tasks_of_life(life).cloned().collect();
        for task in tasks {
            self.recovery(now, out, |recoveries, step| recoveries.on_health(step, &task, life, state));
        }
    }

    /// A life has this task by somebody's word. Who is well already says so no more.
    fn on_claimed(&mut self, now: Timestamp, slot: u32, task: &TaskId, by: Claim, out: &mut Collector) {
        let Some(agent) = self.table.agent(slot) else { return };
        let (life, born_at, state) = (agent.life(), agent.born_at, agent.state);
        self.recovery(now, out, |recoveries, step| {
            if by == Claim::Itself && recoveries.has(task) {
                recoveries.on_alive(step, task, &life, born_at);
            } else {
                recoveries.on_taken_over(step, task, &life, born_at);
            }
        });
        if state == HealthState::Healthy {
            self.on_state(now, &life, state, out);
        }
    }

    fn is_recovered_for(&self, task: &TaskId, life: &Life) -> bool {
        self.machines.recoveries.life(task).is_some_and(|known| known.agent == life.agent)
    }

    fn on_end_of_life(
        &mut self,
        now: Timestamp,
        (task, life): (TaskId, Life),
        end: EndOfLife,
        out: &mut Collector,
    ) {
        let recovering = self.machines.recoveries.has(&task);
        let over = match self.machines.tasks.status(&task) {
            Some(TaskStatus::Done) => Some(Closing::Finished),
            Some(TaskStatus::Cancelled) => Some(Closing::Cancelled),
            _ => None,
        };
        if let Some(why) = over.filter(|_| !recovering) {
            // That it is over may have been forgotten here among many.
            self.machines.recoveries.remember_closed(now, &task, why, &self.policies.recovery);
        }
        if !end.recover && self.is_recovered_for(&task, &life) && (end.peaceful || !end.may_go_on) {
            // What was begun before does not go on against what holds now: its work is done, or it is only looked at.
            let why = if end.peaceful { Closing::Finished } else { Closing::Cancelled };
            return self.close_work(now, &task, why, out);
        }
        if end.recover || recovering {
            // A process that was stopped, or whose exit was seen, does not run any more.
            let (of, reason, confirmed) = (life.clone(), end.reason, end.seen);
            let ended = Ended { task, life, reason, confirmed, chain: None };
            self.recovery_of(now, Some(&of), out, |recoveries, step| recoveries.on_ended(step, ended));
        }
    }

    pub(super) fn close_work(&mut self, now: Timestamp, task: &TaskId, why: Closing, out: &mut Collector) {
        self.recovery(now, out, |recoveries, step| recoveries.on_closed(step, task, why));
    }

    /// Nobody watches the agent any more: nothing of it is brought back.
    fn on_forgotten(&mut self, now: Timestamp, life: &Life, out: &mut Collector) {
        let tasks: Vec<TaskId> = self.machines.recoveries.tasks_of(&life.agent).cloned().collect();
        for task in tasks {
            self.recovery(now, out, |recoveries, step| recoveries.on_unregistered(step, &task));
        }
        self.machines.errands.drop_of(&life.agent);
    }

    /// The agent says what becomes of its work, or got on with it.
    pub(super) fn follow_work(&mut self, now: Timestamp, slot: u32, body: &Body, out: &mut Collector) {
        let Some(agent) = self.table.agent(slot) else { return };
        let life = agent.life();
        match body {
            Body::Task(TaskChange::Ended(task) | TaskChange::Assigned(task)) if agent.is_anothers(task) => {}
            // That another's work is done is for that one to say, as long as it can.
            Body::Task(TaskChange::Ended(task)) if self.is_anothers_work(agent, task) => {}
            Body::Task(TaskChange::Ended(task)) => self.close_work(now, task, Closing::Finished, out),
            Body::Task(TaskChange::Assigned(task)) => {
                // What is done stays done: this is a late copy, or a mistake.
                if !self.machines.tasks.is_finished(task) {
                    self.machines.recoveries.on_reopened(task);
                }
                self.on_claimed(now, slot, task, Claim::Assignment, out);
            }
            Body::Checkpoint { .. } | Body::Output(_) => self.machines.recoveries.on_progress(&life),
            _ => {}
        }
    }

    /// A proven agent says for the first time, by its announcement or a heartbeat, what it works on.
    pub(super) fn follow_claim(&mut self, now: Timestamp, slot: u32, body: &Body, out: &mut Collector) {
        let (Body::Spawn(Spawn { task: Some(task), .. })
        | Body::Heartbeat(Heartbeat { task: Some(task), .. })) = body
        else {
            return;
        };
        let Some(agent) = self.table.agent(slot) else { return };
        // A copy of an announcement that the agent is beyond names work that it no longer has.
        if agent.task.as_ref() != Some(task) || agent.is_anothers(task) {
            return;
        }
        let life = agent.life();
        // Who is begun for a task that nobody has finished has it again, whatever became of it before.
        if matches!(body, Body::Spawn(_)) && !self.machines.tasks.is_finished(task) {
            self.machines.recoveries.on_begun_again(task);
        }
        let is_news = self.machines.tasks.worker(task).is_some_and(|worker| *worker != life.agent)
            || self.machines.recoveries.remembers(task);
        if self.machines.recoveries.has(task) || is_news {
            self.on_claimed(now, slot, task, Claim::Itself, out);
        }
    }

    /// Somebody gave a task to an agent, perhaps to another than had it before.
    pub(super) fn on_work_given(
        &mut self,
        now: Timestamp,
        task: &TaskId,
        had: Option<&AgentId>,
        out: &mut Collector,
    ) {
        self.machines.recoveries.on_reopened(task);
        let Some(worker) = self.machines.tasks.worker(task).filter(|worker| Some(*worker) != had) else {
            return;
        };
        let slot = self.index.get(worker, &self.table);
        // Who gets it may be begun only after this.
        let to_come = || Life { agent: worker.clone(), incarnation: Incarnation::FIRST };
        let life = slot.and_then(|slot| self.table.agent(slot)).map_or_else(to_come, Agent::life);
        if !self.is_recovered_for(task, &life) {
            self.recovery(now, out, |recoveries, step| recoveries.on_given_away(step, task, &life));
        }
    }

    /// What became of a survey, a start, or of taking one back.
    pub(super) fn on_recovery_errand(
        &mut self,
        now: Timestamp,
        errand: Errand,
        body: &Body,
        out: &mut Collector,
    ) {
        let outcome = if let Body::Outcome { outcome, .. } = body { Some(*outcome) } else { None };
        match (errand, body) {
            (Errand::Survey(task), Body::Surveyed { checkpoints, .. }) => {
                let chain = walk(&task, checkpoints, self.policies.recovery.chain_max);
                self.recovery(now, out, |recoveries, step| recoveries.on_checkpoints(step, &task, chain));
            }
            (Errand::Start(task, start), _) => {
                let started = match outcome {
                    // Where the way is broken, or the answer came too late, it may have been done.
                    Some(Outcome::Delivered | Outcome::Stopped | Outcome::Unreachable) | None => {
                        Started::Done(None)
                    }
                    Some(Outcome::Refused | Outcome::Rejected) => Started::Refused,
                    Some(Outcome::Unreadable) => Started::CheckpointUnreadable,
                    Some(Outcome::Failed) => Started::Failed,
                };
                self.recovery(now, out, |recoveries, step| {
                    recoveries.on_started(step, &task, start, &started);
                });
            }
            (Errand::Withdraw(task, start), _) if outcome == Some(Outcome::Stopped) => {
                self.recovery(now, out, |recoveries, step| recoveries.on_withdrawn(step, &task, start));
            }
            // It is asked for again, or people are.
            (Errand::Survey(_) | Errand::Withdraw(..), _) => {}
        }
    }

    /// Carries out what a person ordered about a recovery.
    pub(super) fn order_recovery(
        &mut self,
        now: Timestamp,
        task: &TaskId,
        by: &Actor,
        order: &Order,
        out: &mut Collector,
    ) -> Result<Reply, NoticeError> {
        if matches!(order, Order::Recover { .. }) {
            self.may_be_recovered(task).map_err(NoticeError::Recovery)?;
            self.take_up(now, task, by, out).map_err(NoticeError::Recovery)?;
        }
        let result = self.recovery(now, out, |recoveries, step| recoveries.order(step, task, by, order));
        result.map(|()| Reply::Done).map_err(NoticeError::Recovery)
    }

    /// Nobody is started a second time who lives, with this task or with another.
    fn may_be_recovered(&self, task: &TaskId) -> Result<(), OrderError> {
        if let Some(life) = self.machines.recoveries.life(task) {
            return if self.works_elsewhere(&life.agent, task) {
                Err(OrderError::AgentElsewhere(life.agent.clone()))
            } else {
                Ok(())
            };
        }
        match self.last_at_work_on(task) {
            Some(agent) if agent.state != HealthState::Terminated => Err(OrderError::Alive(agent.life())),
            Some(_) | None => Ok(()),
        }
    }

    /// A person wants what no policy took up when its agent ended: from here on it is recovered like any other work.
    fn take_up(
        &mut self,
        now: Timestamp,
        task: &TaskId,
        by: &Actor,
        out: &mut Collector,
    ) -> Result<(), OrderError> {
        if self.machines.recoveries.has(task) || self.machines.recoveries.closing(task).is_some() {
            return Ok(());
        }
        let Some(agent) = self.last_at_work_on(task) else { return Ok(()) };
        let policy = &self.policies.recovery;
        if !self.machines.recoveries.has_room(now, policy) {
            return Err(OrderError::NoRoom(policy.tasks_max));
        }
        let life = agent.life();
        // An end that nobody saw may be none.
        let confirmed = !agent.liveness.left_unseen();
        let reason = format!("{by} ordered it").into();
        let ended = Ended { task: task.clone(), life: life.clone(), reason, confirmed, chain: None };
        self.recovery_of(now, Some(&life), out, |recoveries, step| recoveries.on_ended(step, ended));
        Ok(())
    }

    /// Who has this task, or had it last; of several, who lives, and else who was begun last. Looks at every agent:
    /// people ask for it, and rarely.
    fn last_at_work_on(&self, task: &TaskId) -> Option<&Agent> {
        let given = self.machines.tasks.worker(task);
        let itself = task.as_str().strip_prefix(OWN);
        let may_be = |agent: &&Agent| {
            agent.task.as_ref() == Some(task) || given == Some(&agent.id) || itself == Some(agent.id.as_str())
        };
        let agents = (0..self.table.slots()).filter_map(|slot| self.table.agent(slot));
        let at_work = agents.filter(may_be).filter(|agent| self.work_of(agent) == *task);
        at_work.max_by_key(|agent| (agent.state != HealthState::Terminated, agent.born_at))
    }

    pub(super) fn wake_recovery(&mut self, now: Timestamp, out: &mut Collector) {
        let policy = &self.policies.recovery;
        if self.machines.recoveries.deadline(Timestamp::ZERO, policy).is_none_or(|due| now < due) {
            return;
        }
        for (task, agent) in self.machines.recoveries.starts_due(now, policy) {
            if self.start_is_held(now, &agent) {
                let until = now + HELD_AGAIN;
                self.recovery(now, out, |recoveries, step| recoveries.on_hold(step, &task, until));
            }
        }
        self.recovery(now, out, Recoveries::wake);
    }

    /// Many agents failed together, or that is over.
    pub(super) fn freeze_recovery(&mut self, now: Timestamp, out: &mut Collector) {
        let fleet = Membership::of_the_fleet();
        let frozen = self.machines.correlation.is_frozen(now, &fleet).is_some();
        self.recovery(now, out, |recoveries, step| recoveries.on_frozen(step, frozen));
    }

    /// Tells the machine something, and puts what it says into facts and effects.
    fn recovery<R>(
        &mut self,
        now: Timestamp,
        out: &mut Collector,
        tell: impl FnOnce(&mut Recoveries, &mut Step<'_>) -> R,
    ) -> R {
        self.recovery_of(now, None, out, tell)
    }

    /// The same, of this life where no recovery says of which.
    fn recovery_of<R>(
        &mut self,
        now: Timestamp,
        of: Option<&Life>,
        out: &mut Collector,
        tell: impl FnOnce(&mut Recoveries, &mut Step<'_>) -> R,
    ) -> R {
        let mut said = recovery::Collector::default();
        let random = self.seed ^ now.as_millis();
        let mut step = Step { now, policy: &self.policies.recovery, random, out: &mut said };
        let result = tell(&mut self.machines.recoveries, &mut step);
        for change in said.changes {
            let life = self.machines.recoveries.life(change.task()).or(of).cloned();
            let agent = life.map(|life| (life.agent, life.incarnation));
            let verdict = agent.as_ref().and_then(|(agent, _)| Some((agent.clone(), verdict(&change)?)));
            out.events.push(Event { at: now, agent, fact: Fact::Recovery(Box::new(change)) });
            if let Some((agent, result)) = verdict {
                self.on_start_judged(now, &agent, result, out);
            }
        }
        for decision in said.decisions {
            self.carry_out(now, decision, out);
        }
        result
    }

    fn carry_out(&mut self, now: Timestamp, decision: Decision, out: &mut Collector) {
        let fact = match decision {
            Decision::Survey { task } => {
                // What was answered about an earlier life says nothing of what the last one saved.
                self.machines.errands.drop_surveys_of(&task);
                if let Some(agent) = self.machines.recoveries.life(&task).map(|life| life.agent.clone()) {
                    let action = Action::Survey { task: task.clone() };
                    self.run_errand(&agent, Errand::Survey(task), action, out);
                }
                return;
            }
            Decision::Spawn(spawn) => {
                let errand = Errand::Start(spawn.task.clone(), spawn.start);
                let (agent, task, start) = (spawn.agent.clone(), spawn.task.clone(), spawn.start);
                if !self.run_errand(&agent, errand, Action::Spawn(Box::new(spawn)), out) {
                    self.recovery(now, out, |recoveries, step| {
                        recoveries.on_started(step, &task, start, &Started::Refused);
                    });
                }
                return;
            }
            Decision::Withdraw { task, start, agent, incarnation } => {
                let errand = Errand::Withdraw(task.clone(), start);
                let action = Action::Withdraw { task, start, incarnation };
                self.run_errand(&agent, errand, action, out);
                return;
            }
            Decision::HumanReview { task, why } => Fact::ReviewOpened { task, why },
            Decision::ReviewOver { task } => Fact::ReviewOver { task },
            Decision::Alert { task, condition } => Fact::RecoveryAlert { task, condition },
            Decision::Clear { task, condition } => Fact::RecoveryAlertOver { task, condition },
        };
        out.events.push(Event { at: now, agent: None, fact });
    }
}
