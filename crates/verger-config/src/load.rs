//! File, environment and flags → one configuration, or everything that is wrong with them.
//!
//! Defaults < file < environment < flags. Nothing is half applied: there is a configuration, or there is a list.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use verger_core::time::Span;

use crate::apply::{Applied, apply};
use crate::effective::Listing;
use crate::keys;
use crate::kind::{self, Kind};
use crate::place_of_data::{Environment, chosen, variable};
use crate::problem::{Problem, Problems};
use crate::sections::Sections;
use crate::settings::{Client, Configuration, Secret, Server, Storage};
use crate::shape::{Check, Section};
use crate::show::Origin;
use crate::source::Source;
use crate::telemetry;
use crate::value::Value;
use crate::yaml;

/// Where the monitor answers unless it is told otherwise.
pub const LISTEN: &str = "127.0.0.1:8374";

/// What was typed on the command line.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--config`.
    pub config: Option<PathBuf>,
    /// `--data-dir`.
    pub data_dir: Option<PathBuf>,
    /// `--listen`.
    pub listen: Option<String>,
    /// `--insecure`.
    pub insecure: bool,
    /// `--url`.
    pub url: Option<String>,
    /// `--token`.
    pub token: Option<Secret>,
}

/// What surrounds the file.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// What was typed.
    pub flags: Flags,
    /// The environment.
    pub environment: Environment,
    /// Whether the program runs as root.
    pub root: bool,
}

impl Surroundings {
    /// Which file is meant: `--config`, else `$VERGER_CONFIG`. Without either there is none, and none is needed; one
    /// that lies about in the present folder is not read, as it may be a stranger's and names programs to run.
    pub fn file(&self) -> Option<PathBuf> {
        let variable = variable(&self.environment, "VERGER_CONFIG").map(PathBuf::from);
        self.flags.config.clone().or(variable)
    }
}

/// Reads the file that is meant, if any, and loads it.
pub fn read_and_load(surroundings: &Surroundings) -> Result<Configuration, Problems> {
    let source = surroundings.file().map(|path| Source::read(&path)).transpose()?;
    load(source.as_ref(), surroundings)
}

/// Makes a configuration of a file (or none) and what surrounds it.
pub fn load(source: Option<&Source>, surroundings: &Surroundings) -> Result<Configuration, Problems> {
    let mut loading = Loading { source, surroundings, problems: Vec::new() };
    let loaded = loading.run();
    if loading.problems.is_empty() {
        return Ok(loaded);
    }
    let (path, text) = source.map_or((Path::new("verger"), ""), |source| (source.path(), source.text()));
    Err(Problems::new(path, text, loading.problems))
}

struct Loading<'a> {
    source: Option<&'a Source>,
    surroundings: &'a Surroundings,
    problems: Vec<Problem>,
}

