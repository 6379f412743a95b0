//! How much may be used: by one life of an agent, by one task, by the fleet (L12).

use verger_core::resources::{Limits, Policy};

use super::{nested, thresholds};
use crate::kind::{Kind, span};
use crate::shape::{Entry, section};

const TOKENS: Kind = Kind::Count { min: 1, max: 1 << 53 };

thresholds! {
    /// One set of limits. The names are those of an agent's settings in the HTTP interface.
    LIMITS: Limits;
    "tokens", |it| it.tokens, Kind::Optional(&TOKENS),
        "Tokens read and written.";
    "cost_usd", |it| it.cost_micros, Kind::Optional(&Kind::Money),
        "Money.";
    "wall_seconds", |it| it.wall, Kind::Optional(&span()),
        "Time: of the life, since the task was given, or of all agents together.";
    "memory_mb", |it| it.memory_bytes, Kind::Optional(&Kind::Size),
        "Memory of the process tree.";
    "cpu_percent", |it| it.cpu_millis, Kind::Optional(&Kind::Share { whole: 1_000, min: 1, max: 10_000_000 }),
        "Processor time; 100% is one core.";
}

/// Whose limits, and where they are kept.
pub(crate) struct Whose {
    pub(crate) name: &'static str,
    meaning: &'static str,
    pub(crate) at: fn(&mut Policy) -> &mut Limits,
}

/// Everybody who can be limited.
pub(crate) const WHOSE: [Whose; 3] = [
    Whose { name: "agent", meaning: "One life of an agent.", at: |it| &mut it.agent },
    Whose { name: "task", meaning: "One task, over all lives of its agent.", at: |it| &mut it.task },
    Whose { name: "fleet", meaning: "The fleet within `resources.fleet_window`.", at: |it| &mut it.fleet },
];

/// `limits:`.
pub(crate) fn entry() -> Entry {
    let all = WHOSE.iter().map(|whose| section_of(whose.name, whose.meaning)).collect();
    section("limits", all, "How much may be used. Who exceeds a limit is ended, as the mode allows.")
}

/// One set of limits under this name.
pub(crate) fn section_of(name: &'static str, meaning: &'static str) -> Entry {
    section(name, nested(LIMITS.iter().map(|row| (row.name, row.kind, row.meaning))), meaning)
}
