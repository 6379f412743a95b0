//! A clock, a task's checkpoints and a log, so that a test reads like what happened.

use crate::health::HealthState;
use crate::id::{Actor, CheckpointId, TaskId};
use crate::recovery::*;
use crate::time::{Span, Timestamp};

pub(super) fn at(secs: u64) -> Timestamp {
    Timestamp::ZERO + Span::secs(secs)
}

pub(super) fn life(agent: &str, incarnation: u32) -> Life {
    Life { agent: agent.into(), incarnation: crate::id::Incarnation(incarnation) }
}

/// Intact checkpoints in one line, oldest first, each with a content of its own.
pub(super) fn line(task: &str, ids: &[&str]) -> Vec<Checkpoint> {
    let parents = [None].into_iter().chain(ids.iter().map(|id| Some((*id).into())));
    let numbered = (1_u8..).zip(ids.iter().zip(parents));
    let checkpoint = |(number, (id, parent)): (u8, (&&str, _))| Checkpoint {
        id: (**id).into(),
        task: task.into(),
        parent,
        hash: ContentHash([number; 32]),
        content: Content::Intact,
        order: u64::from(number),
        made_at: at(u64::from(number)),
    };
    numbered.map(checkpoint).collect()
}

pub(super) struct World {
    pub(super) recoveries: Recoveries,
    pub(super) policy: Policy,
    pub(super) now: Timestamp,
    pub(super) random: u64,
    pub(super) checkpoints: Vec<Checkpoint>,
    pub(super) out: Collector,
    pub(super) log: Vec<String>,
}

impl World {
    /// A fleet whose waits are not prolonged at random, and whose limits are those of one task alone.
    pub(super) fn new() -> Self {
        let wide = crate::intervention::Limit { count: 100, window: Span::hours(1) };
        let policy = Policy {
            jitter_percent: 0,
            fleet_limit: wide,
            agent_limit: wide,
            burst_limit: wide,
            ..Policy::default()
        };
        Self {
            recoveries: Recoveries::default(),
            policy,
            now: Timestamp::ZERO,
            random: 0,
            checkpoints: line("t", &["c1", "c2", "c3"]),
            out: Collector::default(),
            log: Vec::new(),
        }
    }

    /// Lets time pass, doing what is due when it is due.
    pub(super) fn until(&mut self, secs: u64) {
        let then = at(secs);
        while let Some(due) = self.recoveries.deadline(self.now, &self.policy).filter(|due| *due <= then) {
            self.now = due;
            let before = self.recoveries.clone();
            self.step(Recoveries::wake);
            assert_ne!(self.recoveries, before, "a deadline at which nothing changes");
        }
        self.now = then;
    }

