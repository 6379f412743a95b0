//! Takes samples: of every agent in turn, and of those whose state has just changed.
//!
//! ```text
//! every tick ──► the next few agents ──┐
//!                                      ├─► look, between two turns of the loop ──► store
//! an event ────► whose state changed ──┘
//! ```
//!
//! A round goes through all agents once in [`every`](Sampling::every), a few at each tick, so that neither the loop nor
//! the disk notices; a fleet too large for that takes longer for a round. What changes between two samples is in the
//! journal, and a history is read from both: a sample that was lost takes nothing away but its counters.

use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use verger_api::{EventType, HealthSnapshot};
use verger_core::fleet::Fleet;
use verger_core::id::AgentId;
use verger_store::{JournalEvent, Moment, Sample};

use crate::monitor::{Calendar, Monitor, Unavailable};
use crate::wire;

/// A round is made in so many steps.
const STEPS: u32 = 12;
/// Events that are read at once.
const READ: usize = 256;

/// How often samples are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// From one sample of an agent to the next. Default: 60 s, which is 1,440 rows for a day of one agent.
    pub every: Duration,
    /// Samples in one second at most; beyond it the time from one to the next grows. Default: 200, which is half a
    /// billion rows in thirty days.
    pub per_second_max: u32,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { every: Duration::from_mins(1), per_second_max: 200 }
    }
}

impl Sampling {
    fn tick(&self) -> Duration {
        (self.every / STEPS).max(Duration::from_millis(1))
    }

    /// How many are looked at in one tick.
    fn quota(&self, agents: usize) -> usize {
        let most = u64::from(self.per_second_max).saturating_mul(self.tick().as_millis() as u64) / 1_000;
        agents.div_ceil(STEPS as usize).clamp(1, most.max(1) as usize)
    }
}

/// Takes samples until the monitor ends.
pub struct Sampler {
    monitor: Monitor,
    newest: watch::Receiver<i64>,
    sampling: Sampling,
    /// The last event that was looked at.
    seen: i64,
    /// Where the round goes on; none if it is over.
    place: Option<u32>,
    began: Instant,
}

impl Sampler {
    /// For this monitor. `newest` tells the number of the newest event on disk.
    pub fn new(monitor: Monitor, newest: watch::Receiver<i64>, sampling: Sampling) -> Self {
        Self { monitor, newest, sampling, seen: 0, place: Some(0), began: Instant::now() }
    }

    /// Takes samples until the monitor ends. What happened before is not looked at: nobody can say any more how agents
    /// were then.
    pub async fn run(mut self) {
        let archive = self.monitor.archive().clone();
        let newest = tokio::task::spawn_blocking(move || archive.newest_event()).await;
        // If it cannot be read, nothing is sampled out of turn before the next event tells where the journal ends.
        self.seen = newest.ok().and_then(Result::ok).unwrap_or(i64::MAX);
        let mut ticks = tokio::time::interval(self.sampling.tick());
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let done = tokio::select! {
                _ = ticks.tick() => self.go_on().await,
                changed = self.newest.changed() => match changed {
                    Ok(()) => self.follow().await,
                    Err(_) => return,
                },
            };
            // Somebody who is only busy is asked again at the next tick.
            if done == Err(Unavailable::Stopping) {
                return;
            }
        }
    }

    /// The next few agents of the round.
    async fn go_on(&mut self) -> Result<(), Unavailable> {
        if self.place.is_none() && self.began.elapsed() >= self.sampling.every {
            self.place = Some(0);
        }
        let Some(place) = self.place else { return Ok(()) };
        if place == 0 {
            self.began = Instant::now();
        }
        let sampling = self.sampling;
        let look = self.monitor.look(move |fleet, calendar| page(fleet, calendar, place, &sampling));
        let (at, seen, next) = look.await?;
        self.place = next;
        self.keep(at, &seen).await;
        Ok(())
    }

    /// Those whose state changed since the last event that was looked at.
    async fn follow(&mut self) -> Result<(), Unavailable> {
        let newest = *self.newest.borrow();
        self.seen = self.seen.min(newest);
        loop {
            let (archive, seen) = (self.monitor.archive().clone(), self.seen);
            let read = tokio::task::spawn_blocking(move || archive.events_after(seen, READ)).await;
            // What cannot be read now is read with the next events.
            let Ok(Ok(events)) = read else { return Ok(()) };
            let Some(last) = events.last() else { return Ok(()) };
            self.seen = last.id;
            for event in events.iter().filter(|event| event.kind == EventType::HealthStateChanged.as_str()) {
                self.sample_change(event).await?;
            }
        }
    }

    /// An agent as it is now, at the moment at which its state changed.
    async fn sample_change(&self, event: &JournalEvent) -> Result<(), Unavailable> {
        let Some((agent, life)) = event.agent.clone() else { return Ok(()) };
        let look = self.monitor.look(move |fleet, calendar| {
            let view = fleet.view(calendar.now(), &agent)?;
            (view.incarnation == life).then(|| (agent, wire::snapshot(&view, calendar)))
        });
        let Some((agent, seen)) = look.await? else { return Ok(()) };
        // If it has changed again since, the next event says so; this one was another state.
        if wire::state_after(event) == Some(seen.state) {
            self.keep(event.at, &[(agent, seen)]).await;
        }
        Ok(())
    }

    /// Hands samples to the store. One that cannot be written is followed by the next.
    async fn keep(&self, at: Moment, seen: &[(AgentId, HealthSnapshot)]) {
        let sample = |(agent, seen): &(AgentId, HealthSnapshot)| {
            let body = serde_json::to_string(seen).ok()?;
            Some(Sample { agent: agent.clone(), state: seen.state.as_str(), body })
        };
        let samples: Vec<Sample> = seen.iter().filter_map(sample).collect();
        if !samples.is_empty() {
            let _ = self.monitor.archive().put_samples(at, samples).await;
        }
    }
}

/// When it is, how the next few agents are, and where to go on.
type Seen = (Moment, Vec<(AgentId, HealthSnapshot)>, Option<u32>);

fn page(fleet: &Fleet, calendar: &Calendar, place: u32, sampling: &Sampling) -> Seen {
    let (views, next) = fleet.page(calendar.now(), place, sampling.quota(fleet.len()));
    let at = Moment { observed: calendar.now(), wall: calendar.wall_now() };
    (at, views.iter().map(|view| (view.id.clone(), wire::snapshot(view, calendar))).collect(), next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l46_a_round_takes_a_minute_unless_the_fleet_is_too_large_for_the_disk() {
        let sampling = Sampling::default();
        assert_eq!(sampling.quota(1), 1);
        assert_eq!(sampling.quota(1_200), 100, "a twelfth of them every five seconds");
        assert_eq!(sampling.quota(1_000_000), 1_000, "200 in each second, and not more");
    }
}
