//! When an incident opens, widens and is over.

use super::incident::{Change, Ending, Incident, Outage, Thaw};
use super::machine::{HOSTS_MAX, PROVIDERS_MAX};
use super::scope::second;
use super::tally::Tally;
use super::{Correlation, Kind, Membership, Policy, Scope, Step};
use crate::time::{Span, Timestamp};

/// Incidents and memories of incidents that are kept: one for each scope there can be. Agents that come and go under
/// ever new names find no room for more.
const SCOPES_MAX: usize = 1 + HOSTS_MAX + PROVIDERS_MAX;

/// How long an incident may last.
#[derive(Clone, Copy)]
struct Bounds {
    frozen_until: Option<Timestamp>,
    ends_at: Timestamp,
}

impl Bounds {
    /// Of an incident that begins now.
    fn of(step: &Step<'_>) -> Self {
        let Policy { freeze_max, lasts_max, .. } = *step.policy;
        Self { frozen_until: Some(step.now + freeze_max), ends_at: step.now + lasts_max }
    }
}

impl Correlation {
    /// Does what is due. Calling early is harmless.
    pub fn wake(&mut self, step: &mut Step<'_>) {
        while let Some((_, scope)) = self.agenda.first().filter(|(due, _)| *due <= step.now).cloned() {
            self.on_due(step, &scope);
        }
    }

    fn on_due(&mut self, step: &mut Step<'_>, scope: &Scope) {
        self.forget_old(step, scope);
        let Some(incident) = self.incidents.get(scope) else { return };
        let now = step.now;
        let is_due = |due: Option<Timestamp>| due.is_some_and(|due| due <= now);
        if incident.ends_at <= now {
            self.resolve(step, scope, Ending::Time);
        } else if is_due(incident.clear_at) {
            let by = if self.looks_well(scope, step.policy) { Ending::Recovered } else { Ending::Served };
            self.resolve(step, scope, by);
        } else if is_due(incident.outage.map(|outage| outage.quiet_at)) {
            self.resolve(step, scope, Ending::Quiet);
        } else if is_due(incident.frozen_until) {
            self.thaw_by(step, scope, Thaw::Time);
        } else if let Some(until) = incident.frozen_until {
            let (affected, of) = self.extent(scope);
            let ask_at = now + step.policy.asks_after();
            self.amend(scope, |incident| incident.ask_at = Some(ask_at));
            step.out.push(Change::StillFrozen { scope: scope.clone(), affected, of, until });
        } else {
            // Only a row that somebody else wrote asks without a freeze.
            self.amend(scope, |incident| incident.ask_at = None);
        }
    }

    /// Looks at each scope of an agent, the widest first: the fleet's incident takes the place of the others.
    pub(super) fn review_all(&mut self, step: &mut Step<'_>, membership: &Membership, may_open: bool) {
        let before = self.incidents.len();
        for (scope, counts) in membership.scopes() {
            // One agent is the last straw of one incident, and of none where its badness does not count.
            let may_open = may_open && counts && self.incidents.len() <= before;
            self.review(step, &scope, may_open);
        }
    }

    /// Looks at one scope after its counters changed. Only bad news opens an incident: that others leave does not.
    pub(super) fn review(&mut self, step: &mut Step<'_>, scope: &Scope, may_open: bool) {
        self.forget_old(step, scope);
        if self.incidents.contains_key(scope) {
            self.review_open(step, scope);
        } else if may_open && self.is_reached(scope, step.policy) {
            self.open(step, scope, Bounds::of(step));
        }
    }

    fn review_open(&mut self, step: &mut Step<'_>, scope: &Scope) {
        let (affected, of) = self.extent(scope);
        let Some(most) = self.tally(scope).map(Tally::kind) else { return };
        let is_outage = self.is_outage(scope, step.policy);
        let quiet_at = self.quiet_at(step, scope);
        let well = self.looks_well(scope, step.policy);
        let clear_at = step.now + step.policy.settle;
        let successes = step.policy.outage_successes.max(1);
        let mut widened = None;
        self.amend(scope, |incident| {
            let turned_out = is_outage && incident.outage.is_none();
            if turned_out {
                incident.outage = Some(Outage { successes: 0, quiet_at });
            }
            if turned_out || incident.told.saturating_mul(2) <= affected {
                incident.told = affected;
                incident.kind = incident.outage.map_or(most, |_| Kind::Provider);
                widened = Some(incident.kind);
            }
            let served = incident.outage.is_some_and(|outage| successes <= outage.successes);
            incident.clear_at =
                if well || served { Some(incident.clear_at.unwrap_or(clear_at)) } else { None };
        });
        if let Some(kind) = widened {
            step.out.push(Change::Widened { scope: scope.clone(), affected, of, kind });
        }
    }

