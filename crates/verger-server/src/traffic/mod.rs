//! How much is taken from whom (X13), and what is refused beyond it.
//!
//! ```text
//! connection ─► seats ─► head ─► body: size, and the weight of all ─► rate of its agent ─► queue
//!               503       431     413   503                           429                  503
//! ```
//!
//! Whatever can be made by others has a bound here or in the queue of the loop, so the memory of the monitor has one.
//! Each refusal is counted by its reason, and says when it is worth trying again.

mod patient;
mod rate;
mod seats;
mod weight;

use std::hash::Hash;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use verger_config::Traffic as Limits;

pub(crate) use patient::Patient;
pub(crate) use seats::{NoSeat, Seat, Work};
pub(crate) use weight::Share;

use rate::Rates;
use seats::Seats;
use weight::Weights;

/// Why something was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// There are as many connections as may be, and each is at work.
    Connections,
    /// The head of a request is too large.
    Head,
    /// A body is too large.
    Body,
    /// All bodies together are.
    Bodies,
    /// An agent or a reader sends too much.
    Rate,
    /// There are as many agents as may be.
    Agents,
    /// There are as many streams as may be.
    Streams,
}

/// As they are called in the metrics, in the order of the reasons.
const REASONS: [&str; 7] = ["connections", "head", "body", "bodies", "rate", "agents", "streams"];

/// Why a connection was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// It said nothing, and others wanted its place.
    Idle,
    /// It took next to nothing of its answer.
    Slow,
}

/// As they are called in the metrics.
const CUTS: [&str; 2] = ["idle", "slow"];

/// What is allowed, and what is under way.
#[derive(Debug)]
pub struct Traffic {
    limits: RwLock<Arc<Limits>>,
    weights: Arc<Weights>,
    agents: Rates,
    readers: Rates,
    seats: Arc<Seats>,
    streams: AtomicUsize,
    refused: [AtomicU64; REASONS.len()],
    cut: [AtomicU64; CUTS.len()],
}

/// A rate was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooOften {
    /// What is allowed, in a second.
    pub(crate) rate: u64,
    /// After this it may go on.
    pub(crate) again: Duration,
}

impl Traffic {
    /// With nothing under way.
    pub fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self {
            limits: RwLock::new(Arc::new(limits)),
            weights: Arc::default(),
            agents: Rates::default(),
            readers: Rates::default(),
            seats: Arc::default(),
            streams: AtomicUsize::new(0),
            refused: Default::default(),
            cut: Default::default(),
        })
    }

    /// What is allowed now.
    pub(crate) fn limits(&self) -> Arc<Limits> {
        Arc::clone(&self.limits.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Allows something else from now on. What is under way is not cut off for it.
    pub(crate) fn set_limits(&self, limits: Limits) {
        *self.limits.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(limits);
    }

    pub(crate) fn seats(&self) -> &Arc<Seats> {
        &self.seats
    }

    /// Room for a body, none at first.
    pub(crate) fn share(&self) -> Share {
        Share::new(&self.weights)
    }

    /// Whether more may come from this agent. Its own word and that of somebody who may not be it are counted apart, or
    /// a stranger could silence it.
    pub(crate) fn agent(&self, agent: &str, is_verified: bool) -> Result<(), TooOften> {
        let limits = self.limits.read().unwrap_or_else(PoisonError::into_inner);
        self.within(&self.agents, (agent, is_verified), limits.agent_rate, limits.agent_burst)
    }

    /// Something came from this agent.
    pub(crate) fn on_signal(&self, agent: &str, is_verified: bool) {
        let rate = self.limits.read().unwrap_or_else(PoisonError::into_inner).agent_rate;
        if let Some(rate) = rate {
            self.agents.spend((agent, is_verified), rate);
        }
    }

    /// One more request by this reader, unless there are too many.
    pub(crate) fn reader(&self, name: &str) -> Result<(), TooOften> {
        let limits = self.limits();
        self.within(&self.readers, name, limits.reader_rate, limits.reader_burst)?;
        if let Some(rate) = limits.reader_rate {
            self.readers.spend(name, rate);
        }
        Ok(())
    }

    fn within<K: Hash + Copy>(
        &self,
        rates: &Rates,
        who: K,
        rate: Option<u64>,
        burst: u32,
    ) -> Result<(), TooOften> {
        let Some(rate) = rate else { return Ok(()) };
        rates.allows(who, rate, burst).map_err(|again| {
            self.on_refused(Reason::Rate);
            TooOften { rate, again }
        })
    }

    /// Room for an answer that does not end, until this is dropped.
    pub(crate) fn stream(self: &Arc<Self>) -> Option<Streaming> {
        let most = self.limits().streams as usize;
        let place = self
            .streams
            .try_update(Ordering::Relaxed, Ordering::Relaxed, |open| (open < most).then_some(open + 1));
        if place.is_err() {
            self.on_refused(Reason::Streams);
        }
        place.is_ok().then(|| Streaming(Arc::clone(self)))
    }

    pub(crate) fn on_refused(&self, reason: Reason) {
        self.refused[reason as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn on_cut(&self, cut: Cut) {
        self.cut[cut as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// What is under way now.
    pub(crate) fn present(&self) -> Present {
        Present {
            connections: self.seats.len(),
            streams: self.streams.load(Ordering::Relaxed),
            bodies: self.weights.held(),
        }
    }

    /// What was refused up to now, by reason.
    pub(crate) fn refused(&self) -> impl Iterator<Item = (&'static str, u64)> {
        REASONS.into_iter().zip(self.refused.iter().map(|count| count.load(Ordering::Relaxed)))
    }

    /// How many connections were cut off, by reason.
    pub(crate) fn cut(&self) -> impl Iterator<Item = (&'static str, u64)> {
        CUTS.into_iter().zip(self.cut.iter().map(|count| count.load(Ordering::Relaxed)))
    }
}

/// What is under way.
pub(crate) struct Present {
    pub(crate) connections: usize,
    pub(crate) streams: usize,
    /// Bytes.
    pub(crate) bodies: u64,
}

/// An answer that does not end, while it does not.
#[derive(Debug)]
pub(crate) struct Streaming(Arc<Traffic>);

impl Drop for Streaming {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x13_so_many_streams_are_open_and_no_more() {
        let traffic = Traffic::new(Limits { streams: 2, ..Limits::default() });
        let open = [traffic.stream(), traffic.stream()];
        assert!(open.iter().all(Option::is_some) && traffic.stream().is_none());
        drop(open);
        assert!(traffic.stream().is_some());
        assert_eq!(traffic.refused().find(|(name, _)| *name == "streams"), Some(("streams", 1)));
    }

    #[test]
    fn x13_a_noisy_agent_is_held_back_and_its_neighbours_and_its_own_proven_word_are_not() {
        let traffic = Traffic::new(Limits { agent_rate: Some(1), agent_burst: 10, ..Limits::default() });
        for _ in 0..20 {
            traffic.on_signal("noisy", false);
        }
        let refused = traffic.agent("noisy", false).expect_err("it sent twice what it may");
        assert!(refused.rate == 1 && refused.again > Duration::from_secs(5), "{refused:?}");
        assert_eq!(traffic.agent("noisy", true), Ok(()));
        assert_eq!((0..1_000).filter(|n| traffic.agent(&n.to_string(), false).is_err()).count(), 0);
        traffic.set_limits(Limits { agent_rate: None, ..Limits::default() });
        assert_eq!(traffic.agent("noisy", false), Ok(()), "no limit is none");
    }
}
