//! The promise that something is on disk.
//!
//! Facts are written by another thread, which answers after the fsync that they share. A thread waits for the
//! [`Receipt`]; a task of any async runtime awaits it. Whoever drops it does not want to know: what was handed in
//! is written all the same.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::error::Error;

/// Says, once it is known, what became of something that was handed in to be written.
#[derive(Debug)]
#[must_use = "what was handed in is acknowledged only by its receipt"]
pub struct Receipt<T>(Arc<Slot<T>>);

/// The other end: fills the receipt. Dropped unfilled, it says that the store was closed.
#[derive(Debug)]
pub(crate) struct Promise<T>(Arc<Slot<T>>);

#[derive(Debug)]
struct Slot<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
}

#[derive(Debug)]
struct State<T> {
    result: Option<Result<T, Error>>,
    waker: Option<Waker>,
}

/// A receipt and who fills it.
pub(crate) fn receipt<T>() -> (Promise<T>, Receipt<T>) {
    let state = Mutex::new(State { result: None, waker: None });
    let slot = Arc::new(Slot { state, filled: Condvar::new() });
    (Promise(Arc::clone(&slot)), Receipt(slot))
}

impl<T> Receipt<T> {
    /// Blocks until it is on disk, or known not to be.
    pub fn wait(self) -> Result<T, Error> {
        let mut state = self.0.lock();
        loop {
            if let Some(result) = state.result.take() {
                return result;
            }
            state = self.0.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Blocks for so long at most; nothing if it is not known by then.
    pub(crate) fn wait_for(&self, longest: Duration) -> Option<Result<T, Error>> {
        let state = self.0.lock();
        let waited = self.0.filled.wait_timeout_while(state, longest, |state| state.result.is_none());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.result.take()
    }
}

impl<T> Future for Receipt<T> {
    type Output = Result<T, Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.0.lock();
        if let Some(result) = state.result.take() {
            return Poll::Ready(result);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl<T> Promise<T> {
    pub(crate) fn fill(self, result: Result<T, Error>) {
        self.0.fill(result);
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.0.fill(Err(Error::Closed));
    }
}

impl<T> Slot<T> {
    /// The first answer counts. Whoever waits is woken outside the lock.
    fn fill(&self, result: Result<T, Error>) {
        let mut state = self.lock();
        let waker = state.waker.take();
        state.result.get_or_insert(result);
        drop(state);
        self.filled.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Nothing panics while it is held, and if it did, the state would still be whole.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Wake;
    use std::thread::{self, Thread};

    use super::*;

    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    /// The smallest runtime there is.
    fn block_on<T>(mut receipt: Receipt<T>) -> Result<T, Error> {
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        loop {
            match Pin::new(&mut receipt).poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(result) => return result,
                Poll::Pending => thread::park(),
            }
        }
    }

    #[test]
    fn a_thread_and_a_task_both_hear_of_it() {
        for hear in [Receipt::wait, block_on] {
            let (promise, receipt) = receipt();
            let filler = thread::spawn(move || promise.fill(Ok(7)));
            assert_eq!(hear(receipt).expect("filled"), 7);
            filler.join().expect("the filler ends");
        }
    }

    #[test]
    fn who_does_not_wait_for_long_may_ask_again() {
        let (promise, receipt) = receipt();
        assert!(receipt.wait_for(Duration::ZERO).is_none());
        promise.fill(Ok(7));
        assert!(matches!(receipt.wait_for(Duration::ZERO), Some(Ok(7))));
    }

    #[test]
    fn a_promise_that_nobody_keeps_is_no_hang() {
        let (promise, receipt) = receipt::<()>();
        drop(promise);
        assert!(matches!(receipt.wait(), Err(Error::Closed)));
    }
}
