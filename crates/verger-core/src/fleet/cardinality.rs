//! Who is forgotten because it is long gone, and who is let in (X13).
//!
//! What an agent holds in memory is bounded by its detectors themselves; how many agents there are is bounded here.

use super::{Collector, Fleet};
use crate::agent::{Agent, Intervention, Refusal};
use crate::cardinality::{Admission, Facts, Policy};
use crate::event::{Fact, Incident};
use crate::health::HealthState;
use crate::id::AgentId;
use crate::policy::Role;
use crate::signal::Trust;
use crate::time::{Span, Timestamp};

/// Something about an agent that is gone is open: it is looked at again after this.
const HELD_FOR: Span = Span::hours(1);
/// So many of those that are gone are looked at for one newcomer. Whoever must be kept is looked at again after all
/// others, so that newcomers who are turned away find whoever may go in the end.
const LOOKS_MAX: u8 = 64;

impl Agent {
    /// When to ask whether it is to be forgotten, if nothing more happens to it.
    pub(super) fn gone_at(&self, now: Timestamp, policy: &Policy) -> Timestamp {
        let due = self.remembered_until(policy);
        if now < due { due } else { now + HELD_FOR }
    }

    /// It is not forgotten before, whatever is known of it.
    fn remembered_until(&self, policy: &Policy) -> Timestamp {
        match self.state {
            HealthState::Terminated => self.state_since + policy.ended_after,
            _ => self.liveness.last_sign + policy.silent_after,
        }
    }

    fn facts(&self, now: Timestamp, role: &Role, recovering: bool, saving: bool) -> Facts {
        let others = |incident: &Incident| !matches!(incident, Incident::Silent | Incident::Died);
        let incidents = self.past.iter().flat_map(|past| &past.incidents);
        let intervention = self.intervention();
        let stopping = matches!(intervention, Some(Intervention::HandingOff | Intervention::Stopping));
        Facts {
            state: self.state,
            last_sign: self.liveness.last_sign,
            ended_at: (self.state == HealthState::Terminated).then_some(self.state_since),
            asked: matches!(intervention, Some(Intervention::Escalated { .. })),
            incident: incidents.map(|(incident, _)| incident).any(others),
            recovering: recovering || stopping,
            saving,
            excused: self.waiting.is_excused(now, &role.patience),
        }
    }
}

impl Fleet {
    /// Forgets an agent that is long gone. Most are looked at for another reason, and must cost nothing here.
    pub(super) fn forget_if_gone(&mut self, now: Timestamp, slot: u32, out: &mut Collector) {
        let policy = &self.policies.cardinality;
        let remembered = |agent: &Agent| now < agent.remembered_until(policy);
        if self.table.agent(slot).is_none_or(remembered) {
            return;
        }
        if self.facts_of(now, slot).and_then(|facts| facts.verdict(now, policy)).is_some() {
            self.forget_by_itself(now, slot, out);
        }
    }

    fn facts_of(&self, now: Timestamp, slot: u32) -> Option<Facts> {
        let agent = self.table.agent(slot)?;
        let recovering = self.machines.recoveries.tasks_of(&agent.id).next().is_some();
        let saving = self.machines.gates.writes.waits_for(&agent.id);
        Some(agent.facts(now, self.policies.at(agent.role), recovering, saving))
    }

    fn forget_by_itself(&mut self, now: Timestamp, slot: u32, out: &mut Collector) {
        self.step(now, None, slot, out, |agent, step| {
            agent.resolve_all_incidents(step);
            agent.record(step, Fact::Unregistered { by: None });
        });
        self.forget(now, slot, out);
    }

    /// Makes room for a newcomer, or says why there is none.
    pub(super) fn admit(&mut self, now: Timestamp, trust: Trust, out: &mut Collector) -> Result<(), Refusal> {
        let policy = &self.policies.cardinality;
        // Nobody is forgotten for a stranger who is not let in.
        if trust == Trust::Unverified {
            let admitted = self.machines.strangers.admit(now, policy);
            admitted.map_err(|again| Refusal::Strangers { max: policy.strangers_max, again })?;
        }
        self.make_room(now, out)
    }

    fn make_room(&mut self, now: Timestamp, out: &mut Collector) -> Result<(), Refusal> {
        let registered = u32::try_from(self.len()).unwrap_or(u32::MAX);
        for _ in 0..LOOKS_MAX {
            let longest = match self.machines.gone.admit(registered, &self.policies.cardinality) {
                Admission::Room => return Ok(()),
                Admission::Forget(longest) => longest,
                Admission::Refused(_) => break,
            };
            let slot = self.index.get(&longest, &self.table);
            let may_go = |slot| self.facts_of(now, slot).is_some_and(|facts| facts.gone_since().is_some());
            match slot.filter(|slot| may_go(*slot)) {
                Some(slot) => {
                    self.forget_by_itself(now, slot, out);
                    return Ok(());
                }
                None => self.machines.gone.on_agent(&longest, slot.map(|_| now)),
            }
        }
        Err(Refusal::Full { registered, max: self.policies.cardinality.agents_max })
    }

    /// Who ended may make room for others; who lives does not.
    pub(super) fn follow_presence(&mut self, now: Timestamp, slot: u32, fact: &Fact) {
        let gone_since = match fact {
            Fact::Terminated { .. } => Some(now),
            Fact::Registered { .. } | Fact::Unregistered { .. } => None,
            _ => return,
        };
        if let Some(agent) = self.table.id(slot) {
            self.machines.gone.on_agent(agent, gone_since);
        }
    }

    /// After a restart: who is gone is told again.
    pub(super) fn recall_gone(&mut self) {
        let ended = (0..self.table.slots()).filter_map(|slot| self.table.agent(slot));
        let ended = ended.filter(|agent| agent.state == HealthState::Terminated);
        let ended: Vec<(AgentId, Timestamp)> =
            ended.map(|agent| (agent.id.clone(), agent.state_since)).collect();
        for (agent, since) in ended {
            self.machines.gone.on_agent(&agent, Some(since));
        }
    }
}
