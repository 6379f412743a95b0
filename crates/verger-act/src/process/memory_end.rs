//! Whether a process was ended because memory ran out.
//!
//! The system ends it with SIGKILL and tells nobody; it only counts. So the counts are read when a program starts and
//! looked at again when it was killed by a signal that Verger did not send. The count of a control group that holds
//! nothing but this tree is certain. Those of the group around it and of the whole machine may speak of another
//! process that was ended meanwhile, so they only make it probable.

use std::fs;
use std::path::{Path, PathBuf};

use super::cgroup::Cgroup;
use super::exit::End;
use super::proc::number_of;

const SIGKILL: i32 = 9;

/// The counts as they were when a program was started.
#[derive(Clone, Debug)]
pub struct MemoryWatch {
    counts: Vec<Count>,
}

#[derive(Clone, Debug)]
struct Count {
    file: PathBuf,
    at_start: u64,
    certain: bool,
}

impl MemoryWatch {
    /// From now on, for a program in this group, if it has one of its own.
    pub fn start(group: Option<&Cgroup>) -> Self {
        let own = group.map(|group| (group.path().join("memory.events"), true));
        let around = [
            enclosing("0::").map(|path| format!("/sys/fs/cgroup{path}/memory.events")),
            enclosing("memory:").map(|path| format!("/sys/fs/cgroup/memory{path}/memory.oom_control")),
            Some("/sys/fs/cgroup/memory/memory.oom_control".to_owned()),
            Some("/proc/vmstat".to_owned()),
        ];
        let around = around.into_iter().flatten().map(|file| (PathBuf::from(file), false));
        let counts = own
            .into_iter()
            .chain(around)
            .filter_map(|(file, certain)| Some(Count { at_start: count(&file)?, file, certain }));
        Self { counts: counts.collect() }
    }

    /// The end as it should be told. `by_us` says whether Verger sent SIGKILL itself.
    pub fn explain(&self, end: End, by_us: bool) -> End {
        if by_us || !matches!(end, End::Signal { signal: SIGKILL, .. }) {
            return end;
        }
        let mut grown = self.counts.iter().filter(|known| known.at_start < count(&known.file).unwrap_or(0));
        match grown.next() {
            Some(first) => End::OutOfMemory { certain: first.certain },
            None => end,
        }
    }
}

/// How many processes were ended for want of memory, by whichever file counts them.
fn count(file: &Path) -> Option<u64> {
    number_of(&fs::read(file).ok()?, "oom_kill")
}

/// This process's group, in the hierarchy whose line in `/proc/self/cgroup` has this in it: `4:memory:/a/b`.
fn enclosing(hierarchy: &str) -> Option<String> {
    let text = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = text.lines().find_map(|line| {
        let at = line.find(hierarchy)?;
        Some(&line[at + hierarchy.len()..])
    })?;
    Some(path.to_owned()).filter(|path| path.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KILLED: End = End::Signal { signal: SIGKILL, core_dumped: false };

    fn watch(file: &Path, certain: bool) -> MemoryWatch {
        MemoryWatch { counts: vec![Count { file: file.to_owned(), at_start: 1, certain }] }
    }

    #[test]
    fn memory_explains_only_a_kill_that_was_counted_and_not_ours() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("memory.events");
        let explain = |count: u64, end: End, by_us: bool, certain: bool| {
            fs::write(&file, format!("low 0\noom 9\noom_kill {count}\noom_group_kill 7\n")).expect("a file");
            watch(&file, certain).explain(end, by_us)
        };
        assert_eq!(explain(2, KILLED, false, true), End::OutOfMemory { certain: true });
        assert_eq!(explain(2, KILLED, false, false), End::OutOfMemory { certain: false });
        assert_eq!(explain(1, KILLED, false, true), KILLED, "nothing was counted");
        assert_eq!(explain(2, KILLED, true, true), KILLED, "it was us");
        let clean = End::Code { code: 0 };
        assert_eq!(explain(2, clean, false, true), clean);
    }

    #[test]
    fn this_machine_counts() {
        assert!(!MemoryWatch::start(None).counts.is_empty(), "neither a group nor the machine counts");
    }
}
