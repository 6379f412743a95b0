//! Checkpoints that could not be written yet (L26).
//!
//! Every checkpoint goes through the queue of its breaker, one at a time and in order, because each builds on the one
//! before. The first in line is written as soon as the breaker lets it; it stays in line until its outcome is known,
//! so whatever happens meanwhile, nothing that was taken in is lost. While the breaker is open, or after a failure,
//! the line waits with a growing pause. If that lasts, people are told once, and once when it is over. A line that
//! is full refuses what comes on top, and says so: its owner still has it.
//!
//! Writing the same checkpoint twice must be harmless. A write whose outcome never comes is tried again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;

use super::call::{CallResult, Outcome};
use super::change::Change;
use super::name::BreakerName;
use super::pause::{PAUSE_MIN, longest_pause, pause_after};
use super::policy::WritesPolicy;
use super::registry::{Breakers, Permit};
use super::rows::BreakerRow;
use crate::id::{AgentId, CheckpointId};
use crate::record::{Damaged, from_row, to_row};
use crate::time::{Span, Timestamp};

/// All checkpoints that wait to be written, by the breaker that they wait behind.
#[derive(Debug)]
pub struct Writes {
    policy: WritesPolicy,
    queues: BTreeMap<BreakerName, Queue>,
    deadlines: BTreeSet<(Timestamp, BreakerName)>,
    changed: BTreeSet<BreakerName>,
}

/// The line behind one breaker.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Queue {
    /// In order; the first may be in flight.
    pub(crate) waiting: VecDeque<CheckpointId>,
    pub(crate) in_flight: Option<InFlight>,
    /// How often the first in line has failed.
    pub(crate) failures: u32,
    /// The first in line is not tried before.
    pub(crate) next_at: Timestamp,
    /// Since when nothing could be written.
    pub(crate) failing_since: Option<Timestamp>,
    /// Whether people were told that it lasts.
    pub(crate) alarmed: bool,
    /// Whether something was refused since there was last room.
    pub(crate) overflowed: bool,
}

/// The write that is under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct InFlight {
    pub(crate) permit: Permit,
    pub(crate) until: Timestamp,
}

/// What became of a checkpoint that was handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// It is to be written now; a [`WriteChange::Begin`] says so.
    Begun,
    /// It waits.
    Queued {
        /// How many are to be written before it.
        ahead: usize,
    },
    /// There is no room: it was not taken in, and its owner must hand it in again.
    Full,
}

/// How a write ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The checkpoint is safe.
    Written,
    /// It could not be written; it may be later.
    Failed,
    /// It can never be written: the store works and does not want it.
    Rejected,
}

/// What happened to checkpoints that are to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteChange {
    /// To do: write this checkpoint now, and say how it ended.
    Begin {
        /// The breaker that lets it.
        breaker: BreakerName,
        /// Which.
        id: CheckpointId,
        /// The how manieth try it is, from 1.
        attempt: u32,
    },
    /// It waits.
    Queued {
        /// Behind which breaker.
        breaker: BreakerName,
        /// Which.
        id: CheckpointId,
        /// How many are to be written before it.
        ahead: usize,
    },
    /// It was refused, as too many wait. Told once, until there is room again.
    Overflowed {
        /// Behind which breaker.
        breaker: BreakerName,
        /// The first that was refused.
        id: CheckpointId,
        /// How many wait there.
        waiting: usize,
    },
    /// It is safe.
    Written {
        /// Behind which breaker it was.
        breaker: BreakerName,
        /// Which.
        id: CheckpointId,
    },
    /// It left the line without having been written: the store or a person does not want it.
    Dropped {
        /// Behind which breaker it was.
        breaker: BreakerName,
        /// Which.
        id: CheckpointId,
    },
    /// An alert: nothing could be written for long.
    Persistent {
        /// Behind which breaker.
        breaker: BreakerName,
        /// Since when.
        since: Timestamp,
        /// How many wait.
        waiting: usize,
    },
    /// The end of that alert.
    Recovered {
        /// Behind which breaker.
        breaker: BreakerName,
        /// How long nothing could be written.
        lasted: Span,
    },
}

/// What a step of [`Writes`] works with.
#[derive(Debug)]
pub struct WriteStep<'a> {
    /// The time.
    pub now: Timestamp,
    /// The breakers that are asked.
    pub breakers: &'a mut Breakers,
    /// What happens to those.
    pub changes: &'a mut Vec<Change>,
    /// What happens to checkpoints.
    pub out: &'a mut Vec<WriteChange>,
}

/// A line, as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueView {
    /// Behind which breaker.
    pub breaker: BreakerName,
    /// Which checkpoints wait, in order.
    pub waiting: Vec<CheckpointId>,
    /// How often the first has failed.
    pub failures: u32,
    /// When it is tried next, unless it is being written now.
    pub next_at: Option<Timestamp>,
    /// Since when nothing could be written.
    pub failing_since: Option<Timestamp>,
}

