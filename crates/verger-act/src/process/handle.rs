//! A hold on one process: a pidfd. It never comes to mean another, so it is what signals go through.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, WaitId, WaitIdOptions, pidfd_send_signal, waitid};
use tokio::net::unix::pipe::Receiver;

use super::exit::End;
use super::identity::Identity;

/// A process that is held: it can be signalled and waited for, and is always the one that was meant.
#[derive(Debug)]
pub struct Handle {
    identity: Identity,
    pidfd: OwnedFd,
}

/// Why a process could not be taken hold of.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// It has ended, and its number is free or another's.
    #[error("the process has ended")]
    Gone,
    /// The system refuses.
    #[error("the process cannot be opened")]
    System(#[source] io::Error),
}

/// Why a signal did not arrive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignalError {
    /// The process has ended.
    #[error("the process has ended")]
    Gone,
    /// It is another user's.
    #[error("the process may not be signalled")]
    Refused,
    /// The system refuses.
    #[error("the signal could not be sent")]
    System(#[source] io::Error),
}

impl OpenError {
    pub(super) fn of(error: Errno) -> Self {
        // EINVAL: the number is that of a thread.
        if matches!(error, Errno::SRCH | Errno::INVAL) { Self::Gone } else { Self::System(error.into()) }
    }
}

impl Handle {
    pub(super) fn new(identity: Identity, pidfd: OwnedFd) -> Self {
        Self { identity, pidfd }
    }

    /// Which process it is.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Sends a signal, to this process and never to another.
    pub fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        pidfd_send_signal(&self.pidfd, signal).map_err(|error| match error {
            Errno::SRCH => SignalError::Gone,
            Errno::PERM => SignalError::Refused,
            error => SignalError::System(error.into()),
        })
    }

    /// Whether it has ended, reaped or not.
    pub fn has_ended(&self) -> bool {
        has_ended(&self.pidfd)
    }

    /// Blocks until it has ended, and says whether it did so before the deadline.
    pub fn ends_before(&self, deadline: Instant) -> bool {
        loop {
            if self.has_ended() {
                return true;
            }
            if deadline <= Instant::now() {
                return false;
            }
            wait_for_any(std::iter::once(self), deadline);
        }
    }

    /// Waits until it has ended, on the runtime.
    pub async fn ended(&self) -> io::Result<()> {
        readable_at_end(self.pidfd.try_clone()?)?.readable().await
    }

    /// How it ended, and takes it off the system's table: from then on its number is free. `None` while it runs, or
    /// if it is no child of this process.
    pub fn reap(&self) -> Option<End> {
        self.waited(WaitIdOptions::EXITED)
    }

    /// How it ended, without reaping it.
    pub fn end(&self) -> Option<End> {
        self.waited(WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
    }

    fn waited(&self, options: WaitIdOptions) -> Option<End> {
        let waited = waitid(WaitId::PidFd(self.pidfd.as_fd()), options | WaitIdOptions::NOHANG);
        End::of(&waited.ok()??)
    }
}

impl AsFd for Handle {
    /// Readable as soon as the process has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

/// Blocks until one of these has ended, or the deadline has come, or a signal.
pub(super) fn wait_for_any<'a>(handles: impl Iterator<Item = &'a Handle>, deadline: Instant) {
    let left = deadline.saturating_duration_since(Instant::now());
    let mut waits: Vec<_> = handles.map(|handle| PollFd::new(&handle.pidfd, PollFlags::IN)).collect();
    // Whatever comes of it, the caller looks.
    let _ = poll(&mut waits, Some(&timespec(left)));
}

/// What the runtime waits with until the process of a pidfd has ended, reaped or not. It is no pipe, but a pipe's
/// reading end is what the runtime waits for any descriptor with, without unsafe code; nothing is ever read from it.
pub(super) fn readable_at_end(pidfd: OwnedFd) -> io::Result<Receiver> {
    Receiver::from_owned_fd_unchecked(pidfd)
}

pub(super) fn has_ended(pidfd: impl AsFd) -> bool {
    let mut wait = [PollFd::new(&pidfd, PollFlags::IN)];
    matches!(poll(&mut wait, Some(&timespec(Duration::ZERO))), Ok(1..))
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    }
}
