//! Agents that fail together (X02): what the machine is told, and what people order about it.

use super::{Collector, Fleet};
use crate::agent::Agent;
use crate::correlation::{Change, Correlation, Kind, Membership, Order, Scope, Step};
use crate::event::{Event, Fact, Incident};
use crate::id::Actor;
use crate::notice::{NoticeError, Reply};
use crate::signal::Awaited;
use crate::time::{Span, Timestamp};

impl Incident {
    /// In which way an agent with this incident is bad, if that may have a cause in common with others.
    pub(crate) fn kind(self) -> Option<Kind> {
        match self {
            Self::Silent => Some(Kind::Silent),
            Self::Stuck => Some(Kind::Stuck),
            Self::Failing => Some(Kind::Failing),
            Self::Died => Some(Kind::Died),
            Self::Flapping | Self::Storm | Self::OverLimit => None,
        }
    }
}

impl Agent {
    /// In which way it is bad; the gravest, if in several.
    pub(crate) fn gravest_kind(&self) -> Option<Kind> {
        let incidents = self.past.iter().flat_map(|past| &past.incidents);
        incidents.filter_map(|(incident, _)| incident.kind()).max()
    }
}

impl Fleet {
    /// An agent registered, turned bad or well, or ended.
    pub(super) fn correlate(&mut self, now: Timestamp, slot: u32, fact: &Fact, out: &mut Collector) {
        match fact {
            Fact::Registered { .. } => self.place_agent(now, slot, out),
            Fact::IncidentOpened { .. } | Fact::IncidentResolved { .. } => self.compare(now, slot, out),
            Fact::TerminationOrdered { by: None, .. } => {
                let agent = self.table.agent_mut(slot).id.clone();
                self.machines.correlation.on_stopping(now, &agent, &self.policies.correlation);
                self.machines.correlation_changed = true;
            }
            Fact::TerminationFailed { .. } | Fact::TerminationCalledOff => self.on_stop_over(slot),
            Fact::Terminated { .. } => {
                self.on_stop_over(slot);
                // A death that nobody wanted is counted with the incident that follows.
                if self.table.agent_mut(slot).gravest_kind().is_none() {
                    self.membership(now, slot, out, |correlation, step, membership| {
                        correlation.on_gone(step, membership);
                    });
                }
            }
            Fact::Unregistered { .. } => {
                self.on_stop_over(slot);
                self.membership(now, slot, out, |correlation, step, membership| {
                    correlation.on_gone(step, membership);
                });
            }
            _ => {}
        }
    }

    /// It is somewhere, perhaps elsewhere than before.
    pub(super) fn place_agent(&mut self, now: Timestamp, slot: u32, out: &mut Collector) {
        let place = self.table.agent_mut(slot).place.as_deref();
        let (host, provider) =
            place.map_or((None, None), |place| (place.host.clone(), place.provider.clone()));
        self.membership(now, slot, out, |correlation, step, membership| {
            correlation.on_member(step, membership, host.as_ref(), provider.as_ref());
        });
    }

    fn compare(&mut self, now: Timestamp, slot: u32, out: &mut Collector) {
        let kind = self.table.agent_mut(slot).gravest_kind();
        self.membership(now, slot, out, |correlation, step, membership| match kind {
            Some(kind) => correlation.on_bad(step, membership, kind),
            // What the provider did to it is over when the provider says so.
            None if membership.kind() == Some(Kind::Provider) => {}
            None => correlation.on_good(step, membership),
        });
    }

    fn on_stop_over(&mut self, slot: u32) {
        let agent = &self.table.agent_mut(slot).id;
        self.machines.correlation_changed |= self.machines.correlation.on_stopped(agent);
    }

    /// The provider of its model failed it.
    pub(super) fn on_provider_trouble(
        &mut self,
        now: Timestamp,
        slot: u32,
        retry_after: Option<Span>,
        out: &mut Collector,
    ) {
        self.membership(now, slot, out, |correlation, step, membership| {
            correlation.on_provider_trouble(step, membership, retry_after);
        });
    }

