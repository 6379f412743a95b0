//! Nothing latches: in a healed world every agent is well or gone, and nothing is held against anybody for
//! longer than an hour.

use std::collections::BTreeMap;

use verger_core::event::{Event, Fact, Incident};
use verger_core::evidence::Sign;
use verger_core::health::HealthState;
use verger_core::id::AgentId;
use verger_core::signal::Awaited;

use super::{Broken, Checker, End};
use crate::harness::is_bad;
use crate::trace::{Moment, What};
use crate::world::{Condition, SimTime};

/// What stands for longer has latched; anything else may be an alarm that happens to be open at the end.
const LATCHED: u64 = 3_600_000;

/// Knows what stands open, and since when.
#[derive(Debug, Default)]
pub(super) struct NothingLatched {
    states: BTreeMap<AgentId, (HealthState, SimTime)>,
    /// The one sign that speaks against an agent, where it is one alone.
    only: BTreeMap<AgentId, Sign>,
    incidents: BTreeMap<(Option<AgentId>, Incident), SimTime>,
    escalated: BTreeMap<AgentId, SimTime>,
}

impl Checker for NothingLatched {
    fn name(&self) -> &'static str {
        "nothing-latched"
    }

    fn observe(&mut self, moment: &Moment<'_>) {
        let What::Committed { batch, .. } = moment.what else { return };
        for event in &batch.events {
            self.on_event(moment.at, event);
        }
    }

    fn finish(&mut self, end: &End<'_>) -> Result<(), String> {
        let mut broken = Broken::default();
        let stands = |since: &SimTime| LATCHED <= end.at.since(*since);
        for (agent, (state, _)) in self.states.iter().filter(|(_, (_, since))| stands(since)) {
            let condition = end.truth.condition_at(agent, end.at);
            if condition.is_healthy()
                && !is_still_so(condition, *state, self.only.get(agent))
                && !matches!(state, HealthState::Healthy | HealthState::Unknown)
            {
                broken.note(end.at, || format!("{agent} is {condition}, and is still held to be {state}"));
            }
        }
        for ((agent, incident), _) in self.incidents.iter().filter(|(_, since)| stands(since)) {
            let whom = agent.as_ref().map_or("the fleet", |agent| agent.as_str());
            broken.note(end.at, || format!("incident {incident:?} of {whom} is still open"));
        }
        for (agent, _) in self.escalated.iter().filter(|(_, since)| stands(since)) {
            broken.note(end.at, || format!("the escalation of {agent} is still open"));
        }
        broken.verdict()
    }
}

impl NothingLatched {
    fn on_event(&mut self, at: SimTime, event: &Event) {
        let agent = event.agent.as_ref().map(|(agent, _)| agent);
        match event.fact {
            Fact::IncidentOpened { incident, .. } => {
                self.incidents.insert((agent.cloned(), incident), at);
            }
            Fact::IncidentResolved { incident, .. } => {
                self.incidents.remove(&(agent.cloned(), incident));
            }
            _ => {}
        }
        if let Some(agent) = agent {
            self.on_state(at, agent, &event.fact);
        }
    }

    fn on_state(&mut self, at: SimTime, agent: &AgentId, fact: &Fact) {
        match fact {
            Fact::StateChanged { to, evidence, .. } => {
                match &evidence[..] {
                    [only] => self.only.insert(agent.clone(), only.sign),
                    _ => self.only.remove(agent),
                };
                // From one bad state to another it is the same trouble.
                let before = self.states.get(agent).filter(|(from, _)| is_bad(*from) && is_bad(*to));
                let since = before.map_or(at, |(_, since)| *since);
                self.states.insert(agent.clone(), (*to, since));
            }
            Fact::Registered { .. } => {
                self.escalated.remove(agent);
                self.states.insert(agent.clone(), (HealthState::Unknown, at));
            }
            Fact::Unregistered { .. } => {
                self.escalated.remove(agent);
                self.states.remove(agent);
            }
            Fact::EscalationTriggered { .. } => {
                self.escalated.insert(agent.clone(), at);
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

/// Whether a warning is still true of an agent that is well: a question that nobody answers for a day stands until
/// somebody does, and nothing new comes of polling, however long.
fn is_still_so(condition: Condition, state: HealthState, only: Option<&Sign>) -> bool {
    let sign = match condition {
        Condition::WaitingPerson => Sign::Patience(Awaited::Person),
        Condition::Polling => Sign::Progress,
        _ => return false,
    };
    state == HealthState::Degraded && only == Some(&sign)
}

#[cfg(test)]
mod tests {
    use verger_core::evidence::{Evidence, Measure, Severity};
    use verger_core::signal::Trust;
    use verger_core::time::{Span, Timestamp};

    use super::super::testing::{Trace, becomes};
    use super::*;

    fn run(facts: Vec<Fact>) -> Result<(), String> {
        let (mut trace, mut checker) = (Trace::new(), NothingLatched::default());
        trace.commit(&mut checker, facts, vec![]);
        assert_eq!(trace.at(60).finish(&mut checker), Ok(()), "it may just have begun");
        trace.at(3_600).finish(&mut checker)
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
        assert_eq!(caught, Err("at 1h: a is working, and is still held to be STUCK".into()));
    }

    #[test]
    fn a_warning_that_is_still_true_may_stand() {
        let true_of = [
            (Sign::Patience(Awaited::Person), Condition::WaitingPerson),
            (Sign::Progress, Condition::Polling),
        ];
        for (sign, condition) in true_of {
            let (mut trace, mut checker) = (Trace::new(), NothingLatched::default());
            let waited = Evidence {
                sign,
                value: Measure::Span(Span::hours(25)),
                threshold: Measure::Span(Span::hours(24)),
                severity: Severity::Degraded,
                trust: Trust::Verified,
            };
            let (from, to) = (HealthState::Healthy, HealthState::Degraded);
            let warned = Fact::StateChanged { from, to, evidence: [waited].into() };
            trace.commit(&mut checker, vec![warned], vec![]);
            assert!(trace.at(3_600).finish(&mut checker).is_err(), "it works");
            trace.truth.become_at(0, SimTime(3_601_000), condition);
            assert_eq!(trace.at(3_602).finish(&mut checker), Ok(()));
        }
    }

    #[test]
    fn an_incident_that_stays_is_caught() {
        let caught = run(vec![Fact::IncidentOpened { incident: Incident::Died, since: Timestamp::ZERO }]);
        assert_eq!(caught, Err("at 1h: incident Died of a is still open".into()));
    }

    #[test]
    fn an_escalation_that_stays_is_caught() {
        let caught = run(vec![Fact::EscalationTriggered { reason: "look".into(), by: None }]);
        assert_eq!(caught, Err("at 1h: the escalation of a is still open".into()));
    }
}