impl Writes {
    /// Nothing waits.
    pub fn new(policy: WritesPolicy) -> Self {
        Self { policy, queues: BTreeMap::new(), deadlines: BTreeSet::new(), changed: BTreeSet::new() }
    }

    /// Another policy holds from now on; what waits waits no longer than that allows.
    pub fn set_policy(&mut self, now: Timestamp, policy: WritesPolicy) {
        self.policy = policy;
        self.deadlines.clear();
        for (name, queue) in &mut self.queues {
            queue.fit(now, &self.policy);
            self.deadlines.insert((queue.deadline(&self.policy), name.clone()));
        }
        self.mark_all();
    }

    /// A checkpoint is to be written. One that waits already keeps its place.
    pub fn submit(
        &mut self,
        step: &mut WriteStep<'_>,
        breaker: &BreakerName,
        id: &CheckpointId,
    ) -> Submitted {
        if !self.queues.contains_key(breaker) && self.policy.queues_max as usize <= self.queues.len() {
            step.out.push(WriteChange::Overflowed { breaker: breaker.clone(), id: id.clone(), waiting: 0 });
            return Submitted::Full;
        }
        self.step(step, breaker, Some(Queue::new(step.now)), |queue, policy, step| {
            queue.submit(step, breaker, id, policy)
        })
        .unwrap_or(Submitted::Full)
    }

    /// A write ended.
    pub fn on_outcome(
        &mut self,
        step: &mut WriteStep<'_>,
        breaker: &BreakerName,
        id: &CheckpointId,
        outcome: WriteOutcome,
    ) {
        self.step(step, breaker, None, |queue, policy, step| {
            queue.on_outcome(step, breaker, id, outcome, policy);
        });
    }

    /// Its breaker closed, or a person says that the store works: the first in line need not wait any longer.
    pub fn retry_now(&mut self, step: &mut WriteStep<'_>, breaker: &BreakerName) {
        self.step(step, breaker, None, |queue, policy, step| {
            queue.next_at = queue.next_at.min(step.now);
            queue.try_first(step, breaker, policy);
        });
    }

    /// A person gives a checkpoint up; tells whether it waited here.
    pub fn discard(&mut self, step: &mut WriteStep<'_>, breaker: &BreakerName, id: &CheckpointId) -> bool {
        let found = self.step(step, breaker, None, |queue, policy, step| {
            let found = queue.remove(step, breaker, id, CallResult::NotMade);
            if found.is_some() {
                step.out.push(WriteChange::Dropped { breaker: breaker.clone(), id: id.clone() });
                // It says nothing about the store: those behind it still count as failing.
                if queue.waiting.is_empty() {
                    queue.on_well(step, breaker);
                }
                queue.try_first(step, breaker, policy);
            }
            found.is_some()
        });
        found.unwrap_or(false)
    }

    /// The agent is gone, and what waited with it; each is told of.
    pub fn drop_agent(&mut self, step: &mut WriteStep<'_>, agent: &AgentId) {
        let lines: Vec<BreakerName> = self.lines_of(agent).cloned().collect();
        for breaker in lines {
            self.step(step, &breaker, None, |queue, _, step| queue.give_up(step, &breaker));
        }
    }

    /// When [`wake`](Self::wake) has something to do, if nothing comes in before.
    pub fn deadline(&self, now: Timestamp) -> Option<Timestamp> {
        self.deadlines.first().map(|(at, _)| (*at).max(now + Span::millis(1)))
    }

    /// Does everything that is due. Calling early is harmless.
    pub fn wake(&mut self, step: &mut WriteStep<'_>) {
        // A line that was looked at wants to be looked at later than now, so this ends.
        while let Some((_, breaker)) = self.deadlines.first().filter(|(at, _)| *at <= step.now).cloned() {
            self.step(step, &breaker, None, |queue, policy, step| queue.wake(step, &breaker, policy));
        }
    }

    /// One line, as people see it.
    pub fn view(&self, breaker: &BreakerName) -> Option<QueueView> {
        let (breaker, queue) = self.queues.get_key_value(breaker)?;
        Some(QueueView {
            breaker: breaker.clone(),
            waiting: queue.waiting.iter().cloned().collect(),
            failures: queue.failures,
            next_at: queue.in_flight.is_none().then_some(queue.next_at),
            failing_since: queue.failing_since,
        })
    }

    /// The breakers behind which something waits.
    pub fn breakers(&self) -> impl Iterator<Item = &BreakerName> {
        self.queues.keys()
    }

    /// Whether something waits behind this breaker.
    pub fn contains(&self, breaker: &BreakerName) -> bool {
        self.queues.contains_key(breaker)
    }

