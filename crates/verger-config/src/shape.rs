//! What a configuration may look like, as a tree of names; and holding a file against it.
//!
//! The tree is made from the tables in [`keys`](crate::keys) and read by the loader, the JSON Schema and the page of
//! documentation. Holding a file against it finds every unknown name and every wrong value; what fits is handed on as
//! a tree of values that know where they stand.

use std::collections::BTreeMap;

use crate::kind::{ITEMS_MAX, Kind};
use crate::nearest::nearest;
use crate::problem::{Place, Problem};
use crate::value::Value;
use crate::yaml::{Is, Key, Node};

/// A name that may be written, and what may stand behind it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) shape: Shape,
}

/// What may stand behind a name.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Value(Kind),
    Section(Vec<Entry>),
    /// Sections of one shape, under names that the user gives.
    Named(Vec<Entry>),
}

/// A value that fits, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) value: Value,
    pub(crate) place: Place,
}

/// A section of which everything that fits was kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Section {
    /// Where its name stands.
    pub(crate) place: Place,
    values: BTreeMap<String, Found>,
    sections: BTreeMap<String, Section>,
}

pub(crate) fn value(name: &'static str, kind: Kind, meaning: &'static str) -> Entry {
    Entry { name, meaning, shape: Shape::Value(kind) }
}

pub(crate) fn section(name: &'static str, entries: Vec<Entry>, meaning: &'static str) -> Entry {
    Entry { name, meaning, shape: Shape::Section(entries) }
}

impl Section {
    /// The value at a dotted name.
    pub(crate) fn value(&self, dotted: &str) -> Option<&Found> {
        match dotted.split_once('.') {
            None => self.values.get(dotted),
            Some((first, rest)) => self.sections.get(first)?.value(rest),
        }
    }

    /// The section at a dotted name.
    pub(crate) fn section(&self, dotted: &str) -> Option<&Self> {
        dotted.split('.').try_fold(self, |section, name| section.sections.get(name))
    }

    /// All sections in it, by name.
    pub(crate) fn sections(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.sections.iter().map(|(name, section)| (name.as_str(), section))
    }

    pub(crate) fn text(&self, dotted: &str) -> Option<&str> {
        match &self.value(dotted)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Holds the file against the tree.
pub(crate) struct Check<'a> {
    root: &'a [Entry],
    problems: &'a mut Vec<Problem>,
}

impl<'a> Check<'a> {
    pub(crate) fn new(root: &'a [Entry], problems: &'a mut Vec<Problem>) -> Self {
        Self { root, problems }
    }

    /// What fits of the whole file; everything else becomes a problem.
    pub(crate) fn document(mut self, node: &Node) -> Section {
        self.section(node, self.root, "", node.place)
    }

    fn section(&mut self, node: &Node, entries: &[Entry], path: &str, place: Place) -> Section {
        let mut section = Section { place, ..Section::default() };
        for (key, node) in self.entries(node, path) {
            let path = joined(path, &key.name);
            match entries.iter().find(|entry| entry.name == key.name) {
                Some(entry) => self.entry(node, entry, &path, key, &mut section),
                None => self.unknown(key, entries, &path),
            }
        }
        section
    }

    fn entry(&mut self, node: &Node, entry: &Entry, path: &str, key: &Key, section: &mut Section) {
        match &entry.shape {
            Shape::Value(kind) => match kind.read(node) {
                Ok(value) => {
                    section.values.insert(key.name.clone(), Found { value, place: node.place });
                }
                Err(why) => self.problems.push(wrong_value(path, key, node, &why)),
            },
            Shape::Section(entries) => {
                section.sections.insert(key.name.clone(), self.section(node, entries, path, key.place));
            }
            Shape::Named(entries) => {
                section.sections.insert(key.name.clone(), self.named(node, entries, path, key.place));
            }
        }
    }

    fn named(&mut self, node: &Node, entries: &[Entry], path: &str, place: Place) -> Section {
        let mut section = Section { place, ..Section::default() };
        let named = self.entries(node, path);
        if ITEMS_MAX < named.len() {
            let problem = Problem::of_key(path, format!("`{path}` has more than {ITEMS_MAX} entries"));
            self.problems.push(problem.at(place));
            return section;
        }
        for (key, node) in named {
            if key.name.is_empty() || 256 < key.name.len() || key.name.chars().any(char::is_control) {
                self.problems
                    .push(Problem::of_key(path, "a name must have from 1 to 256 letters").at(key.place));
                continue;
            }
            let below = self.section(node, entries, &joined(path, &key.name), key.place);
            section.sections.insert(key.name.clone(), below);
        }
        section
    }