    fn open(&mut self, step: &mut Step<'_>, scope: &Scope, bounds: Bounds) {
        if SCOPES_MAX <= self.incidents.len() && *scope != Scope::Fleet {
            return;
        }
        let Some(tally) = self.tally(scope) else { return };
        let Some(from) = tally.oldest() else { return };
        let Bounds { frozen_until, ends_at } = bounds;
        let (now, policy) = (step.now, step.policy);
        let (affected, of) = (tally.affected(), tally.of());
        let is_outage = self.is_outage(scope, policy);
        let kind = if is_outage { Kind::Provider } else { tally.kind() };
        let outage = is_outage.then(|| Outage { successes: 0, quiet_at: self.quiet_at(step, scope) });
        let incident = Incident {
            kind,
            opened_at: now,
            from,
            told: affected,
            frozen_until,
            ask_at: frozen_until.map(|_| now + policy.asks_after()),
            clear_at: None,
            ends_at,
            outage,
        };
        let since = incident.since();
        self.merged.remove(scope);
        self.agenda.insert((incident.due(), scope.clone()));
        self.incidents.insert(scope.clone(), incident);
        step.out.push(Change::Opened { scope: scope.clone(), affected, of, kind, since });
        if *scope == Scope::Fleet {
            self.merge_into_fleet(step);
        }
    }

    /// The fleet's incident stands for those of hosts and providers. An outage remains what it is: another
    /// condition, which the provider ends.
    fn merge_into_fleet(&mut self, step: &mut Step<'_>) {
        let narrower = |(scope, incident): (&Scope, &Incident)| {
            (*scope != Scope::Fleet && incident.outage.is_none()).then(|| (scope.clone(), incident.from))
        };
        let merged: Vec<_> = self.incidents.iter().filter_map(narrower).collect();
        for (scope, from) in merged {
            self.resolve(step, &scope, Ending::Merged);
            self.merged.insert(scope, from);
        }
    }

    pub(super) fn resolve(&mut self, step: &mut Step<'_>, scope: &Scope, by: Ending) {
        if *scope == Scope::Fleet && by == Ending::Recovered {
            // While the fleet's incident is there, the counters of hosts reach back to its beginning.
            let hosts: Vec<_> = self.hosts.keys().cloned().map(Scope::Host).collect();
            for host in &hosts {
                self.forget_old(step, host);
            }
        }
        let Some(incident) = self.incidents.remove(scope) else { return };
        self.agenda.remove(&(incident.due(), scope.clone()));
        if by != Ending::Merged {
            self.settle(step, scope);
        }
        let lasted = step.now.since(incident.opened_at);
        step.out.push(Change::Resolved { scope: scope.clone(), lasted, by });
        match scope {
            Scope::Fleet => {
                if by == Ending::Recovered {
                    let Incident { frozen_until, ends_at, .. } = incident;
                    self.open_what_is_left(step, Bounds { frozen_until, ends_at });
                }
                self.merged.clear();
            }
            Scope::Provider(provider) if by != Ending::Merged => drop(self.resets.remove(provider)),
            Scope::Host(_) | Scope::Provider(_) => {}
        }
    }

    /// When the fleet recovers, a host may be as bad as before: then the incident is the host's from now on, within
    /// the bounds of the fleet's. It does not begin anew, nor freeze what a person has thawed.
    fn open_what_is_left(&mut self, step: &mut Step<'_>, bounds: Bounds) {
        let left: Vec<_> = self.hosts.keys().cloned().map(Scope::Host).collect();
        for scope in left {
            if !self.incidents.contains_key(&scope) && self.is_reached(&scope, step.policy) {
                self.open(step, &scope, bounds);
            }
        }
    }

    /// Who is affected now had its incident; another one needs others.
    fn settle(&mut self, step: &mut Step<'_>, scope: &Scope) {
        let recent = second(step.now - step.policy.window);
        let reach = self.incidents.get(&Scope::Fleet).map_or(recent, |fleet| fleet.from.min(recent));
        self.settled.retain(|_, floor| reach < *floor);
        let floor = second(step.now).saturating_add(1);
        if self.settled.len() < SCOPES_MAX || self.settled.contains_key(scope) {
            self.settled.insert(scope.clone(), floor);
        }
        if let Some(tally) = self.tally_mut(scope) {
            tally.forget_before(floor);
        }
    }

    pub(super) fn thaw_by(&mut self, step: &mut Step<'_>, scope: &Scope, by: Thaw) {
        self.amend(scope, |incident| {
            incident.frozen_until = None;
            incident.ask_at = None;
        });
        step.out.push(Change::Thawed { scope: scope.clone(), by });
    }

