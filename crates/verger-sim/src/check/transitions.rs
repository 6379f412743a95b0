//! States change only as they may, each from where it stood, and TERMINATED is final for a life.

use std::collections::BTreeMap;

use verger_core::event::{Event, Fact};
use verger_core::health::HealthState;
use verger_core::id::AgentId;

use super::{Broken, Checker, End};
use crate::trace::{Moment, What};
use crate::world::SimTime;

/// Knows the state of the present life of each agent.
#[derive(Debug, Default)]
pub(super) struct Transitions {
    states: BTreeMap<AgentId, HealthState>,
    broken: Broken,
}

impl Checker for Transitions {
    fn name(&self) -> &'static str {
        "states-change-only-as-they-may"
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

impl Transitions {
    fn on_event(&mut self, at: SimTime, event: &Event) {
        let Some((agent, _)) = &event.agent else { return };
        match event.fact {
            Fact::Registered { .. } | Fact::Unregistered { .. } => {
                self.states.insert(agent.clone(), HealthState::Unknown);
            }
            Fact::StateChanged { from, to, .. } => {
                let known = self.states.insert(agent.clone(), to).unwrap_or(HealthState::Unknown);
                if known != from || !from.may_become(to) {
                    self.broken.note(at, || format!("{agent} was {known} and went from {from} to {to}"));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trace, becomes, registered};
    use super::*;

    #[test]
    fn a_life_that_goes_on_after_its_end_is_caught() {
        let (mut trace, mut checker) = (Trace::new(), Transitions::default());
        let facts = vec![
            becomes(HealthState::Unknown, HealthState::Healthy),
            becomes(HealthState::Healthy, HealthState::Terminated),
        ];
        trace.commit(&mut checker, facts, vec![]);
        trace.commit_events(&mut checker, vec![registered(2)], vec![]);
        trace.commit(&mut checker, vec![becomes(HealthState::Unknown, HealthState::Terminated)], vec![]);
        assert_eq!(trace.finish(&mut checker), Ok(()));
        trace.commit(&mut checker, vec![becomes(HealthState::Terminated, HealthState::Healthy)], vec![]);
        let caught = "at 0s: a was TERMINATED and went from TERMINATED to HEALTHY";
        assert_eq!(trace.finish(&mut checker), Err(caught.into()));
    }

    #[test]
    fn a_state_that_was_forgotten_over_a_restart_is_caught() {
        let (mut trace, mut checker) = (Trace::new(), Transitions::default());
        trace.commit(&mut checker, vec![becomes(HealthState::Unknown, HealthState::Stuck)], vec![]);
        trace.commit(&mut checker, vec![becomes(HealthState::Healthy, HealthState::Failing)], vec![]);
        let caught = "at 0s: a was STUCK and went from HEALTHY to FAILING";
        assert_eq!(trace.finish(&mut checker), Err(caught.into()));
    }
}
