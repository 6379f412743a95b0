//! The facts that come in, and the questions that can be asked.

use std::collections::{BTreeMap, BTreeSet};

use super::incident::{Change, Freeze, Incident, IncidentView, OutageView};
use super::scope::{Bad, second};
use super::stops::Stops;
use super::tally::Tally;
use super::{Kind, Membership, Policy, Scope};
use crate::id::{HostId, ProviderId};
use crate::time::{Span, Timestamp};

/// Hosts that are counted. Agents of further ones count for the fleet alone.
pub(super) const HOSTS_MAX: usize = 16_384;
/// Providers that are counted.
pub(super) const PROVIDERS_MAX: usize = 256;

/// What one call has to work with.
#[derive(Debug)]
pub struct Step<'a> {
    /// Observed time.
    pub now: Timestamp,
    /// The thresholds.
    pub policy: &'a Policy,
    /// What happened.
    pub out: &'a mut Vec<Change>,
}

/// The whole fleet's failures, held together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Correlation {
    pub(super) fleet: Tally,
    pub(super) hosts: BTreeMap<HostId, Tally>,
    pub(super) providers: BTreeMap<ProviderId, Tally>,
    pub(crate) incidents: BTreeMap<Scope, Incident>,
    /// When which incident is due: as many entries as incidents.
    pub(super) agenda: BTreeSet<(Timestamp, Scope)>,
    /// What happened before that second in that scope had its incident, and makes no other.
    pub(crate) settled: BTreeMap<Scope, u64>,
    /// From which second on scopes were affected whose incident became part of the fleet's.
    pub(crate) merged: BTreeMap<Scope, u64>,
    /// When providers said that they serve again.
    pub(crate) resets: BTreeMap<ProviderId, Timestamp>,
    pub(crate) stops: Stops,
}

impl Correlation {
    /// With the agenda of the incidents that were stored; [`recall`](Self::recall) brings the counters back.
    pub(crate) fn with_agenda(mut self) -> Self {
        let due = |(scope, incident): (&Scope, &Incident)| (incident.due(), scope.clone());
        self.agenda = self.incidents.iter().map(due).collect();
        self
    }

    /// The agent is watched, there, with that provider. Told again it changes nothing; told otherwise it moves.
    pub fn on_member(
        &mut self,
        step: &mut Step<'_>,
        membership: &mut Membership,
        host: Option<&HostId>,
        provider: Option<&ProviderId>,
    ) {
        let host = host.filter(|host| has_room(&self.hosts, host, HOSTS_MAX));
        let provider = provider.filter(|provider| has_room(&self.providers, provider, PROVIDERS_MAX));
        if membership.joined && membership.host.as_ref() == host && membership.provider.as_ref() == provider {
            return;
        }
        let bad = membership.bad;
        self.on_gone(step, membership);
        *membership =
            Membership { joined: true, host: host.cloned(), provider: provider.cloned(), bad: None };
        self.count_members(membership);
        if let Some(Bad { second, kind, .. }) = bad {
            self.enter(step, membership, second, kind);
        }
        // More agents to compare with: an open incident may look smaller now. None opens by that.
        self.review_all(step, membership, false);
    }

    /// The agent turned bad. Ends that somebody wanted are no such fact: then it is [gone](Self::on_gone).
    pub fn on_bad(&mut self, step: &mut Step<'_>, membership: &mut Membership, kind: Kind) {
        if !membership.joined {
            self.on_member(step, membership, None, None);
        }
        let before = membership.bad;
        if before.is_some_and(|bad| bad.kind == kind) {
            return;
        }
        let now = second(step.now);
        let since = before.filter(|bad| !kind.is_news_after(bad.kind)).map_or(now, |bad| bad.second);
        self.leave(membership);
        self.enter(step, membership, since, kind);
        self.review_all(step, membership, true);
    }

    /// The provider failed the agent, and may have said for how long. Each report counts, also of the same agent.
    pub fn on_provider_trouble(
        &mut self,
        step: &mut Step<'_>,
        membership: &mut Membership,
        retry_after: Option<Span>,
    ) {
        self.note_report(step, membership, retry_after);
        self.on_bad(step, membership, Kind::Provider);
        self.review_all(step, membership, true);
    }

    /// The provider served the agent.
    pub fn on_provider_success(&mut self, step: &mut Step<'_>, membership: &mut Membership) {
        if membership.kind() == Some(Kind::Provider) {
            self.on_good(step, membership);
        }
        let Some(provider) = membership.provider.clone() else { return };
        let scope = Scope::Provider(provider);
        if self.incidents.contains_key(&scope) {
            self.amend(&scope, |incident| {
                if let Some(outage) = &mut incident.outage {
                    outage.successes = outage.successes.saturating_add(1);
                }
            });
            self.review(step, &scope, false);
        }
    }

    /// The agent is well again.
    pub fn on_good(&mut self, step: &mut Step<'_>, membership: &mut Membership) {
        if membership.bad.is_some() {
            self.leave(membership);
            self.review_all(step, membership, false);
        }
    }

    /// The agent is no longer watched, or was ended on purpose.
    pub fn on_gone(&mut self, step: &mut Step<'_>, membership: &mut Membership) {
        self.leave(membership);
        let left = std::mem::take(membership);
        for (scope, _) in left.scopes() {
            if let Some(tally) = self.tally_mut(&scope) {
                tally.members = tally.members.saturating_sub(1);
            }
        }
        self.review_all(step, &left, false);
        drop_empty(&mut self.hosts, left.host.as_ref());
        drop_empty(&mut self.providers, left.provider.as_ref());
    }

    /// Counts an agent again after a restart, from the membership in its row. Everybody must have been counted before
    /// any other fact comes in.
    pub fn recall(&mut self, now: Timestamp, membership: &Membership, policy: &Policy) {
        self.count_members(membership);
        self.count_bad(now, membership, policy);
    }

