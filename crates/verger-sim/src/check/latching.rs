//! Nothing latches: in a healed world every agent is well or gone, and nothing is held against anybody for
//! longer than an hour.

use std::collections::{BTreeMap, BTreeSet};

use verger_core::event::{Event, Fact, Incident};
use verger_core::evidence::{Family, Severity, Sign};
use verger_core::health::HealthState;
use verger_core::id::AgentId;
use verger_core::signal::Awaited;

use super::{Broken, Checker, End};
use crate::harness::is_bad;
use crate::trace::{Moment, What};
use crate::world::{Condition, SimTime};

/// What stands for longer has latched; anything else may be an alarm that happens to be open at the end.
const LATCHED: u64 = 3_600_000;

/// Tokens far above the usual are a warning until that is the usual, which takes half a day.
const BECOMES_USUAL: u64 = 12 * LATCHED;

/// Knows what stands open, and since when.
#[derive(Debug, Default)]
pub(super) struct NothingLatched {
    states: BTreeMap<AgentId, (HealthState, SimTime)>,
    /// What speaks against an agent.
    signs: BTreeMap<AgentId, Vec<Sign>>,
    /// Whose present trouble people were asked about.
    asked: BTreeSet<AgentId>,
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
        for (agent, (state, since)) in self.states.iter().filter(|(_, (_, since))| stands(since)) {
            let condition = end.truth.condition_at(agent, end.at);
            if condition.is_healthy()
                && !self.was_so(agent, *state, end)
                && !self.uses_more_than_usual(agent, *state, end.at.since(*since))
                && !matches!(state, HealthState::Healthy | HealthState::Unknown)
            {
                broken.note(end.at, || format!("{agent} is {condition}, and is still held to be {state}"));
            }
        }
        let asks = |agent: &AgentId| {
            let state = self.states.get(agent).map_or(HealthState::Unknown, |(state, _)| *state);
            self.was_so(agent, state, end)
        };
        for ((agent, incident), _) in self.incidents.iter().filter(|(_, since)| stands(since)) {
            if *incident == Incident::Stuck && agent.as_ref().is_some_and(asks) {
                continue;
            }
            let whom = agent.as_ref().map_or("the fleet", |agent| agent.as_str());
            broken.note(end.at, || format!("incident {incident:?} of {whom} is still open"));
        }
        for (agent, _) in self.escalated.iter().filter(|(agent, since)| stands(since) && !asks(agent)) {
            broken.note(end.at, || format!("the escalation of {agent} is still open"));
        }
        broken.verdict()
    }
}

impl NothingLatched {
    /// Whether what is held against an agent was true within the last hour: who polled until just now has not had the
    /// time to show that it does something else.
    fn was_so(&self, agent: &AgentId, state: HealthState, end: &End<'_>) -> bool {
        let mut lately = end.truth.conditions_between(agent, end.at - LATCHED, end.at);
        lately.any(|condition| self.is_still_so(agent, condition, state))
    }

    /// Whether what is held against an agent that is well is still true as far as anybody can know: a question that
    /// nobody answers for a day stands until somebody does; nothing new comes of polling or a long call, however
    /// long, and a window that filled up meanwhile stays full until the agent turns to something else; and who
    /// rests does nothing, which only people can tell from a standstill if the word of it was lost. They were asked.
    fn is_still_so(&self, agent: &AgentId, condition: Condition, state: HealthState) -> bool {
        let signs = self.signs.get(agent).map_or(&[][..], |signs| signs);
        let all = |is_one: fn(Sign) -> bool| !signs.is_empty() && signs.iter().all(|sign| is_one(*sign));
        let unseen = |sign: Sign| sign.family() == Family::Progress;
        match condition {
            Condition::WaitingPerson if all(is_long_rest) => true,
            Condition::Idle => state == HealthState::Degraded && all(is_long_rest),
            Condition::Polling | Condition::LongTool => {
                state == HealthState::Degraded && all(|sign| matches!(sign, Sign::Progress | Sign::Context))
            }
            Condition::WaitingPerson => self.asked.contains(agent) && all(unseen),
            _ => false,
        }
    }

