//! Connections: there are so many seats and no more.
//!
//! ```text
//! taken ──request──► at work ──answered──► idle ──request──► at work …
//! ```
//!
//! Whoever comes when all are taken gets the seat of somebody who does nothing with it: first of those who never asked
//! for anything, as in a flood of silent or slow connections; then of those who wait for their next request, the longest
//! idle first. They have a moment to say something after all, and connect again when they have something to say. Whoever is
//! at work is never cut off for another; when
//! all are, who comes is told to come back.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// So many are let go at once when all seats are taken: whoever finds them looks at all.
const LET_GO: usize = 64;
/// So many may be about to go: they are still open files.
const LEAVING_MAX: usize = 512;
/// The moment that they have: what they said may not have been read yet.
const MOMENT: Duration = Duration::from_millis(10);

/// All seats that are taken.
#[derive(Debug)]
pub(crate) struct Seats {
    inner: Mutex<Inner>,
    began: Instant,
}

#[derive(Debug, Default)]
struct Inner {
    /// In the order in which they were taken.
    taken: BTreeMap<u64, Arc<State>>,
    of_address: HashMap<IpAddr, u32>,
    /// Those that were let go and have not ended.
    leaving: usize,
    next: u64,
}

/// How one connection is doing.
#[derive(Debug)]
struct State {
    /// Requests under way.
    open: AtomicU32,
    /// It has asked for something.
    has_asked: AtomicBool,
    /// Milliseconds since the beginning: since when it is what it is.
    since: AtomicU64,
    let_go: Notify,
    /// It was let go, and has not ended.
    is_leaving: AtomicBool,
}

/// Why there is no seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoSeat {
    /// All are at work.
    #[error("there are {0} connections, as many as may be, and all are at work")]
    All(usize),
    /// Too many are this address'.
    #[error("there are {0} connections from this address, as many as may be")]
    Address(u32),
}

impl Default for Seats {
    fn default() -> Self {
        Self { inner: Mutex::default(), began: Instant::now() }
    }
}

impl Seats {
    /// A seat for who comes from this address; also how many had to be let go for it.
    pub(crate) fn take(
        self: &Arc<Self>,
        address: IpAddr,
        most: usize,
        most_of_address: u32,
    ) -> Result<(Seat, usize), NoSeat> {
        let mut inner = self.lock();
        let address = network(address);
        if let Some(address) = address
            && inner.of_address.get(&address).is_some_and(|taken| most_of_address <= *taken)
        {
            return Err(NoSeat::Address(most_of_address));
        }
        let mut let_go = 0;
        if most <= inner.taken.len() {
            let_go = inner.let_go();
            if let_go == 0 {
                return Err(NoSeat::All(most));
            }
        }
        let number = inner.next;
        inner.next += 1;
        let state = Arc::new(State {
            open: AtomicU32::new(0),
            has_asked: AtomicBool::new(false),
            since: AtomicU64::new(self.now()),
            let_go: Notify::new(),
            is_leaving: AtomicBool::new(false),
        });
        inner.taken.insert(number, Arc::clone(&state));
        if let Some(address) = address {
            *inner.of_address.entry(address).or_default() += 1;
        }
        Ok((Seat { seats: Arc::clone(self), number, state, address }, let_go))
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().taken.len()
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Lets some of those go who do nothing; tells how many.
    fn let_go(&mut self) -> usize {
        if LEAVING_MAX <= self.leaving {
            return 0;
        }
        let idle = self.taken.iter().filter(|(_, state)| state.open.load(Ordering::Relaxed) == 0);
        let rank = |(number, state): (&u64, &Arc<State>)| {
            (state.has_asked.load(Ordering::Relaxed), state.since.load(Ordering::Relaxed), *number)
        };
        let mut idle: Vec<_> = idle.map(rank).collect();
        // Who has asked for something keeps its seat as long as there are others.
        if idle.iter().any(|(has_asked, ..)| !has_asked) {
            idle.retain(|(has_asked, ..)| !has_asked);
        }
        let some = LET_GO.min(idle.len() / 2 + 1).min(idle.len());
        if some == 0 {
            return 0;
        }
        idle.select_nth_unstable(some - 1);
        for (_, _, number) in &idle[..some] {
            // Its seat is free from now on; the connection ends as soon as it is looked at.
            if let Some(state) = self.taken.remove(number) {
                state.is_leaving.store(true, Ordering::Relaxed);
                state.let_go.notify_one();
            }
        }
        self.leaving += some;
        some
    }
}

/// One connection's seat, free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Arc<Seats>,
    number: u64,
    state: Arc<State>,
    address: Option<IpAddr>,
}

impl Seat {
    /// Waits until it has to be given up.
    pub(crate) async fn let_go(&self) {
        loop {
            self.state.let_go.notified().await;
            tokio::time::sleep(MOMENT).await;
            if !self.stays() {
                return;
            }
        }
    }

    /// Waits until it is known that nothing was asked for within this time; for ever if something was.
    pub(crate) async fn stays_silent(&self, within: Duration) {
        tokio::time::sleep(within).await;
        if self.state.has_asked.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    }

    /// Whether it has something to do after all, and keeps its seat.
    fn stays(&self) -> bool {
        let mut inner = self.seats.lock();
        let is_at_work = self.state.open.load(Ordering::Relaxed) > 0;
        if is_at_work && self.state.is_leaving.swap(false, Ordering::Relaxed) {
            inner.leaving -= 1;
            inner.taken.insert(self.number, Arc::clone(&self.state));
        }
        is_at_work
    }

