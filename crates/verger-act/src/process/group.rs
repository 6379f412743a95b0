//! A process group: a program and what it started, ended together.
//!
//! For what Verger runs for a moment, on behalf of somebody; an agent's processes are a [`Tree`](super::Tree). The
//! number of a group is free to become another's once its first process was reaped and all others have ended. So that
//! no stranger is ever hit, the first process is watched through a pidfd, which does not reap it, and nothing is
//! signalled after [`on_reaped`](Group::on_reaped).

use std::future;
use std::io;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use tokio::net::unix::pipe::Receiver;
use tokio::process::Child;
use tokio::time::{sleep, timeout};

use super::handle::readable_at_end;
use super::identity::raw;
use super::proc::{self, Stat};

/// How often the group is looked through while it has time to end.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The group that a child leads. Dropping it kills every process in it.
#[derive(Debug)]
pub(crate) struct Group {
    leader: Pid,
    /// Readable as soon as the leader has ended, reaped or not.
    exit: Receiver,
    reaped: bool,
}

impl Group {
    /// The group of a child that was started as the leader of one. If it cannot be watched it is killed.
    pub(crate) fn of(child: &Child) -> io::Result<Self> {
        let leader = child.id().and_then(raw).ok_or(io::ErrorKind::NotFound)?;
        let exit = pidfd_open(leader, PidfdFlags::empty())
            .map_err(io::Error::from)
            .and_then(readable_at_end)
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

/// Whether a process of this group is alive.
fn has_living(group: Pid) -> bool {
    proc::all().values().any(|stat| is_living_in(group, stat))
}

fn is_living_in(group: Pid, stat: &Stat) -> bool {
    stat.is_alive() && raw(stat.group) == Some(group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zombie_is_not_alive_and_the_kernel_is_in_no_group() {
        let living = |line: &str| {
            let line = format!("{line} 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 7 0 0");
            let group = raw(34).expect("a number");
            is_living_in(group, &Stat::parse(line.as_bytes()).expect("a line"))
        };
        assert!(living("12 (sh) S 1 34 34"));
        assert!(!living("12 (sh) S 1 35 34"));
        assert!(!living("12 (sh) Z 1 34 34"));
        assert!(!living("12 (kthreadd) S 0 0 0"));
    }
}