    /// What stands in a section; one with nothing in it (all commented out) is empty, not wrong.
    fn entries<'n>(&mut self, node: &'n Node, path: &str) -> &'n [(Key, Node)] {
        match &node.is {
            Is::Map(entries) => entries,
            Is::Nothing => &[],
            _ => {
                let what = if path.is_empty() { "the file".to_owned() } else { format!("`{path}`") };
                let message = format!("{what} must be a section, not {}", node.described());
                self.problems.push(Problem::of_key(path, message).at(node.place));
                &[]
            }
        }
    }

    fn unknown(&mut self, key: &Key, siblings: &[Entry], path: &str) {
        let short: String = key.name.chars().take(60).collect();
        let problem = Problem::of_key(path, format!("unknown key `{short}`")).at(key.place);
        let hint = match nearest(&key.name, siblings.iter().map(|entry| entry.name)) {
            Some(meant) => Some(format!("did you mean `{meant}`?")),
            None => home(self.root, &key.name, "").map(|home| format!("`{short}` belongs under `{home}`")),
        };
        let names = || siblings.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
        self.problems.push(problem.hint(hint.unwrap_or_else(|| format!("known here: {}", names()))));
    }
}

fn wrong_value(path: &str, key: &Key, node: &Node, why: &str) -> Problem {
    let place = if matches!(node.is, Is::Nothing) { key.place } else { node.place };
    Problem::of_key(path, format!("`{}` {}", key.name, relative(why))).at(place)
}

/// Sentences that have a subject of their own are put behind a colon.
fn relative(why: &str) -> String {
    let follows = ["must ", "is ", "has "].iter().any(|start| why.starts_with(start));
    if follows { why.to_owned() } else { format!("is wrong: {why}") }
}

/// The section in which a name is known, wherever that is.
fn home(entries: &[Entry], name: &str, path: &str) -> Option<String> {
    let here = entries.iter().any(|entry| entry.name == name) && !path.is_empty();
    if here {
        return Some(path.to_owned());
    }
    entries.iter().find_map(|entry| match &entry.shape {
        Shape::Value(_) => None,
        Shape::Section(below) => home(below, name, &joined(path, entry.name)),
        Shape::Named(below) => home(below, name, &joined(&joined(path, entry.name), "<name>")),
    })
}

pub(crate) fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry> {
        let beats =
            vec![value("interval", crate::kind::span(), ""), value("timeout", crate::kind::span(), "")];
        vec![
            value("mode", Kind::Choice(&["full", "nudge"]), ""),
            section("beats", beats.clone(), ""),
            Entry { name: "roles", meaning: "", shape: Shape::Named(beats) },
        ]
    }

    fn checked(text: &str) -> (Section, Vec<String>) {
        let mut problems = Vec::new();
        let node = crate::yaml::parse(text, &mut problems).unwrap().unwrap();
        let section = Check::new(&entries(), &mut problems).document(&node);
        let told = |problem: &Problem| {
            let place = problem.place.unwrap_or_default();
            let hint = problem.hint.clone().unwrap_or_default();
            format!("{}:{} {} ({hint})", place.line, place.column, problem.message)
        };
        (section, problems.iter().map(told).collect())
    }

    #[test]
    fn what_fits_is_found_by_its_dotted_name() {
        let (section, problems) =
            checked("mode: full\nbeats: {interval: 5}\nroles: {a: {timeout: 7}, b: }\n");
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(section.text("mode"), Some("full"));
        assert_eq!(section.value("beats.interval").unwrap().value.to_string(), "5s");
        let roles: Vec<_> = section.section("roles").unwrap().sections().map(|(name, _)| name).collect();
        assert_eq!(roles, ["a", "b"]);
    }

    #[test]
    fn everything_that_does_not_fit_is_told_at_once() {
        let text = "moed: full\nmode: ful\nbeats: [1]\ntimeout: 5\nroles: {a: {interval: 0}}\nzzz: 1\n";
        insta::assert_snapshot!(checked(text).1.join("\n"), @r"
        1:1 unknown key `moed` (did you mean `mode`?)
        2:7 `mode` must be `full` or `nudge`, not the text `ful`; did you mean `full`? ()
        3:8 `beats` must be a section, not a list ()
        4:1 unknown key `timeout` (`timeout` belongs under `beats`)
        5:23 `interval` must not be zero ()
        6:1 unknown key `zzz` (known here: mode, beats, roles)
        ");
    }
}
