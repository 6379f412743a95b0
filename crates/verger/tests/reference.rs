//! The page of default thresholds is made from the code, so that it cannot say anything else.
//!
//! What a threshold is for comes from the doc comment of its field, its value from the default policies themselves.
//! `UPDATE=1` (or `make docs-update`) writes the page; without it, a page that is out of date fails.

mod support;

use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::fs;

use verger_core::id::RoleName;
use verger_core::policy::Policies;
use verger_core::time::Span;
use verger_core::{breaker, cardinality, correlation, messages, recovery, resources, tasks, verdicts, waste};

const PAGE: &str = "docs/src/reference/thresholds.md";
const BEGIN: &str = "<!-- BEGIN GENERATED: thresholds -->";
const END: &str = "<!-- END GENERATED: thresholds -->";

/// The roles that are built in, as [`Policies::default`] has them; the first is for agents that claim none.
const ROLES: [&str; 5] = ["default", "critical", "active", "background", "standby"];

/// Heading, file below `crates/verger-core/src`, name of the struct, and where its values are found in a role.
const GROUPS: [(&str, &str, &str, &str); 25] = [
    ("What may be done", "policy/mod.rs", "Role", ""),
    ("Liveness", "liveness/policy.rs", "Policy", "liveness"),
    ("Heartbeats", "liveness/policy.rs", "Beats", "liveness.beats"),
    ("Pings", "liveness/policy.rs", "Pings", "liveness.pings"),
    ("Patience with waits", "waiting.rs", "Policy", "patience"),
    ("Progress", "progress.rs", "Policy", "progress"),
    ("Repetition", "signs/repetition.rs", "Policy", "repetition"),
    ("Errors", "signs/errors.rs", "Policy", "errors"),
    ("Tokens", "signs/tokens.rs", "Policy", "tokens"),
    ("Context", "signs/context.rs", "Policy", "context"),
    ("Visible work", "signs/output.rs", "Policy", "output"),
    ("Flapping", "flapping.rs", "Policy", "flapping"),
    ("Interventions in one agent", "intervention/policy.rs", "Policy", "intervention"),
    ("Interventions in the whole fleet", "intervention/policy.rs", "FleetLimits", "limits"),
    ("Circuit breakers, here of tools", "breaker/policy.rs", "Policy", "breakers.tool"),
    ("Checkpoint writes while a breaker is open", "breaker/policy.rs", "WritesPolicy", "writes"),
    ("Recovery", "recovery/policy.rs", "Policy", "recovery"),
    ("Messages", "messages/policy.rs", "Policy", "messages"),
    ("Tasks", "tasks/policy.rs", "Policy", "tasks"),
    ("The judge", "verdicts/policy.rs", "JudgePolicy", "judge"),
    ("The queen", "verdicts/policy.rs", "QueenPolicy", "queen"),
    ("Correlated failure", "correlation/policy.rs", "Policy", "correlation"),
    ("Resource limits", "resources/policy.rs", "Policy", "resources"),
    ("Waste", "waste.rs", "Policy", "waste"),
    ("How many agents are kept", "cardinality.rs", "Policy", "cardinality"),
];

#[test]
fn the_page_of_thresholds_says_what_the_policies_say() {
    let path = support::root().join(PAGE);
    let page = fs::read_to_string(&path).expect("the page of thresholds");
    let made = with_generated(&page, &tables());
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &made).expect("a writable page");
    } else {
        assert!(page == made, "{PAGE} is out of date: run `make docs-update`");
    }
}

#[test]
fn every_policy_of_the_core_is_on_the_page() {
    let sources = support::root().join("crates/verger-core/src");
    let missing: Vec<_> = support::files(&sources, ".rs")
        .into_iter()
        .filter(|path| fs::read_to_string(path).expect("a source").contains("pub struct Policy {"))
        .map(|path| path.strip_prefix(&sources).expect("below the sources").display().to_string())
        .filter(|path| !GROUPS.iter().any(|(_, file, _, _)| file == path))
        .collect();
    assert_eq!(missing, Vec::<String>::new());
}

