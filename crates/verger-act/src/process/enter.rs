//! The last steps of a child before it becomes the program: its own session, its terminal, its control group.
//!
//! They must be taken by the child itself. Between fork and exec that needs unsafe code; so Verger starts itself, takes
//! them and replaces itself by the program, which keeps its number and its start time.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::process::{ioctl_tiocsctty, setsid};

use super::cgroup::Cgroup;
use super::mark::Mark;

/// What a child does before it becomes the program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry<'a> {
    /// Leads a session of its own, and so a group: signals for the caller's terminal do not reach it.
    pub session: bool,
    /// Takes its standard input, which is a terminal, as that of its session.
    pub terminal: bool,
    /// Joins this control group of the run with this mark. If it may not, it goes on without.
    pub cgroup: Option<(&'a Path, &'a Mark)>,
}

/// Takes these steps and becomes the program. Comes back only if that failed, with the reason: the caller ends with
/// 127 if there is no such program, and with 126 otherwise, as shells do.
pub fn enter(
    entry: Entry<'_>,
    program: &OsStr,
    args: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> io::Error {
    if let Err(error) = prepare(entry) {
        return error;
    }
    Command::new(program).args(args).exec()
}

fn prepare(entry: Entry<'_>) -> io::Result<()> {
    if entry.session {
        setsid()?;
    }
    if entry.terminal {
        ioctl_tiocsctty(io::stdin())?;
    }
    if let Some(cgroup) = entry.cgroup.and_then(|(path, mark)| Cgroup::at(path, mark)) {
        // Everything works without it too.
        let _ = cgroup.join();
    }
    Ok(())
}
