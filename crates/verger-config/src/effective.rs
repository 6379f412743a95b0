//! Every setting as it holds, with its origin: gathered while a configuration is made.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use verger_core::policy::{Policies, Role};

use crate::apply::{fleet_rows, role_key};
use crate::keys;
use crate::keys::breaker::{BREAKER, GATES};
use crate::keys::limits::{LIMITS, WHOSE};
use crate::keys::role::ROLE;
use crate::keys::service::RETENTION;
use crate::keys::traffic::TRAFFIC;
use crate::problem::Place;
use crate::settings::{Retention, Storage, Traffic};
use crate::shape::{Entry, Section, Shape, joined};
use crate::show::{Effective, Origin};
use crate::value::Field;

/// A list in the making.
pub(crate) struct Listing<'a> {
    file: Option<&'a Path>,
    rows: Vec<Effective>,
}

impl<'a> Listing<'a> {
    pub(crate) fn new(file: Option<&'a Path>) -> Self {
        Self { file, rows: Vec::new() }
    }

    /// The origin of what stands at a place in the file.
    pub(crate) fn at(&self, place: Place) -> Origin {
        self.file.map_or(Origin::Default, |file| Origin::file(file, place.line))
    }

    pub(crate) fn push(&mut self, key: impl Into<String>, value: String, origin: Origin) {
        self.rows.push(Effective { key: key.into(), value, origin });
    }

    /// Everything that the file can say and has a default.
    pub(crate) fn file(
        &mut self,
        file: &Section,
        policies: &Policies,
        set: &BTreeMap<String, Place>,
        storage: &Storage,
    ) {
        self.storage(file, storage);
        let mut policies = policies.clone();
        for row in fleet_rows() {
            let value = row.kind.shown(&(row.at)(&mut policies).get());
            self.threshold(row.name.to_owned(), value, set);
        }
        for gate in &GATES {
            for row in BREAKER {
                let value = row.kind.shown(&row.get((gate.at)(&mut policies.breakers)));
                self.threshold(format!("breakers.{}.{}", gate.name, row.name), value, set);
            }
        }
        for whose in &WHOSE {
            for row in LIMITS {
                let value = row.kind.shown(&row.get((whose.at)(&mut policies.resources)));
                self.threshold(format!("limits.{}.{}", whose.name, row.name), value, set);
            }
        }
        let mut roles = Vec::new();
        policies.each(|role| roles.push(role.clone()));
        for role in &mut roles {
            self.role(role, set);
        }
    }

    /// What the file says that has no default: programs, addresses, single agents, alerts. To be called last.
    pub(crate) fn rest(&mut self, file: &Section) {
        let known = self.rows.iter().map(|row| row.key.clone()).collect();
        self.written(file, keys::root(), "", &known);
    }

    fn storage(&mut self, file: &Section, storage: &Storage) {
        let durability = if storage.strict { "strict" } else { "normal" };
        let origin =
            |listing: &Self, key: &str| file.value(key).map_or(Origin::Default, |it| listing.at(it.place));
        self.push("durability", durability.to_owned(), origin(self, "durability"));
        let Retention { history, events, checkpoints, messages, audit } = &storage.retention;
        let fields: [&dyn Field; 5] = [history, events, checkpoints, messages, audit];
        for ((name, kind, _), field) in RETENTION.iter().zip(fields) {
            let key = format!("retention.{name}");
            let origin = origin(self, &key);
            self.push(key, kind.shown(&field.get()), origin);
        }
    }

    pub(crate) fn traffic(&mut self, file: &Section, traffic: &Traffic) {
        for row in TRAFFIC {
            let key = format!("traffic.{}", row.name);
            let origin = file.value(&key).map_or(Origin::Default, |found| self.at(found.place));
            self.push(key, row.kind.shown(&row.get(traffic)), origin);
        }
    }

    fn role(&mut self, role: &mut Role, set: &BTreeMap<String, Place>) {
        let name = role.name.to_string();
        let pinged = role.liveness.pings.is_some();
        // Looking at a ping's time would switch pings on, so whether they are on is looked at first.
        let shown = |row: &&keys::Threshold<Role>| pinged || !row.name.starts_with("liveness.pings.");
        let enabled = ROLE.iter().filter(|row| row.name == "liveness.pings.enabled" && !pinged);
        for row in ROLE.iter().filter(shown).chain(enabled) {
            let value = row.kind.shown(&(row.at)(role).get());
            self.threshold(role_key(&name, row.name), value, set);
        }
        if let Some(limits) = &role.limits {
            for row in LIMITS {
                let value = row.kind.shown(&row.get(limits));
                self.threshold(role_key(&name, &format!("limits.{}", row.name)), value, set);
            }
        }
    }

    fn threshold(&mut self, key: String, value: String, set: &BTreeMap<String, Place>) {
        let origin = set.get(&key).map_or(Origin::Default, |place| self.at(*place));
        self.push(key, value, origin);
    }

    fn written(&mut self, section: &Section, entries: &[Entry], path: &str, known: &BTreeSet<String>) {
        for entry in entries {
            let path = joined(path, entry.name);
            match &entry.shape {
                Shape::Value(kind) => {
                    if let Some(found) = section.value(entry.name).filter(|_| !known.contains(&path)) {
                        let origin = self.at(found.place);
                        self.push(path, kind.shown(&found.value), origin);
                    }
                }
                Shape::Section(below) => {
                    if let Some(section) = section.section(entry.name) {
                        self.written(section, below, &path, known);
                    }
                }
                Shape::Named(below) => {
                    for (name, section) in section.section(entry.name).into_iter().flat_map(Section::sections)
                    {
                        self.written(section, below, &joined(&path, name), known);
                    }
                }
            }
        }
    }

    pub(crate) fn done(self) -> Vec<Effective> {
        self.rows
    }
}