    pub(super) fn step<R>(&mut self, act: impl FnOnce(&mut Recoveries, &mut Step<'_>) -> R) -> R {
        let mut out = Collector::default();
        let mut step = Step { now: self.now, policy: &self.policy, random: self.random, out: &mut out };
        let result = act(&mut self.recoveries, &mut step);
        let secs = self.now.as_millis() / 1_000;
        let changes = out.changes.iter().filter_map(change);
        let lines = changes.chain(out.decisions.iter().map(decision));
        self.log.extend(lines.map(|line| format!("{secs}s {line}")));
        self.out.changes.append(&mut out.changes);
        self.out.decisions.append(&mut out.decisions);
        result
    }

    pub(super) fn ended(&mut self, task: &str, life: Life) {
        self.ended_as(task, life, true);
    }

    /// It is not certain that it does not run any more.
    pub(super) fn lost(&mut self, task: &str, life: Life) {
        self.ended_as(task, life, false);
    }

    fn ended_as(&mut self, task: &str, life: Life, confirmed: bool) {
        let task = TaskId::from(task);
        let chain = Some(walk(&task, &self.checkpoints, self.policy.chain_max));
        let reason = "it crashed".into();
        self.step(|recoveries, step| {
            recoveries.on_ended(step, Ended { task, life, reason, confirmed, chain });
        });
    }

    pub(super) fn alive(&mut self, task: &str, life: &Life) {
        self.step(|recoveries, step| recoveries.on_alive(step, &task.into(), life, step.now));
    }

    pub(super) fn healthy(&mut self, task: &str, life: &Life) {
        self.health(task, life, HealthState::Healthy);
    }

    pub(super) fn health(&mut self, task: &str, life: &Life, state: HealthState) {
        self.step(|recoveries, step| recoveries.on_health(step, &task.into(), life, state));
    }

    pub(super) fn closed(&mut self, task: &str, why: Closing) {
        self.step(|recoveries, step| recoveries.on_closed(step, &task.into(), why));
    }

    pub(super) fn started(&mut self, task: &str, start: u64, outcome: &Started) {
        self.step(|recoveries, step| recoveries.on_started(step, &task.into(), start, outcome));
    }

    pub(super) fn order(&mut self, task: &str, order: &Order) -> Result<(), OrderError> {
        self.step(|recoveries, step| recoveries.order(step, &task.into(), &Actor::from("ann"), order))
    }

    pub(super) fn status(&self, task: &str) -> Option<Status> {
        self.view(task).map(|view| view.status)
    }

    pub(super) fn view(&self, task: &str) -> Option<RecoveryView> {
        self.recoveries.view(&task.into(), &self.policy)
    }

    /// What happened since the last time.
    pub(super) fn log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }

    /// The checkpoints that the starts so far began with.
    pub(super) fn froms(&self) -> Vec<Option<&str>> {
        self.spawns().iter().map(|spawn| spawn.from.as_ref().map(CheckpointId::as_str)).collect()
    }

    /// All starts so far.
    pub(super) fn spawns(&self) -> Vec<&Spawn> {
        let spawns = self.out.decisions.iter().filter_map(|decision| match decision {
            Decision::Spawn(spawn) => Some(spawn),
            _ => None,
        });
        spawns.collect()
    }
}

fn decision(decision: &Decision) -> String {
    let of = |task: &Option<TaskId>| task.as_ref().map_or("fleet".to_owned(), ToString::to_string);
    match decision {
        Decision::Survey { task } => format!("survey {task}"),
        Decision::Spawn(Spawn { task, agent, attempt, from, .. }) => {
            let from = from.as_ref().map_or("the start".to_owned(), ToString::to_string);
            format!("spawn {agent} for {task}, attempt {attempt}, from {from}")
        }
        Decision::Withdraw { task, start, incarnation: None, .. } => {
            format!("withdraw start {start} of {task}")
        }
        Decision::Withdraw { task, start, agent, incarnation: Some(life) } => {
            format!("withdraw start {start} of {task}: {agent}{life}")
        }
        Decision::HumanReview { task, why } => format!("review {task}: {why:?}"),
        Decision::ReviewOver { task } => format!("review of {task} over"),
        Decision::Alert { task, condition } => format!("alert {}: {condition:?}", of(task)),
        Decision::Clear { task, condition } => format!("clear {}: {condition:?}", of(task)),
    }
}

/// Only what its decisions do not tell.
fn change(change: &Change) -> Option<String> {
    match change {
        Change::Completed { task, life, attempts } => {
            Some(format!("completed {task} by {}{} after {attempts}", life.agent, life.incarnation))
        }
        Change::AttemptFailed { task, attempt, why } => Some(format!("attempt {attempt} of {task}: {why:?}")),
        Change::CalledOff { task, why } => Some(format!("called off {task}: {why:?}")),
        Change::NotRecovered { task, why } => Some(format!("not recovered {task}: {why:?}")),
        Change::Ordered { task, by, order } => Some(format!("{by} ordered {order:?} for {task}")),
        Change::Scheduled { .. }
        | Change::Initiated { .. }
        | Change::CameUp { .. }
        | Change::Failed { .. }
        | Change::EndConfirmed { .. }
        | Change::Forgotten { .. } => None,
    }
}
