//! The sections that are no thresholds: whom to tell, by what means to act, what single agents are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use verger_core::id::{AgentId, RoleName};
use verger_core::policy::{Mode, Policies};

use crate::apply::role_names;
use crate::keys::limits::LIMITS;
use crate::keys::service::RETENTION;
use crate::keys::traffic::TRAFFIC;
use crate::nearest::nearest;
use crate::problem::{Place, Problem};
use crate::settings::{
    AgentSettings, Alert, Command, Means, MeansBook, MeansPair, Notify, Orchestrator, Outward, Retention,
    Secret, Tls, Traffic, Webhook,
};
use crate::shape::{Found, Section};
use crate::value::{Field, Value};

/// Reads sections of one file; relative paths are meant from its folder.
pub(crate) struct Sections<'a> {
    pub(crate) file: &'a Section,
    pub(crate) folder: &'a Path,
    pub(crate) problems: &'a mut Vec<Problem>,
}

impl Sections<'_> {
    pub(crate) fn retention(&self) -> Retention {
        let mut retention = Retention::default();
        let Retention { history, events, checkpoints, messages, audit } = &mut retention;
        let fields: [&mut dyn Field; 5] = [history, events, checkpoints, messages, audit];
        for ((name, ..), field) in RETENTION.iter().zip(fields) {
            if let Some(found) = self.file.value(&format!("retention.{name}")) {
                field.set(&found.value);
            }
        }
        retention
    }

    pub(crate) fn traffic(&self) -> Traffic {
        let mut traffic = Traffic::default();
        for row in TRAFFIC {
            if let Some(found) = self.file.value(&format!("traffic.{}", row.name)) {
                row.set(&mut traffic, &found.value);
            }
        }
        traffic
    }

    /// Both files, or neither.
    pub(crate) fn tls(&mut self) -> Option<Tls> {
        let section = self.file.section("access.tls")?;
        let (cert, key) = (self.path(section, "cert"), self.path(section, "key"));
        if let (Some(cert), Some(key)) = (cert, key) {
            let client_ca = self.path(section, "client_ca");
            return Some(Tls { cert, key, client_ca });
        }
        self.missing("access.tls", section.place, "needs both `cert` and `key`");
        None
    }

    pub(crate) fn outward(&mut self) -> Outward {
        Outward { notify: self.notify(), orchestrator: self.orchestrator() }
    }

    fn notify(&mut self) -> Option<Notify> {
        let section = self.file.section("notify")?;
        let command = self.command(section);
        if command.is_none() {
            self.missing("notify", section.place, "needs a `command`");
        }
        Some(Notify { command: command?, events: texts(section, "events") })
    }

    fn orchestrator(&mut self) -> Option<Orchestrator> {
        let section = self.file.section("orchestrator.webhook")?;
        let webhook = self.webhook(section);
        if webhook.is_none() {
            self.missing("orchestrator.webhook", section.place, "needs a `url`");
        }
        Some(Orchestrator { webhook: webhook?, events: texts(section, "events") })
    }

    pub(crate) fn means(&mut self) -> MeansBook {
        let mut book = MeansBook { all: self.pair(self.file, ""), ..MeansBook::default() };
        let file = self.file;
        for (name, section) in file.section("roles").into_iter().flat_map(Section::sections) {
            let pair = self.pair(section, &format!("roles.{name}."));
            book.roles.insert(name.into(), pair);
        }
        for (name, section) in file.section("agents").into_iter().flat_map(Section::sections) {
            let pair = self.pair(section, &format!("agents.{name}."));
            book.agents.insert(name.into(), pair);
        }
        book.roles.retain(|_, pair| *pair != MeansPair::default());
        book.agents.retain(|_, pair| *pair != MeansPair::default());
        book
    }

    fn pair(&mut self, section: &Section, path: &str) -> MeansPair {
        let mut one = |name: &str| self.one_means(section.section(name)?, &format!("{path}{name}"));
        MeansPair { termination: one("termination"), spawn: one("spawn") }
    }

    fn one_means(&mut self, section: &Section, path: &str) -> Option<Means> {
        let webhook = section.section("webhook").map(|below| (self.webhook(below), below.place));
        match (self.command(section), webhook) {
            (Some(command), None) => return Some(Means::Command(command)),
            (None, Some((Some(webhook), _))) => return Some(Means::Webhook(webhook)),
            (None, Some((None, place))) => self.missing(&format!("{path}.webhook"), place, "needs a `url`"),
            (Some(_), Some(_)) => {
                self.missing(path, section.place, "has both a `command` and a `webhook`; keep one");
            }
            (None, None) => self.missing(path, section.place, "needs a `command` or a `webhook`"),
        }
        None
    }

    pub(crate) fn agents(&mut self, policies: &Policies) -> BTreeMap<AgentId, AgentSettings> {
        let file = self.file;
        let agents = file.section("agents").into_iter().flat_map(Section::sections);
        agents.map(|(id, section)| (AgentId::from(id), self.agent(id, section, policies))).collect()
    }

    fn agent(&mut self, id: &str, section: &Section, policies: &Policies) -> AgentSettings {
        let role = section.text("role").map(RoleName::from);
        if let (Some(role), Some(found)) = (&role, section.value("role")) {
            self.known_role(id, role, found, policies);
        }
        let mode = section.value("mode").map(|found| {
            let mut mode = Mode::Escalate;
            mode.set(&found.value);
            mode
        });
        let limits = section.section("limits").map(|below| {
            let of_role = policies.role(role.as_ref()).limits.clone();
            let mut limits = of_role.unwrap_or_else(|| policies.resources.agent.clone());
            for row in LIMITS {
                if let Some(found) = below.value(row.name) {
                    row.set(&mut limits, &found.value);
                }
            }
            limits
        });
        let task = section.text("task").map(Into::into);
        AgentSettings { role, task, mode, limits, nudge_channels: texts(section, "nudge.channels") }
    }

    fn known_role(&mut self, id: &str, role: &RoleName, found: &Found, policies: &Policies) {
        let known = role_names(policies);
        if known.contains(role) {
            return;
        }
        let names: Vec<_> = known.iter().map(RoleName::as_str).collect();
        let problem = Problem::of_key(format!("agents.{id}.role"), format!("there is no role `{role}`"));
        let hint = match nearest(role.as_str(), names.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("known: {}", names.join(", ")),
        };
        self.problems.push(problem.at(found.place).hint(hint));
    }

    pub(crate) fn alerting(&self) -> BTreeMap<String, Alert> {
        let conditions = self.file.section("health_monitoring.alerting");
        let alert = |(name, section): (&str, &Section)| {
            let channels = texts(section, "channels").unwrap_or_default();
            (name.to_owned(), Alert { channels, severity: section.text("severity").map(str::to_owned) })
        };
        conditions.into_iter().flat_map(Section::sections).map(alert).collect()
    }

    fn command(&self, section: &Section) -> Option<Command> {
        let argv = texts(section, "command")?;
        let env = match section.value("env").map(|found| &found.value) {
            Some(Value::Pairs(pairs)) => {
                pairs.iter().map(|(name, value)| (name.clone(), Secret::new(value.as_str()))).collect()
            }
            _ => Vec::new(),
        };
        Some(Command { argv, cwd: self.path(section, "cwd"), env })
    }

    fn webhook(&self, section: &Section) -> Option<Webhook> {
        let url = section.text("url")?.to_owned();
        Some(Webhook { url, secret_file: self.path(section, "secret_file") })
    }

    pub(crate) fn path(&self, section: &Section, name: &str) -> Option<PathBuf> {
        section.text(name).map(|path| self.folder.join(path))
    }

    /// Something of a section is missing; unless it is there and wrong, which was told already.
    fn missing(&mut self, path: &str, place: Place, what: &str) {
        if self.problems.iter().all(|problem| !problem.key.starts_with(&format!("{path}."))) {
            self.problems.push(Problem::of_key(path, format!("`{path}` {what}")).at(place));
        }
    }
}

fn texts(section: &Section, name: &str) -> Option<Vec<String>> {
    match &section.value(name)?.value {
        Value::Texts(texts) => Some(texts.clone()),
        _ => None,
    }
}
