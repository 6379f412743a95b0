//! What people see of breakers.

use std::ops::Bound;

use super::call::{FailureKind, Mode, State};
use super::machine::{Breaker, Phase};
use super::name::BreakerName;
use super::registry::Breakers;
use crate::id::AgentId;
use crate::time::{Span, Timestamp};

/// One breaker, as people see it.
#[derive(Clone, Debug, PartialEq)]
pub struct BreakerView {
    /// Its name.
    pub name: BreakerName,
    /// Whether calls pass.
    pub state: State,
    /// How it is told to work.
    pub mode: Mode,
    /// Since when it is in this state.
    pub since: Timestamp,
    /// Failures in a row.
    pub failure_count: u16,
    /// When it opened, if it is not closed.
    pub opened_at: Option<Timestamp>,
    /// When it may be tried, or since when it is.
    pub half_open_at: Option<Timestamp>,
    /// How long until it may be tried.
    pub half_open_in: Option<Span>,
    /// When a call last failed.
    pub last_failure: Option<Timestamp>,
    /// How it failed.
    pub last_failure_kind: Option<FailureKind>,
    /// Calls in the window,
    pub calls: u8,
    /// those of them that failed,
    pub failures: u8,
    /// and those that were slow.
    pub slow: u8,
    /// Permits of this state that were not reported back.
    pub outstanding: u32,
}

/// How many breakers are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Closed.
    pub closed: u32,
    /// Open, those that a person holds open included.
    pub open: u32,
    /// Half open.
    pub half_open: u32,
}

impl Breaker {
    /// What people see of it.
    pub fn view(&self, name: &BreakerName, now: Timestamp) -> BreakerView {
        let (since, opened_at, half_open_at) = match self.phase {
            Phase::Closed { since } => (since, None, None),
            Phase::Open { since, until } => (since, Some(since), Some(until)),
            Phase::HalfOpen { opened_at, since, .. } => (since, Some(opened_at), Some(since)),
        };
        let state = self.state();
        let forced = self.mode == Mode::ForcedOpen;
        BreakerView {
            name: name.clone(),
            state,
            mode: self.mode,
            since,
            failure_count: self.streak,
            opened_at: if forced { Some(since) } else { opened_at },
            half_open_at,
            half_open_in: half_open_at.filter(|_| state == State::Open).map(|at| at.since(now)),
            last_failure: self.last_failure,
            last_failure_kind: self.last_failure.map(|_| self.last_failure_kind),
            calls: self.window.calls,
            failures: self.window.failures(),
            slow: self.window.slow_calls(),
            outstanding: self.outstanding(),
        }
    }
}

impl Breakers {
    /// One breaker.
    pub fn view(&self, now: Timestamp, name: &BreakerName) -> Option<BreakerView> {
        self.view_at(now, self.find(name)?)
    }

    /// All breakers of one agent, in order.
    pub fn of_agent(&self, now: Timestamp, agent: &AgentId) -> Vec<BreakerView> {
        let prefix = BreakerName::prefix_of(agent);
        self.group(&prefix, false).filter_map(|slot| self.view_at(now, slot)).collect()
    }

    /// Up to `limit` breakers after a name, in order.
    pub fn page(&self, now: Timestamp, after: Option<&BreakerName>, limit: usize) -> Vec<BreakerView> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let slots = self.names.range::<BreakerName, _>((from, Bound::Unbounded)).map(|(_, slot)| *slot);
        slots.filter_map(|slot| self.view_at(now, slot)).take(limit).collect()
    }

    /// How many are in which state. It looks at each.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for entry in self.slots.iter().filter_map(|slot| slot.entry.as_ref()) {
            match entry.breaker.state() {
                State::Closed => counts.closed += 1,
                State::Open => counts.open += 1,
                State::HalfOpen => counts.half_open += 1,
            }
        }
        counts
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    fn view_at(&self, now: Timestamp, slot: u32) -> Option<BreakerView> {
        self.entry(slot).map(|entry| entry.breaker.view(&entry.name, now))
    }
}
