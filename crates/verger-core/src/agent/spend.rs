//! Whether a step of the ladder may be taken now: limits of the agent and the fleet, and failures of many.

use super::intervene::RETRY_AFTER;
use super::{Agent, Step};
use crate::event::Fact;
use crate::fleet::Spending;
use crate::id::Actor;
use crate::intervention::{Budget, Case};
use crate::policy::Role;
use crate::time::Timestamp;

impl Agent {
    pub(super) fn may_spend(&mut self, step: &mut Step<'_>, spending: Spending) -> bool {
        if let Some(until) = self.frozen_until(step, spending) {
            // Asked before it is time, as after a restart, it is not put off once more.
            if self.case.as_ref().and_then(|case| case.held_until).is_none_or(|held| held <= step.now) {
                self.hold(until);
            }
            return false;
        }
        let limit = spending.agent_limit(&step.role.intervention);
        let case = self.case.get_or_insert_default();
        let by_agent = case.budget(spending).allows_at(step.now, limit);
        let by_fleet = step.fleet.allows_at(step.now, spending);
        if by_agent <= step.now && by_fleet <= step.now {
            return true;
        }
        let told = case.held_until.replace(by_agent.max(by_fleet)).is_some();
        if by_agent > step.now && !told {
            self.record(step, Fact::BudgetExhausted { limit: limit.count, per: limit.window });
        }
        if by_fleet > step.now {
            step.fleet.on_held(step.now, by_fleet, spending, step.out);
        }
        false
    }

    /// Until when, at least, many agents that fail together keep this one from being ended, and people from being asked
    /// about each. It is asked again soon: the cause may be found sooner than anybody thought.
    fn frozen_until(&self, step: &Step<'_>, spending: Spending) -> Option<Timestamp> {
        let soon = step.now + RETRY_AFTER;
        match spending {
            Spending::Nudge => None,
            Spending::Escalation => {
                let kind = self.gravest_kind()?;
                let frozen = step.together.is_frozen(step.now, &self.membership()).is_some();
                (frozen && step.together.covering(&self.membership(), kind).is_some()).then_some(soon)
            }
            Spending::Termination => {
                let may = step.together.may_stop(step.now, &self.membership(), step.bounds);
                // Who has been bad for a moment may be well in the next, or one of many.
                let looked = Some(self.state_since + step.bounds.look_around);
                may.err().map(|held| held.until().min(soon)).or(looked.filter(|looked| step.now < *looked))
            }
        }
    }

    /// What a person orders counts for the agent, and not against what the monitor may do to the fleet.
    pub(super) fn spend(&mut self, step: &mut Step<'_>, spending: Spending, by: Option<&Actor>) {
        let limit = spending.agent_limit(&step.role.intervention);
        self.case.get_or_insert_default().budget(spending).spend(step.now, limit);
        if by.is_none() {
            step.fleet.spend(step.now, spending);
        }
        self.metrics.interventions = self.metrics.interventions.saturating_add(1);
    }
}

impl Case {
    /// A new trouble, or a new life: nothing was tried yet. What was spent of the limits stays spent.
    pub(crate) fn begin_anew(&mut self) {
        *self = Self {
            nudge_budget: std::mem::take(&mut self.nudge_budget),
            escalation_budget: std::mem::take(&mut self.escalation_budget),
            termination_budget: std::mem::take(&mut self.termination_budget),
            well_since: self.well_since,
            ..Self::default()
        };
    }

    fn budget(&mut self, spending: Spending) -> &mut Budget {
        match spending {
            Spending::Nudge => &mut self.nudge_budget,
            Spending::Escalation => &mut self.escalation_budget,
            Spending::Termination => &mut self.termination_budget,
        }
    }

    pub(super) fn spent_nothing_since(&mut self, now: Timestamp, role: &Role) -> bool {
        Spending::ALL.into_iter().all(|spending| {
            let window = spending.agent_limit(&role.intervention).window;
            self.budget(spending).spent.iter().all(|at| *at + window <= now)
        })
    }
}
