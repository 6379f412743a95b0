//! YAML → a tree that knows where each of its parts stands.
//!
//! The parser checks syntax, expands aliases and merge keys within limits and infers the types of plain scalars. It
//! stops at its first complaint, so everything else (names, types, ranges) is checked on the tree, where all
//! complaints can be gathered. A repeated key stops it too; then the text is read once more with repeats kept, so that
//! every one of them is found.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Error, Location, Options, Spanned};

use crate::problem::{Place, Problem};

/// Deeper nesting is no configuration; ours goes seven levels down.
const DEPTH_MAX: usize = 24;
/// More parts than this are no configuration either. Reading as many takes a few hundredths of a second.
const NODES_MAX: usize = 50_000;
/// What aliases may add to that: enough to share a role's settings, too little to fill the memory.
const REPLAYED_MAX: usize = 10_000;

/// A part of the file.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) is: Is,
    pub(crate) place: Place,
    /// A plain scalar as it was written: `1.10` is a number, but as an argument of a command it stays `1.10`.
    pub(crate) written: String,
}

/// What a part is.
#[derive(Clone, Debug)]
pub(crate) enum Is {
    Nothing,
    Bool(bool),
    Integer(i128),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// A name on the left of a colon.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) place: Place,
}

impl Node {
    /// What it is, for a sentence that says that it should be something else.
    pub(crate) fn described(&self) -> String {
        match &self.is {
            Is::Nothing => "nothing".into(),
            Is::Bool(value) => format!("`{value}`"),
            Is::Integer(_) | Is::Number(_) => format!("the number {}", shortened(&self.written)),
            Is::Text(text) => format!("the text `{}`", shortened(text)),
            Is::List(_) => "a list".into(),
            Is::Map(_) => "a section".into(),
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Reads the text; `None` when it holds nothing but comments. Repeated keys are added to `problems`.
pub(crate) fn parse(text: &str, problems: &mut Vec<Problem>) -> Result<Option<Node>, Problem> {
    let read = |repeats| serde_saphyr::from_str_with_options::<Option<Spanned<Raw>>>(text, options(repeats));
    match read(DuplicateKeyPolicy::Error) {
        Ok(tree) => Ok(tree.map(|raw| placed(raw, text, problems))),
        Err(repeat) if is_repeat(&repeat) => {
            let before = problems.len();
            let tree = read(DuplicateKeyPolicy::LastWins).map_err(|error| complaint(&error))?;
            let node = tree.map(|raw| placed(raw, text, problems));
            // Repeated numbers are one key for the second reading; the first still knows of them.
            if problems.len() == before {
                problems.push(complaint(&repeat));
            }
            Ok(node)
        }
        Err(error) => Err(complaint(&error)),
    }
}

fn options(repeats: DuplicateKeyPolicy) -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEPTH_MAX,
            flow_nesting_limit: DEPTH_MAX,
            max_nodes: NODES_MAX,
            max_events: 4 * NODES_MAX,
            max_anchors: 256,
            max_aliases: 1_024,
            max_merge_keys: 256,
            max_recorded_anchor_events: REPLAYED_MAX,
            max_documents: 1,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: REPLAYED_MAX,
            max_replay_stack_depth: 8,
        },
        duplicate_keys: repeats,
        strict_booleans: true,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        with_snippet: false,
    }
}

fn is_repeat(error: &Error) -> bool {
    matches!(error.without_snippet(), Error::DuplicateMappingKey { .. })
}

/// What the parser did not like, in its words.
fn complaint(error: &Error) -> Problem {
    let text = error.render_with_formatter(&serde_saphyr::UserMessageFormatter);
    // It says the place too, which stands before every problem anyway.
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(before, _)| before);
    let problem = Problem::of_file(text.to_lowercase().trim_end_matches('.'));
    match error.location() {
        Some(location) if location != Location::UNKNOWN => problem.at(place(location)),
        _ => problem,
    }
}

fn place(location: Location) -> Place {
    let cut = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    Place { line: cut(location.line()), column: cut(location.column()), length: cut(location.span().len()) }
}

/// Gives every part its place, and finds names that stand twice in one section.
fn placed(raw: Spanned<Raw>, text: &str, problems: &mut Vec<Problem>) -> Node {
    let place = place(raw.defined);
    let is = match raw.value {
        Raw::Plain(is) => is,
        Raw::List(items) => Is::List(items.into_iter().map(|item| placed(item, text, problems)).collect()),
        Raw::Map(entries) => Is::Map(named(entries, text, problems)),
    };
    let span = raw.defined.span();
    let bytes = span.byte_offset().zip(span.byte_len());
    let written = bytes.and_then(|(from, length)| text.get(from as usize..(from + length) as usize));
    let written = match &is {
        Is::Bool(_) | Is::Integer(_) | Is::Number(_) => written.unwrap_or_default().trim().to_owned(),
        Is::Nothing | Is::Text(_) | Is::List(_) | Is::Map(_) => String::new(),
    };
    Node { is, place, written }
}

