//! Limits on interventions are never exceeded, by agent and in the fleet, across restarts too.

use std::collections::{BTreeMap, VecDeque};

use verger_core::event::{Event, Fact};
use verger_core::id::AgentId;
use verger_core::intervention::Limit;
use verger_core::policy::Policies;
use verger_core::time::Timestamp;

use super::{Broken, Checker, End};
use crate::trace::{Moment, What};
use crate::world::{SimTime, Truth};

/// Counts what the monitor did of its own accord, in every window there is.
#[derive(Debug)]
pub(super) struct Budgets {
    policies: Policies,
    agents: BTreeMap<(AgentId, Kind), VecDeque<Timestamp>>,
    fleet: BTreeMap<Kind, VecDeque<Timestamp>>,
    broken: Broken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Nudge,
    Escalation,
    Termination,
}

impl Budgets {
    pub(super) fn new(policies: Policies) -> Self {
        Self { policies, agents: BTreeMap::new(), fleet: BTreeMap::new(), broken: Broken::default() }
    }

    fn on_event(&mut self, at: SimTime, event: &Event, truth: &Truth) {
        let (Some((agent, _)), Some(kind)) = (&event.agent, kind(&event.fact)) else { return };
        let role = truth.agent(agent).and_then(|facts| facts.role.as_ref());
        let policy = &self.policies.role(role).intervention;
        let limits = &self.policies.limits;
        let (own, shared) = match kind {
            Kind::Nudge => (policy.nudge_limit, limits.nudges),
            Kind::Escalation => (policy.escalation_limit, limits.escalations),
            Kind::Termination => (policy.termination_limit, limits.terminations),
        };
        let spent = self.agents.entry((agent.clone(), kind)).or_default();
        if exceeds(spent, event.at, own) {
            self.broken.note(at, || format!("{kind:?} of {agent} beyond {} per {}", own.count, own.window));
        }
        if exceeds(self.fleet.entry(kind).or_default(), event.at, shared) {
            let Limit { count, window } = shared;
            self.broken.note(at, || format!("{kind:?} in the fleet beyond {count} per {window}"));
        }
    }
}

impl Checker for Budgets {
    fn name(&self) -> &'static str {
        "budgets-never-exceeded"
    }

    fn observe(&mut self, moment: &Moment<'_>) {
        let What::Committed { batch, .. } = moment.what else { return };
        for event in &batch.events {
            self.on_event(moment.at, event, moment.truth);
        }
    }

    fn finish(&mut self, _end: &End<'_>) -> Result<(), String> {
        self.broken.verdict()
    }
}

fn kind(fact: &Fact) -> Option<Kind> {
    match fact {
        Fact::NudgeSent { by: None, .. } => Some(Kind::Nudge),
        Fact::EscalationTriggered { by: None, .. } => Some(Kind::Escalation),
        Fact::TerminationOrdered { by: None, .. } => Some(Kind::Termination),
        _ => None,
    }
}

/// Whether one more at this moment is one too many in the window that ends with it.
pub(super) fn exceeds(spent: &mut VecDeque<Timestamp>, at: Timestamp, limit: Limit) -> bool {
    while spent.front().is_some_and(|first| *first + limit.window <= at) {
        spent.pop_front();
    }
    spent.push_back(at);
    spent.len() > usize::from(limit.count)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trace, nudge};
    use super::*;

    fn remind(trace: &mut Trace, checker: &mut Budgets, minute: u64, by: Option<&str>) {
        let sent =
            Fact::NudgeSent { key: nudge(1).key, attempt: 1, text: "go on".into(), by: by.map(Into::into) };
        trace.at(minute * 60).commit(checker, vec![sent], vec![]);
    }

    #[test]
    fn one_reminder_too_many_is_caught_though_the_monitor_restarted() {
        let (mut trace, mut checker) = (Trace::new(), Budgets::new(Policies::default()));
        for minute in 0..6 {
            remind(&mut trace, &mut checker, minute, None);
        }
        trace.tell(&mut checker, What::Restarted);
        remind(&mut trace, &mut checker, 20, Some("eve"));
        assert_eq!(trace.finish(&mut checker), Ok(()));
        remind(&mut trace, &mut checker, 59, None);
        assert_eq!(trace.finish(&mut checker), Err("at 59m: Nudge of a beyond 6 per 1h".into()));
    }

    #[test]
    fn a_window_that_has_moved_on_gives_room() {
        let (mut trace, mut checker) = (Trace::new(), Budgets::new(Policies::default()));
        for minute in 0..30 {
            remind(&mut trace, &mut checker, minute * 10, None);
        }
        assert_eq!(trace.finish(&mut checker), Ok(()));
    }
}
