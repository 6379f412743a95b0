//! The tables of the reference page `docs/src/reference/configuration.md`, from the same list of keys.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::apply::{DEFAULT_ROLE, role_key};
use crate::keys;
use crate::keys::breaker::{CLASSIC, GATES};
use crate::keys::health::{ALIASES, PER_HOUR, Whose};
use crate::load::{Surroundings, load};
use crate::shape::{Entry, Shape, joined};

/// One table for what stands at the top, and one for each section.
pub fn reference() -> String {
    let defaults = defaults();
    let plain = |entry: &&Entry| matches!(entry.shape, Shape::Value(_));
    let mut page = "## At the top\n\n".to_owned();
    table(&mut page, keys::root().iter().filter(plain).map(|entry| ("", entry)), &defaults);
    for entry in keys::root().iter().filter(|entry| !plain(entry)) {
        let (below, path) = match &entry.shape {
            Shape::Value(_) => continue,
            Shape::Section(below) => (below, entry.name.to_owned()),
            Shape::Named(below) => (below, format!("{}.<name>", entry.name)),
        };
        let _ = writeln!(page, "## `{}`\n\n{}\n", entry.name, entry.meaning);
        let mut rows = Vec::new();
        leaves(below, &path, &mut rows);
        table(&mut page, rows.iter().map(|(path, entry)| (path.as_str(), *entry)), &defaults);
    }
    page
}

fn leaves<'a>(entries: &'a [Entry], path: &str, rows: &mut Vec<(String, &'a Entry)>) {
    for entry in entries {
        match &entry.shape {
            Shape::Value(_) => rows.push((path.to_owned(), entry)),
            Shape::Section(below) => leaves(below, &joined(path, entry.name), rows),
            Shape::Named(below) => leaves(below, &format!("{}.<name>", joined(path, entry.name)), rows),
        }
    }
}

fn table<'a>(
    page: &mut String,
    rows: impl Iterator<Item = (&'a str, &'a Entry)>,
    defaults: &BTreeMap<String, String>,
) {
    page.push_str("| key | default | may be | meaning |\n|---|---|---|---|\n");
    for (path, entry) in rows {
        let Shape::Value(kind) = &entry.shape else { continue };
        let key = joined(path, entry.name);
        let default = default_of(&key, defaults);
        let _ = writeln!(page, "| `{key}` | {default} | {} | {} |", kind.described(), entry.meaning);
    }
    page.push('\n');
}

/// What holds without a file.
fn defaults() -> BTreeMap<String, String> {
    let environment = BTreeMap::from([("HOME".to_owned(), "/".to_owned())]);
    let surroundings = Surroundings { environment, ..Surroundings::default() };
    let loaded = load(None, &surroundings).map(|loaded| loaded.effective().to_vec()).unwrap_or_default();
    loaded.into_iter().map(|row| (row.key, row.value)).collect()
}

/// The default of a key, found under the name of the threshold that it sets.
fn default_of(key: &str, defaults: &BTreeMap<String, String>) -> String {
    let own = match key {
        "data_dir" => return "by the rule above".into(),
        "mode" | "roles.<name>.mode" => role_key(DEFAULT_ROLE, "mode"),
        "health_monitoring.enabled" => return "true".into(),
        "messages.open" => return "false".into(),
        _ => key.replace("roles.<name>.", &role_key(DEFAULT_ROLE, "")),
    };
    let known = classic(key).unwrap_or(own);
    defaults.get(&known).cloned().unwrap_or_default()
}

/// What a key of 000 §7 sets.
fn classic(key: &str) -> Option<String> {
    let name = key.strip_prefix("health_monitoring.")?;
    if let Some(overridden) = name.strip_prefix("circuit_breaker.overrides.") {
        let (gate, old) = overridden.split_once('.')?;
        let gate = GATES.iter().find(|known| known.classic == gate)?;
        let (_, new) = CLASSIC.iter().find(|(known, _)| *known == old)?;
        return Some(format!("breakers.{}.{new}", gate.name));
    }
    let alias = ALIASES.iter().chain([&PER_HOUR]).find(|alias| alias.name == name)?;
    let set = alias.sets.first()?;
    Some(match alias.whose {
        Whose::Fleet => (*set).to_owned(),
        Whose::WithoutRole | Whose::EveryRole => role_key(DEFAULT_ROLE, set),
    })
}