    /// Whether something of this agent waits.
    pub fn waits_for(&self, agent: &AgentId) -> bool {
        self.lines_of(agent).next().is_some()
    }

    /// Whether a row is to be written.
    pub fn has_changes(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Has every row written with the next ones.
    pub fn mark_all(&mut self) {
        self.changed.extend(self.queues.keys().cloned());
    }

    /// Takes the rows that changed since they were last taken.
    pub fn take_changed_rows(&mut self, push: &mut dyn FnMut(BreakerRow)) {
        for name in std::mem::take(&mut self.changed) {
            let bytes = self.queues.get(&name).map(to_row);
            push(BreakerRow { name, bytes });
        }
    }

    /// All lines from their rows.
    pub fn restore(
        policy: WritesPolicy,
        rows: impl IntoIterator<Item = (BreakerName, Vec<u8>)>,
        now: Timestamp,
    ) -> Result<Self, Damaged> {
        let mut writes = Self::new(policy);
        for (name, bytes) in rows {
            let mut queue: Queue = from_row(&bytes)?;
            queue.fit(now, &writes.policy);
            if queue.waiting.is_empty() || writes.queues.contains_key(&name) {
                return Err(Damaged);
            }
            writes.deadlines.insert((queue.deadline(&writes.policy), name.clone()));
            writes.queues.insert(name, queue);
        }
        Ok(writes)
    }

    fn lines_of(&self, agent: &AgentId) -> impl Iterator<Item = &BreakerName> {
        let prefix = BreakerName::prefix_of(agent);
        let from = self.queues.range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded));
        let names = from.map(|(name, _)| name).take_while(move |name| name.as_str().starts_with(&prefix));
        names.filter(|name| !name.is_shared())
    }

    /// Runs one step of one line, or of a new one if there is none, and keeps its deadline. Empty lines are gone.
    fn step<T>(
        &mut self,
        step: &mut WriteStep<'_>,
        breaker: &BreakerName,
        new: Option<Queue>,
        run: impl FnOnce(&mut Queue, &WritesPolicy, &mut WriteStep<'_>) -> T,
    ) -> Option<T> {
        if let Some(queue) = self.queues.get(breaker) {
            self.deadlines.remove(&(queue.deadline(&self.policy), breaker.clone()));
        }
        let mut queue = self.queues.remove(breaker).or(new)?;
        let result = run(&mut queue, &self.policy, step);
        if !queue.waiting.is_empty() {
            self.deadlines.insert((queue.deadline(&self.policy), breaker.clone()));
            self.queues.insert(breaker.clone(), queue);
        }
        self.changed.insert(breaker.clone());
        Some(result)
    }
}

impl Queue {
    fn new(now: Timestamp) -> Self {
        Self {
            waiting: VecDeque::new(),
            in_flight: None,
            failures: 0,
            next_at: now,
            failing_since: None,
            alarmed: false,
            overflowed: false,
        }
    }

    fn submit(
        &mut self,
        step: &mut WriteStep<'_>,
        breaker: &BreakerName,
        id: &CheckpointId,
        policy: &WritesPolicy,
    ) -> Submitted {
        if let Some(ahead) = self.waiting.iter().position(|waiting| waiting == id) {
            return Submitted::Queued { ahead };
        }
        let ahead = self.waiting.len();
        if usize::from(policy.queue_max.max(1)) <= ahead {
            if !std::mem::replace(&mut self.overflowed, true) {
                let (breaker, id) = (breaker.clone(), id.clone());
                step.out.push(WriteChange::Overflowed { breaker, id, waiting: ahead });
            }
            return Submitted::Full;
        }
        self.overflowed = false;
        self.waiting.push_back(id.clone());
        if ahead == 0 && self.try_first(step, breaker, policy) {
            return Submitted::Begun;
        }
        step.out.push(WriteChange::Queued { breaker: breaker.clone(), id: id.clone(), ahead });
        Submitted::Queued { ahead }
    }

    fn on_outcome(
        &mut self,
        step: &mut WriteStep<'_>,
        breaker: &BreakerName,
        id: &CheckpointId,
        outcome: WriteOutcome,
        policy: &WritesPolicy,
    ) {
        if outcome == WriteOutcome::Failed {
            if self.waiting.front() == Some(id) {
                self.on_failure(step, breaker, policy);
            }
            return;
        }
        // However late it is said: what is written need not be written again.
        let Some(place) = self.remove(step, breaker, id, CallResult::Ok) else { return };
        let (breaker_name, id) = (breaker.clone(), id.clone());
        step.out.push(match outcome {
            WriteOutcome::Written => WriteChange::Written { breaker: breaker_name, id },
            WriteOutcome::Failed | WriteOutcome::Rejected => {
                WriteChange::Dropped { breaker: breaker_name, id }
            }
        });
        if place == 0 {
            self.on_well(step, breaker);
            self.try_first(step, breaker, policy);
        }
    }

