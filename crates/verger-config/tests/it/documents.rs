//! Schema, reference page and example say what the loader does.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;
use verger_config::{Source, load, reference, schema};

use crate::{at_home, right};

const BEGIN: &str = "<!-- BEGIN GENERATED: configuration -->";
const END: &str = "<!-- END GENERATED: configuration -->";

fn book(file: &str) -> PathBuf {
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("cargo and nextest set it for every test");
    let root = Path::new(&own).ancestors().nth(2).expect("the crate is at crates/verger-config");
    root.join("docs/src/reference").join(file)
}

struct Validator {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Validator {
    fn new() -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("verger.json", schema()).expect("the schema is JSON");
        let index = compiler.compile("verger.json", &mut schemas).expect("the schema is a schema");
        Self { schemas, index }
    }

    fn allows(&self, yaml: &str) -> Result<(), String> {
        let value: Value = serde_saphyr::from_str(yaml).expect("valid YAML");
        self.schemas.validate(&value, self.index).map_err(|error| format!("{error:#}"))
    }
}

#[test]
fn l51_the_schema_allows_what_the_loader_allows() {
    let validator = Validator::new();
    let classic = include_str!("../fixtures/000-section-7.yaml");
    let example = fs::read_to_string(book("verger.yaml")).unwrap();
    for text in [classic, &example] {
        right(text);
        assert_eq!(validator.allows(text), Ok(()));
    }
}

#[test]
fn the_schema_refuses_what_the_loader_refuses() {
    let validator = Validator::new();
    for text in [
        "moed: full",
        "mode: fulll",
        "health_monitoring: {heartbeat: {interval_seconds: 0}}",
        "health_monitoring: {heartbeat: {interval_seconds: ten}}",
        "recovery: {jitter_percent: 130}",
        "recovery: {backoff: []}",
        "roles: {a: {modes: full}}",
        "spawn: {command: rm -rf x}",
        "fleet: {nudges: many}",
        "limits: {agent: {memory_mb: lots}}",
        "orchestrator: {webhook: {url: 'ftp://h'}}",
        "listen: 8374",
    ] {
        assert!(crate::loaded(text).is_err(), "the loader allows {text}");
        assert!(validator.allows(text).is_err(), "the schema allows {text}");
    }
}

#[test]
fn the_full_example_of_the_book_sets_every_section() {
    let source = Source::read(&book("verger.yaml")).unwrap();
    let configuration = load(Some(&source), &at_home()).unwrap_or_else(|problems| panic!("{problems}"));
    let set = configuration.effective().iter().filter(|row| row.origin != verger_config::Origin::Default);
    let sections: BTreeSet<_> = set.filter_map(|row| row.key.split('.').next()).collect();
    let schema = schema();
    let known: BTreeSet<_> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    let missing: Vec<_> = known.difference(&sections).filter(|name| **name != "mode").collect();
    assert_eq!(missing, Vec::<&&str>::new());
}

#[test]
fn the_page_of_configuration_says_what_the_loader_does() {
    let path = book("configuration.md");
    let page = fs::read_to_string(&path).expect("the page of configuration");
    let (before, rest) = page.split_once(BEGIN).expect("the page has a marker");
    let (_, after) = rest.split_once(END).expect("the page has an end marker");
    let made = format!("{before}{BEGIN}\n\n{}{END}{after}", reference());
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &made).expect("a writable page");
    } else {
        assert!(page == made, "{} is out of date: run `make docs-update`", path.display());
    }
}

/// The page of thresholds is made from the core's policies, so a threshold without a key is found here.
#[test]
fn every_threshold_of_the_core_has_a_key() {
    let page = fs::read_to_string(book("thresholds.md")).unwrap();
    let configuration = right("roles: {default: {limits: {tokens: 1}}}");
    let keys: BTreeSet<_> = configuration.effective().iter().map(|row| row.key.as_str()).collect();
    let named: Vec<_> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    assert!(150 < named.len(), "the page of thresholds was not read");
    let has_key = |name: &&&str| match **name {
        "limits" => keys.contains("roles.default.limits.tokens"),
        name => {
            let of_fleet = name.replacen("limits.", "fleet.", 1);
            keys.contains(of_fleet.as_str()) || keys.contains(format!("roles.default.{name}").as_str())
        }
    };
    let missing: Vec<_> = named.iter().filter(|name| !has_key(name)).collect();
    assert_eq!(missing, Vec::<&&str>::new());
}
