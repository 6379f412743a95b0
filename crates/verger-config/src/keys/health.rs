//! `health_monitoring:`, the configuration of 000 §7, key by key.
//!
//! Each of its keys is another name for thresholds of the core. Timing of heartbeats is that of agents without a
//! role, as the roles of 001 have their own (L15); everything else holds for every role. What `roles:` says of a role
//! goes before.

use super::breaker::{BREAKER, CLASSIC, GATES};
use super::{desk, fleet, merge, nested, role};
use crate::kind::{Kind, count, span};
use crate::shape::{Entry, section, value};

/// Another name for thresholds.
pub(crate) struct Alias {
    pub(crate) name: &'static str,
    pub(crate) whose: Whose,
    /// The thresholds that it sets, by their own names.
    pub(crate) sets: &'static [&'static str],
}

/// For whom an alias holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Agents that claim no role.
    WithoutRole,
    /// Agents of every role.
    EveryRole,
    /// The fleet as one.
    Fleet,
}

const fn alias(name: &'static str, whose: Whose, sets: &'static [&'static str]) -> Alias {
    Alias { name, whose, sets }
}

/// All of them but the breakers, which are below.
pub(crate) const ALIASES: [Alias; 10] = [
    alias("heartbeat.interval_seconds", Whose::WithoutRole, &["liveness.beats.interval"]),
    alias("heartbeat.timeout_seconds", Whose::WithoutRole, &["liveness.beats.timeout"]),
    alias("health_check.checkpoint_stale_threshold_seconds", Whose::EveryRole, &["progress.stuck_after"]),
    alias("intervention.nudge.enabled", Whose::EveryRole, &["intervention.nudge_enabled"]),
    alias("intervention.nudge.max_attempts", Whose::EveryRole, &["intervention.nudges_max"]),
    alias("intervention.nudge.interval_seconds", Whose::EveryRole, &["intervention.nudge_interval"]),
    alias("intervention.escalation.timeout_seconds", Whose::EveryRole, &["intervention.escalation_timeout"]),
    alias(
        "intervention.termination.cleanup_timeout_seconds",
        Whose::EveryRole,
        &["intervention.cleanup_timeout"],
    ),
    alias("recovery.max_attempts_per_task", Whose::Fleet, &["recovery.attempts_max"]),
    alias("recovery.backoff_seconds", Whose::Fleet, &["recovery.backoff"]),
];

/// 000 does not say whose hour it is; the core's two limits both come from it.
pub(crate) const PER_HOUR: Alias =
    alias("recovery.max_attempts_per_hour", Whose::Fleet, &["recovery.agent_limit", "recovery.fleet_limit"]);

/// Conditions that 000 §7 alerts about.
pub(crate) const CONDITIONS: [(&str, &str); 3] = [
    ("stuck_agent", "An agent is stuck."),
    ("circuit_breaker_open", "A breaker opened."),
    ("recovery_failed", "Work could not be recovered."),
];

/// How bad a condition is.
pub(crate) const SEVERITIES: &[&str] = &["info", "warning", "error", "critical"];

/// `health_monitoring:`.
pub(crate) fn entry() -> Entry {
    let per_hour =
        (PER_HOUR.name, count(1, 65_535), "Starts within an hour, of one agent and of the whole fleet.");
    let mut entries = vec![value(
        "enabled",
        Kind::Bool,
        "Whether anything may be done about agents. `false` sets every role to `observe`.",
    )];
    merge(&mut entries, nested(ALIASES.iter().filter_map(row).chain([per_hour])));
    let check = value(
        "interval_seconds",
        span(),
        "How late an evaluation may be at most; the monitor never sleeps longer.",
    );
    merge(&mut entries, vec![section("health_check", vec![check], "")]);
    entries.push(breakers());
    entries.push(alerting());
    describe(&mut entries);
    section("health_monitoring", entries, "The configuration of 000 §7, unchanged.")
}

/// A key is written as the first threshold that it sets, and means the same.
fn row(alias: &Alias) -> Option<(&'static str, Kind, &'static str)> {
    let of_role = role::ROLE.iter().map(|row| (row.name, row.kind, row.meaning));
    let of_fleet = fleet::FLEET.iter().chain(desk::DESK).map(|row| (row.name, row.kind, row.meaning));
    let (_, kind, meaning) = of_role.chain(of_fleet).find(|(name, ..)| alias.sets.contains(name))?;
    Some((alias.name, kind, meaning))
}

fn breakers() -> Entry {
    let rows = || {
        let row = |(classic, name): &(&'static str, &str)| {
            let row = BREAKER.iter().find(|row| row.name == *name)?;
            Some(value(classic, row.kind, row.meaning))
        };
        CLASSIC.iter().filter_map(row).collect::<Vec<_>>()
    };
    let overrides = GATES.iter().map(|gate| section(gate.classic, rows(), gate.meaning)).collect();
    let both = vec![
        section("default", rows(), "Every breaker that has no override."),
        section("overrides", overrides, "Breakers by what they stand before."),
    ];
    section("circuit_breaker", both, "When circuit breakers open and close.")
}

fn alerting() -> Entry {
    let rows = || {
        vec![
            value("channels", Kind::Texts, "Where people are told, by the names of channels."),
            value("severity", Kind::Choice(SEVERITIES), "How bad it is."),
        ]
    };
    let conditions = CONDITIONS.iter().map(|(name, meaning)| section(name, rows(), meaning)).collect();
    section("alerting", conditions, "Who is told of what. Checked and kept, and not used until alerts exist.")
}

/// Sections that only 000 has.
fn describe(entries: &mut [Entry]) {
    const SECTIONS: [(&str, &str); 4] = [
        ("heartbeat", "Heartbeats of agents that claim no role."),
        ("health_check", "How often agents are judged, and when saved work is stale."),
        ("intervention", "Reminders, escalation, termination. Naming `termination` allows it (mode `full`)."),
        ("recovery", "How often work is recovered, and how long apart."),
    ];
    for entry in entries {
        if let Some((_, meaning)) = SECTIONS.iter().find(|(name, _)| *name == entry.name) {
            entry.meaning = meaning;
        }
    }
}
