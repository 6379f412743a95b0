//! Whether a start that is due may be made, and the breaker before an agent's starts (L24).

use super::{Collector, Fleet};
use crate::agent::Agent;
use crate::breaker::{BreakerName, CallResult, Kind, State};
use crate::correlation::Membership;
use crate::id::{AgentId, TaskId};
use crate::policy::Mode;
use crate::recovery::Change;
use crate::time::Timestamp;

/// What the breaker before an agent's starts stands before.
const TARGET: &str = "start";

impl Fleet {
    /// Whether something stands against a new life of this agent that passes by itself, or by a person's word.
    pub(super) fn start_is_held(&self, now: Timestamp, agent: &AgentId) -> bool {
        let known = self.index.get(agent, &self.table).and_then(|slot| self.table.agent(slot));
        self.is_only_looked_at(known)
            || self.fails_with_others(now, known)
            || self.keeps_failing(now, agent)
            || self.lives(agent)
    }

    /// Whether a later life than this task knows of is there: it has other work, and starting it again would end that.
    pub(super) fn works_elsewhere(&self, agent: &AgentId, task: &TaskId) -> bool {
        let known = self.machines.recoveries.life(task).map(|life| life.incarnation);
        let slot = self.index.get(agent, &self.table);
        let present = slot.and_then(|slot| self.table.agent(slot)).map(|agent| agent.incarnation);
        self.lives(agent) && known < present
    }

    /// Somebody ordered meanwhile that nothing be done to it.
    fn is_only_looked_at(&self, agent: Option<&Agent>) -> bool {
        agent.is_some_and(|agent| agent.mode(self.policies.at(agent.role)) < Mode::Escalate)
    }

    /// Where it is to be, many agents fail together.
    fn fails_with_others(&self, now: Timestamp, agent: Option<&Agent>) -> bool {
        let place = agent.and_then(|agent| agent.place.as_deref());
        let (host, provider) =
            place.map_or((None, None), |place| (place.host.as_ref(), place.provider.as_ref()));
        let there = Membership::as_if_there(host, provider);
        self.machines.correlation.is_frozen(now, &there).is_some()
    }

    fn keeps_failing(&self, now: Timestamp, agent: &AgentId) -> bool {
        let Ok(name) = BreakerName::of_agent(agent, Kind::Recovery, TARGET) else { return false };
        self.machines.gates.breakers.view(now, &name).is_some_and(|breaker| breaker.state == State::Open)
    }

    /// A start came to a good or a bad end.
    pub(super) fn on_start_judged(
        &mut self,
        now: Timestamp,
        agent: &AgentId,
        result: CallResult,
        out: &mut Collector,
    ) {
        if let Some(slot) = self.index.get(agent, &self.table) {
            self.observe_breaker(now, slot, Kind::Recovery, TARGET, result.into(), out);
        }
    }
}

/// What a change says of the start before it, if it says anything.
pub(super) fn verdict(change: &Change) -> Option<CallResult> {
    match change {
        Change::Completed { .. } => Some(CallResult::Ok),
        Change::AttemptFailed { .. } => Some(CallResult::Failed),
        _ => None,
    }
}
