//! Thresholds of circuit breakers, by what they stand before.

use verger_core::breaker::{Policies, Policy};

use super::{nested, thresholds};
use crate::kind::{Kind, count, hundredths, span, thousandths};
use crate::shape::{Entry, section};

thresholds! {
    /// Thresholds of one kind of breaker.
    BREAKER: Policy;
    "failure_threshold", |it| it.failure_threshold, count(1, 65_535),
        "So many failures in a row open it.";
    "open_for", |it| it.open_for, span(),
        "How long it stays open before it may be tried again.";
    "half_open_requests", |it| it.half_open_requests, count(1, 255),
        "How many calls may try it while it is half open; it closes when as many have succeeded.";
    "permit_timeout", |it| it.permit_timeout, span(),
        "How long a permit of a trying call is waited for.";
    "window", |it| it.window, count(1, 64),
        "Over how many calls the rates are taken.";
    "minimum_calls", |it| it.minimum_calls, count(1, 64),
        "With fewer calls than this in the window no rate opens it.";
    "failure_rate", |it| it.failure_rate, Kind::Optional(&thousandths(1, 100)),
        "Opens when this share of the calls in the window failed.";
    "slow_after", |it| it.slow_after, Kind::Optional(&span()),
        "Calls that take longer are slow.";
    "slow_rate", |it| it.slow_rate, thousandths(1, 100),
        "Opens when this share of the calls in the window was slow; needs `slow_after`.";
    "growth_percent", |it| it.growth_percent, hundredths(100, 1_000),
        "Each time it opens again, it stays open for this share of the time before; 200% doubles it.";
    "open_for_max", |it| it.open_for_max, span(),
        "It never stays open for longer than this, however often it opened.";
    "stable_after", |it| it.stable_after, span(),
        "After being closed for so long it begins with `open_for` again.";
    "outages_count", |it| it.outages_count, Kind::Bool,
        "Whether an outage of the provider is a failure of what this breaker stands before.";
}

/// A kind of breaker, and where its policy is.
pub(crate) struct Gate {
    pub(crate) name: &'static str,
    /// What 000 §7 calls it, or would.
    pub(crate) classic: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) at: fn(&mut Policies) -> &mut Policy,
}

/// All kinds.
pub(crate) const GATES: [Gate; 5] = [
    Gate { name: "tool", classic: "tool_execution", meaning: "An agent's tools.", at: |all| &mut all.tool },
    Gate {
        name: "checkpoint",
        classic: "checkpoint_write",
        meaning: "Where checkpoints are written.",
        at: |all| &mut all.checkpoint,
    },
    Gate {
        name: "api",
        classic: "external_api",
        meaning: "Endpoints, for one agent each.",
        at: |all| &mut all.api,
    },
    Gate {
        name: "recovery",
        classic: "recovery_attempt",
        meaning: "Attempts to recover an agent.",
        at: |all| &mut all.recovery,
    },
    Gate {
        name: "shared",
        classic: "shared",
        meaning: "What many agents depend on.",
        at: |all| &mut all.shared,
    },
];

/// The thresholds of 000 §7, under its names.
pub(crate) const CLASSIC: [(&str, &str); 3] = [
    ("failure_threshold", "failure_threshold"),
    ("recovery_timeout_seconds", "open_for"),
    ("half_open_requests", "half_open_requests"),
];

/// `breakers:`.
pub(crate) fn entry() -> Entry {
    let gates = GATES.iter().map(|gate| section(gate.name, rows(), gate.meaning)).collect();
    section("breakers", gates, "When circuit breakers open and close.")
}

fn rows() -> Vec<Entry> {
    nested(BREAKER.iter().map(|row| (row.name, row.kind, row.meaning)))
}
