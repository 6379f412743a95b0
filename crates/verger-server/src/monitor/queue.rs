//! The way into the loop: one bounded queue, and the answers' way back.
//!
//! Whoever hands something over hands it over as a whole, a request's thousand heartbeats as one delivery: so a
//! lock is taken and a waiting caller woken once for all of them.
//!
//! When it is full the oldest heartbeats make room, first those of whoever sent more than a fair share: the next one makes
//! the last one worthless, and its sender is told. Nothing else is ever dropped; what does not fit is turned away at once.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use verger_core::fleet::Fleet;
use verger_core::id::AgentId;
use verger_core::policy::Policies;
use verger_core::signal::Body;
use verger_engine::{Answer, Message, Settings};

use super::Calendar;
use crate::trace::Context;

/// Messages that may wait. At a million a second they are a tenth of a second's work.
pub(crate) const MESSAGES_MAX: usize = 65_536;
/// So much room is made at once: whoever looks for it looks at all that waits.
const ROOM: usize = MESSAGES_MAX / 8;
/// The loop takes so many out at once, so that the others can still make room.
const HANDFUL: usize = 4_096;
/// Questions that may wait.
const LOOKS_MAX: usize = 4_096;

/// What one caller hands over at once.
pub(crate) struct Delivery {
    pub(crate) messages: Vec<Message>,
    /// Who waits for all the answers, in the order of the messages.
    pub(crate) answers: Option<oneshot::Sender<Result<Vec<Answer>, Unavailable>>>,
    /// The trace in which they came.
    pub(crate) context: Option<Context>,
}

impl Delivery {
    /// Whether the next one makes it worthless.
    fn is_vital(&self) -> bool {
        let is_vital = |message: &Message| {
            matches!(message, Message::Signal(signal)
                if matches!(signal.content.body, Body::Heartbeat(_) | Body::Activity | Body::Load(_)))
        };
        self.messages.iter().all(is_vital)
    }

    /// Whose it is. One that many agents share counts as its first one's.
    fn sender(&self) -> Option<&AgentId> {
        match self.messages.first()? {
            Message::Signal(signal) => Some(&signal.agent),
            _ => None,
        }
    }
}

/// Somebody looks at the fleet.
pub(crate) type Look = Box<dyn FnOnce(&Fleet, &Calendar) + Send>;

/// Other policies, and another pace.
pub(crate) type Change = Box<(Policies, Settings)>;

/// Why something was not taken. Nothing of it was done, unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// More comes in than the monitor can take.
    #[error("the monitor has more to do than it can take; try again in a second")]
    Overloaded,
    /// It is about to end, or has.
    #[error("the monitor is shutting down")]
    Stopping,
    /// It cannot write to its disk, and facts and orders are not taken that are not on it.
    #[error("the monitor cannot write to its disk at present (`/ready` says why); nothing was taken")]
    Unwritable,
    /// The same, and it was noticed only when something had been handed over.
    #[error(
        "the monitor did not answer in time, its disk may be full or slow; what was sent may still be done"
    )]
    Late,
}

/// The queue.
#[derive(Default)]
pub(crate) struct Queue {
    inner: Mutex<Inner>,
    arrived: Condvar,
    dropped: AtomicU64,
    turned_away: AtomicU64,
}

#[derive(Default)]
struct Inner {
    deliveries: VecDeque<Waiting>,
    /// Messages among them that could make room.
    vitals: usize,
    /// Messages handed over and not taken by the loop yet.
    waiting: usize,
    looks: Vec<Look>,
    /// What is to hold from the next turn on; of two, the later.
    change: Option<Change>,
    stopping: bool,
    /// Nobody takes anything any more.
    closed: bool,
}

/// A delivery that waits.
struct Waiting {
    delivery: Delivery,
    is_vital: bool,
    since: Instant,
}

impl Inner {
    fn push(&mut self, delivery: Delivery, is_vital: bool) {
        let count = delivery.messages.len();
        self.waiting += count;
        self.vitals += if is_vital { count } else { 0 };
        self.deliveries.push_back(Waiting { delivery, is_vital, since: Instant::now() });
    }

    /// Drops vital signs until so many more messages fit, and some; the oldest first, and those of whoever has more than
    /// its share before the others. Tells how many were dropped.
    fn make_room(&mut self, more: usize) -> usize {
        let over = (self.waiting + more + ROOM).saturating_sub(MESSAGES_MAX).min(self.vitals);
        let mut of_sender: HashMap<AgentId, usize> = HashMap::new();
        for Waiting { delivery, .. } in &self.deliveries {
            if let Some(sender) = delivery.sender() {
                *of_sender.entry(sender.clone()).or_default() += delivery.messages.len();
            }
        }
        let share = MESSAGES_MAX / of_sender.len().max(1);
        let mut dropped = 0;
        for is_fair in [false, true] {
            self.deliveries.retain_mut(|Waiting { delivery, is_vital, .. }| {
                let held = delivery.sender().and_then(|sender| of_sender.get_mut(sender));
                let is_noisy = held.as_ref().is_some_and(|held| share < **held);
                if over <= dropped || !*is_vital || !(is_fair || is_noisy) {
                    return true;
                }
                let count = delivery.messages.len();
                dropped += count;
                if let Some(held) = held {
                    *held -= count;
                }
                if let Some(tell) = delivery.answers.take() {
                    // Who hung up does not want to know.
                    let _ = tell.send(Err(Unavailable::Overloaded));
                }
                false
            });
        }
        self.vitals -= dropped;
        self.waiting -= dropped;
        dropped
    }

