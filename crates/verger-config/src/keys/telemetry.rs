//! What is told of the monitor itself: traces, metrics, its log, and that it is there.

use verger_core::time::Span;

use crate::kind::{Kind, count, hundredths};
use crate::shape::{Entry, section, value};

/// How lines for the operator are written.
pub(crate) const FORMATS: &[&str] = &["text", "json"];
/// Which lines are written: `info` has a line for each change of state and each intervention, too.
pub(crate) const LEVELS: &[&str] = &["warn", "info"];
/// Often enough to be missed within a minute, and not so often that it is a load.
pub(crate) const PING_EVERY: Kind = Kind::Duration { min: Span::secs(1), max: Span::hours(24) };

/// A part of all traces.
pub(crate) const SHARE: Kind = hundredths(0, 100);

/// `telemetry:`.
pub(crate) fn entry() -> Entry {
    let log = vec![
        value("format", Kind::Choice(FORMATS), "How lines for the operator are written."),
        value("level", Kind::Choice(LEVELS), "`info` adds each change of state and each intervention."),
    ];
    let metrics = vec![value(
        "agents_max",
        count(0, 10_000),
        "Agents that `/metrics` names one by one, those in trouble first. Each is a time series.",
    )];
    let entries = vec![
        section("traces", traces(), "Where traces go, by OTLP over HTTP."),
        section("dead_man", dead_man(), "An address outside that is called for as long as all is well."),
        section("metrics", metrics, "What Prometheus gets."),
        section("log", log, "What the operator reads."),
    ];
    section("telemetry", entries, "What is told of the monitor itself.")
}

fn traces() -> Vec<Entry> {
    vec![
        value("endpoint", Kind::Url, "The receiver; without a path, `/v1/traces` is added."),
        value("headers", Kind::Env, "Headers that the receiver wants, such as a key."),
        value("sample_percent", SHARE, "The share of traces that begin here which is recorded."),
    ]
}

fn dead_man() -> Vec<Entry> {
    vec![
        value("url", Kind::Url, "The address. It should sound the alarm when it is no longer called."),
        value("interval", PING_EVERY, "How often it is called."),
    ]
}