impl Loading<'_> {
    /// What there would be if there were no problems.
    fn run(&mut self) -> Configuration {
        let file = self.parsed();
        let Applied { policies, set } = apply(&file, &mut self.problems);
        let folder = self.source.map_or(Path::new(""), Source::folder);
        let mut sections = Sections { file: &file, folder, problems: &mut self.problems };
        let (tls, outward, means) = (sections.tls(), sections.outward(), sections.means());
        let agents = sections.agents(&policies);
        let (alerting, retention, traffic) = (sections.alerting(), sections.retention(), sections.traffic());
        let data_dir_of_file = sections.path(&file, "data_dir");
        let evaluate_within = match file.value("health_monitoring.health_check.interval_seconds") {
            Some(found) => as_span(&found.value),
            None => None,
        };
        let strict = file.text("durability") == Some("strict");
        let messages_open = file.value("messages.open").is_some_and(|found| found.value == Value::Bool(true));
        let mut listing = Listing::new(self.source.map(Source::path));
        let listen = self.listen(&file, &mut listing);
        let data_dir = self.data_dir(&file, data_dir_of_file, &mut listing);
        let client = self.client(&mut listing);
        let environment = &self.surroundings.environment;
        let mut reading = telemetry::Reading { file: &file, environment, problems: &mut self.problems };
        let telemetry = reading.telemetry(&mut listing);
        let insecure = self.surroundings.flags.insecure;
        self.check_reach(listen, tls.is_some(), &file);
        let server = Server { listen, data_dir, tls, insecure, messages_open };
        let storage = Storage { strict, evaluate_within, retention };
        listing.file(&file, &policies, &set, &storage);
        listing.traffic(&file, &traffic);
        listing.rest(&file);
        let effective = listing.done();
        Configuration {
            policies,
            server,
            traffic,
            storage,
            outward,
            means,
            agents,
            alerting,
            telemetry,
            client,
            effective,
        }
    }

    /// What fits of the file.
    fn parsed(&mut self) -> Section {
        let Some(source) = self.source else { return Section::default() };
        match yaml::parse(source.text(), &mut self.problems) {
            Ok(Some(node)) => Check::new(keys::root(), &mut self.problems).document(&node),
            Ok(None) => Section::default(),
            Err(problem) => {
                self.problems.push(problem);
                Section::default()
            }
        }
    }

    fn listen(&mut self, file: &Section, listing: &mut Listing<'_>) -> SocketAddr {
        let flag = self.surroundings.flags.listen.as_deref().map(|text| (text, Origin::Flag("--listen")));
        let variable = || {
            let text = variable(&self.surroundings.environment, "VERGER_LISTEN")?;
            Some((text, Origin::Environment("VERGER_LISTEN")))
        };
        let of_file = || {
            let found = file.value("listen")?;
            Some((file.text("listen")?, listing.at(found.place)))
        };
        let (text, origin) = flag.or_else(variable).or_else(of_file).unwrap_or((LISTEN, Origin::Default));
        let address = kind::address(text).unwrap_or_else(|why| {
            self.problems.push(Problem::of_outside(name_of(&origin), why));
            SocketAddr::from(([127, 0, 0, 1], 8374))
        });
        listing.push("listen", address.to_string(), origin);
        address
    }

    fn data_dir(&mut self, file: &Section, path: Option<PathBuf>, listing: &mut Listing<'_>) -> PathBuf {
        let of_file = path.zip(file.value("data_dir").map(|found| listing.at(found.place)));
        let Surroundings { flags, environment, root } = self.surroundings;
        match chosen(flags.data_dir.as_deref(), environment, of_file, *root) {
            Ok((path, origin)) => {
                listing.push("data_dir", path.display().to_string(), origin);
                path
            }
            Err(error) => {
                self.problems.push(Problem::of_outside("--data-dir", error));
                PathBuf::new()
            }
        }
    }

    fn client(&mut self, listing: &mut Listing<'_>) -> Client {
        let Surroundings { flags, environment, .. } = self.surroundings;
        let named =
            |name: &'static str| Some((variable(environment, name)?.to_owned(), Origin::Environment(name)));
        let url = flags.url.clone().map(|url| (url, Origin::Flag("--url"))).or_else(|| named("VERGER_URL"));
        let token = flags.token.clone().map(|token| (token, Origin::Flag("--token")));
        let variable = || named("VERGER_TOKEN").map(|(token, origin)| (Secret::new(token), origin));
        let token = token.or_else(variable);
        if let Some((url, origin)) = &url {
            if let Err(why) = kind::url(url) {
                self.problems.push(Problem::of_outside(
                    name_of(origin),
                    format!("`{}` {why}", Kind::Url.shown(&Value::Text(url.clone()))),
                ));
            }
            listing.push("url", Kind::Url.shown(&Value::Text(url.clone())), origin.clone());
        }
        let (is_set, origin) =
            token.as_ref().map_or(("not set", Origin::Default), |(_, it)| ("set", it.clone()));
        listing.push("token", is_set.to_owned(), origin);
        Client { url: url.map(|(url, _)| url), token: token.map(|(token, _)| token) }
    }

    /// Beyond this machine the monitor needs encryption, or somebody who asked for none.
    fn check_reach(&mut self, listen: SocketAddr, encrypted: bool, file: &Section) {
        if listen.ip().to_canonical().is_loopback() || encrypted || self.surroundings.flags.insecure {
            return;
        }
        let message = format!("listening at {listen}, beyond this machine, needs `access.tls`");
        let outside = self.surroundings.flags.listen.is_some()
            || variable(&self.surroundings.environment, "VERGER_LISTEN").is_some();
        let problem = match file.value("listen") {
            Some(found) if !outside => Problem::of_key("listen", message).at(found.place),
            _ => Problem { outside: true, ..Problem::of_key("listen", message) },
        };
        self.problems
            .push(problem.hint("give `access.tls` a `cert` and a `key`, or start it with `--insecure`"));
    }
}

fn name_of(origin: &Origin) -> &str {
    match origin {
        Origin::Environment(name) | Origin::Flag(name) => name,
        Origin::Default | Origin::File { .. } => "listen",
    }
}

fn as_span(value: &Value) -> Option<Span> {
    match value {
        Value::Duration(span) => Some(*span),
        _ => None,
    }
}
