//! Does few things at once, and the things of one lane one after the other.
//!
//! ```text
//! submit ─► room left? ─no─► Full
//!              └─yes─► wait for the one before in the lane ─► wait for a slot ─► work
//! ```
//!
//! A lane is a chain: each piece of work waits for the end of the one that was submitted before it. While it waits it
//! holds no slot, so an agent whose command hangs holds nobody else up.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, TryAcquireError, oneshot};
use tokio::task::JoinSet;

/// Carries out work within bounds. Dropping it drops all of it.
#[derive(Debug)]
pub struct Bounded {
    runtime: Handle,
    /// For what is in hand: waiting or under way.
    room: Arc<Semaphore>,
    /// For what is under way.
    slots: Arc<Semaphore>,
    lanes: Arc<Mutex<Lanes>>,
    tasks: Mutex<JoinSet<()>>,
}

/// Why work was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTaken {
    /// As much is in hand as is allowed; trying again later helps.
    #[error("too much waits to be carried out")]
    Full,
    /// Nothing is taken any more.
    #[error("the monitor is being shut down")]
    Closed,
}

impl Bounded {
    /// At most `at_once` pieces of work are under way, and `in_hand` accepted and not done. Must be called within a
    /// runtime, where the work is done; it may be submitted from anywhere.
    pub fn new(at_once: usize, in_hand: usize) -> Self {
        Self {
            runtime: Handle::current(),
            room: Arc::new(Semaphore::new(in_hand)),
            slots: Arc::new(Semaphore::new(at_once)),
            lanes: Arc::default(),
            tasks: Mutex::default(),
        }
    }

    /// Takes work for a lane. Never waits. What comes of it is received; an error means that the work was dropped.
    pub fn submit<W>(&self, lane: &str, work: W) -> Result<oneshot::Receiver<W::Output>, NotTaken>
    where
        W: Future + Send + 'static,
        W::Output: Send,
    {
        let room = Arc::clone(&self.room).try_acquire_owned().map_err(|refused| match refused {
            TryAcquireError::NoPermits => NotTaken::Full,
            TryAcquireError::Closed => NotTaken::Closed,
        })?;
        let slots = Arc::clone(&self.slots);
        let (tell, told) = oneshot::channel();
        let turn = Turn::take(&self.lanes, lane);
        let task = async move {
            let turn = turn.come().await;
            let Ok(slot) = slots.acquire().await else { return };
            let result = work.await;
            // Whoever hears of the end may rely on it.
            drop(slot);
            drop((turn, room));
            // If nobody wants to know, it is done all the same.
            drop(tell.send(result));
        };
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn_on(task, &self.runtime);
        Ok(told)
    }

    /// Takes nothing more and drops all that is in hand. Afterwards nothing of it runs.
    pub async fn end(&self) {
        self.close();
        let mut tasks = mem::take(&mut *lock(&self.tasks));
        tasks.shutdown().await;
    }

    /// Nothing begins after this, also not what waited for something that is being dropped.
    fn close(&self) {
        self.room.close();
        self.slots.close();
    }
}

impl Drop for Bounded {
    fn drop(&mut self) {
        self.close();
    }
}

/// The last piece of work of each lane that has any.
#[derive(Debug, Default)]
struct Lanes {
    next: u64,
    last: BTreeMap<String, Last>,
}

#[derive(Debug)]
struct Last {
    number: u64,
    /// Closed when that piece of work is over.
    over: oneshot::Receiver<()>,
}

/// A place in a lane. The next one's turn comes when this is dropped.
#[derive(Debug)]
struct Turn {
    lanes: Arc<Mutex<Lanes>>,
    lane: String,
    number: u64,
    before: Option<oneshot::Receiver<()>>,
    _over: oneshot::Sender<()>,
}

impl Turn {
    fn take(lanes: &Arc<Mutex<Lanes>>, lane: &str) -> Self {
        let (sender, over) = oneshot::channel();
        let mut guard = lock(lanes);
        let number = guard.next;
        guard.next += 1;
        let before = guard.last.insert(lane.to_owned(), Last { number, over }).map(|last| last.over);
        drop(guard);
        Self { lanes: Arc::clone(lanes), lane: lane.to_owned(), number, before, _over: sender }
    }

    async fn come(mut self) -> Self {
        if let Some(before) = self.before.take() {
            // Nothing is ever sent: it ends with an error when the sender is dropped.
            drop(before.await);
        }
        self
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut lanes = lock(&self.lanes);
        if lanes.last.get(&self.lane).is_some_and(|last| last.number == self.number) {
            lanes.last.remove(&self.lane);
        }
    }
}

