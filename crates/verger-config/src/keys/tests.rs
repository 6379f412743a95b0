//! Each key alone: the loader takes it, it changes what holds, and the schema allows it.

use std::collections::BTreeMap;
use std::path::Path;

use verger_core::time::Span;

use super::root;
use crate::kind::Kind;
use crate::shape::{Entry, Shape, joined};
use crate::{Configuration, Source, Surroundings, load, schema};

/// Keys that need others beside them, as flow mappings are written.
const COMPANIONS: [(&str, &str); 15] = [
    ("access.tls.cert", "key: k"),
    ("access.tls.key", "cert: c"),
    ("access.tls.client_ca", "cert: c, key: k"),
    ("notify.cwd", "command: [c]"),
    ("notify.env", "command: [c]"),
    ("notify.events", "command: [c]"),
    ("orchestrator.webhook.secret_file", "url: 'http://h'"),
    ("orchestrator.webhook.events", "url: 'http://h'"),
    ("termination.cwd", "command: [c]"),
    ("termination.env", "command: [c]"),
    ("termination.webhook.secret_file", "url: 'http://h'"),
    ("spawn.cwd", "command: [c]"),
    ("spawn.env", "command: [c]"),
    ("spawn.webhook.secret_file", "url: 'http://h'"),
    ("slow_rate", "slow_after: 5m"),
];

#[test]
fn l51_each_key_alone_is_taken_changes_something_and_is_allowed_by_the_schema() {
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.add_resource("verger.json", schema()).unwrap();
    let index = compiler.compile("verger.json", &mut schemas).unwrap();
    let defaults = shown(&loaded(""));
    let mut keys = Vec::new();
    leaves(root(), "", &mut keys);
    assert!(300 < keys.len(), "{} keys", keys.len());
    for (key, kind) in keys {
        let text = document(&key, &sample(kind, &key, &defaults));
        let changed = shown(&loaded(&text)) != defaults;
        assert!(changed, "changes nothing: {text}");
        let json: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        schemas.validate(&json, index).unwrap_or_else(|error| panic!("{text}: {error:#}"));
    }
}

fn loaded(text: &str) -> Configuration {
    let source = Source::from_bytes(Path::new("v.yaml"), text.as_bytes()).unwrap();
    let environment = BTreeMap::from([("HOME".to_owned(), "/home/a".to_owned())]);
    let surroundings = Surroundings { environment, ..Surroundings::default() };
    load(Some(&source), &surroundings).unwrap_or_else(|problems| panic!("{text}\n{problems}"))
}

/// What holds, by key. Other names for thresholds do not count by themselves, only by what they set.
fn shown(configuration: &Configuration) -> BTreeMap<String, String> {
    let own = ["health_monitoring.alerting.", "health_monitoring.health_check.interval_seconds"];
    let counts =
        |key: &str| !key.starts_with("health_monitoring.") || own.iter().any(|own| key.starts_with(own));
    let rows = configuration.effective().iter().filter(|row| counts(&row.key));
    rows.map(|row| (row.key.clone(), row.value.clone())).collect()
}

fn leaves(entries: &[Entry], path: &str, keys: &mut Vec<(String, Kind)>) {
    for entry in entries {
        let path = joined(path, entry.name);
        match &entry.shape {
            Shape::Value(kind) => keys.push((path, *kind)),
            Shape::Section(below) => leaves(below, &path, keys),
            Shape::Named(below) => leaves(below, &joined(&path, "default"), keys),
        }
    }
}

/// A document with this key, and what it needs beside it.
fn document(key: &str, value: &str) -> String {
    let (path, name) = key.rsplit_once('.').unwrap_or(("", key));
    let companion = COMPANIONS.iter().find(|(known, _)| key.ends_with(known));
    let companion = companion.map(|(_, text)| format!(", {text}")).unwrap_or_default();
    let inner = format!("{{{name}: {value}{companion}}}");
    path.rsplit('.').filter(|part| !part.is_empty()).fold(inner, |below, part| format!("{{{part}: {below}}}"))
}

/// A value beside the default, as it would be written.
fn sample(kind: Kind, key: &str, defaults: &BTreeMap<String, String>) -> String {
    let default = defaults.get(key).map(String::as_str);
    let beside =
        |default: u64, min: u64, max: u64| if default < max { default + 1 } else { default.max(min + 1) - 1 };
    match kind {
        // It is on without being listed.
        Kind::Bool if key == "health_monitoring.enabled" || key.ends_with("nudge.enabled") => "false".into(),
        Kind::Bool => if default == Some("true") { "false" } else { "true" }.to_owned(),
        Kind::Count { min, max } => {
            let default = default.and_then(|text| text.parse().ok()).unwrap_or(min + 6);
            beside(default, min, max).to_string()
        }
        Kind::Duration { .. } => {
            let default = default.and_then(|text| crate::quantity::duration(text).ok());
            crate::quantity::shown_span(default.unwrap_or(Span::minutes(9)) + Span::secs(1))
        }
        Kind::Durations => "[7, 8m]".into(),
        Kind::Share { whole, min, max } => {
            let default = default.and_then(|text| text.strip_suffix('%')?.parse::<f64>().ok()).unwrap_or(1.0);
            let parts =
                (min..=max).find(|parts| default <= *parts as f64 * 100.0 / whole as f64).unwrap_or(max);
            let parts = beside(parts, min, max);
            format!("{}%", parts as f64 * 100.0 / whole as f64)
        }
        Kind::Size => "77MiB".into(),
        Kind::Money => "7.5".into(),
        Kind::Limit => "77 in 3h".into(),
        Kind::Choice(words) => words.iter().find(|word| Some(**word) != default).unwrap().to_string(),
        Kind::Choices(words) => format!("[{}]", words[0]),
        Kind::Text if key.ends_with("role") || key.ends_with("extends") => "standby".into(),
        Kind::Text | Kind::Path => "x".into(),
        Kind::Url => "'https://h/x'".into(),
        Kind::Address => "'127.0.0.1:1'".into(),
        Kind::Texts | Kind::Argv => "[x]".into(),
        Kind::Env | Kind::Pairs => "{A: b}".into(),
        Kind::Optional(kind) => sample(*kind, key, defaults),
    }
}
