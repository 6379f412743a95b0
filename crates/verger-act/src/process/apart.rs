//! Children of this process that belong to no tree, and how it comes to inherit those that do.
//!
//! A subreaper inherits every descendant whose parent has ended: so nobody escapes by forking twice. But then all
//! children of this process are taken for the tree's, also a `git` that is only asked something. Such children are
//! started here, and known to be apart before anybody looks.

use std::collections::BTreeMap;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{getpid, set_child_subreaper};

use super::proc;

/// Children that are apart, with the times at which they were started.
static APART: Mutex<BTreeMap<u32, u64>> = Mutex::new(BTreeMap::new());

/// Makes this process inherit all of its descendants whose parents end.
///
/// Whatever it should not inherit, such as a monitor that is to outlive it, is best started before, by a process in
/// between that has ended by then.
pub fn become_subreaper() -> io::Result<()> {
    set_child_subreaper(Some(getpid())).map_err(io::Error::from)
}

/// Starts a program that belongs to no tree, though this process inherits those of a tree.
pub fn spawn_apart(command: &mut Command) -> io::Result<Child> {
    // Who looks meanwhile waits, and never sees a child that is not yet known to be apart.
    let mut apart = children_apart();
    let child = command.spawn()?;
    if let Some(stat) = proc::stat(child.id()) {
        apart.insert(stat.pid, stat.started);
    }
    Ok(child)
}

/// Who is apart. As long as this is held, nobody else is started so.
pub(super) fn children_apart() -> MutexGuard<'static, BTreeMap<u32, u64>> {
    let mut apart = APART.lock().unwrap_or_else(PoisonError::into_inner);
    apart.retain(|pid, started| proc::stat(*pid).is_some_and(|stat| stat.started == *started));
    apart
}
