//! A healthy agent is never stopped: not when it is decided, and not when it is done.

use std::collections::BTreeSet;

use verger_core::effect::{Action, Effect};
use verger_core::id::{AgentId, Incarnation};

use super::{Broken, Checker, End};
use crate::harness::is_ordered_end;
use crate::trace::{Moment, What};
use crate::world::{SimTime, Truth};

/// A stop on its way takes this long; an agent that got well within it was ill when it was decided.
const ON_ITS_WAY: u64 = 60_000;

/// Knows what people ordered.
#[derive(Debug, Default)]
pub(super) struct NoHealthyTermination {
    ordered: BTreeSet<(AgentId, Incarnation)>,
    broken: Broken,
}

impl Checker for NoHealthyTermination {
    fn name(&self) -> &'static str {
        "no-termination-of-a-healthy-agent"
    }

    fn observe(&mut self, moment: &Moment<'_>) {
        match moment.what {
            What::Committed { batch, decided } => {
                let ends = batch.events.iter().filter(|event| is_ordered_end(&event.fact));
                self.ordered.extend(ends.filter_map(|event| event.agent.clone()));
                for effect in &batch.effects {
                    self.check(moment.truth, decided, effect, 0, "is to be stopped");
                }
            }
            What::Released(effect) => self.check(moment.truth, moment.at, effect, ON_ITS_WAY, "is stopped"),
            _ => {}
        }
    }

    fn finish(&mut self, _end: &End<'_>) -> Result<(), String> {
        self.broken.verdict()
    }
}

impl NoHealthyTermination {
    fn check(&mut self, truth: &Truth, at: SimTime, effect: &Effect, grace: u64, what: &str) {
        let (agent, incarnation) = (&effect.key.agent, effect.key.incarnation);
        if !matches!(effect.action, Action::Stop { .. })
            || self.ordered.contains(&(agent.clone(), incarnation))
        {
            return;
        }
        if healthy_since(truth, agent, at).is_some_and(|since| grace <= at.since(since)) {
            let condition = truth.condition_at(agent, at);
            self.broken.note(at, || format!("{agent} {what} though it is {condition}"));
        }
    }
}

/// Since when the agent has been healthy, if it is.
fn healthy_since(truth: &Truth, agent: &AgentId, at: SimTime) -> Option<SimTime> {
    let changes = truth.changes(agent);
    let past = &changes[..changes.partition_point(|(point, _)| *point <= at)];
    past.iter().rev().take_while(|(_, condition)| condition.is_healthy()).last().map(|(since, _)| *since)
}

#[cfg(test)]
mod tests {
    use verger_core::event::Fact;

    use super::super::testing::{Trace, silence, stop};
    use super::*;
    use crate::world::{Condition, FaultKind};

    #[test]
    fn the_stop_of_a_frozen_agent_passes() {
        let (mut trace, mut checker) = (Trace::new(), NoHealthyTermination::default());
        trace.truth.become_at(0, SimTime(5_000), Condition::Faulty(FaultKind::Freeze));
        trace.at(10).commit(&mut checker, vec![], vec![stop(1)]);
        trace.tell(&mut checker, What::Released(&stop(1)));
        assert_eq!(trace.finish(&mut checker), Ok(()));
    }

    #[test]
    fn the_stop_of_a_healthy_agent_is_caught_when_it_is_decided() {
        let (mut trace, mut checker) = (Trace::new(), NoHealthyTermination::default());
        let why = Fact::TerminationOrdered { reason: "so".into(), by: None, evidence: silence() };
        trace.at(10).commit(&mut checker, vec![why], vec![stop(1)]);
        assert_eq!(trace.finish(&mut checker), Err("at 10s: a is to be stopped though it is working".into()));
    }

    #[test]
    fn a_stop_that_comes_after_the_agent_got_well_is_caught() {
        let (mut trace, mut checker) = (Trace::new(), NoHealthyTermination::default());
        trace.truth.become_at(0, SimTime(5_000), Condition::Faulty(FaultKind::Freeze));
        trace.at(10).commit(&mut checker, vec![], vec![stop(1)]);
        trace.truth.become_at(0, SimTime(20_000), Condition::Working);
        trace.at(100).tell(&mut checker, What::Released(&stop(1)));
        assert_eq!(trace.finish(&mut checker), Err("at 1m40s: a is stopped though it is working".into()));
    }

    #[test]
    fn what_a_person_orders_is_theirs() {
        let (mut trace, mut checker) = (Trace::new(), NoHealthyTermination::default());
        let why =
            Fact::TerminationOrdered { reason: "so".into(), by: Some("eve".into()), evidence: silence() };
        trace.at(10).commit(&mut checker, vec![why], vec![stop(1)]);
        assert_eq!(trace.finish(&mut checker), Ok(()));
    }
}
