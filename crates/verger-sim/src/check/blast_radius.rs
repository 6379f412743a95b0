//! While many agents fail together, the monitor ends and starts none of them; and never more at once than allowed.

use std::collections::{BTreeMap, BTreeSet};

use verger_core::correlation::{Change, Scope};
use verger_core::event::{Event, Fact};
use verger_core::id::AgentId;
use verger_core::policy::Policies;
use verger_core::recovery;

use super::{Broken, Checker, End};
use crate::trace::{Moment, What};
use crate::world::{SimTime, Truth};

/// Knows who is frozen, and who is being ended.
#[derive(Debug)]
pub(super) struct BlastRadius {
    stops_max: usize,
    frozen: BTreeSet<Scope>,
    stopping: BTreeMap<AgentId, SimTime>,
    lasts_max: u64,
    broken: Broken,
}

impl BlastRadius {
    pub(super) fn new(policies: &Policies) -> Self {
        Self {
            stops_max: usize::from(policies.correlation.stops_max),
            frozen: BTreeSet::new(),
            stopping: BTreeMap::new(),
            lasts_max: policies.correlation.stop_lasts_max.as_millis(),
            broken: Broken::default(),
        }
    }

    fn on_event(&mut self, at: SimTime, event: &Event, truth: &Truth) {
        if let Fact::Correlated(change) = &event.fact {
            return self.on_change(change);
        }
        let Some((agent, _)) = &event.agent else { return };
        match &event.fact {
            Fact::TerminationOrdered { by: None, .. } => {
                self.must_be_free(at, agent, truth, "ended");
                self.stopping.retain(|_, since| at.since(*since) < self.lasts_max);
                self.stopping.insert(agent.clone(), at);
                let (count, max) = (self.stopping.len(), self.stops_max);
                if count > max {
                    self.broken
                        .note(at, || format!("{count} agents are being ended at once, of {max} allowed"));
                }
            }
            Fact::Terminated { .. }
            | Fact::TerminationFailed { .. }
            | Fact::TerminationCalledOff
            | Fact::Registered { .. } => {
                self.stopping.remove(agent);
            }
            Fact::Recovery(change) => {
                if let recovery::Change::Initiated { by: None, .. } = change.as_ref() {
                    self.must_be_free(at, agent, truth, "started");
                }
            }
            _ => {}
        }
    }

    fn on_change(&mut self, change: &Change) {
        match change {
            Change::Opened { scope, .. } | Change::Frozen { scope, .. } => {
                self.frozen.insert(scope.clone());
            }
            Change::Thawed { scope, .. } | Change::Resolved { scope, .. } => {
                self.frozen.remove(scope);
            }
            Change::Widened { .. } | Change::StillFrozen { .. } => {}
        }
    }

    fn must_be_free(&mut self, at: SimTime, agent: &AgentId, truth: &Truth, what: &str) {
        // Who proves nothing is not believed where it is.
        let facts = truth.agent(agent).filter(|facts| facts.verified);
        let held = self.frozen.iter().find(|scope| match scope {
            Scope::Fleet => true,
            Scope::Host(host) => facts.is_some_and(|facts| facts.host == *host),
            Scope::Provider(provider) => facts.is_some_and(|facts| *facts.provider == *provider.as_str()),
        });
        if let Some(scope) = held {
            self.broken.note(at, || format!("{agent} is {what} though {scope} is frozen"));
        }
    }
}

impl Checker for BlastRadius {
    fn name(&self) -> &'static str {
        "blast-radius"
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

#[cfg(test)]
mod tests {
    use verger_core::correlation::{Ending, Kind};
    use verger_core::time::{Span, Timestamp};

    use super::super::testing::Trace;
    use super::*;

    fn opened(scope: Scope) -> Fact {
        let since = Timestamp::ZERO;
        Fact::Correlated(Change::Opened { scope, affected: 5, of: 10, kind: Kind::Silent, since })
    }

    fn ended() -> Fact {
        Fact::TerminationOrdered { reason: "stuck".into(), by: None, evidence: [].into() }
    }

    fn run(facts: Vec<Fact>) -> Result<(), String> {
        let (mut trace, mut checker) = (Trace::new(), BlastRadius::new(&Policies::default()));
        trace.commit(&mut checker, facts, vec![]);
        trace.finish(&mut checker)
    }

    #[test]
    fn an_end_within_a_freeze_is_caught() {
        let caught = |scope: &str| Err(format!("at 0s: a is ended though {scope} is frozen"));
        assert_eq!(run(vec![opened(Scope::Fleet), ended()]), caught("the fleet"));
        assert_eq!(run(vec![opened(Scope::Host("h".into())), ended()]), caught("host h"));
        assert_eq!(run(vec![opened(Scope::Host("another".into())), ended()]), Ok(()));
        let over = Change::Resolved { scope: Scope::Fleet, lasted: Span::ZERO, by: Ending::Recovered };
        assert_eq!(run(vec![opened(Scope::Fleet), Fact::Correlated(over), ended()]), Ok(()));
    }
}