    /// Whether only its use of tokens is held against it, for no longer than it takes to get used to that.
    fn uses_more_than_usual(&self, agent: &AgentId, state: HealthState, lasted: u64) -> bool {
        let signs = self.signs.get(agent).map_or(&[][..], |signs| signs);
        let only_that = !signs.is_empty() && signs.iter().all(|sign| *sign == Sign::TokenSpike);
        state == HealthState::Degraded && only_that && lasted < BECOMES_USUAL
    }

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
                let grave = evidence.iter().filter(|found| found.severity > Severity::Note);
                self.signs.insert(agent.clone(), grave.map(|found| found.sign).collect());
                if !is_bad(*to) {
                    self.asked.remove(agent);
                }
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
                self.asked.insert(agent.clone());
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

/// A rest that lasts longer than its patience; which one it is, the agent may have said in vain while the monitor was
/// away.
fn is_long_rest(sign: Sign) -> bool {
    matches!(sign, Sign::Patience(Awaited::Person | Awaited::Provider))
}

#[cfg(test)]
mod tests {
    use verger_core::evidence::{Evidence, Measure};
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
            Fact::IncidentOpened { incident, since: Timestamp::ZERO, part_of: None },
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
            (Sign::Context, Condition::Polling),
        ];
        for (sign, condition) in true_of {
            let (mut trace, mut checker) = (Trace::new(), NothingLatched::default());
            let waited = Evidence {
                sign,
                value: Measure::Span(Span::hours(25)),
                threshold: Measure::Span(Span::hours(24)),
                severity: Severity::Degraded,
                trust: Trust::Verified,
                stretch: None,
            };
            let (from, to) = (HealthState::Healthy, HealthState::Degraded);
            let warned = Fact::StateChanged { from, to, evidence: [waited].into() };
            trace.commit(&mut checker, vec![warned], vec![]);
            assert!(trace.at(3_600).finish(&mut checker).is_err(), "it works");
            trace.truth.become_at(0, SimTime(3_601_000), condition);
            assert_eq!(trace.at(3_602).finish(&mut checker), Ok(()));
            trace.truth.become_at(0, SimTime(3_603_000), Condition::Working);
            assert_eq!(trace.at(7_000).finish(&mut checker), Ok(()), "it was so within the hour");
            assert!(trace.at(7_204).finish(&mut checker).is_err(), "it has not been so for an hour");
        }
    }

    #[test]
    fn tokens_far_above_the_usual_are_a_warning_for_no_longer_than_they_are_unusual() {
        let (mut trace, mut checker) = (Trace::new(), NothingLatched::default());
        let spike = Evidence {
            sign: Sign::TokenSpike,
            value: Measure::Count(6_544),
            threshold: Measure::Count(1_444),
            severity: Severity::Degraded,
            trust: Trust::Verified,
            stretch: None,
        };
        let (from, to) = (HealthState::Healthy, HealthState::Degraded);
        trace.commit(&mut checker, vec![Fact::StateChanged { from, to, evidence: [spike].into() }], vec![]);
        assert_eq!(trace.at(12 * 3_600 - 1).finish(&mut checker), Ok(()));
        assert!(trace.at(12 * 3_600).finish(&mut checker).is_err());
    }

    #[test]
    fn who_waits_for_a_person_unknown_to_the_monitor_may_seem_stuck_once_people_were_asked() {
        for asked in [false, true] {
            let (mut trace, mut checker) = (Trace::new(), NothingLatched::default());
            trace.truth.become_at(0, SimTime(0), Condition::WaitingPerson);
            let silent = Evidence {
                sign: Sign::ToolSilence,
                value: Measure::Span(Span::hours(1)),
                threshold: Measure::Span(Span::minutes(15)),
                severity: Severity::Stuck,
                trust: Trust::Verified,
                stretch: None,
            };
            let (from, to) = (HealthState::Healthy, HealthState::Stuck);
            let incident = Incident::Stuck;
            let mut facts = vec![
                Fact::StateChanged { from, to, evidence: [silent].into() },
                Fact::IncidentOpened { incident, since: Timestamp::ZERO, part_of: None },
            ];
            if asked {
                facts.push(Fact::EscalationTriggered { reason: "look".into(), by: None });
            }
            trace.commit(&mut checker, facts, vec![]);
            assert_eq!(trace.at(3_600).finish(&mut checker).is_ok(), asked);
        }
    }

    #[test]
    fn an_incident_that_stays_is_caught() {
        let caught = run(vec![Fact::IncidentOpened {
            incident: Incident::Died,
            since: Timestamp::ZERO,
            part_of: None,
        }]);
        assert_eq!(caught, Err("at 1h: incident Died of a is still open".into()));
    }

    #[test]
    fn an_escalation_that_stays_is_caught() {
        let caught = run(vec![Fact::EscalationTriggered { reason: "look".into(), by: None }]);
        assert_eq!(caught, Err("at 1h: the escalation of a is still open".into()));
    }
}
