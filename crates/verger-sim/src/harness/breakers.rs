//! What became of every circuit breaker, in the monitor's own time, and what that did for the services behind them.

use std::collections::BTreeMap;

use serde::Serialize;
use verger_core::breaker::{BreakerName, State};
use verger_core::event::{Event, Fact};
use verger_core::time::Timestamp;

use super::report::Latency;
use super::seen::SeenTime;
use crate::world::{ServiceFacts, SimTime, Truth};

/// Every change of every breaker that was recorded, in order of time.
#[derive(Clone, Debug, Default)]
pub struct BreakerLog {
    turns: BTreeMap<BreakerName, Vec<Turned>>,
    opened: u64,
}

/// One change of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turned {
    /// When, in observed time.
    pub at: Timestamp,
    /// What it was from then on.
    pub to: State,
}

impl BreakerLog {
    /// A fact was recorded.
    pub fn on_event(&mut self, event: &Event) {
        let Fact::Breaker(change) = &event.fact else { return };
        let (from, to) = (change.transition.from, change.transition.to);
        if from == to {
            return;
        }
        self.opened += u64::from(from == State::Closed && to == State::Open);
        let turned = Turned { at: event.at, to };
        match self.turns.get_mut(&change.name) {
            Some(turns) => turns.push(turned),
            None => drop(self.turns.insert(change.name.clone(), vec![turned])),
        }
    }

    /// The changes of one breaker. It was closed before the first of them.
    pub fn of(&self, name: &BreakerName) -> &[Turned] {
        self.turns.get(name).map_or(&[], |turns| turns)
    }

    /// When this breaker, which was not closed then, first closed after a moment of observed time, if it did; nothing
    /// if it was closed.
    pub fn closed_after(&self, name: &BreakerName, at: u64) -> Option<Option<u64>> {
        let turns = self.of(name);
        let after = turns.partition_point(|turned| turned.at.as_millis() <= at);
        let shut = after.checked_sub(1).is_none_or(|last| turns[last].to == State::Closed);
        let closes = turns[after..].iter().find(|turned| turned.to == State::Closed);
        (!shut).then(|| closes.map(|turned| turned.at.as_millis()))
    }

    /// What breakers did for the services of a world.
    pub(super) fn report(&self, truth: &Truth, seen: &SeenTime) -> ServiceReport {
        let mut report = ServiceReport { breakers_opened: self.opened, ..ServiceReport::default() };
        for service in truth.services() {
            report.count_calls(service);
            if service.breaker.is_shared() {
                let ends = service.troubles.iter().filter_map(|trouble| trouble.ended);
                report.closings.extend(ends.filter_map(|well| self.closing(service, well, seen)));
            }
        }
        report.settle();
        report
    }

    /// How long after a service was well again, and wanted, its breaker closed, in seen milliseconds.
    fn closing(&self, service: &ServiceFacts, well: SimTime, seen: &SeenTime) -> Option<u64> {
        let closed = self.closed_after(&service.breaker, seen.at(well))??;
        let first = service.asks.partition_point(|ask| ask.at < well);
        let wanted = service.asks.get(first)?.at;
        Some(closed.saturating_sub(seen.at(wanted)))
    }
}

/// What circuit breakers did for the services behind them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceReport {
    /// Calls that were wanted while every one of them failed.
    pub wanted_in_vain: u64,
    /// How many of them were made.
    pub made_in_vain: u64,
    /// How many of those were made without asking, because the monitor was away or did not answer in time.
    pub unasked_in_vain: u64,
    /// How often a breaker opened.
    pub breakers_opened: u64,
    /// From the moment a service that many share was well again, and wanted, to the closing of its breaker, in time
    /// that the monitor could see. What one agent has for itself may not be wanted again for a night.
    pub closed_after_seconds: Latency,
    /// Every one of these, in milliseconds and in order.
    #[serde(skip)]
    pub closings: Vec<u64>,
}

impl ServiceReport {
    fn count_calls(&mut self, service: &ServiceFacts) {
        for trouble in service.troubles.iter().filter(|trouble| trouble.kind.is_outright()) {
            let from = service.asks.partition_point(|ask| ask.at < trouble.began);
            let within = |at: SimTime| trouble.ended.is_none_or(|ended| at < ended);
            for ask in service.asks[from..].iter().take_while(|ask| within(ask.at)) {
                self.wanted_in_vain += 1;
                self.made_in_vain += u64::from(ask.called.is_some());
                self.unasked_in_vain += u64::from(ask.called.is_some() && !ask.permitted);
            }
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.wanted_in_vain += other.wanted_in_vain;
        self.made_in_vain += other.made_in_vain;
        self.unasked_in_vain += other.unasked_in_vain;
        self.breakers_opened += other.breakers_opened;
        self.closings.extend_from_slice(&other.closings);
        self.settle();
    }

    fn settle(&mut self) {
        self.closed_after_seconds = Latency::of(&mut self.closings);
    }
}