    /// Its model answered. Told only where somebody wants to know.
    pub(super) fn on_provider_success(&mut self, now: Timestamp, slot: u32, out: &mut Collector) {
        let agent = self.table.agent_mut(slot);
        // As the agent itself is judged: what it got done shows that it was served, unless it says otherwise.
        let waits = agent.waiting.announced.is_some_and(|wait| wait.awaited == Awaited::Provider);
        let Some(place) = agent.place.as_deref().filter(|_| !waits) else { return };
        let troubled = place.membership.kind() == Some(Kind::Provider);
        let outage = place.provider.as_ref().is_some_and(|at| self.machines.correlation.outage(at).is_some());
        if troubled || outage {
            self.membership(now, slot, out, |correlation, step, membership| {
                correlation.on_provider_success(step, membership);
            });
            self.compare(now, slot, out);
        }
    }

    /// Carries out what a person ordered about agents that fail together.
    pub(super) fn order_incident(
        &mut self,
        now: Timestamp,
        scope: &Scope,
        by: &Actor,
        order: Order,
        out: &mut Collector,
    ) -> Result<Reply, NoticeError> {
        let mut changes = Vec::new();
        let mut step = Step { now, policy: &self.policies.correlation, out: &mut changes };
        if !self.machines.correlation.order(&mut step, scope, order) {
            return Err(NoticeError::NoIncident(scope.clone()));
        }
        self.machines.correlation_changed = true;
        let fact = Fact::IncidentOrdered { scope: scope.clone(), by: by.clone(), order };
        out.events.push(Event { at: now, agent: None, fact });
        self.on_correlated(now, changes, out);
        Ok(Reply::Done)
    }

    pub(super) fn wake_correlation(&mut self, now: Timestamp, out: &mut Collector) {
        if self.machines.correlation.deadline(Timestamp::ZERO).is_none_or(|due| now < due) {
            return;
        }
        let mut changes = Vec::new();
        let mut step = Step { now, policy: &self.policies.correlation, out: &mut changes };
        self.machines.correlation.wake(&mut step);
        self.machines.correlation_changed = true;
        self.on_correlated(now, changes, out);
    }

    /// Lends an agent's membership to the machine, and records what comes of it.
    fn membership(
        &mut self,
        now: Timestamp,
        slot: u32,
        out: &mut Collector,
        tell: impl FnOnce(&mut Correlation, &mut Step<'_>, &mut Membership),
    ) {
        let agent = self.table.agent_mut(slot);
        let mut membership = agent.membership();
        let mut changes = Vec::new();
        let mut step = Step { now, policy: &self.policies.correlation, out: &mut changes };
        let was_quiet = self.machines.correlation.is_quiet();
        tell(&mut self.machines.correlation, &mut step, &mut membership);
        agent.set_membership(membership);
        self.machines.correlation_changed |= !(was_quiet && self.machines.correlation.is_quiet());
        self.on_correlated(now, changes, out);
    }

    fn on_correlated(&mut self, now: Timestamp, changes: Vec<Change>, out: &mut Collector) {
        if changes.is_empty() {
            return;
        }
        if changes.iter().any(|change| matches!(change, Change::Thawed { .. } | Change::Resolved { .. })) {
            self.look_at_held(now);
        }
        let facts = changes.into_iter().map(Fact::Correlated);
        out.events.extend(facts.map(|fact| Event { at: now, agent: None, fact }));
        self.freeze_recovery(now, out);
    }

    /// Who was held back may go on: all are looked at in one order, and not as each of them happens to be heard next.
    fn look_at_held(&mut self, now: Timestamp) {
        let soon = now + Span::millis(1);
        for slot in 0..self.table.slots() {
            let case = self.table.agent(slot).and_then(|agent| agent.case.as_ref());
            if case.is_some_and(|case| case.held_until.is_some()) {
                self.ring.arm(slot, soon);
            }
        }
    }
}

impl Fleet {
    /// Counts everybody again after a restart.
    pub(super) fn recall(&mut self, now: Timestamp) {
        for slot in 0..self.table.slots() {
            if let Some(agent) = self.table.agent(slot) {
                let membership = agent.membership();
                self.machines.correlation.recall(now, &membership, &self.policies.correlation);
            }
        }
    }
}