    /// Whether there is nothing to turn the loop for before its time. What cannot be taken is no reason.
    fn is_idle(&self, may_take: bool) -> bool {
        let waits = !self.deliveries.is_empty() || !self.looks.is_empty();
        !(self.stopping || self.change.is_some() || may_take && waits)
    }
}

impl Queue {
    pub(crate) fn push(&self, delivery: Delivery) -> Result<(), Unavailable> {
        let (is_vital, more) = (delivery.is_vital(), delivery.messages.len());
        let mut inner = self.lock();
        if inner.stopping {
            return Err(Unavailable::Stopping);
        }
        // A single delivery always fits into an empty queue, however large it is.
        let is_full = |inner: &Inner| inner.waiting + more > MESSAGES_MAX && inner.waiting > 0;
        if is_full(&inner) && inner.vitals > 0 {
            let dropped = inner.make_room(more);
            self.dropped.fetch_add(dropped as u64, Ordering::Relaxed);
        }
        if is_full(&inner) {
            self.turned_away.fetch_add(1, Ordering::Relaxed);
            return Err(Unavailable::Overloaded);
        }
        inner.push(delivery, is_vital);
        drop(inner);
        self.arrived.notify_one();
        Ok(())
    }

    /// Hands over what the monitor tells itself: what became of its effects. That is bounded by what it asked for, and
    /// is never turned away.
    pub(crate) fn push_own(&self, message: Message) {
        let mut inner = self.lock();
        if inner.closed {
            return;
        }
        inner.push(Delivery { messages: vec![message], answers: None, context: None }, false);
        drop(inner);
        self.arrived.notify_one();
    }

    pub(crate) fn look(&self, look: Look) -> Result<(), Unavailable> {
        let mut inner = self.lock();
        if inner.stopping {
            return Err(Unavailable::Stopping);
        }
        if inner.looks.len() >= LOOKS_MAX {
            self.turned_away.fetch_add(1, Ordering::Relaxed);
            return Err(Unavailable::Overloaded);
        }
        inner.looks.push(look);
        drop(inner);
        self.arrived.notify_one();
        Ok(())
    }

    /// From now on nothing is taken; what waits is still done.
    pub(crate) fn stop(&self) {
        self.lock().stopping = true;
        self.arrived.notify_one();
    }

    /// The loop is no more: whoever still waits is told by the loss of its way back.
    pub(crate) fn close(&self) {
        let mut inner = self.lock();
        (inner.stopping, inner.closed) = (true, true);
        inner.deliveries.clear();
        inner.vitals = 0;
        inner.looks.clear();
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    /// What has waited longest, a handful of it. It counts as waiting until the loop says that it was
    /// [taken](Self::took).
    pub(crate) fn drain(&self) -> VecDeque<Delivery> {
        let mut inner = self.lock();
        let (mut taken, mut messages) = (VecDeque::new(), 0);
        while messages < HANDFUL
            && let Some(Waiting { delivery, is_vital, .. }) = inner.deliveries.pop_front()
        {
            let count = delivery.messages.len();
            messages += count;
            inner.vitals -= if is_vital { count } else { 0 };
            taken.push_back(delivery);
        }
        taken
    }

    /// Vital signs that were dropped to make room.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Deliveries and questions that were turned away because too much waits.
    pub(crate) fn turned_away(&self) -> u64 {
        self.turned_away.load(Ordering::Relaxed)
    }

    pub(crate) fn took(&self, messages: usize) {
        let mut inner = self.lock();
        inner.waiting = inner.waiting.saturating_sub(messages);
    }

    /// How long the first of what waits has done so.
    pub(crate) fn age(&self) -> Duration {
        self.lock().deliveries.front().map_or(Duration::ZERO, |first| first.since.elapsed())
    }

    /// Messages handed over and not taken by the loop yet.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().waiting
    }

    /// Has the loop judge and run otherwise from its next turn on.
    pub(crate) fn change(&self, change: Change) {
        self.lock().change = Some(change);
        self.arrived.notify_one();
    }

    pub(crate) fn take_change(&self) -> Option<Change> {
        self.lock().change.take()
    }

    pub(crate) fn looks(&self) -> Vec<Look> {
        std::mem::take(&mut self.lock().looks)
    }

    /// Waits until something comes in, somebody wants to look, or the time is up. While the store cannot be written
    /// nothing may be taken, and only time and the end count.
    pub(crate) fn wait(&self, longest: Duration, may_take: bool) {
        let waited = self.arrived.wait_timeout_while(self.lock(), longest, |inner| inner.is_idle(may_take));
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