fn named(
    entries: Vec<(Spanned<String>, Spanned<Raw>)>,
    text: &str,
    problems: &mut Vec<Problem>,
) -> Vec<(Key, Node)> {
    let mut seen = std::collections::BTreeMap::new();
    let mut named = Vec::new();
    for (key, value) in entries {
        let key = Key { name: key.value, place: place(key.defined) };
        match seen.get(&key.name) {
            None => {
                seen.insert(key.name.clone(), key.place.line);
            }
            Some(line) => problems.push(
                Problem::of_key(&key.name, format!("`{}` stands twice", key.name))
                    .at(key.place)
                    .hint(format!("it is set in line {line} already; keep one of the two")),
            ),
        }
        let value = placed(value, text, problems);
        named.push((key, value));
    }
    named
}

/// A part as the parser gives it, before it is known where the file's text is.
enum Raw {
    Plain(Is),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyPart)
    }
}

struct AnyPart;

impl<'de> Visitor<'de> for AnyPart {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value, a list or a section")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Plain(Is::Nothing))
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Plain(Is::Nothing))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Plain(Is::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Plain(Is::Integer(value.into())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Plain(Is::Integer(value.into())))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Raw, E> {
        Ok(Raw::Plain(Is::Integer(value)))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Raw, E> {
        Ok(Raw::Plain(Is::Integer(i128::try_from(value).unwrap_or(i128::MAX))))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Plain(Is::Number(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Plain(Is::Text(value.to_owned())))
    }

    fn visit_string<E>(self, value: String) -> Result<Raw, E> {
        Ok(Raw::Plain(Is::Text(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Raw::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, Vec<String>) {
        let mut problems = Vec::new();
        let node = parse(text, &mut problems);
        let told = |problem: &Problem| {
            let place = problem.place.unwrap_or_default();
            format!("{}:{} {}", place.line, place.column, problem.message)
        };
        match node {
            Ok(node) => (node.map_or("-".into(), |node| shown(&node)), problems.iter().map(told).collect()),
            Err(problem) => ("refused".into(), vec![told(&problem)]),
        }
    }

    fn shown(node: &Node) -> String {
        let Place { line, column, .. } = node.place;
        let what = match &node.is {
            Is::Nothing => "nothing".into(),
            Is::Bool(_) | Is::Integer(_) | Is::Number(_) => format!("plain {}", node.written),
            Is::Text(text) => format!("{text:?}"),
            Is::List(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", ")),
            Is::Map(entries) => {
                let shown =
                    |(key, node): &(Key, Node)| format!("{}@{}: {}", key.name, key.place.line, shown(node));
                format!("{{{}}}", entries.iter().map(shown).collect::<Vec<_>>().join(", "))
            }
        };
        format!("{what}@{line}:{column}")
    }

    #[test]
    fn every_part_knows_where_it_stands() {
        let (tree, problems) = parsed("a: 1.10\nb:\n  c: [x, '2', ~]\n  d: true\n");
        assert_eq!(
            tree,
            r#"{a@1: plain 1.10@1:4, b@2: {c@3: ["x"@3:7, "2"@3:10, nothing@3:15]@3:6, d@4: plain true@4:6}@3:3}@1:1"#
        );
        assert_eq!(problems, Vec::<String>::new());
    }

    #[test]
    fn every_repeated_key_is_found() {
        let (_, problems) = parsed("a: 1\nb: {c: 1, c: 2}\na: 3\n");
        assert_eq!(problems, ["2:11 `c` stands twice", "3:1 `a` stands twice"]);
        let (_, problems) = parsed("1: a\n1: b\n");
        assert_eq!(problems.len(), 1, "{problems:?}");
    }

    #[test]
    fn what_an_alias_stands_for_stands_where_it_was_written() {
        let (tree, problems) = parsed("a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  b: 2\n");
        assert_eq!(
            tree,
            "{a@1: {b@1: plain 1@1:11}@1:7, c@2: {b@1: plain 1@1:11}@1:7, d@3: {b@5: plain 2@5:6}@4:3}@1:1"
        );
        assert_eq!(problems, Vec::<String>::new());
    }

    #[test]
    fn nothing_but_comments_is_nothing() {
        assert_eq!(parsed("# nothing\n").0, "-");
        assert_eq!(parsed("").0, "-");
    }

    #[test]
    fn what_is_no_yaml_is_refused_where_it_ends_to_be() {
        for text in ["a: [1", "a: b: c", "a: 1\n---\nb: 2", "a: *nowhere"] {
            let (tree, problems) = parsed(text);
            assert_eq!((tree.as_str(), problems.len()), ("refused", 1), "{text:?}: {problems:?}");
        }
    }
}
