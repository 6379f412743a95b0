//! What agents said of themselves, as it came in: what the facts about them do not tell.
//!
//! No monitor finds a token runaway of an agent that never says how many tokens it uses. Whether it does is
//! seen from one batch in sixteen, because signals come by the ten million and habits do not change. What an
//! agent announces is followed exactly.

use std::collections::BTreeMap;

use verger_core::id::AgentId;
use verger_core::signal::{Body, Heartbeat, Status};

use crate::world::{Delivery, SimTime};

/// One batch in so many is looked at for habits.
const SAMPLED: u64 = 16;

/// What was heard from all agents.
#[derive(Debug, Default)]
pub(super) struct Heard {
    agents: BTreeMap<AgentId, Agent>,
    batches: u64,
}

#[derive(Debug, Default)]
struct Agent {
    /// It says how many tokens it uses, as it uses them.
    tokens: bool,
    /// When it began, and ceased, to say that it is busy.
    busy: Vec<(SimTime, bool)>,
}

impl Heard {
    /// These arrive now.
    pub(super) fn on_deliveries(&mut self, now: SimTime, deliveries: &[Delivery]) {
        self.batches += 1;
        let habits = self.batches.is_multiple_of(SAMPLED);
        for delivery in deliveries {
            let Delivery::Signal(signal) = delivery else { continue };
            match &signal.content.body {
                Body::Heartbeat(Heartbeat { status: Some(status), .. }) => {
                    self.agent(&signal.agent).says(now, *status);
                }
                Body::Status(report) => self.agent(&signal.agent).says(now, report.status),
                Body::Tokens { .. } if habits => self.agent(&signal.agent).tokens = true,
                _ => {}
            }
        }
    }

    /// Whether this agent says how many tokens it uses, as it uses them.
    pub(super) fn tells_tokens(&self, agent: &AgentId) -> bool {
        self.agents.get(agent).is_some_and(|known| known.tokens)
    }

    /// Whether this agent had last said that it was busy.
    pub(super) fn busy_at(&self, agent: &AgentId, at: SimTime) -> bool {
        let Some(known) = self.agents.get(agent) else { return false };
        let after = known.busy.partition_point(|(since, _)| *since <= at);
        after.checked_sub(1).is_some_and(|place| known.busy[place].1)
    }

    fn agent(&mut self, agent: &AgentId) -> &mut Agent {
        if !self.agents.contains_key(agent) {
            self.agents.insert(agent.clone(), Agent::default());
        }
        self.agents.get_mut(agent).expect("it was put there just now")
    }
}

impl Agent {
    fn says(&mut self, now: SimTime, status: Status) {
        let busy = status == Status::Busy;
        if self.busy.last().is_none_or(|(_, known)| *known != busy) {
            self.busy.push((now, busy));
        }
    }
}
