//! No alarm without evidence: every accusation says what it rests on.

use std::collections::{BTreeMap, BTreeSet};

use verger_core::effect::{Action, Effect};
use verger_core::event::{Event, Fact};
use verger_core::id::AgentId;

use super::{Broken, Checker, End};
use crate::harness::is_bad;
use crate::trace::{Moment, What};
use crate::world::SimTime;

/// Knows what was said about each agent.
#[derive(Debug, Default)]
pub(super) struct NoAlarmWithoutEvidence {
    /// Whether the present state of an agent, or its silence, was given a reason.
    accused: BTreeMap<AgentId, bool>,
    /// Agents about whom a person asked people.
    by_hand: BTreeSet<AgentId>,
    broken: Broken,
}

impl Checker for NoAlarmWithoutEvidence {
    fn name(&self) -> &'static str {
        "no-alarm-without-evidence"
    }

    fn observe(&mut self, moment: &Moment<'_>) {
        let What::Committed { batch, .. } = moment.what else { return };
        for event in &batch.events {
            self.on_event(moment.at, event);
        }
        for effect in &batch.effects {
            self.on_effect(moment.at, effect);
        }
    }

    fn finish(&mut self, _end: &End<'_>) -> Result<(), String> {
        self.broken.verdict()
    }
}

impl NoAlarmWithoutEvidence {
    fn on_event(&mut self, at: SimTime, event: &Event) {
        let Some((agent, _)) = &event.agent else { return };
        let mut missing = |what: &str| self.broken.note(at, || format!("{agent} {what} for no reason"));
        match &event.fact {
            Fact::StateChanged { to, evidence, .. } => {
                if is_bad(*to) && evidence.is_empty() {
                    missing(&format!("became {to}"));
                }
                self.accused.insert(agent.clone(), !evidence.is_empty());
            }
            Fact::Disconnected { .. } => {
                self.accused.insert(agent.clone(), true);
            }
            Fact::IncidentOpened { incident, .. } if self.accused.get(agent) != Some(&true) => {
                missing(&format!("has an incident {incident:?}"));
            }
            Fact::TerminationOrdered { by: None, evidence, .. } if evidence.is_empty() => {
                missing("is to be stopped");
            }
            Fact::EscalationTriggered { by: Some(_), .. } => {
                self.by_hand.insert(agent.clone());
            }
            Fact::EscalationTriggered { by: None, .. } => {
                self.by_hand.remove(agent);
            }
            _ => {}
        }
    }

    fn on_effect(&mut self, at: SimTime, effect: &Effect) {
        let agent = &effect.key.agent;
        if let Action::Escalate(escalation) = &effect.action
            && escalation.evidence.is_empty()
            && !self.by_hand.contains(agent)
        {
            self.broken.note(at, || format!("people are asked about {agent} for no reason"));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use verger_core::event::Incident;
    use verger_core::health::HealthState;
    use verger_core::time::Timestamp;

    use super::super::testing::{Trace, becomes};
    use super::*;

    fn run(facts: Vec<Fact>) -> Result<(), String> {
        let (mut trace, mut checker) = (Trace::new(), NoAlarmWithoutEvidence::default());
        trace.commit(&mut checker, facts, vec![]);
        trace.finish(&mut checker)
    }

    #[test]
    fn a_state_with_its_reason_and_its_incident_pass() {
        let opened =
            Fact::IncidentOpened { incident: Incident::Stuck, since: Timestamp::ZERO, part_of: None };
        assert_eq!(run(vec![becomes(HealthState::Healthy, HealthState::Stuck), opened]), Ok(()));
    }

    #[test]
    fn a_bad_state_without_a_reason_is_caught() {
        let (from, to) = (HealthState::Healthy, HealthState::Stuck);
        let caught = run(vec![Fact::StateChanged { from, to, evidence: Arc::new([]) }]);
        assert_eq!(caught, Err("at 0s: a became STUCK for no reason".into()));
    }

    #[test]
    fn an_incident_out_of_the_blue_is_caught() {
        let caught = run(vec![Fact::IncidentOpened {
            incident: Incident::Silent,
            since: Timestamp::ZERO,
            part_of: None,
        }]);
        assert_eq!(caught, Err("at 0s: a has an incident Silent for no reason".into()));
    }

    #[test]
    fn a_termination_without_a_reason_is_caught() {
        let ordered = Fact::TerminationOrdered { reason: "so".into(), by: None, evidence: Arc::new([]) };
        assert_eq!(run(vec![ordered]), Err("at 0s: a is to be stopped for no reason".into()));
    }
}