/// The page with `generated` between its markers.
fn with_generated(page: &str, generated: &str) -> String {
    let (before, rest) = page.split_once(BEGIN).expect("the page has a marker");
    let (_, after) = rest.split_once(END).expect("the page has an end marker");
    format!("{before}{BEGIN}\n\n{generated}\n{END}{after}")
}

/// One table for each group of thresholds, and one of what the roles have of their own.
fn tables() -> String {
    let policies = Policies::default();
    let mut values = values(policies.role(None));
    values.extend(values_below("limits", &policies.limits));
    values.extend(values_of_machines());
    let sources = support::root().join("crates/verger-core/src");
    let mut page = String::new();
    for (heading, file, name, place) in GROUPS {
        let source = fs::read_to_string(sources.join(file)).expect("a source of the core");
        let rows: Vec<_> = fields(&source, name)
            .into_iter()
            .filter(|(field, _)| field != "name")
            .filter_map(|(field, meaning)| {
                let key = if place.is_empty() { field.clone() } else { format!("{place}.{field}") };
                Some(format!("| `{key}` | {} | {meaning} |", values.get(&key)?))
            })
            .collect();
        assert!(!rows.is_empty(), "no threshold of {name} in {file} was found");
        let _ = writeln!(page, "## {heading}\n\n| threshold | default | meaning |\n|---|---|---|");
        let _ = writeln!(page, "{}\n", rows.join("\n"));
    }
    page + &differences(&policies)
}

/// What the machines beside the agents do unless they are told otherwise.
fn values_of_machines() -> BTreeMap<String, String> {
    let breakers = breaker::Policies::default();
    let verdicts = verdicts::Policy::default();
    let all = [
        values_below("breakers.tool", &breakers.tool),
        values_below("writes", &breaker::WritesPolicy::default()),
        values_below("recovery", &recovery::Policy::default()),
        values_below("messages", &messages::Policy::default()),
        values_below("tasks", &tasks::Policy::default()),
        values_below("judge", &verdicts.judge),
        values_below("queen", &verdicts.queen),
        values_below("correlation", &correlation::Policy::default()),
        values_below("resources", &resources::Policy::default()),
        values_below("waste", &waste::Policy::default()),
        values_below("cardinality", &cardinality::Policy::default()),
    ];
    all.into_iter().flatten().collect()
}

/// What the built-in roles have of their own.
fn differences(policies: &Policies) -> String {
    let of = |name: &str| values(policies.role(Some(&RoleName::from(name))));
    let all = ROLES.map(of);
    let mut table = format!("## Roles\n\n| threshold | {} |\n|---|{}\n", ROLES.join(" | "), "---|".repeat(5));
    for key in all[0].keys().filter(|key| *key != "name") {
        let row: Vec<_> = all.iter().map(|role| role.get(key).map_or("", String::as_str)).collect();
        if row.iter().any(|value| *value != row[0]) {
            let _ = writeln!(table, "| `{key}` | {} |", row.join(" | "));
        }
    }
    table
}

fn values(role: &impl Debug) -> BTreeMap<String, String> {
    values_below("", role)
}

