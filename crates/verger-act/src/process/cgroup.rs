//! A control group for one tree, where it can be had.
//!
//! Nobody leaves a group by forking, and one word ends all that is in it at once; so no tree is too quick for it. It
//! can be had where the unified hierarchy is mounted and writable: as root, or where a service manager has handed over
//! a part of it. Everywhere else there is none, and nobody needs to know.
//!
//! A process joins by itself before it becomes the program ([`enter`](super::enter)), so that nothing is started
//! outside.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::mark::Mark;

/// Groups inside the group that are looked into; a program that makes more is still ended by the one word.
const GROUPS_MAX: usize = 256;

/// A group that holds one tree and nothing else. Dropping it leaves it in place; see [`remove`](Self::remove).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroup {
    path: PathBuf,
}

impl Cgroup {
    /// A new group for the run with this mark, below the one in which this process is. `None` if there can be none.
    pub fn create(mark: &Mark) -> Option<Self> {
        let group = Self { path: own_group()?.join(name(mark)) };
        fs::create_dir(&group.path).ok()?;
        if group.is_usable() {
            return Some(group);
        }
        group.remove();
        None
    }

    /// The group of an earlier run, if it is still there. Any path that does not end in the mark is refused.
    pub fn at(path: &Path, mark: &Mark) -> Option<Self> {
        let is_its =
            path.file_name().is_some_and(|last| *last == *name(mark)) && path.join("cgroup.procs").exists();
        is_its.then(|| Self { path: path.to_owned() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Moves this process into it, and so all that it starts from now on.
    pub fn join(&self) -> io::Result<()> {
        self.take(0)
    }

    /// Moves a process into it. Who it has already started stays outside.
    pub(super) fn take(&self, pid: u32) -> io::Result<()> {
        fs::write(self.path.join("cgroup.procs"), pid.to_string())
    }

    /// Ends all that is in it, at once.
    pub(super) fn kill(&self) -> io::Result<()> {
        fs::write(self.path.join("cgroup.kill"), "1")
    }

    /// The numbers of all that is in it.
    pub(super) fn members(&self) -> BTreeSet<u32> {
        let lists =
            self.groups().into_iter().filter_map(|group| fs::read_to_string(group.join("cgroup.procs")).ok());
        // 0 stands for a process of another pid namespace.
        let numbers: Vec<u32> = lists
            .flat_map(|list| list.lines().filter_map(|line| line.parse().ok()).collect::<Vec<_>>())
            .collect();
        numbers.into_iter().filter(|pid| *pid != 0).collect()
    }

    /// Removes it, with the groups inside it. Does nothing while somebody is in it.
    pub fn remove(&self) {
        for group in self.groups().into_iter().rev() {
            let _ = fs::remove_dir(group);
        }
    }

    /// Joining is tried by nobody yet: that it could be written is what the system tells in advance.
    fn is_usable(&self) -> bool {
        let may_write =
            |name: &str| rustix::fs::access(self.path.join(name), rustix::fs::Access::WRITE_OK).is_ok();
        let above = self.path.parent().map(|above| above.join("cgroup.procs"));
        let may_move =
            above.is_some_and(|above| rustix::fs::access(above, rustix::fs::Access::WRITE_OK).is_ok());
        may_move && may_write("cgroup.procs") && may_write("cgroup.kill")
    }

    /// It and the groups inside it, each after the one that it is in.
    fn groups(&self) -> Vec<PathBuf> {
        let mut found = vec![self.path.clone()];
        let mut next = 0;
        while next < found.len() && found.len() < GROUPS_MAX {
            let inside = fs::read_dir(&found[next]).into_iter().flatten().flatten();
            let inside = inside.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            found.extend(inside.map(|entry| entry.path()));
            next += 1;
        }
        found
    }
}

fn name(mark: &Mark) -> String {
    format!("verger-{mark}")
}

/// The group of this process in the unified hierarchy, as a folder.
fn own_group() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    unified(&mounts).map(|mount| mount.join(group)).filter(|path| path.is_dir())
}

/// Where the unified hierarchy is mounted: `26 25 0:22 / /sys/fs/cgroup rw … - cgroup2 cgroup2 rw`.
fn unified(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let is_unified = after.split(' ').next() == Some("cgroup2");
        is_unified.then(|| before.split(' ').nth(4).map(PathBuf::from))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unified_hierarchy_is_found_among_mounts() {
        let mounts = "25 1 0:20 / /proc rw - proc proc rw\n\
                      34 33 0:30 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
        assert_eq!(unified(mounts), Some(PathBuf::from("/sys/fs/cgroup/unified")));
        assert_eq!(unified("25 1 0:20 / /proc rw - proc proc rw\n"), None);
    }

    #[test]
    fn no_group_but_its_own_is_ever_taken_for_a_runs() {
        let (mark, folder) = (Mark::random(), tempfile::tempdir().expect("a folder"));
        let own = folder.path().join(name(&mark));
        assert_eq!(Cgroup::at(&own, &mark), None, "it is not there");
        fs::create_dir(&own).expect("a folder");
        fs::write(own.join("cgroup.procs"), "").expect("a file");
        assert!(Cgroup::at(&own, &mark).is_some());
        assert_eq!(Cgroup::at(&own, &Mark::random()), None);
        assert_eq!(Cgroup::at(Path::new("/sys/fs/cgroup"), &mark), None);
    }
}