/// A panic elsewhere leaves these collections whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::future::{pending, poll_fn};
    use std::task::Poll;

    use proptest::prelude::*;
    use tokio::runtime::Builder;
    use tokio::sync::Barrier;
    use tokio::task::yield_now;

    use super::*;

    #[derive(Debug, Default)]
    struct Log {
        under_way: BTreeSet<u8>,
        most_at_once: usize,
        overlapped: bool,
        done: Vec<(u8, usize)>,
    }

    async fn work(log: Arc<Mutex<Log>>, lane: u8, number: usize, steps: u8) {
        {
            let mut log = lock(&log);
            log.overlapped |= !log.under_way.insert(lane);
            log.most_at_once = log.most_at_once.max(log.under_way.len());
        }
        for _ in 0..steps {
            yield_now().await;
        }
        let mut log = lock(&log);
        log.under_way.remove(&lane);
        log.done.push((lane, number));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn lanes_keep_their_order_and_never_overlap(
            jobs in prop::collection::vec((0..4_u8, 0..5_u8), 0..40),
            at_once in 1..4_usize,
        ) {
            let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
            let log = Arc::new(Mutex::new(Log::default()));
            runtime.block_on(async {
                let bounded = Bounded::new(at_once, jobs.len());
                let submit = |(number, (lane, steps)): (usize, &(u8, u8))| {
                    bounded.submit(&lane.to_string(), work(Arc::clone(&log), *lane, number, *steps)).unwrap()
                };
                let told: Vec<_> = jobs.iter().enumerate().map(submit).collect();
                for told in told {
                    told.await.unwrap();
                }
                assert!(lock(&bounded.lanes).last.is_empty(), "a lane was not forgotten");
            });
            let log = lock(&log);
            prop_assert!(!log.overlapped);
            prop_assert!(log.most_at_once <= at_once);
            prop_assert_eq!(log.done.len(), jobs.len());
            for lane in 0..4 {
                let numbers = log.done.iter().filter(|(of, _)| *of == lane).map(|(_, number)| number);
                prop_assert!(numbers.is_sorted());
            }
        }
    }

    #[tokio::test]
    async fn lanes_go_on_side_by_side() {
        let bounded = Bounded::new(2, 2);
        let meeting = Arc::new(Barrier::new(2));
        let meet = |lane| {
            let meeting = Arc::clone(&meeting);
            bounded.submit(lane, async move { meeting.wait().await.is_leader() }).unwrap()
        };
        let (one, other) = (meet("one"), meet("other"));
        assert_ne!(one.await, other.await, "only one of those who meet is the leader");
    }

    #[tokio::test]
    async fn too_much_is_refused_at_once_and_taken_when_there_is_room() {
        let bounded = Bounded::new(1, 2);
        let (release, held) = oneshot::channel::<()>();
        let first = bounded.submit("a", held).unwrap();
        let second = bounded.submit("b", async {}).unwrap();
        assert_eq!(bounded.submit("c", async {}).unwrap_err(), NotTaken::Full);
        release.send(()).unwrap();
        first.await.unwrap().unwrap();
        second.await.unwrap();
        bounded.submit("c", async {}).unwrap().await.unwrap();
    }

    #[tokio::test]
    async fn work_that_panics_holds_up_nobody() {
        let bounded = Bounded::new(1, 2);
        let broken = bounded.submit("a", poll_fn(|_| -> Poll<()> { panic!("on purpose") }));
        let next = bounded.submit("a", async { 7 }).unwrap();
        assert!(broken.unwrap().await.is_err());
        assert_eq!(next.await, Ok(7));
    }

    #[tokio::test]
    async fn after_the_end_nothing_runs_and_nothing_is_taken() {
        let bounded = Bounded::new(1, 3);
        let counted = Arc::new(());
        let endless = || {
            let counted = Arc::clone(&counted);
            async move {
                pending::<()>().await;
                drop(counted);
            }
        };
        let told = [bounded.submit("a", endless()), bounded.submit("a", endless())];
        bounded.end().await;
        assert_eq!(Arc::strong_count(&counted), 1, "something is still in hand");
        for told in told {
            assert!(told.unwrap().await.is_err());
        }
        assert_eq!(bounded.submit("a", async {}).unwrap_err(), NotTaken::Closed);
    }
}
