//! What `/metrics` holds, held against its page in the book, the dashboard and the rules that are shipped.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::program::Place;
use crate::tools::tool;

const BEGIN: &str = "<!-- BEGIN GENERATED: metrics -->";
const END: &str = "<!-- END GENERATED: metrics -->";

/// The names of 004 §7.2, and their kinds.
const OF_004: [(&str, &str); 6] = [
    ("verger_health_checks_duration_seconds", "histogram"),
    ("verger_health_checks_success_total", "counter"),
    ("verger_health_checks_failure_total", "counter"),
    ("verger_health_checks_timeout_total", "counter"),
    ("verger_health_state_by_instance", "gauge"),
    ("verger_health_state_transitions_total", "counter"),
];

fn root() -> PathBuf {
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("cargo and nextest set it for every test");
    Path::new(&own).ancestors().nth(2).expect("the crate is at crates/verger").to_owned()
}

/// A metric: its name, kind, labels and meaning.
struct Metric {
    name: String,
    kind: String,
    labels: BTreeSet<String>,
    help: String,
}

/// All metrics of a monitor that names its agents.
fn metrics() -> Vec<Metric> {
    let place = Place::new();
    place.configure("telemetry:\n  metrics: {agents_max: 10}\n");
    let program = place.start();
    program.as_nobody("POST /v1/heartbeats", r#"[{"agentId":"a"},{"agentId":"b"}]"#);
    let text = program.text("/metrics");
    let mut metrics: Vec<Metric> = Vec::new();
    for line in text.lines().skip_while(|line| !line.starts_with('#')) {
        if let Some((name, help)) = line.strip_prefix("# HELP ").and_then(|rest| rest.split_once(' ')) {
            let (name, help) = (name.to_owned(), help.to_owned());
            metrics.push(Metric { name, kind: String::new(), labels: BTreeSet::new(), help });
        } else if let (Some(metric), Some((_, kind))) = (metrics.last_mut(), line.split_once("# TYPE ")) {
            kind.rsplit_once(' ').expect("a kind").1.clone_into(&mut metric.kind);
        } else if let (Some(metric), Some((_, labels))) = (metrics.last_mut(), line.split_once('{')) {
            let names = labels.split("\",").filter_map(|label| label.split_once("=\""));
            metric.labels.extend(names.map(|(name, _)| name.to_owned()));
        }
    }
    metrics
}

#[test]
fn l40_the_page_lists_every_metric_and_no_other() {
    let metrics = metrics();
    for (name, kind) in OF_004 {
        let found = metrics.iter().find(|metric| metric.name == name).map(|metric| metric.kind.as_str());
        assert_eq!(found, Some(kind), "{name}");
    }
    let mut table = "| metric | kind | labels | means |\n|---|---|---|---|\n".to_owned();
    for Metric { name, kind, labels, help } in &metrics {
        let labels: Vec<_> = labels.iter().map(|label| format!("`{label}`")).collect();
        let _ = writeln!(table, "| `{name}` | {kind} | {} | {help} |", labels.join(", "));
    }
    let path = root().join("docs/src/reference/metrics.md");
    let page = fs::read_to_string(&path).expect("the page of metrics");
    let (before, rest) = page.split_once(BEGIN).expect("the page has a marker");
    let (_, after) = rest.split_once(END).expect("the page has an end marker");
    let made = format!("{before}{BEGIN}\n\n{table}\n{END}{after}");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &made).expect("a writable page");
    } else {
        assert!(page == made, "{} is out of date: run `make docs-update`", path.display());
    }
}

/// Every name in a text that begins as ours do.
fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("verger_")).map(str::to_owned).collect()
}

#[test]
fn h09_the_dashboard_and_the_rules_ask_for_nothing_that_is_not_there() {
    let known: BTreeSet<String> = metrics()
        .into_iter()
        .flat_map(|metric| {
            let parts = if metric.kind == "histogram" { &["_bucket", "_sum", "_count"][..] } else { &[""] };
            parts.iter().map(move |part| format!("{}{part}", metric.name)).collect::<Vec<_>>()
        })
        .collect();
    for file in ["prometheus/verger.rules.yaml", "prometheus/verger.rules.test.yaml", "grafana/verger.json"] {
        let text = fs::read_to_string(root().join("deploy").join(file)).expect("it is shipped");
        let named = named(&text);
        assert!(named.len() > 5, "{file}");
        assert_eq!(named.difference(&known).collect::<Vec<_>>(), Vec::<&String>::new(), "{file}");
    }
}

#[test]
fn h09_the_dashboard_is_whole() {
    let text = fs::read_to_string(root().join("deploy/grafana/verger.json")).expect("it is shipped");
    let dashboard: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(dashboard["uid"], "verger");
    let panels = dashboard["panels"].as_array().expect("panels");
    let mut ids = BTreeSet::new();
    for panel in panels {
        assert!(ids.insert(panel["id"].as_u64().expect("a number")), "twice: {panel}");
        assert_eq!(panel["datasource"]["uid"], "${datasource}", "{panel}");
        let targets = panel["targets"].as_array().expect("questions");
        assert!(!targets.is_empty() && targets.iter().all(|it| it["expr"].is_string()), "{panel}");
        let at = &panel["gridPos"];
        assert!(at["x"].as_u64().zip(at["w"].as_u64()).is_some_and(|(x, w)| x + w <= 24), "{panel}");
    }
}

#[test]
fn h09_promtool_finds_the_rules_right_and_that_they_fire_when_they_should() {
    let folder = root().join("deploy/prometheus");
    for words in [["check", "rules", "verger.rules.yaml"], ["test", "rules", "verger.rules.test.yaml"]] {
        let run = Command::new(tool("promtool")).args(words).current_dir(&folder).output().expect("it runs");
        let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success() && said.contains("SUCCESS"), "{words:?}: {said}");
    }
    let rules = fs::read_to_string(folder.join("verger.rules.yaml")).expect("it is shipped");
    let tests = fs::read_to_string(folder.join("verger.rules.test.yaml")).expect("it is shipped");
    for alert in rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        let tried = tests.matches(&format!("alertname: {alert}\n")).count();
        assert!(tried >= 2, "{alert} is tried {tried} times: once it must fire, once it must not");
    }
}