    /// Brings the counters of a scope up to now.
    fn forget_old(&mut self, step: &Step<'_>, scope: &Scope) {
        let floor = self.floor(step.now, scope, step.policy);
        if let Some(tally) = self.tally_mut(scope) {
            tally.forget_before(floor);
        }
    }

    /// The first second that counts in a scope. It never moves back, so what was forgotten stays so: also for a
    /// monitor that counts again after a restart.
    pub(super) fn floor(&self, now: Timestamp, scope: &Scope, policy: &Policy) -> u64 {
        let own = self.incidents.get(scope).map(|incident| incident.from);
        if let Some(from) = own.or_else(|| self.merged.get(scope).copied()) {
            return from;
        }
        let recent = second(now - policy.window);
        let recent = match (scope, self.incidents.get(&Scope::Fleet)) {
            // What happens to hosts during the fleet's incident is judged when that is over.
            (Scope::Host(_), Some(fleet)) => recent.min(fleet.from),
            (Scope::Fleet | Scope::Host(_) | Scope::Provider(_), _) => recent,
        };
        // Who had part in the fleet's incident had part in an incident of every scope.
        let settled = [scope, &Scope::Fleet].map(|scope| self.settled.get(scope).copied().unwrap_or(0));
        recent.max(settled[0]).max(settled[1])
    }

    /// Whether so many are affected that it is an incident.
    fn is_reached(&self, scope: &Scope, policy: &Policy) -> bool {
        if self.is_outage(scope, policy) {
            return true;
        }
        if *scope != Scope::Fleet && self.incidents.contains_key(&Scope::Fleet) {
            return false;
        }
        let (affected, of) = self.extent(scope);
        policy.agents_min <= of && policy.needed(share(scope, policy), of) <= affected
    }

    fn is_outage(&self, scope: &Scope, policy: &Policy) -> bool {
        let (Scope::Provider(_), Some(tally)) = (scope, self.tally(scope)) else { return false };
        policy.outage_needed(tally.of()) <= tally.affected_by(Kind::Provider)
    }

    /// Whether fewer than half as many are affected as would open the incident.
    fn looks_well(&self, scope: &Scope, policy: &Policy) -> bool {
        let Some(tally) = self.tally(scope) else { return true };
        let fewer = |affected: u32, needed: u32| affected.saturating_mul(2) < needed;
        let reports = tally.affected_by(Kind::Provider);
        fewer(tally.affected(), policy.needed(share(scope, policy), tally.of()))
            && (reports == 0 || fewer(reports, policy.outage_needed(tally.of())))
    }

    fn extent(&self, scope: &Scope) -> (u32, u32) {
        self.tally(scope).map_or((0, 0), |tally| (tally.affected(), tally.of()))
    }

    /// A provider failed one of its users.
    pub(super) fn note_report(
        &mut self,
        step: &mut Step<'_>,
        membership: &Membership,
        retry_after: Option<Span>,
    ) {
        let Some(provider) = membership.provider.clone() else { return };
        if let Some(span) = retry_after {
            let reset = step.now + span.min(step.policy.reset_max);
            self.resets.retain(|_, at| step.now < *at);
            let known = self.resets.get(&provider).copied();
            if known.is_some() || self.resets.len() < PROVIDERS_MAX {
                self.resets.insert(provider.clone(), known.map_or(reset, |known| known.max(reset)));
            }
        }
        let scope = Scope::Provider(provider);
        let quiet_at = self.quiet_at(step, &scope);
        self.amend(&scope, |incident| {
            if let Some(outage) = &mut incident.outage {
                *outage = Outage { successes: 0, quiet_at };
            }
        });
    }

    /// When an outage reported now is over if it is not reported again.
    fn quiet_at(&self, step: &Step<'_>, scope: &Scope) -> Timestamp {
        let reset = match scope {
            Scope::Provider(provider) => self.resets.get(provider).copied(),
            Scope::Fleet | Scope::Host(_) => None,
        };
        reset.map_or(step.now, |reset| reset.max(step.now)) + step.policy.outage_quiet
    }

    /// Changes an incident and keeps the agenda in step with it.
    pub(super) fn amend(&mut self, scope: &Scope, change: impl FnOnce(&mut Incident)) {
        let Some(incident) = self.incidents.get_mut(scope) else { return };
        let before = incident.due();
        change(incident);
        let after = incident.due();
        if before != after {
            self.agenda.remove(&(before, scope.clone()));
            self.agenda.insert((after, scope.clone()));
        }
    }
}

fn share(scope: &Scope, policy: &Policy) -> u8 {
    match scope {
        Scope::Fleet => policy.fleet_share,
        Scope::Host(_) => policy.host_share,
        Scope::Provider(_) => policy.provider_share,
    }
}