    fn wake(&mut self, step: &mut WriteStep<'_>, breaker: &BreakerName, policy: &WritesPolicy) {
        if self.in_flight.is_some_and(|flight| flight.until <= step.now) {
            self.on_failure(step, breaker, policy);
        }
        let persistent = |since: Timestamp| since + policy.persistent_after <= step.now;
        if let Some(since) = self.failing_since.filter(|since| !self.alarmed && persistent(*since)) {
            self.alarmed = true;
            let waiting = self.waiting.len();
            step.out.push(WriteChange::Persistent { breaker: breaker.clone(), since, waiting });
        }
        self.try_first(step, breaker, policy);
    }

    /// The earliest of: the first in line may be tried, its write has taken too long, people must be told.
    fn deadline(&self, policy: &WritesPolicy) -> Timestamp {
        let alarm = self.failing_since.filter(|_| !self.alarmed).map(|since| since + policy.persistent_after);
        let turn = self.in_flight.map_or(self.next_at, |flight| flight.until);
        alarm.map_or(turn, |alarm| alarm.min(turn))
    }

    /// Begins the write of the first in line if nothing is against it.
    fn try_first(&mut self, step: &mut WriteStep<'_>, breaker: &BreakerName, policy: &WritesPolicy) -> bool {
        if self.in_flight.is_some() || step.now < self.next_at {
            return false;
        }
        let Some(id) = self.waiting.front().cloned() else { return false };
        match step.breakers.acquire(step.now, breaker, step.changes) {
            Ok(permit) => {
                let until = step.now + policy.timeout.max(Span::millis(1));
                self.in_flight = Some(InFlight { permit, until });
                let attempt = self.failures.saturating_add(1);
                step.out.push(WriteChange::Begin { breaker: breaker.clone(), id, attempt });
                true
            }
            Err(denied) => {
                self.failing_since.get_or_insert(step.now);
                let pause =
                    denied.refusal.retry_after.clamp(Span::millis(1), policy.pause_max.max(PAUSE_MIN));
                self.next_at = step.now + pause;
                false
            }
        }
    }

    /// The write that was under way failed: the line waits, longer each time.
    fn on_failure(&mut self, step: &mut WriteStep<'_>, breaker: &BreakerName, policy: &WritesPolicy) {
        let Some(flight) = self.in_flight.take() else { return };
        let failed = Outcome::from(CallResult::Failed);
        step.breakers.report(step.now, breaker, flight.permit, failed, step.changes);
        self.failing_since.get_or_insert(step.now);
        self.next_at = step.now + pause_after(self.failures, breaker, policy);
        self.failures = self.failures.saturating_add(1);
    }

    /// Takes a checkpoint out of the line and tells its place; if its write was under way, the breaker is told how
    /// that ended.
    fn remove(
        &mut self,
        step: &mut WriteStep<'_>,
        breaker: &BreakerName,
        id: &CheckpointId,
        result: CallResult,
    ) -> Option<usize> {
        let at = self.waiting.iter().position(|waiting| waiting == id)?;
        self.waiting.remove(at);
        self.overflowed = false;
        if at == 0 {
            self.failures = 0;
            self.next_at = step.now;
            if let Some(flight) = self.in_flight.take() {
                step.breakers.report(step.now, breaker, flight.permit, result.into(), step.changes);
            }
        }
        Some(at)
    }

    /// Nothing in line is written any more.
    fn give_up(&mut self, step: &mut WriteStep<'_>, breaker: &BreakerName) {
        while let Some(id) = self.waiting.front().cloned() {
            self.remove(step, breaker, &id, CallResult::NotMade);
            step.out.push(WriteChange::Dropped { breaker: breaker.clone(), id });
        }
        self.on_well(step, breaker);
    }

    /// Nothing fails any more.
    fn on_well(&mut self, step: &mut WriteStep<'_>, breaker: &BreakerName) {
        let since = self.failing_since.take();
        if let Some(since) = since.filter(|_| std::mem::take(&mut self.alarmed)) {
            let lasted = step.now.since(since);
            step.out.push(WriteChange::Recovered { breaker: breaker.clone(), lasted });
        }
    }

    /// Makes sure that a damaged row holds nothing back for ever.
    fn fit(&mut self, now: Timestamp, policy: &WritesPolicy) {
        self.next_at = self.next_at.min(now + longest_pause(policy));
        self.failing_since = self.failing_since.map(|since| since.min(now));
        if let Some(flight) = &mut self.in_flight {
            flight.until = flight.until.min(now + policy.timeout.max(Span::millis(1)));
        }
    }
}
