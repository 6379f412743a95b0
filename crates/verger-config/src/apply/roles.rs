//! `roles:`, each beginning with what it extends.

use std::collections::BTreeSet;

use verger_core::id::RoleName;
use verger_core::policy::Role;

use super::{Applied, Applying, DEFAULT_ROLE, role_key, role_names};
use crate::keys::limits::LIMITS;
use crate::keys::role::{PRESETS, ROLE};
use crate::nearest::nearest;
use crate::problem::Problem;
use crate::shape::Section;

impl Applying<'_> {
    pub(super) fn roles(&mut self, file: &Section) {
        let Some(roles) = file.section("roles") else { return };
        let mut waiting: Vec<(&str, &Section)> = roles.sections().collect();
        self.check_extended(&waiting);
        let mut missing: BTreeSet<&str> = waiting.iter().map(|(name, _)| *name).collect();
        // A role is done when what it extends is done; each round does at least one, or the rest is a circle.
        while !waiting.is_empty() {
            let ready = |(name, role): &(&str, &Section)| {
                let base = base_of(role);
                base == *name || !missing.contains(base)
            };
            let (now, later): (Vec<_>, Vec<_>) = waiting.into_iter().partition(ready);
            if now.is_empty() {
                return self.circle(&later);
            }
            for (name, role) in now {
                self.role(name, role);
                missing.remove(name);
            }
            waiting = later;
        }
    }

    fn role(&mut self, name: &str, section: &Section) {
        let mut role = self.begun(name, section);
        let preset = section.value("liveness.pings.preset");
        let named =
            preset.and_then(|found| PRESETS.iter().find(|(name, _)| found.value.to_string() == *name));
        if let (Some(found), Some((_, pings))) = (preset, named) {
            role.liveness.pings = Some(pings.clone());
            for part in ["activity_timeout", "interval", "timeout", "misses_max"] {
                self.note(role_key(name, &format!("liveness.pings.{part}")), found.place);
            }
        }
        for row in ROLE {
            if let Some(found) = section.value(row.name) {
                row.set(&mut role, &found.value);
                self.note(role_key(name, row.name), found.place);
            }
        }
        for row in LIMITS {
            if let Some(found) = section.value(&format!("limits.{}", row.name)) {
                let everybody = &self.applied.policies.resources.agent;
                row.set(role.limits.get_or_insert_with(|| everybody.clone()), &found.value);
                self.note(role_key(name, &format!("limits.{}", row.name)), found.place);
            }
        }
        if !self.applied.policies.set(role) {
            let problem = Problem::of_key(format!("roles.{name}"), "there are more than 256 roles");
            self.problems.push(problem.at(section.place));
        }
    }

    /// The role as it was, or as the one that it extends is.
    fn begun(&mut self, name: &str, section: &Section) -> Role {
        let base = base_of(section);
        let own = RoleName::from(name);
        let known = role_names(&self.applied.policies).contains(&own);
        let base = if known && section.value("extends").is_none() { name } else { base };
        let mut role = self.applied.policies.role(Some(&RoleName::from(base))).clone();
        if base != name {
            let Applied { set, .. } = &mut self.applied;
            let below = role_key(base, "");
            let taken: Vec<_> = set
                .iter()
                .filter_map(|(key, place)| Some((role_key(name, key.strip_prefix(&below)?), *place)))
                .collect();
            set.extend(taken);
            role.name = own;
        }
        role
    }

    fn check_extended(&mut self, roles: &[(&str, &Section)]) {
        let built_in = role_names(&self.applied.policies);
        let known: Vec<_> =
            built_in.iter().map(RoleName::as_str).chain(roles.iter().map(|(name, _)| *name)).collect();
        for (name, role) in roles {
            let Some(base) = role.text("extends").filter(|base| !known.contains(base)) else { continue };
            let place = role.value("extends").map(|found| found.place).unwrap_or_default();
            let problem =
                Problem::of_key(role_key(name, "extends"), format!("there is no role `{base}`")).at(place);
            let meant = nearest(base, known.iter().copied());
            self.problems.push(match meant {
                Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
                None => problem.hint(format!("known: {}", known.join(", "))),
            });
        }
    }

    fn circle(&mut self, roles: &[(&str, &Section)]) {
        for (name, role) in roles {
            let place = role.value("extends").map_or(role.place, |found| found.place);
            let message = format!("`{name}` extends itself, by way of the roles that it extends");
            self.problems.push(Problem::of_key(role_key(name, "extends"), message).at(place));
        }
    }
}

fn base_of(role: &Section) -> &str {
    role.text("extends").unwrap_or(DEFAULT_ROLE)
}
