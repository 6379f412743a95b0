//! One notification per condition, and one when it clears.

use std::collections::BTreeSet;

use verger_core::breaker::State;
use verger_core::correlation::Change;
use verger_core::event::{Event, Fact, Incident};
use verger_core::id::AgentId;
use verger_core::messages::Decision;

use super::{Broken, Checker, End};
use crate::trace::{Moment, What};
use crate::world::SimTime;

/// Knows which incidents are open.
#[derive(Debug, Default)]
pub(super) struct OneNotification {
    open: BTreeSet<(Option<AgentId>, Incident)>,
    /// What else people were told, in words, and has not cleared.
    told: BTreeSet<String>,
    broken: Broken,
}

impl Checker for OneNotification {
    fn name(&self) -> &'static str {
        "one-notification-per-condition"
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

impl OneNotification {
    fn on_event(&mut self, at: SimTime, event: &Event) {
        let agent = event.agent.as_ref().map(|(agent, _)| agent.clone());
        let (incident, told_twice) = match event.fact {
            Fact::IncidentOpened { incident, .. } => (incident, !self.open.insert((agent, incident))),
            Fact::IncidentResolved { incident, .. } => (incident, !self.open.remove(&(agent, incident))),
            _ => return self.on_other(at, &event.fact),
        };
        if told_twice {
            let whom = event.agent.as_ref().map_or("the fleet", |(agent, _)| agent.as_str());
            let how = if matches!(event.fact, Fact::IncidentOpened { .. }) { "opened" } else { "resolved" };
            self.broken.note(at, || format!("incident {incident:?} of {whom} was {how} twice"));
        }
    }

    /// Reviews, alerts of recoveries, failures of many, breakers that are not closed, and agents that leave messages
    /// unacknowledged.
    fn on_other(&mut self, at: SimTime, fact: &Fact) {
        let (what, begins) = match fact {
            Fact::ReviewOpened { task, .. } => (format!("the review of {task}"), true),
            Fact::ReviewOver { task } => (format!("the review of {task}"), false),
            Fact::RecoveryAlert { task, condition } => (format!("{condition:?} of {task:?}"), true),
            Fact::RecoveryAlertOver { task, condition } => (format!("{condition:?} of {task:?}"), false),
            Fact::Correlated(Change::Opened { scope, .. }) => (format!("the incident of {scope}"), true),
            Fact::Correlated(Change::Resolved { scope, .. }) => (format!("the incident of {scope}"), false),
            Fact::Message(decided) => match decided.decision {
                Decision::Escalate { joined: false } => (format!("the silence of {}", decided.to), true),
                Decision::EscalationOver { .. } => (format!("the silence of {}", decided.to), false),
                _ => return,
            },
            Fact::Breaker(change) => match (change.transition.from, change.transition.to) {
                (State::Closed, State::Open | State::HalfOpen) => {
                    (format!("the opening of {}", change.name), true)
                }
                (State::Open | State::HalfOpen, State::Closed) => {
                    (format!("the opening of {}", change.name), false)
                }
                (State::Open | State::HalfOpen, State::Open | State::HalfOpen)
                | (State::Closed, State::Closed) => return,
            },
            _ => return,
        };
        let told_twice = if begins { !self.told.insert(what.clone()) } else { !self.told.remove(&what) };
        if told_twice {
            let how = if begins { "began" } else { "was over" };
            self.broken.note(at, || format!("{what} {how} twice"));
        }
    }
}

#[cfg(test)]
mod tests {
    use verger_core::recovery::Review;
    use verger_core::time::{Span, Timestamp};

    use super::super::testing::{Trace, turns};
    use super::*;

    fn run(script: &str) -> Result<(), String> {
        let (mut trace, mut checker) = (Trace::new(), OneNotification::default());
        let incident = Incident::Silent;
        for step in script.split_whitespace() {
            let fact = match step {
                "open" => Fact::IncidentOpened { incident, since: Timestamp::ZERO, part_of: None },
                _ => Fact::IncidentResolved { incident, lasted: Span::ZERO },
            };
            trace.commit(&mut checker, vec![fact], vec![]);
        }
        trace.finish(&mut checker)
    }

    #[test]
    fn a_condition_that_is_told_twice_is_caught() {
        assert_eq!(run("open resolve open resolve"), Ok(()));
        assert_eq!(run("open open"), Err("at 0s: incident Silent of a was opened twice".into()));
        assert_eq!(run("open resolve resolve"), Err("at 0s: incident Silent of a was resolved twice".into()));
    }

    #[test]
    fn a_breaker_whose_opening_is_told_twice_is_caught() {
        let opens = || turns(State::Closed, State::Open);
        let (mut trace, mut checker) = (Trace::new(), OneNotification::default());
        trace.commit(&mut checker, vec![opens(), turns(State::Open, State::HalfOpen)], vec![]);
        trace.commit(&mut checker, vec![turns(State::HalfOpen, State::Closed), opens()], vec![]);
        assert_eq!(trace.finish(&mut checker), Ok(()));
        trace.commit(&mut checker, vec![opens()], vec![]);
        assert_eq!(trace.finish(&mut checker), Err("at 0s: the opening of shared/store began twice".into()));
    }

    #[test]
    fn a_review_that_is_told_twice_is_caught() {
        let review = || Fact::ReviewOpened { task: "t".into(), why: Review::AttemptsUsedUp };
        let (mut trace, mut checker) = (Trace::new(), OneNotification::default());
        trace.commit(&mut checker, vec![review(), Fact::ReviewOver { task: "t".into() }, review()], vec![]);
        assert_eq!(trace.finish(&mut checker), Ok(()));
        trace.commit(&mut checker, vec![review()], vec![]);
        assert_eq!(trace.finish(&mut checker), Err("at 0s: the review of t began twice".into()));
    }
}
