//! What went into trouble, and what ending it saved (X17): of agents that were in some, and of the fleet.
//!
//! An agent is counted from when something is first wrong with it: most never use anything in vain, and nothing is
//! kept of them.

use super::{Collector, Fleet};
use crate::agent::{Agent, Usage};
use crate::command::Decision;
use crate::event::{Event, Fact};
use crate::health::HealthState;
use crate::resources::Used;
use crate::time::Timestamp;
use crate::waste::{Delta, Ending, Waste};

impl Fleet {
    /// What all agents used in vain so far, and an estimate of what was saved by intervening.
    pub fn wasted(&self) -> Delta {
        self.machines.gates.wasted
    }

    /// An agent turned bad or well, is being ended, or is gone.
    pub(super) fn follow_waste(&mut self, now: Timestamp, slot: u32, fact: &Fact, out: &mut Collector) {
        match fact {
            Fact::StateChanged { from, to, .. } => self.on_state_for_waste(now, slot, *from, *to, out),
            Fact::TerminationOrdered { .. }
            | Fact::EscalationDecided { decision: Decision::ForceHandoff, .. } => {
                if let Some(usage) = &mut self.table.agent_mut(slot).usage {
                    usage.stopping = true;
                }
            }
            // Whatever the life before was in, this one is not.
            Fact::Registered { .. } => self.end_trouble(now, slot, Ending::Died, out),
            Fact::Unregistered { .. } => {
                self.end_trouble(now, slot, Ending::Died, out);
                let Some(waste) = self.waste_of(now, slot) else { return };
                let delta = waste.on_forgotten(now);
                self.add_waste(now, slot, delta, out);
            }
            _ => {}
        }
    }

    fn on_state_for_waste(
        &mut self,
        now: Timestamp,
        slot: u32,
        from: HealthState,
        to: HealthState,
        out: &mut Collector,
    ) {
        match to {
            HealthState::Degraded | HealthState::Stuck | HealthState::Failing => self.watch_waste(now, slot),
            HealthState::Unknown | HealthState::Healthy | HealthState::Terminated => {}
        }
        let agent = self.table.agent_mut(slot);
        match (is_trouble(from), is_trouble(to)) {
            (_, true) => {
                let since = agent.progress.last;
                let Some(waste) = self.waste_of(now, slot) else { return };
                // What is spent is told when the trouble is over.
                let Delta { spent, saved } = waste.on_stuck(now, since);
                self.sum_waste(Delta { spent, saved: Used::default() });
                self.add_waste(now, slot, Delta { spent: Used::default(), saved }, out);
            }
            (true, false) => {
                let ending = ending(agent, to);
                self.end_trouble(now, slot, ending, out);
            }
            (false, false) if to == HealthState::Healthy => self.forget_waste(slot),
            (false, false) => {}
        }
    }

    /// It used something.
    pub(super) fn waste_used(&mut self, now: Timestamp, slot: u32, used: Used) {
        let Some(waste) = self.waste_of(now, slot) else { return };
        let delta = waste.on_used(now, used);
        self.sum_waste(delta);
    }

    /// Counts what was saved, when that is complete.
    pub(super) fn complete_savings(&mut self, now: Timestamp, slot: u32, out: &mut Collector) {
        let Some(waste) = self.waste_of(now, slot) else { return };
        let delta = waste.wake(now);
        self.add_waste(now, slot, delta, out);
    }

    fn end_trouble(&mut self, now: Timestamp, slot: u32, ending: Ending, out: &mut Collector) {
        let agent = self.table.agent_mut(slot);
        let policy = self.policies.resources_of(agent.role);
        let Some(usage) = &mut agent.usage else { return };
        let left = usage.account.left(&policy);
        let Some(waste) = &mut usage.waste else { return };
        let Some(spent) = waste.spell.map(|spell| spell.used) else { return };
        waste.on_ended(now, ending, left, &self.policies.waste);
        let due = [usage.due, waste.deadline(now)];
        usage.due = due.into_iter().flatten().min();
        self.record_waste(now, slot, Delta { spent, saved: Used::default() }, out);
    }

    /// From now on it is known what it uses while something is wrong.
    fn watch_waste(&mut self, now: Timestamp, slot: u32) {
        let agent = self.table.agent_mut(slot);
        let (tokens, cost) = (agent.metrics.tokens, agent.metrics.cost_micros);
        let usage = agent.usage.get_or_insert_with(|| {
            let mut usage = Usage::new(agent.born_at);
            usage.account.adopt(now, Used { tokens, cost_micros: cost });
            Box::new(usage)
        });
        usage.waste.get_or_insert_with(|| Box::new(Waste::new(now)));
    }

    /// It was a false alarm: nothing is kept of it, unless its use is limited.
    fn forget_waste(&mut self, slot: u32) {
        let agent = self.table.agent_mut(slot);
        let limited = self.policies.resources_of(agent.role).any();
        let Some(usage) = &mut agent.usage else { return };
        if usage.waste.as_ref().is_some_and(|waste| waste.found_nothing()) {
            usage.waste = None;
        }
        if usage.waste.is_none() && !limited {
            agent.usage = None;
        }
    }

    /// What an agent used in vain, told first how it stands.
    fn waste_of(&mut self, now: Timestamp, slot: u32) -> Option<&mut Waste> {
        let agent = self.table.agent_mut(slot);
        let (resting, progress) = (agent.waiting.is_resting(), agent.progress.last);
        let waste = agent.usage.as_mut()?.waste.as_mut()?;
        if waste.marked_at < progress {
            waste.on_progress(progress);
        }
        if waste.resting != resting {
            waste.on_rest(now, resting);
        }
        Some(waste)
    }

    /// Adds to the fleet's sum, and records it.
    fn add_waste(&mut self, now: Timestamp, slot: u32, delta: Delta, out: &mut Collector) {
        self.sum_waste(delta);
        self.record_waste(now, slot, delta, out);
    }

    fn sum_waste(&mut self, delta: Delta) {
        if delta != Delta::default() {
            self.machines.gates.wasted = self.machines.gates.wasted.plus(delta);
            self.machines.gates.books_changed = true;
        }
    }

    fn record_waste(&self, now: Timestamp, slot: u32, delta: Delta, out: &mut Collector) {
        if delta != Delta::default() {
            let agent = self.table.agent(slot).map(|agent| (agent.id.clone(), agent.incarnation));
            out.events.push(Event { at: now, agent, fact: Fact::Wasted(delta) });
        }
    }
}

fn is_trouble(state: HealthState) -> bool {
    match state {
        HealthState::Stuck | HealthState::Failing => true,
        HealthState::Unknown | HealthState::Healthy | HealthState::Degraded | HealthState::Terminated => {
            false
        }
    }
}

/// How its trouble ended: by itself, by what was done about it, or with the agent.
fn ending(agent: &Agent, to: HealthState) -> Ending {
    let usage = agent.usage.as_ref();
    let stopping = usage.is_some_and(|usage| usage.stopping);
    let since = usage.and_then(|usage| usage.waste.as_ref()).and_then(|waste| waste.spell);
    let touched = agent.case.as_ref().and_then(|case| case.touched_at);
    let reached = touched.zip(since).is_some_and(|(touched, spell)| spell.since <= touched);
    match (to, stopping, reached) {
        (HealthState::Terminated, true, _) => Ending::Stopped,
        (HealthState::Terminated, false, _) => Ending::Died,
        (_, _, true) => Ending::AfterIntervention,
        (_, _, false) => Ending::ByItself,
    }
}
