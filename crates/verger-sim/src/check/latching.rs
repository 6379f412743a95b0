//! Nothing latches: in a healed world every agent is well or gone, and nothing is held against anybody.

use std::collections::{BTreeMap, BTreeSet};

use verger_core::event::{Event, Fact, Incident};
use verger_core::health::HealthState;
use verger_core::id::AgentId;

use super::{Broken, Checker, End};
use crate::trace::{Moment, What};

/// Knows what stands open.
#[derive(Debug, Default)]
pub(super) struct NothingLatched {
    states: BTreeMap<AgentId, HealthState>,
    incidents: BTreeSet<(Option<AgentId>, Incident)>,
    escalated: BTreeSet<AgentId>,
}

impl Checker for NothingLatched {
    fn name(&self) -> &'static str {
        "nothing-latched"
    }

    fn observe(&mut self, moment: &Moment<'_>) {
        let What::Committed { batch, .. } = moment.what else { return };
        for event in &batch.events {
            self.on_event(event);
        }
    }

    fn finish(&mut self, end: &End<'_>) -> Result<(), String> {
        let mut broken = Broken::default();
        for (agent, state) in &self.states {
            let condition = end.truth.condition_at(agent, end.at);
            if condition.is_healthy() && !matches!(state, HealthState::Healthy | HealthState::Unknown) {
                broken.note(end.at, || format!("{agent} is {condition}, and is still held to be {state}"));
            }
        }
        for (agent, incident) in &self.incidents {
            let whom = agent.as_ref().map_or("the fleet", |agent| agent.as_str());
            broken.note(end.at, || format!("incident {incident:?} of {whom} is still open"));
        }
        for agent in &self.escalated {
            broken.note(end.at, || format!("the escalation of {agent} is still open"));
        }
        broken.verdict()
    }
}

impl NothingLatched {
    fn on_event(&mut self, event: &Event) {
        let agent = event.agent.as_ref().map(|(agent, _)| agent);
        match event.fact {
            Fact::IncidentOpened { incident, .. } => {
                self.incidents.insert((agent.cloned(), incident));
            }
            Fact::IncidentResolved { incident, .. } => {
                self.incidents.remove(&(agent.cloned(), incident));
            }
            _ => {}
        }
        if let Some(agent) = agent {
            self.on_state(agent, &event.fact);
        }
    }

    fn on_state(&mut self, agent: &AgentId, fact: &Fact) {
        match fact {
            Fact::StateChanged { to, .. } => {
                self.states.insert(agent.clone(), *to);
            }
            Fact::Registered { .. } => {
                self.escalated.remove(agent);
                self.states.insert(agent.clone(), HealthState::Unknown);
            }
            Fact::Unregistered { .. } => {
                self.escalated.remove(agent);
                self.states.remove(agent);
            }
            Fact::EscalationTriggered { .. } => {
                self.escalated.insert(agent.clone());
            }
            Fact::EscalationDecided { .. }
            | Fact::EscalationWithdrawn
            | Fact::TerminationOrdered { .. }
            | Fact::Terminated { .. } => {
                self.escalated.remove(agent);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use verger_core::time::{Span, Timestamp};

    use super::super::testing::{Trace, becomes};
    use super::*;

    fn run(facts: Vec<Fact>) -> Result<(), String> {
        let (mut trace, mut checker) = (Trace::new(), NothingLatched::default());
        trace.commit(&mut checker, facts, vec![]);
        trace.at(60).finish(&mut checker)
    }

    #[test]
    fn what_is_cleared_passes() {
        let incident = Incident::Stuck;
        let facts = vec![
            becomes(HealthState::Healthy, HealthState::Stuck),
            Fact::IncidentOpened { incident, since: Timestamp::ZERO },
            Fact::EscalationTriggered { reason: "look".into(), by: None },
            becomes(HealthState::Stuck, HealthState::Healthy),
            Fact::IncidentResolved { incident, lasted: Span::ZERO },
            Fact::EscalationWithdrawn,
        ];
        assert_eq!(run(facts), Ok(()));
    }

    #[test]
    fn a_state_that_stays_is_caught() {
        let caught = run(vec![becomes(HealthState::Healthy, HealthState::Stuck)]);
        assert_eq!(caught, Err("at 1m: a is working, and is still held to be STUCK".into()));
    }

    #[test]
    fn an_incident_that_stays_is_caught() {
        let caught = run(vec![Fact::IncidentOpened { incident: Incident::Died, since: Timestamp::ZERO }]);
        assert_eq!(caught, Err("at 1m: incident Died of a is still open".into()));
    }

    #[test]
    fn an_escalation_that_stays_is_caught() {
        let caught = run(vec![Fact::EscalationTriggered { reason: "look".into(), by: None }]);
        assert_eq!(caught, Err("at 1m: the escalation of a is still open".into()));
    }
}
