//! The way into the loop: one bounded queue, and the answers' way back.
//!
//! Whoever hands something over hands it over as a whole, a request's thousand heartbeats as one delivery: so a
//! lock is taken and a waiting caller woken once for all of them. What does not fit is turned away at once.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use verger_core::fleet::Fleet;
use verger_core::policy::Policies;
use verger_engine::{Answer, Message, Settings};

use super::Calendar;
use crate::trace::Context;

/// Messages that may wait. At a million a second they are a tenth of a second's work.
pub(crate) const MESSAGES_MAX: usize = 65_536;
/// Questions that may wait.
const LOOKS_MAX: usize = 4_096;

/// What one caller hands over at once.
pub(crate) struct Delivery {
    pub(crate) messages: Vec<Message>,
    /// Who waits for all the answers, in the order of the messages.
    pub(crate) answers: Option<oneshot::Sender<Vec<Answer>>>,
    /// The trace in which they came.
    pub(crate) context: Option<Context>,
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
}

#[derive(Default)]
struct Inner {
    deliveries: VecDeque<Delivery>,
    /// Since when the first of them waits.
    since: Option<Instant>,
    /// Messages handed over and not taken by the loop yet.
    waiting: usize,
    looks: Vec<Look>,
    /// What is to hold from the next turn on; of two, the later.
    change: Option<Change>,
    stopping: bool,
    /// Nobody takes anything any more.
    closed: bool,
}

impl Inner {
    fn put(&mut self, delivery: Delivery) {
        if self.deliveries.is_empty() {
            self.since = Some(Instant::now());
        }
        self.deliveries.push_back(delivery);
    }

    /// Whether there is nothing to turn the loop for before its time. What cannot be taken is no reason.
    fn is_idle(&self, may_take: bool) -> bool {
        let waits = !self.deliveries.is_empty() || !self.looks.is_empty();
        !(self.stopping || self.change.is_some() || may_take && waits)
    }
}

impl Queue {
    pub(crate) fn push(&self, delivery: Delivery) -> Result<(), Unavailable> {
        let mut inner = self.lock();
        if inner.stopping {
            return Err(Unavailable::Stopping);
        }
        let waiting = inner.waiting + delivery.messages.len();
        // A single delivery always fits into an empty queue, however large it is.
        if waiting > MESSAGES_MAX && inner.waiting > 0 {
            return Err(Unavailable::Overloaded);
        }
        inner.waiting = waiting;
        inner.put(delivery);
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
        inner.waiting += 1;
        inner.put(Delivery { messages: vec![message], answers: None, context: None });
        drop(inner);
        self.arrived.notify_one();
    }

    pub(crate) fn look(&self, look: Look) -> Result<(), Unavailable> {
        let mut inner = self.lock();
        if inner.stopping {
            return Err(Unavailable::Stopping);
        }
        if inner.looks.len() >= LOOKS_MAX {
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
        inner.looks.clear();
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    /// Everything that waits. It counts as waiting until the loop says that it was [taken](Self::took).
    pub(crate) fn drain(&self) -> VecDeque<Delivery> {
        let mut inner = self.lock();
        inner.since = None;
        std::mem::take(&mut inner.deliveries)
    }

    pub(crate) fn took(&self, messages: usize) {
        let mut inner = self.lock();
        inner.waiting = inner.waiting.saturating_sub(messages);
    }

    /// How long the first of what waits has done so.
    pub(crate) fn age(&self) -> Duration {
        self.lock().since.map_or(Duration::ZERO, |since| since.elapsed())
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
mod tests {
    use super::*;
    use verger_core::command::{Command, Order};

    fn delivery(messages: usize) -> Delivery {
        let order =
            Command { agent: "a".into(), incarnation: None, by: "ada".into(), order: Order::Unregister };
        Delivery { messages: vec![Message::Command(order); messages], answers: None, context: None }
    }

    #[test]
    fn what_does_not_fit_is_turned_away_and_fits_when_the_loop_has_caught_up() {
        let queue = Queue::default();
        assert_eq!(queue.push(delivery(MESSAGES_MAX + 1)), Ok(()), "nothing else waits");
        assert_eq!(queue.push(delivery(1)), Err(Unavailable::Overloaded));
        assert_eq!(queue.drain().len(), 1);
        assert_eq!(queue.push(delivery(1)), Err(Unavailable::Overloaded), "handed over is not yet taken");
        queue.took(MESSAGES_MAX + 1);
        assert_eq!(queue.push(delivery(1)), Ok(()));
    }

    #[test]
    fn after_the_last_order_nothing_is_taken_and_what_waits_is_kept() {
        let queue = Queue::default();
        queue.push(delivery(3)).expect("there is room");
        queue.stop();
        assert_eq!(queue.push(delivery(1)), Err(Unavailable::Stopping));
        assert_eq!(queue.look(Box::new(|_, _| ())), Err(Unavailable::Stopping));
        assert_eq!(queue.drain().len(), 1);
    }

    #[test]
    fn what_cannot_be_taken_does_not_keep_the_loop_busy() {
        let queue = Queue::default();
        assert!(queue.lock().is_idle(true));
        queue.push(delivery(1)).expect("there is room");
        queue.look(Box::new(|_, _| ())).expect("there is room");
        assert!(!queue.lock().is_idle(true) && queue.lock().is_idle(false), "the store cannot be written");
        queue.stop();
        assert!(!queue.lock().is_idle(false), "the end is not waited for");
    }

    #[test]
    fn what_the_monitor_tells_itself_after_its_end_is_not_kept() {
        let queue = Queue::default();
        queue.stop();
        queue.push_own(delivery(1).messages.remove(0));
        assert_eq!(queue.drain().len(), 1, "before it, it is");
        queue.close();
        queue.push_own(delivery(1).messages.remove(0));
        assert!(queue.drain().is_empty());
    }

    #[test]
    fn so_many_may_want_to_look_and_no_more() {
        let queue = Queue::default();
        for _ in 0..LOOKS_MAX {
            queue.look(Box::new(|_, _| ())).expect("there is room");
        }
        assert_eq!(queue.look(Box::new(|_, _| ())), Err(Unavailable::Overloaded));
        assert_eq!(queue.looks().len(), LOOKS_MAX);
        assert_eq!(queue.look(Box::new(|_, _| ())), Ok(()));
    }
}
