//! What the file says, put into the core's policies.
//!
//! From the general to the particular, so that the particular has the last word:
//!
//! 1. the core's defaults
//! 2. `mode`, and `health_monitoring` for every role; its heartbeats for agents without a role
//! 3. each role, beginning with what it extends
//! 4. `health_monitoring.enabled: false`, which leaves every role to look and do nothing
//!
//! A threshold of the fleet has one place where it can be set, or two names for it; both at once are refused rather
//! than ranked.

mod combine;
mod roles;

use std::collections::BTreeMap;

use verger_core::id::RoleName;
use verger_core::intervention::Limit;
use verger_core::policy::{Mode, Policies, Role};
use verger_core::time::Span;

use crate::keys::breaker::{BREAKER, CLASSIC, GATES};
use crate::keys::health::{ALIASES, Alias, PER_HOUR, Whose};
use crate::keys::limits::{LIMITS, WHOSE};
use crate::keys::role::ROLE;
use crate::keys::{Threshold, desk, fleet};
use crate::problem::{Place, Problem};
use crate::shape::{Found, Section, joined};
use crate::value::Value;

/// The role of agents that claim none.
pub(crate) const DEFAULT_ROLE: &str = "default";

/// Policies, and which of their thresholds the file set, by dotted name.
pub(crate) struct Applied {
    pub(crate) policies: Policies,
    pub(crate) set: BTreeMap<String, Place>,
}

/// Thresholds of the fleet, from both of their tables.
pub(crate) fn fleet_rows() -> impl Iterator<Item = &'static Threshold<Policies>> {
    fleet::FLEET.iter().chain(desk::DESK)
}

/// The names of all roles, in order.
pub(crate) fn role_names(policies: &Policies) -> Vec<RoleName> {
    let mut names = Vec::new();
    policies.clone().each(|role| names.push(role.name.clone()));
    names
}

/// Puts the file into the policies; what contradicts itself becomes a problem.
pub(crate) fn apply(file: &Section, problems: &mut Vec<Problem>) -> Applied {
    let applied = Applied { policies: Policies::default(), set: BTreeMap::new() };
    let mut applying = Applying { applied, problems };
    applying.fleet(file);
    applying.breakers(file);
    applying.limits(file);
    applying.health_monitoring(file);
    applying.modes(file);
    applying.roles(file);
    applying.follow();
    applying.switch(file);
    applying.combinations();
    applying.applied
}

struct Applying<'a> {
    applied: Applied,
    problems: &'a mut Vec<Problem>,
}

