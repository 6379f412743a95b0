//! A threshold of the core as a key: its name, what may be written, what it means, and where it goes.

use std::collections::BTreeMap;

use crate::kind::Kind;
use crate::shape::{Entry, Shape};
use crate::value::{Field, Value};

/// A key that sets one place in a policy.
pub(crate) struct Threshold<T: 'static> {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) meaning: &'static str,
    pub(crate) at: fn(&mut T) -> &mut dyn Field,
}

impl<T: Clone> Threshold<T> {
    pub(crate) fn get(&self, policy: &T) -> Value {
        (self.at)(&mut policy.clone()).get()
    }

    pub(crate) fn set(&self, policy: &mut T, value: &Value) {
        (self.at)(policy).set(value);
    }
}

/// Rows of a table: name, place, kind, meaning.
macro_rules! thresholds {
    ($(#[$doc:meta])* $table:ident: $policy:ty;
     $($name:literal, |$it:ident| $place:expr, $kind:expr, $meaning:literal;)*) => {
        $(#[$doc])*
        pub(crate) const $table: &[$crate::keys::Threshold<$policy>] = &[$(
            $crate::keys::Threshold { name: $name, kind: $kind, meaning: $meaning, at: |$it| &mut $place }
        ),*];
    };
}

pub(crate) use thresholds;

/// What the sections are that dotted names are made of.
const SECTIONS: [(&str, &str); 26] = [
    ("liveness", "Whether anybody is there."),
    ("beats", "Heartbeats that the agent pushes."),
    ("pings", "Pings, for agents with a channel that answers them. Setting any of these switches them on."),
    ("patience", "How long each kind of wait excuses silence."),
    ("progress", "When a lack of progress counts."),
    ("repetition", "How much repeating is too much."),
    ("errors", "How much failing is too much."),
    ("tokens", "What use of tokens is unusual."),
    ("context", "How long a full context is borne."),
    ("output", "How much invisible work is too much."),
    ("flapping", "When changes of state count as flapping."),
    ("intervention", "How far, how fast and how often to intervene."),
    ("fleet", "Limits on interventions in the whole fleet."),
    ("correlation", "When the failures of many agents are one incident."),
    ("cardinality", "How long and how many agents are remembered."),
    ("resources", "How limits on what agents use are judged; the limits themselves are in `limits`."),
    ("waste", "How savings are estimated."),
    ("writes", "How checkpoints wait that cannot be written while a breaker is open."),
    ("recovery", "How work goes on whose agent ended."),
    ("messages", "How long messages may stay unacknowledged, and who may send them."),
    ("tasks", "When a task counts as stalled."),
    ("judge", "When a worker's verdicts are reported."),
    ("queen", "When a person hears of it."),
    ("breakers", "When circuit breakers open and close."),
    ("bounds", "How many breakers there may be."),
    ("limits", "How much may be used."),
];

/// Dotted names as nested sections, in their order.
pub(crate) fn nested(rows: impl IntoIterator<Item = (&'static str, Kind, &'static str)>) -> Vec<Entry> {
    let meanings = BTreeMap::from(SECTIONS);
    let mut root = Vec::new();
    for (name, kind, meaning) in rows {
        let mut into: &mut Vec<Entry> = &mut root;
        let mut parts = name.split('.').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                into.push(Entry { name: part, meaning, shape: Shape::Value(kind) });
                break;
            }
            let at = into.iter().position(|entry| entry.name == part).unwrap_or_else(|| {
                let meaning = meanings.get(part).copied().unwrap_or_default();
                into.push(Entry { name: part, meaning, shape: Shape::Section(Vec::new()) });
                into.len() - 1
            });
            match &mut into[at].shape {
                Shape::Section(below) => into = below,
                Shape::Value(_) | Shape::Named(_) => break,
            }
        }
    }
    root
}
