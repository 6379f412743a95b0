//! What Prometheus reads, read as strictly as `promtool check metrics` does.

use std::collections::{BTreeMap, BTreeSet};

use crate::served::Served;

/// Samples by name and labels.
type Samples = BTreeMap<String, f64>;

#[tokio::test]
async fn h09_the_metrics_are_what_prometheus_expects_and_say_what_is_the_case() {
    let served = Served::new().await;
    served.beat("a").await;
    served.beat("a").await;
    served.admin("POST /v1/agents/a/nudge", "").await;
    let got = served.admin("GET /metrics", "").await;
    assert!(got.head.contains("content-type: text/plain; version=0.0.4"), "{}", got.head);
    let samples = read(&got.text);
    for (sample, expected) in [
        ("verger_build_info{version=\"0.1.0\"}", 1.0),
        ("verger_ready", 1.0),
        ("verger_signals_total{kind=\"heartbeat\"}", 2.0),
        ("verger_signals_total{kind=\"order\"}", 1.0),
        ("verger_signals_total{kind=\"spawn\"}", 0.0),
        ("verger_interventions_total{kind=\"nudge\"}", 1.0),
        ("verger_interventions_total{kind=\"termination\"}", 0.0),
        ("verger_agents{state=\"HEALTHY\"}", 1.0),
        ("verger_agents{state=\"STUCK\"}", 0.0),
        ("verger_agents_by_liveness{status=\"online\"}", 1.0),
        ("verger_breakers{state=\"OPEN\"}", 0.0),
        ("verger_commit_failures_total", 0.0),
        ("verger_blind_seconds_total{cause=\"store\"}", 0.0),
        ("verger_health_state_transitions_total{to=\"HEALTHY\"}", 1.0),
        ("verger_health_checks_timeout_total", 0.0),
        ("verger_health_checks_duration_seconds_count", 0.0),
        ("verger_trace_spans_dropped_total{reason=\"full\"}", 0.0),
        ("verger_dead_man_calls_total{result=\"failed\"}", 0.0),
    ] {
        assert_eq!(samples.get(sample), Some(&expected), "{sample}\n{}", got.text);
    }
    for sample in [
        "verger_commits_total",
        "verger_loop_turns_total",
        "verger_loop_turn_duration_seconds_count",
        "verger_loop_turn_duration_seconds_bucket{le=\"+Inf\"}",
        "verger_uptime_seconds",
    ] {
        assert!(samples.get(sample).is_some_and(|value| *value > 0.0), "{sample}\n{}", got.text);
    }
    served.started.stop();
}

#[tokio::test]
async fn as_many_agents_as_there_may_be_are_as_many_time_series_as_one() {
    let served = Served::new().await;
    served.beat("a").await;
    let one = read(&served.admin("GET /metrics", "").await.text).len();
    let beats: Vec<String> = (0..6_000).map(|n| format!("{{\"agentId\":\"agent-{n}\"}}\n")).collect();
    served.nobody("POST /v1/heartbeats", &beats.concat()).await;
    let many = read(&served.admin("GET /metrics", "").await.text);
    assert_eq!(many.len(), one);
    assert_eq!(many.get("verger_agents{state=\"HEALTHY\"}"), Some(&6_001.0));
    assert!(many.keys().all(|sample| !sample.contains("agent-")));
    served.started.stop();
}

/// Reads the text, and fails on whatever `promtool` would complain about.
fn read(text: &str) -> Samples {
    assert!(text.ends_with('\n'), "the last line ends too");
    let mut samples = Samples::new();
    let mut families = BTreeSet::new();
    let mut family: Option<(String, String)> = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, help) = help.split_once(' ').expect("a name and a help");
            assert!(!help.is_empty() && families.insert(name.to_owned()), "{line}");
            let kind = lines
                .next()
                .and_then(|line| line.strip_prefix(&format!("# TYPE {name} ")))
                .expect("its type");
            check_name(name, kind);
            family = Some((name.to_owned(), kind.to_owned()));
            continue;
        }
        let (sample, value) = line.rsplit_once(' ').expect("a sample and its value");
        let (name, labels) = sample.split_once('{').map_or((sample, None), |(name, rest)| (name, Some(rest)));
        let (of, kind) = family.as_ref().expect("a sample belongs to a family");
        let parts = ["_bucket", "_sum", "_count"].map(|part| format!("{of}{part}"));
        let is_part = kind == "histogram" && parts.iter().any(|part| part == name);
        assert!(is_part || kind != "histogram" && name == of, "samples of a family stand together: {line}");
        if let Some(labels) = labels {
            check_labels(labels.strip_suffix('}').expect("labels end"));
        }
        let value: f64 = value.parse().expect("a number");
        assert!(value.is_finite() && (kind == "gauge" || value >= 0.0), "{line}");
        assert!(samples.insert(sample.to_owned(), value).is_none(), "twice: {line}");
    }
    samples
}

/// The rules of `promtool`'s linter for names.
fn check_name(name: &str, kind: &str) {
    assert!(
        name.starts_with("verger_") && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
        "{name}"
    );
    assert!(matches!(kind, "counter" | "gauge" | "histogram"), "{name} is a {kind}");
    assert_eq!(name.ends_with("_total"), kind == "counter", "{name} is a {kind}");
    for word in name.split('_') {
        let bad = [
            "gauge",
            "counter",
            "count",
            "sum",
            "bucket",
            "milliseconds",
            "ms",
            "minutes",
            "hours",
            "percent",
        ];
        assert!(!bad.contains(&word), "{name}: {word}");
    }
}

fn check_labels(labels: &str) {
    for label in labels.split("\",") {
        let (name, value) = label.split_once("=\"").expect("a name and a value");
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase()), "{labels}");
        assert!(!value.trim_end_matches('"').is_empty(), "{labels}");
    }
}

#[test]
#[should_panic(expected = "is a gauge")]
fn a_gauge_that_is_called_a_total_is_found() {
    read("# HELP verger_x_total X.\n# TYPE verger_x_total gauge\nverger_x_total 1\n");
}
