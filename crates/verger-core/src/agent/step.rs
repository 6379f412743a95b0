//! What a step of one agent works with: the time, its role's policy, the fleet's limits, and where results go.

use super::Agent;
use crate::correlation::{self, Correlation};
use crate::effect::{Action, Effect, EffectKey};
use crate::event::{Event, Fact};
use crate::fleet::{Collector, FleetBudgets};
use crate::policy::Role;
use crate::signs::Finding;
use crate::time::{Timestamp, WallTime};

/// The surroundings of one step.
pub(crate) struct Step<'a> {
    pub(crate) now: Timestamp,
    /// The wall's time of what is processed, if known.
    pub(crate) wall: Option<WallTime>,
    pub(crate) role: &'a Role,
    pub(crate) fleet: &'a mut FleetBudgets,
    /// Who fails together.
    pub(crate) together: &'a Correlation,
    pub(crate) bounds: &'a correlation::Policy,
    pub(crate) out: &'a mut Collector,
    /// Room for findings, reused from step to step.
    pub(crate) findings: &'a mut Vec<Finding>,
}

impl Agent {
    /// Records a fact about this agent.
    pub(crate) fn record(&self, step: &mut Step<'_>, fact: Fact) {
        let agent = Some((self.id.clone(), self.incarnation));
        step.out.events.push(Event { at: step.now, agent, fact });
    }

    /// Has something done, to this life and no other.
    pub(crate) fn act(&mut self, step: &mut Step<'_>, action: Action) -> EffectKey {
        self.put_out(action, &mut step.out.effects)
    }

    /// The same for whoever has something done to it from outside its own steps.
    pub(crate) fn put_out(&mut self, action: Action, effects: &mut Vec<Effect>) -> EffectKey {
        let key = EffectKey { agent: self.id.clone(), incarnation: self.incarnation, seq: self.next_effect };
        self.next_effect = self.next_effect.wrapping_add(1);
        effects.push(Effect { key: key.clone(), action });
        key
    }
}