impl Applying<'_> {
    fn fleet(&mut self, file: &Section) {
        for row in fleet_rows() {
            if let Some(found) = file.value(row.name) {
                row.set(&mut self.applied.policies, &found.value);
                self.note(row.name.to_owned(), found.place);
            }
        }
    }

    fn breakers(&mut self, file: &Section) {
        let classic = file.section("health_monitoring.circuit_breaker");
        for gate in &GATES {
            for row in BREAKER {
                let key = format!("breakers.{}.{}", gate.name, row.name);
                let old_name =
                    CLASSIC.iter().find(|(_, name)| *name == row.name).map(|(old_name, _)| *old_name);
                let old = |section: &str| classic?.value(&format!("{section}.{}", old_name?));
                let general = old("default");
                let (own, old) = (file.value(&key), old(&format!("overrides.{}", gate.classic)));
                if let (Some(own), Some(old)) = (own, old) {
                    self.twice(&key, own.place, old.place);
                }
                if let Some(found) = own.or(old).or(general) {
                    row.set((gate.at)(&mut self.applied.policies.breakers), &found.value);
                    self.note(key, found.place);
                }
            }
        }
    }

    fn limits(&mut self, file: &Section) {
        for whose in &WHOSE {
            for row in LIMITS {
                let key = format!("limits.{}.{}", whose.name, row.name);
                if let Some(found) = file.value(&key) {
                    row.set((whose.at)(&mut self.applied.policies.resources), &found.value);
                    self.note(key, found.place);
                }
            }
        }
    }

    fn health_monitoring(&mut self, file: &Section) {
        let Some(classic) = file.section("health_monitoring") else { return };
        for alias in &ALIASES {
            if let Some(found) = classic.value(alias.name) {
                self.alias(alias, found);
            }
        }
        if let Some(Found { value: Value::Count(count), place }) = classic.value(PER_HOUR.name) {
            let count = u16::try_from(*count).unwrap_or(u16::MAX);
            let value = Value::Limit(Limit { count, window: Span::hours(1) });
            self.alias(&PER_HOUR, &Found { value, place: *place });
        }
    }

    fn alias(&mut self, alias: &Alias, found: &Found) {
        match alias.whose {
            Whose::Fleet => {
                for row in fleet_rows().filter(|row| alias.sets.contains(&row.name)) {
                    if let Some(own) = self.applied.set.get(row.name).copied() {
                        self.twice(row.name, own, found.place);
                    }
                    row.set(&mut self.applied.policies, &found.value);
                    self.note(row.name.to_owned(), found.place);
                }
            }
            Whose::WithoutRole => {
                self.each_role(alias.sets, found, |role| role.name.as_str() == DEFAULT_ROLE);
            }
            Whose::EveryRole => self.each_role(alias.sets, found, |_| true),
        }
    }

    /// Sets thresholds of all roles that are meant.
    fn each_role(&mut self, names: &[&str], found: &Found, meant: fn(&Role) -> bool) {
        let Applied { policies, set } = &mut self.applied;
        policies.each(|role| {
            if !meant(role) {
                return;
            }
            for row in ROLE.iter().filter(|row| names.contains(&row.name)) {
                row.set(role, &found.value);
                set.insert(format!("roles.{}.{}", role.name, row.name), found.place);
            }
        });
    }

    /// `mode`; without it, whoever names `intervention.termination` wants agents to be ended (000 §7).
    fn modes(&mut self, file: &Section) {
        let named = file.section("health_monitoring.intervention.termination");
        if let Some(found) = file.value("mode") {
            self.each_role(&["mode"], found, |_| true);
        } else if let Some(section) = named {
            let full = Found { value: Value::Text("full".into()), place: section.place };
            self.each_role(&["mode"], &full, |_| true);
        }
    }

    /// A lower limit for stuck brings the warning before it down, unless that was set too: 000 §7 has only the one.
    fn follow(&mut self) {
        let usual = Role::named(DEFAULT_ROLE).progress;
        let Applied { policies, set } = &mut self.applied;
        policies.each(|role| {
            let key = |name: &str| format!("roles.{}.progress.{name}", role.name);
            let (Some(place), None) =
                (set.get(&key("stuck_after")).copied(), set.get(&key("degraded_after")))
            else {
                return;
            };
            if role.progress.stuck_after < role.progress.degraded_after {
                let share = usual.degraded_after.as_millis().max(1);
                let whole = usual.stuck_after.as_millis() / share;
                role.progress.degraded_after =
                    Span::millis(role.progress.stuck_after.as_millis() / whole.max(1));
                set.insert(key("degraded_after"), place);
            }
        });
    }

    fn switch(&mut self, file: &Section) {
        let Some(Found { value: Value::Bool(false), place }) = file.value("health_monitoring.enabled") else {
            return;
        };
        let Applied { policies, set } = &mut self.applied;
        policies.each(|role| {
            role.mode = Mode::Observe;
            set.insert(format!("roles.{}.mode", role.name), *place);
        });
    }

    fn note(&mut self, key: String, place: Place) {
        self.applied.set.insert(key, place);
    }

    /// Two names for one threshold.
    fn twice(&mut self, key: &str, own: Place, other: Place) {
        let (first, second) = (own.min(other), own.max(other));
        let problem = Problem::of_key(key, format!("this sets `{key}` for the second time")).at(second);
        self.problems
            .push(problem.hint(format!("it is set in line {} already; keep one of the two", first.line)));
    }
}

/// The dotted name of a threshold of a role.
pub(crate) fn role_key(role: &str, name: &str) -> String {
    joined(&joined("roles", role), name)
}
