//! The fleet's limits on interventions, and the one incident that says they were reached.
//!
//! When many agents fail together the cause is seldom in the agents. Beyond the limits nothing more is done to
//! anybody; people are told once that a storm is on, and once that it is over.

use crate::event::{Event, Fact, Incident};
use crate::fleet::Collector;
use crate::intervention::{self, Budget, FleetLimits, Limit};
use crate::time::Timestamp;

/// What is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spending {
    /// A reminder.
    Nudge,
    /// A question to people.
    Escalation,
    /// A termination.
    Termination,
}

impl Spending {
    pub(crate) const ALL: [Self; 3] = [Self::Nudge, Self::Escalation, Self::Termination];

    /// The limit for one agent.
    pub(crate) fn agent_limit(self, policy: &intervention::Policy) -> Limit {
        match self {
            Self::Nudge => policy.nudge_limit,
            Self::Escalation => policy.escalation_limit,
            Self::Termination => policy.termination_limit,
        }
    }

    fn fleet_limit(self, limits: &FleetLimits) -> Limit {
        match self {
            Self::Nudge => limits.nudges,
            Self::Escalation => limits.escalations,
            Self::Termination => limits.terminations,
        }
    }
}

/// What was spent in the whole fleet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FleetBudgets {
    limits: FleetLimits,
    pub(crate) spent: [Budget; 3],
    /// Since when interventions have been held back, and until when at least.
    pub(crate) storm: Option<(Timestamp, Timestamp)>,
    /// The first effect number that no forgotten agent has used: a name that comes back repeats no key.
    pub(crate) first_effect: u32,
    pub(crate) changed: bool,
}

impl FleetBudgets {
    pub(crate) fn new(limits: FleetLimits) -> Self {
        Self { limits, spent: Default::default(), storm: None, first_effect: 1, changed: false }
    }

    /// Other limits hold from now on, for what was spent too.
    pub(crate) fn set_limits(&mut self, limits: FleetLimits) {
        self.limits = limits;
    }

    pub(crate) fn allows_at(&self, now: Timestamp, spending: Spending) -> Timestamp {
        self.spent[spending as usize].allows_at(now, spending.fleet_limit(&self.limits))
    }

    pub(crate) fn spend(&mut self, now: Timestamp, spending: Spending) {
        self.spent[spending as usize].spend(now, spending.fleet_limit(&self.limits));
        self.changed = true;
    }

    /// An intervention was held back until `until`.
    pub(crate) fn on_held(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        spending: Spending,
        out: &mut Collector,
    ) {
        self.changed = true;
        if let Some((_, over)) = &mut self.storm {
            *over = (*over).max(until);
            return;
        }
        self.storm = Some((now, until));
        let Limit { count, window } = spending.fleet_limit(&self.limits);
        tell(now, Fact::BudgetExhausted { limit: count, per: window }, out);
        tell(now, Fact::IncidentOpened { incident: Incident::Storm, since: now, part_of: None }, out);
    }

    /// The storm is over when nothing was held back for as long as it had to wait.
    pub(crate) fn wake(&mut self, now: Timestamp, out: &mut Collector) {
        let Some((since, _)) = self.storm.filter(|(_, over)| *over < now) else { return };
        self.storm = None;
        self.changed = true;
        tell(now, Fact::IncidentResolved { incident: Incident::Storm, lasted: now.since(since) }, out);
    }

    pub(crate) fn deadline(&self) -> Option<Timestamp> {
        self.storm.map(|(_, over)| over + crate::time::Span::millis(1))
    }
}

fn tell(now: Timestamp, fact: Fact, out: &mut Collector) {
    out.events.push(Event { at: now, agent: None, fact });
}
