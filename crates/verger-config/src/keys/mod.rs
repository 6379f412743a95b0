//! Every key that a configuration may have: one list, from which everything else is made.
//!
//! | file | keys |
//! |---|---|
//! | `health` | `health_monitoring:`, the schema of 000 §7 |
//! | `role` | thresholds of one role |
//! | `fleet`, `desk`, `breaker`, `limits` | thresholds of the machines beside the agents |
//! | `traffic` | how much is taken from whom |
//! | `service` | where the monitor listens, what it keeps, whom it tells, how it acts |
//! | `telemetry` | what is told of the monitor itself |
//!
//! Defaults are nowhere here: they are the core's, and are read from it.

pub(crate) mod breaker;
pub(crate) mod desk;
pub(crate) mod fleet;
pub(crate) mod health;
pub(crate) mod limits;
pub(crate) mod role;
pub(crate) mod service;
pub(crate) mod telemetry;
#[cfg(test)]
mod tests;
mod threshold;
pub(crate) mod traffic;

use std::sync::LazyLock;

pub(crate) use threshold::{Threshold, nested, thresholds};

use crate::shape::{Entry, Shape};

/// The whole tree, made once.
pub(crate) fn root() -> &'static [Entry] {
    static ROOT: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        let mut root = service::entries();
        root.push(telemetry::entry());
        root.push(health::entry());
        let fleet = fleet::FLEET.iter().chain(desk::DESK);
        merge(&mut root, nested(fleet.map(|threshold| (threshold.name, threshold.kind, threshold.meaning))));
        merge(&mut root, vec![breaker::entry(), limits::entry(), traffic::entry()]);
        root.push(role::entry());
        root.push(service::agents());
        root
    });
    &ROOT
}

/// Adds entries to a tree; sections that are there already get what is new below them.
pub(crate) fn merge(into: &mut Vec<Entry>, more: Vec<Entry>) {
    for entry in more {
        let known = into.iter_mut().find(|known| known.name == entry.name);
        match (known.map(|known| &mut known.shape), entry.shape) {
            (Some(Shape::Section(into)), Shape::Section(more)) => merge(into, more),
            (_, shape) => into.push(Entry { shape, ..entry }),
        }
    }
}
