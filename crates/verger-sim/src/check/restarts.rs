//! No task is recovered more often than its limits allow: by task, by agent and in the fleet, across restarts too.

use std::collections::{BTreeMap, VecDeque};

use verger_core::event::{Event, Fact};
use verger_core::id::{AgentId, TaskId};
use verger_core::policy::Policies;
use verger_core::recovery::{Change, Order};
use verger_core::time::Timestamp;

use super::budgets::exceeds;
use super::{Broken, Checker, End};
use crate::trace::{Moment, What};
use crate::world::SimTime;

/// Counts the starts that the monitor decided on by itself.
#[derive(Debug)]
pub(super) struct RecoveryLimits {
    policies: Policies,
    /// Since a person or a stable run set the count to nought.
    tasks: BTreeMap<TaskId, u32>,
    agents: BTreeMap<AgentId, VecDeque<Timestamp>>,
    hour: VecDeque<Timestamp>,
    burst: VecDeque<Timestamp>,
    broken: Broken,
}

impl RecoveryLimits {
    pub(super) fn new(policies: Policies) -> Self {
        Self {
            policies,
            tasks: BTreeMap::new(),
            agents: BTreeMap::new(),
            hour: VecDeque::new(),
            burst: VecDeque::new(),
            broken: Broken::default(),
        }
    }

    fn on_event(&mut self, at: SimTime, event: &Event) {
        let Fact::Recovery(change) = &event.fact else { return };
        match change.as_ref() {
            Change::Initiated { task, by: None, .. } => self.on_start(at, event, task),
            Change::Ordered {
                task,
                order: Order::Recover { .. } | Order::Cancel | Order::ReviewDone,
                ..
            }
            | Change::Forgotten { task }
            | Change::CalledOff { task, .. } => {
                self.tasks.remove(task);
            }
            _ => {}
        }
    }

    fn on_start(&mut self, at: SimTime, event: &Event, task: &TaskId) {
        let policy = &self.policies.recovery;
        let count = self.tasks.entry(task.clone()).or_default();
        *count += 1;
        if *count > u32::from(policy.attempts_max) {
            self.broken.note(at, || format!("start {count} of {task}, of {} allowed", policy.attempts_max));
        }
        if let Some((agent, _)) = &event.agent {
            let own = self.agents.entry(agent.clone()).or_default();
            if exceeds(own, event.at, policy.agent_limit) {
                self.broken.note(at, || format!("{agent} is started beyond its hourly limit"));
            }
        }
        if exceeds(&mut self.hour, event.at, policy.fleet_limit) {
            self.broken.note(at, || "the fleet's starts are beyond their hourly limit".to_owned());
        }
        if exceeds(&mut self.burst, event.at, policy.burst_limit) {
            self.broken.note(at, || "starts come in too quick succession".to_owned());
        }
    }
}

impl Checker for RecoveryLimits {
    fn name(&self) -> &'static str {
        "recovery-within-its-limits"
    }

    fn observe(&mut self, moment: &Moment<'_>) {
        let What::Committed { batch, .. } = moment.what else { return };
        for event in &batch.events {
            self.on_event(moment.at, event);
        }
    }

    fn finish(&mut self, _end: &End<'_>) -> Result<(), String> {
        self.broken.verdict()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trace, started};
    use super::*;

    fn run(minutes: &[u64], task: impl Fn(u64) -> String) -> Result<(), String> {
        let (mut trace, mut checker) = (Trace::new(), RecoveryLimits::new(Policies::default()));
        for (nth, minute) in minutes.iter().enumerate() {
            trace.tell(&mut checker, What::Restarted);
            trace.at(minute * 60).commit(&mut checker, vec![started(&task(nth as u64), None)], vec![]);
        }
        trace.finish(&mut checker)
    }

    #[test]
    fn a_fourth_attempt_is_caught_though_the_monitor_restarted() {
        assert_eq!(run(&[0, 100, 200], |_| "t".into()), Ok(()));
        assert_eq!(run(&[0, 100, 200, 300], |_| "t".into()), Err("at 5h: start 4 of t, of 3 allowed".into()));
    }

    #[test]
    fn starts_beyond_the_hour_or_the_minute_are_caught() {
        let each = |nth: u64| format!("t{nth}");
        assert_eq!(run(&[0, 10, 20, 30, 40], each), Ok(()));
        assert!(run(&[0, 10, 20, 30, 40, 50], each).is_err());
        assert_eq!(run(&[0, 0, 0], each), Err("at 0s: starts come in too quick succession".into()));
    }
}
