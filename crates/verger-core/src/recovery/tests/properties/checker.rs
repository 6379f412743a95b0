//! An independent account of what was told, held against what was decided.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::{AgentId, TaskId};
use crate::intervention::Limit;
use crate::recovery::*;
use crate::time::Timestamp;

pub(super) struct Checker {
    policy: Policy,
    pub(super) frozen: bool,
    /// A forged state owes nothing to what was told.
    pub(super) is_off: bool,
    closed: BTreeSet<TaskId>,
    may_run: BTreeMap<TaskId, BTreeSet<Life>>,
    withdrawn: BTreeMap<TaskId, BTreeSet<u64>>,
    running: BTreeSet<TaskId>,
    attempts: BTreeMap<TaskId, u8>,
    starts: Vec<(Timestamp, AgentId)>,
    last_start: u64,
    raised: BTreeSet<(Option<TaskId>, Condition)>,
}

impl Checker {
    pub(super) fn new(policy: Policy) -> Self {
        Self {
            policy,
            frozen: false,
            is_off: false,
            closed: BTreeSet::new(),
            may_run: BTreeMap::new(),
            withdrawn: BTreeMap::new(),
            running: BTreeSet::new(),
            attempts: BTreeMap::new(),
            starts: Vec::new(),
            last_start: 0,
            raised: BTreeSet::new(),
        }
    }

    pub(super) fn on_gone(&mut self, task: &TaskId, life: &Life) {
        self.may_run.entry(task.clone()).or_default().remove(life);
    }

    pub(super) fn on_doubted(&mut self, task: &TaskId, life: &Life) {
        self.may_run.entry(task.clone()).or_default().insert(life.clone());
    }

    /// One that shows itself is no question any more, and may be what a start began.
    pub(super) fn on_alive(&mut self, task: &TaskId, life: &Life) {
        self.on_gone(task, life);
        self.on_start_named(task);
    }

    /// What a start began was heard of: from then on it is a life like any other.
    pub(super) fn on_start_named(&mut self, task: &TaskId) {
        self.withdrawn.remove(task);
    }

    pub(super) fn on_start_settled(&mut self, task: &TaskId, start: u64) {
        self.withdrawn.entry(task.clone()).or_default().remove(&start);
    }

    pub(super) fn on_closed(&mut self, task: &TaskId) {
        self.closed.insert(task.clone());
        self.running.remove(task);
    }

    pub(super) fn on_reopened(&mut self, task: &TaskId) {
        self.closed.remove(task);
    }

    /// No recovery is left: with it goes what was in doubt.
    pub(super) fn on_over(&mut self, task: &TaskId) {
        self.may_run.remove(task);
        self.withdrawn.remove(task);
    }

    pub(super) fn on_order(&mut self, task: &TaskId, order: &Order, anew: bool) {
        match order {
            Order::Recover { .. } if !anew => {}
            Order::Recover { .. } | Order::Cancel | Order::ReviewDone => {
                self.attempts.remove(task);
                self.running.remove(task);
            }
            Order::ConfirmEnded => {
                self.may_run.remove(task);
                self.withdrawn.remove(task);
            }
        }
    }

    pub(super) fn check(&mut self, now: Timestamp, out: &Collector) {
        if self.is_off {
            return;
        }
        for change in &out.changes {
            self.check_change(now, change, out);
        }
        for decision in &out.decisions {
            self.check_alerts(decision);
        }
        for decision in &out.decisions {
            if let Decision::Withdraw { task, start, incarnation: None, .. } = decision {
                self.withdrawn.entry(task.clone()).or_default().insert(*start);
            }
        }
    }

    fn check_change(&mut self, now: Timestamp, change: &Change, out: &Collector) {
        match change {
            Change::Initiated { task, start, by, .. } => {
                let spawn = out.decisions.iter().find_map(|decision| match decision {
                    Decision::Spawn(spawn) if spawn.start == *start => Some(spawn),
                    _ => None,
                });
                let spawn = spawn.expect("a start that was begun is a start to be done");
                assert!(self.last_start < *start, "a start's number is never used again");
                self.last_start = *start;
                self.check_start(now, task, &spawn.agent, by.is_none());
            }
            Change::CalledOff { task, why: CallOff::Closed(_) } => {
                self.attempts.remove(task);
                self.running.remove(task);
            }
            Change::AttemptFailed { task, .. }
            | Change::CameUp { task, .. }
            | Change::Failed { task, .. }
            | Change::CalledOff { task, .. } => {
                self.running.remove(task);
            }
            Change::Forgotten { task } => {
                self.attempts.remove(task);
            }
            Change::Scheduled { .. }
            | Change::Completed { .. }
            | Change::NotRecovered { .. }
            | Change::EndConfirmed { .. }
            | Change::Ordered { .. } => {}
        }
    }

    fn check_start(&mut self, now: Timestamp, task: &TaskId, agent: &AgentId, automatic: bool) {
        assert!(!self.closed.contains(task), "a task that is over is not started");
        assert!(self.may_run.get(task).is_none_or(BTreeSet::is_empty), "an old life may still run");
        assert!(self.withdrawn.get(task).is_none_or(BTreeSet::is_empty), "an earlier start may still run");
        assert!(self.running.insert(task.clone()), "one start at a time");
        let attempts = self.attempts.entry(task.clone()).or_default();
        *attempts += 1;
        assert!(*attempts <= self.policy.attempts_max, "attempt {attempts} of {}", self.policy.attempts_max);
        if automatic {
            assert!(!self.frozen, "nothing is started while many fail together");
            let within = |limit: Limit, whose: Option<&AgentId>| {
                let recent = self.starts.iter().filter(|(at, _)| now.since(*at) < limit.window);
                recent.filter(|(_, agent)| whose.is_none_or(|whose| whose == agent)).count()
                    < usize::from(limit.count)
            };
            assert!(within(self.policy.fleet_limit, None), "the fleet's hour");
            assert!(within(self.policy.burst_limit, None), "the fleet's minute");
            assert!(within(self.policy.agent_limit, Some(agent)), "the agent's hour");
        }
        self.starts.push((now, agent.clone()));
    }

    fn check_alerts(&mut self, decision: &Decision) {
        match decision {
            Decision::HumanReview { task, .. } => self.raise(Some(task.clone()), Condition::Review),
            Decision::ReviewOver { task } => self.clear(Some(task.clone()), Condition::Review),
            Decision::Alert { task, condition } => self.raise(task.clone(), *condition),
            Decision::Clear { task, condition } => self.clear(task.clone(), *condition),
            Decision::Survey { .. } | Decision::Spawn(_) | Decision::Withdraw { .. } => {}
        }
    }

    fn raise(&mut self, task: Option<TaskId>, condition: Condition) {
        assert!(self.raised.insert((task, condition)), "{condition:?} is told once");
    }

    fn clear(&mut self, task: Option<TaskId>, condition: Condition) {
        assert!(self.raised.remove(&(task, condition)), "{condition:?} clears once, and only if it was told");
    }
}
