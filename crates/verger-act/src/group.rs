//! A process group: a program and what it started, ended together.
//!
//! All that touches the operating system's processes is in this file. The number of a group is free to become
//! another's once its first process was reaped and all others have ended. So that no stranger is ever hit, the first
//! process is watched through a pidfd, which does not reap it, and nothing is signalled after
//! [`on_reaped`](Group::on_reaped).

use std::fs;
use std::future;
use std::io;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use tokio::net::unix::pipe::Receiver;
use tokio::process::Child;
use tokio::time::{sleep, timeout};

/// How often the group is looked through while it has time to end.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The group that a child leads. Dropping it kills every process in it.
#[derive(Debug)]
pub(crate) struct Group {
    leader: Pid,
    /// A pidfd: readable as soon as the leader has ended, reaped or not. It is no pipe, but a pipe's reading end is
    /// what the runtime waits for any descriptor with, and nothing is ever read from it.
    exit: Receiver,
    reaped: bool,
}

impl Group {
    /// The group of a child that was started as the leader of one. If it cannot be watched it is killed.
    pub(crate) fn of(child: &Child) -> io::Result<Self> {
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let leader = id.ok_or(io::ErrorKind::NotFound)?;
        let exit = pidfd_open(leader, PidfdFlags::empty())
            .map_err(io::Error::from)
            .and_then(Receiver::from_owned_fd_unchecked)
            .inspect_err(|_| signal(leader, Signal::KILL))?;
        Ok(Self { leader, exit, reaped: false })
    }

    /// Waits until the leader has ended, and says whether it did so by itself.
    ///
    /// If it did, what it left running is its own affair: a command may well start a daemon. If its time is up first,
    /// the whole group is asked to end, and killed after the grace. A process that even then does not end hangs in
    /// the kernel; nobody waits for it.
    pub(crate) async fn ends_within(&self, limit: Duration, grace: Duration) -> bool {
        if timeout(limit, self.leader_ends()).await.is_ok() {
            return true;
        }
        signal(self.leader, Signal::TERM);
        // Whether all ended or the grace is over: what follows is right in both cases.
        drop(timeout(grace, self.all_end()).await);
        signal(self.leader, Signal::KILL);
        drop(timeout(grace, self.leader_ends()).await);
        false
    }

    /// The leader was reaped: from now on its number may be another's.
    pub(crate) fn on_reaped(&mut self) {
        self.reaped = true;
    }

    async fn leader_ends(&self) {
        if self.exit.readable().await.is_err() {
            // The runtime is being shut down, and drops this future in a moment.
            future::pending::<()>().await;
        }
    }

    async fn all_end(&self) {
        self.leader_ends().await;
        while has_living(self.leader) {
            sleep(LOOK_EVERY).await;
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.reaped {
            signal(self.leader, Signal::KILL);
        }
    }
}

/// Fails only when there is nobody left to be signalled.
fn signal(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
}

/// Whether a process of this group is alive. If that cannot be told, it is: then the grace is waited out.
fn has_living(group: Pid) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    processes.flatten().any(|process| {
        let stat = fs::read(process.path().join("stat")).unwrap_or_default();
        living_group(&String::from_utf8_lossy(&stat)) == Some(group)
    })
}

/// The group of a living process, by its line in `/proc`: `pid (name) state parent group …`. The name may hold
/// anything, also brackets and spaces.
fn living_group(stat: &str) -> Option<Pid> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace();
    let state = fields.next()?;
    let group = fields.nth(1)?.parse().ok().and_then(Pid::from_raw);
    if matches!(state, "Z" | "X") { None } else { group }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_of_a_process_is_read_whatever_its_name() {
        let group = |stat| living_group(stat).map(|pid| pid.as_raw_nonzero().get());
        assert_eq!(group("12 (sh) S 1 34 34 0"), Some(34));
        assert_eq!(group("12 (a) Z 1 2) R 1 34 34 0"), Some(34));
        assert_eq!(group("12 (sh) Z 1 34 34 0"), None, "a zombie is not alive");
        assert_eq!(group("12 (kthreadd) S 0 0 0"), None);
        assert_eq!(group("12 (sh) S 1"), None);
        assert_eq!(group(""), None);
    }
}
