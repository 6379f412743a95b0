//! What agents said of themselves, as it came in: what the facts about them do not tell.
//!
//! No monitor finds a token runaway of an agent that never says how many tokens it uses, nor a loop before it has
//! gone round: so the calls and the minutes of use are noted as they are heard.

use std::collections::BTreeMap;

use verger_core::id::AgentId;
use verger_core::signal::{Body, Failure, Heartbeat, Status, Trust};

use crate::world::{Delivery, SimTime};

/// What was heard from all agents.
#[derive(Debug, Default)]
pub(super) struct Heard {
    agents: BTreeMap<AgentId, Agent>,
}

#[derive(Debug, Default)]
struct Agent {
    /// When it began, and ceased, to say that it is busy.
    busy: Vec<(SimTime, bool)>,
    /// When its calls ended.
    calls: Vec<SimTime>,
    /// The minutes in which it used tokens.
    token_minutes: Vec<u32>,
    /// When it said that its provider refuses it.
    refusals: Vec<SimTime>,
    /// Whether it said that a call began.
    announces_calls: bool,
}

impl Heard {
    /// These arrive now.
    pub(super) fn on_deliveries(&mut self, now: SimTime, deliveries: &[Delivery]) {
        for delivery in deliveries {
            let Delivery::Signal(signal) = delivery else { continue };
            match &signal.content.body {
                Body::Heartbeat(Heartbeat { status: Some(status), .. }) => {
                    self.agent(&signal.agent).says(now, *status);
                }
                Body::Status(report) => self.agent(&signal.agent).says(now, report.status),
                Body::ToolStarted { .. } => self.agent(&signal.agent).announces_calls = true,
                Body::ToolFinished { .. } => self.agent(&signal.agent).calls.push(now),
                // Who proves nothing is not believed when it speaks of failures.
                Body::Error(Failure { provider: true, .. }) if signal.content.trust == Trust::Verified => {
                    self.agent(&signal.agent).refusals.push(now);
                }
                Body::Tokens { .. } => self.agent(&signal.agent).uses_tokens(now),
                _ => {}
            }
        }
    }

    /// Whether this agent says how many tokens it uses, as it uses them.
    pub(super) fn tells_tokens(&self, agent: &AgentId) -> bool {
        self.agents.get(agent).is_some_and(|known| !known.token_minutes.is_empty())
    }

    /// Whether this agent says when a call begins.
    pub(super) fn announces_calls(&self, agent: &AgentId) -> bool {
        self.agents.get(agent).is_some_and(|known| known.announces_calls)
    }

    /// When its provider was first heard to refuse it after `began`.
    pub(super) fn first_refusal(&self, agent: &AgentId, began: SimTime) -> Option<SimTime> {
        let refusals = &self.agents.get(agent)?.refusals;
        refusals.get(refusals.partition_point(|at| *at < began)).copied()
    }

    /// When the `count`th call after `began` ended.
    pub(super) fn nth_call(&self, agent: &AgentId, began: SimTime, count: usize) -> Option<SimTime> {
        let calls = &self.agents.get(agent)?.calls;
        let first = calls.partition_point(|at| *at < began);
        calls.get(first + count.checked_sub(1)?).copied()
    }

    /// When the `count`th minute of use after `began` was over.
    pub(super) fn nth_token_minute(&self, agent: &AgentId, began: SimTime, count: usize) -> Option<SimTime> {
        let minutes = &self.agents.get(agent)?.token_minutes;
        let first = minutes.partition_point(|minute| SimTime(u64::from(*minute) * MINUTE) < began);
        let last = minutes.get(first + count.checked_sub(1)?)?;
        Some(SimTime((u64::from(*last) + 1) * MINUTE))
    }

    /// Whether this agent had last said that it was busy.
    pub(super) fn busy_at(&self, agent: &AgentId, at: SimTime) -> bool {
        let Some(known) = self.agents.get(agent) else { return false };
        let after = known.busy.partition_point(|(since, _)| *since <= at);
        after.checked_sub(1).is_some_and(|place| known.busy[place].1)
    }

    fn agent(&mut self, agent: &AgentId) -> &mut Agent {
        self.agents.entry(agent.clone()).or_default()
    }
}

const MINUTE: u64 = 60_000;

impl Agent {
    fn uses_tokens(&mut self, now: SimTime) {
        let minute = (now.0 / MINUTE) as u32;
        if self.token_minutes.last() != Some(&minute) {
            self.token_minutes.push(minute);
        }
    }

    fn says(&mut self, now: SimTime, status: Status) {
        let busy = status == Status::Busy;
        if self.busy.last().is_none_or(|(_, known)| *known != busy) {
            self.busy.push((now, busy));
        }
    }
}