    /// A request is under way until this is dropped.
    pub(crate) fn work(self: &Arc<Self>) -> Work {
        self.state.open.fetch_add(1, Ordering::Relaxed);
        self.state.has_asked.store(true, Ordering::Relaxed);
        Work(Arc::clone(self))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut inner = self.seats.lock();
        inner.taken.remove(&self.number);
        inner.leaving -= usize::from(self.state.is_leaving.load(Ordering::Relaxed));
        if let Some(address) = self.address
            && let Some(taken) = inner.of_address.get_mut(&address)
        {
            *taken -= 1;
            if *taken == 0 {
                inner.of_address.remove(&address);
            }
        }
    }
}

/// A request under way.
#[derive(Debug)]
pub(crate) struct Work(Arc<Seat>);

impl Drop for Work {
    fn drop(&mut self) {
        let Seat { seats, state, .. } = &*self.0;
        state.since.store(seats.now(), Ordering::Relaxed);
        state.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// By what connections of one side are counted together; not at all those of this machine, where all are one address. A
/// side that has one address of IPv6 has 2⁶⁴.
fn network(address: IpAddr) -> Option<IpAddr> {
    let address = address.to_canonical();
    if address.is_loopback() {
        return None;
    }
    Some(match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(six) => IpAddr::V6(Ipv6Addr::from(u128::from(six) & !u128::from(u64::MAX))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

    fn take(seats: &Arc<Seats>, most: usize) -> Option<Arc<Seat>> {
        seats.take(HERE, most, 1).ok().map(|(seat, _)| Arc::new(seat))
    }

    fn is_let_go(seat: &Arc<Seat>) -> bool {
        seat.state.is_leaving.load(Ordering::Relaxed)
    }

    #[test]
    fn x13_who_never_asked_goes_first_then_the_idle_and_who_works_never() {
        let seats = Arc::<Seats>::default();
        let [works, idle, silent] = [(); 3].map(|()| take(&seats, 3).expect("there is room"));
        let work = works.work();
        drop(idle.work());
        let next = take(&seats, 3).expect("somebody does nothing");
        let work_of_next = next.work();
        assert_eq!([&works, &idle, &silent].map(is_let_go), [false, false, true]);
        let last = take(&seats, 3).expect("somebody does nothing");
        assert_eq!([&works, &idle, &next].map(is_let_go), [false, true, false]);
        let work_of_last = last.work();
        assert_eq!(seats.take(HERE, 3, 1).map(|_| ()), Err(NoSeat::All(3)));
        drop((work, works, work_of_next, work_of_last));
        assert_eq!(seats.len(), 2, "who was let go is not counted twice");
        drop((idle, silent, next, last));
        assert_eq!((seats.len(), seats.lock().of_address.len()), (0, 0));
    }

    #[test]
    fn x13_a_flood_of_silent_connections_takes_seats_from_itself_alone() {
        let seats = Arc::<Seats>::default();
        let good: Vec<_> = (0..10).map(|_| take(&seats, 100).expect("there is room")).collect();
        for seat in &good {
            drop(seat.work());
        }
        let mut flood = Vec::new();
        for _ in 0..5_000 {
            flood.push(take(&seats, 100).expect("there is always room"));
            // Who was let go ends.
            flood.retain(|seat| !is_let_go(seat));
        }
        assert_eq!(good.iter().filter(|seat| is_let_go(seat)).count(), 0);
        assert!(seats.len() <= 100 && flood.len() <= 90, "{} are left", flood.len());
    }

    #[tokio::test(start_paused = true)]
    async fn x13_who_says_something_in_its_last_moment_keeps_its_seat() {
        let seats = Arc::<Seats>::default();
        let [late, silent] = [(); 2].map(|()| take(&seats, 2).expect("there is room"));
        let others = [(); 2].map(|()| take(&seats, 2).expect("somebody does nothing"));
        assert!([&late, &silent].into_iter().all(is_let_go));
        let work = late.work();
        silent.let_go().await;
        assert!(tokio::time::timeout(Duration::from_mins(1), late.let_go()).await.is_err(), "it stays");
        assert_eq!(seats.len(), 3, "and counts");
        drop((work, late, silent, others));
        assert_eq!((seats.len(), seats.lock().leaving), (0, 0));
    }

    #[test]
    fn x13_not_too_many_are_about_to_go_at_one_time() {
        let seats = Arc::<Seats>::default();
        let kept: Vec<_> = (0..5_000).map_while(|_| take(&seats, 1_000)).collect();
        assert!(kept.len() < 1_000 + LEAVING_MAX + LET_GO, "{} open files", kept.len());
    }

    #[test]
    fn x13_one_address_takes_so_many_and_this_machine_is_no_address() {
        let seats = Arc::<Seats>::default();
        let from = |address: &str| seats.take(address.parse().expect("an address"), 100, 2);
        let kept = [from("192.0.2.1"), from("::ffff:192.0.2.1"), from("192.0.2.2"), from("2001:db8::1")];
        assert!(kept.iter().all(Result::is_ok));
        assert_eq!(from("192.0.2.1").map(|_| ()), Err(NoSeat::Address(2)));
        let _fifth = from("2001:db8::2").expect("two of them");
        assert_eq!(from("2001:db8::3").map(|_| ()), Err(NoSeat::Address(2)), "the same network");
        drop(kept);
        assert!(from("192.0.2.1").is_ok());
        assert!((0..9).map(|_| from("127.0.0.1")).collect::<Vec<_>>().iter().all(Result::is_ok));
    }
}
