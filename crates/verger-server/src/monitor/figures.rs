//! Figures of health checks and changes of state (004 §7.2), and how long turns of the loop take.
//!
//! A check is a question to an agent: a ping, which its pong answers, or an inquiry, which it fetches. One that is not
//! answered when the next is due has timed out.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use verger_core::effect::{Action, Effect, EffectKey, Outcome};
use verger_core::health::HealthState;
use verger_core::id::AgentId;

use crate::trace::Recent;

/// Checks under way that are remembered, at least; at most twice as many.
const UNDER_WAY: usize = 65_536;
/// Upper bounds of the parts of a histogram, in milliseconds.
pub(crate) const BOUNDS: [u64; 12] = [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Success,
    Failure,
    Timeout,
}

/// The figures.
#[derive(Debug)]
pub struct Figures {
    checks: Mutex<Checks>,
    ends: [AtomicU64; 3],
    /// How long checks took that were answered.
    pub(crate) durations: Histogram,
    /// How long turns of the loop took.
    pub(crate) turns: Histogram,
    transitions: [AtomicU64; 6],
    /// Agents that are named one by one.
    agents_max: AtomicUsize,
}

#[derive(Debug)]
struct Checks {
    pings: Recent<AgentId, (u32, Instant)>,
    inquiries: Recent<EffectKey, Instant>,
}

/// Lengths of time, counted by how long they are.
#[derive(Debug, Default)]
pub struct Histogram {
    parts: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
}

impl Default for Figures {
    fn default() -> Self {
        let checks = Checks { pings: Recent::new(UNDER_WAY), inquiries: Recent::new(UNDER_WAY) };
        Self {
            checks: Mutex::new(checks),
            ends: Default::default(),
            durations: Histogram::default(),
            turns: Histogram::default(),
            transitions: Default::default(),
            agents_max: AtomicUsize::new(0),
        }
    }
}

impl Figures {
    pub(crate) fn on_release(&self, Effect { key, action }: &Effect) {
        match action {
            Action::Ping => {
                let mut checks = self.lock();
                let is_open = checks.pings.take(&key.agent).is_some();
                checks.pings.put(key.agent.clone(), (key.seq, Instant::now()));
                drop(checks);
                if is_open {
                    self.count(End::Timeout);
                }
            }
            Action::Inquire { .. } => drop(self.lock().inquiries.put(key.clone(), Instant::now())),
            _ => {}
        }
    }

    pub(crate) fn on_outcome(&self, key: &EffectKey, outcome: Outcome) {
        let mut checks = self.lock();
        let is_done = outcome == Outcome::Delivered;
        if let Some(since) = checks.inquiries.take(key) {
            drop(checks);
            self.end(if is_done { End::Success } else { End::Failure }, since);
        } else if !is_done && checks.pings.get(&key.agent).is_some_and(|(seq, _)| *seq == key.seq) {
            // That a ping has left is not its answer.
            checks.pings.take(&key.agent);
            drop(checks);
            self.count(End::Failure);
        }
    }

    pub(crate) fn on_pong(&self, agent: &AgentId, seq: u32) {
        let mut checks = self.lock();
        if checks.pings.get(agent).is_some_and(|(sent, _)| *sent <= seq)
            && let Some((_, since)) = checks.pings.take(agent)
        {
            drop(checks);
            self.end(End::Success, since);
        }
    }

    pub(crate) fn on_change(&self, to: HealthState) {
        self.transitions[place(to)].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn show_agents(&self, most: usize) {
        self.agents_max.store(most, Ordering::Relaxed);
    }

    /// Agents that are named one by one, at most.
    pub(crate) fn agents_max(&self) -> usize {
        self.agents_max.load(Ordering::Relaxed)
    }

    /// Checks that were answered, that failed, and that nobody answered in time.
    pub(crate) fn ends(&self) -> [u64; 3] {
        self.ends.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    /// Changes by the state that they led to.
    pub(crate) fn transitions(&self) -> [u64; 6] {
        self.transitions.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    fn end(&self, end: End, since: Instant) {
        self.count(end);
        if end == End::Success {
            self.durations.add(since.elapsed());
        }
    }

    fn count(&self, end: End) {
        self.ends[end as usize].fetch_add(1, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Checks> {
        self.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a state stands in every list of them.
pub(crate) fn place(state: HealthState) -> usize {
    match state {
        HealthState::Unknown => 0,
        HealthState::Healthy => 1,
        HealthState::Degraded => 2,
        HealthState::Stuck => 3,
        HealthState::Failing => 4,
        HealthState::Terminated => 5,
    }
}

impl Histogram {
    pub(crate) fn add(&self, length: Duration) {
        let millis = length.as_millis();
        let part = BOUNDS.iter().position(|bound| millis <= u128::from(*bound)).unwrap_or(BOUNDS.len());
        self.parts[part].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(length.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// How many were at most as long as each bound, how many there were, and how long all were together, in seconds.
    pub(crate) fn read(&self) -> (Vec<(f64, u64)>, u64, f64) {
        let mut sum = 0;
        let mut all = self.parts.each_ref().map(|part| {
            sum += part.load(Ordering::Relaxed);
            sum
        });
        let count = std::mem::take(&mut all[BOUNDS.len()]);
        let parts = BOUNDS.iter().map(|bound| *bound as f64 / 1_000.0).zip(all).collect();
        (parts, count, self.micros.load(Ordering::Relaxed) as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use verger_core::id::Incarnation;

    fn ping(seq: u32) -> Effect {
        let key = EffectKey { agent: "a".into(), incarnation: Incarnation::FIRST, seq };
        Effect { key, action: Action::Ping }
    }

    #[test]
    fn l40_a_check_is_answered_fails_or_times_out_and_only_once() {
        let figures = Figures::default();
        figures.on_release(&ping(1));
        figures.on_outcome(&ping(1).key, Outcome::Delivered);
        assert_eq!(figures.ends(), [0, 0, 0], "it has merely left");
        figures.on_pong(&"a".into(), 1);
        figures.on_pong(&"a".into(), 1);
        assert_eq!(figures.ends(), [1, 0, 0]);
        figures.on_release(&ping(2));
        figures.on_release(&ping(3));
        assert_eq!(figures.ends(), [1, 0, 1], "the second was never answered");
        figures.on_outcome(&ping(3).key, Outcome::Refused);
        assert_eq!(figures.ends(), [1, 1, 1]);
        assert_eq!(figures.durations.read().1, 1, "only what was answered took a time");
    }

    #[test]
    fn l40_lengths_are_counted_up_to_each_bound() {
        let histogram = Histogram::default();
        for millis in [0, 1, 7, 99, 100, 20_000] {
            histogram.add(Duration::from_millis(millis));
        }
        let (parts, count, sum) = histogram.read();
        let counts: Vec<u64> = parts.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [2, 2, 3, 3, 3, 5, 5, 5, 5, 5, 5, 5], "one took longer than all of them");
        assert_eq!((count, format!("{sum:.3}").as_str()), (6, "20.207"));
    }
}