    /// Whether nothing needs to be remembered of it but what the agents remember.
    pub(crate) fn is_quiet(&self) -> bool {
        self.incidents.is_empty()
            && self.settled.is_empty()
            && self.merged.is_empty()
            && self.resets.is_empty()
    }

    /// When [`wake`](Self::wake) has something to do.
    pub fn deadline(&self, now: Timestamp) -> Option<Timestamp> {
        let (due, _) = self.agenda.first()?;
        Some((*due).max(now + Span::millis(1)))
    }

    /// Why nobody like this agent is ended or respawned without a person's order, if so.
    pub fn is_frozen(&self, now: Timestamp, membership: &Membership) -> Option<Freeze> {
        membership.scopes().find_map(|(scope, _)| {
            let incident = self.incidents.get(&scope)?;
            let until = incident.frozen_until.filter(|until| now < *until)?;
            let tally = self.tally(&scope)?;
            Some(Freeze { affected: tally.affected(), of: tally.of(), kind: incident.kind, scope, until })
        })
    }

    /// The open incident that stands for this agent being bad in this way: people know of it.
    pub fn covering(&self, membership: &Membership, kind: Kind) -> Option<Scope> {
        membership
            .scopes()
            .map(|(scope, _)| scope)
            .find(|scope| self.incidents.get(scope).is_some_and(|incident| incident.explains(scope, kind)))
    }

    /// The outage of a provider, if there is one.
    pub fn outage(&self, provider: &ProviderId) -> Option<OutageView> {
        let incident = self.incidents.get(&Scope::Provider(provider.clone()))?;
        incident.outage?;
        Some(OutageView { since: incident.since(), reset_at: self.reset_of(provider) })
    }

    /// When a provider said that it serves again, if anybody heard it and it is not over.
    pub fn reset_of(&self, provider: &ProviderId) -> Option<Timestamp> {
        self.resets.get(provider).copied()
    }

    /// The open incidents, the fleet's first.
    pub fn incidents(&self) -> impl Iterator<Item = IncidentView> + '_ {
        self.incidents.iter().map(|(scope, incident)| {
            let (affected, of) = self.tally(scope).map_or((0, 0), |tally| (tally.affected(), tally.of()));
            IncidentView {
                scope: scope.clone(),
                affected,
                of,
                kind: incident.kind,
                since: incident.since(),
                frozen_until: incident.frozen_until,
                ends_at: incident.ends_at,
            }
        })
    }

    pub(super) fn tally(&self, scope: &Scope) -> Option<&Tally> {
        match scope {
            Scope::Fleet => Some(&self.fleet),
            Scope::Host(host) => self.hosts.get(host),
            Scope::Provider(provider) => self.providers.get(provider),
        }
    }

    pub(super) fn tally_mut(&mut self, scope: &Scope) -> Option<&mut Tally> {
        match scope {
            Scope::Fleet => Some(&mut self.fleet),
            Scope::Host(host) => self.hosts.get_mut(host),
            Scope::Provider(provider) => self.providers.get_mut(provider),
        }
    }

    fn count_members(&mut self, membership: &Membership) {
        if !membership.joined {
            return;
        }
        let host = membership.host.as_ref().map(|host| self.hosts.entry(host.clone()).or_default());
        let provider =
            membership.provider.as_ref().map(|provider| self.providers.entry(provider.clone()).or_default());
        for tally in [Some(&mut self.fleet), host, provider].into_iter().flatten() {
            tally.members = tally.members.saturating_add(1);
        }
    }

    /// Counts the agent as bad where that says something.
    fn enter(&mut self, step: &mut Step<'_>, membership: &mut Membership, second: u64, kind: Kind) {
        let outage = membership.provider.as_ref().is_some_and(|provider| self.outage(provider).is_some());
        let host = membership.host.clone().map(Scope::Host);
        let host_open = host.is_some_and(|host| self.incidents.contains_key(&host));
        // What the provider's outage explains is not held against host and fleet, nor what the host's incident
        // explains against the provider: one cause, one incident.
        let explained = kind == Kind::Provider || (outage && !kind.is_of_the_process());
        membership.bad = Some(Bad {
            second,
            kind,
            in_fleet: !explained,
            in_host: !explained,
            in_provider: explained || !host_open,
        });
        self.count_bad(step.now, membership, step.policy);
    }

    fn count_bad(&mut self, now: Timestamp, membership: &Membership, policy: &Policy) {
        let Some(bad) = membership.bad else { return };
        for (scope, _) in membership.scopes().filter(|(_, counts)| *counts) {
            let recent = self.floor(now, &scope, policy) <= bad.second;
            if let Some(tally) = self.tally_mut(&scope) {
                tally.add(bad.second, bad.kind, recent);
            }
        }
    }

    fn leave(&mut self, membership: &mut Membership) {
        let Some(bad) = membership.bad else { return };
        for (scope, _) in membership.scopes().filter(|(_, counts)| *counts) {
            if let Some(tally) = self.tally_mut(&scope) {
                tally.remove(bad.second, bad.kind);
            }
        }
        membership.bad = None;
    }
}

/// Whether a scope is counted, or could be.
fn has_room<K: Ord>(tallies: &BTreeMap<K, Tally>, key: &K, max: usize) -> bool {
    tallies.contains_key(key) || tallies.len() < max
}

/// Drops the counters of a scope that nobody is left in.
fn drop_empty<K: Ord>(tallies: &mut BTreeMap<K, Tally>, key: Option<&K>) {
    if let Some(key) = key.filter(|key| tallies.get(*key).is_some_and(|tally| tally.members == 0)) {
        tallies.remove(key);
    }
}