/// Every value in `it` by its path, read from how Rust prints it: one field or brace a line, nested by indentation.
fn values_below(place: &str, it: &impl Debug) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    let mut path: Vec<String> = Vec::new();
    let text = format!("{it:#?}");
    let mut lines = text.lines().skip(1).map(str::trim);
    while let Some(line) = lines.next() {
        if matches!(line, "}," | "}" | ")," | ")") {
            path.pop();
            continue;
        }
        let (field, value) = line.split_once(": ").unwrap_or(("", line));
        path.push(field.to_owned());
        if value.ends_with(['{', '(']) && !value.starts_with("Span") && !value.starts_with("Limit {") {
            continue;
        }
        let (opens, closes) = (['{', '(', '['], ['}', ')', ']']);
        let mut whole = value.trim_end_matches(',').to_owned();
        let mut depth = usize::from(value.ends_with(opens));
        while depth > 0 {
            let line = lines.next().expect("a value that was begun is ended");
            depth = depth + usize::from(line.ends_with(opens)) - usize::from(line.starts_with(closes));
            whole += line.trim_end_matches(',');
            whole.push(' ');
        }
        let parts = [place].into_iter().chain(path.iter().map(String::as_str));
        let key: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
        let key = key.join(".");
        // A reminder without words of its own has ours; any other threshold that is not set is none.
        let unset = if key.ends_with("nudge_template") { "built in" } else { "none" };
        values.insert(key, if whole == "None" { unset.to_owned() } else { plain(&whole) });
        path.pop();
    }
    values
}

/// A value as people write it.
fn plain(value: &str) -> String {
    let numbers: Vec<u64> =
        value.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect();
    let first = if value.starts_with('[') { Some("[") } else { value.split(['(', ' ', '{']).next() };
    match (first, numbers.as_slice()) {
        (Some("Span"), [millis]) => Span::millis(*millis).to_string(),
        (Some("Limit"), [count, window]) => format!("{count} in {}", Span::millis(*window)),
        (Some("["), millis) if value.contains("Span") => {
            let spans: Vec<_> = millis.iter().map(|millis| Span::millis(*millis).to_string()).collect();
            spans.join(", ")
        }
        _ => value.trim_matches('"').to_lowercase(),
    }
}

/// The public fields of a struct, in order, each with its doc comment in one line.
fn fields(source: &str, name: &str) -> Vec<(String, String)> {
    let opening = format!("pub struct {name} {{");
    let body = source.split_once(&opening).expect("the struct").1.split_once("\n}").expect("its end").0;
    let (mut fields, mut doc) = (Vec::new(), Vec::new());
    for line in body.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            doc.push(text.trim());
        } else if let Some((field, _)) = line.strip_prefix("pub ").and_then(|line| line.split_once(':')) {
            fields.push((field.to_owned(), doc.join(" ").replace('|', "\\|")));
            doc.clear();
        }
    }
    fields
}

/// The generator is held against sources and values of every shape.
mod checks {
    use super::*;

    #[derive(Debug)]
    #[expect(dead_code, reason = "only printed")]
    struct Outer {
        span: Span,
        count: u8,
        inner: Option<Inner>,
        nothing: Option<Inner>,
    }

    #[derive(Debug)]
    #[expect(dead_code, reason = "only printed")]
    struct Inner {
        on: bool,
        limit: verger_core::intervention::Limit,
    }

    #[test]
    fn values_are_found_at_every_depth() {
        let limit = verger_core::intervention::Limit { count: 6, window: Span::hours(1) };
        let outer =
            Outer { span: Span::secs(90), count: 3, inner: Some(Inner { on: true, limit }), nothing: None };
        let found: Vec<_> =
            values_below("a", &outer).into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(
            found,
            ["a.count=3", "a.inner.limit=6 in 1h", "a.inner.on=true", "a.nothing=none", "a.span=1m30s"]
        );
    }

    #[test]
    fn fields_are_found_with_what_they_mean() {
        let source = "pub struct A {\n    /// One.\n    /// Two | three.\n    pub b: u8,\n    c: u8,\n}\n";
        assert_eq!(fields(source, "A"), [("b".to_owned(), "One. Two \\| three.".to_owned())]);
    }

    #[test]
    fn a_page_keeps_what_stands_around_its_markers() {
        let page = format!("# A\n{BEGIN}\nold\n{END}\nz\n");
        assert_eq!(with_generated(&page, "new\n"), format!("# A\n{BEGIN}\n\nnew\n\n{END}\nz\n"));
    }
}
