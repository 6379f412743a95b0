//! `/proc`, read with bounds. Whatever is gone, unreadable or strange is absent, and never an error.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Longer environments than this are not started by Linux unless it is told to.
const ENVIRONMENT_MAX: u64 = 8 << 20;
/// How often an environment is read that seems to be empty.
const EMPTY_READS: u32 = 8;
/// Any other file that is read here is far shorter.
const FILE_MAX: u64 = 256 << 10;
/// Linux tells times of processes in hundredths of a second, whatever its own clock does (`USER_HZ`).
const TICKS_PER_SECOND: u64 = 100;

/// How often it is looked for those who were born meanwhile. Each time takes as long as they are many.
const ROUNDS_MAX: usize = 100;
/// Where numbers have begun again, so many are looked at.
const BORN_MAX: u32 = 4_096;

/// What a process is doing, as the scheduler sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum State {
    /// On a processor, or about to be.
    Running,
    /// Waits for something, and can be interrupted.
    Sleeping,
    /// Waits for a device or a lock of the kernel, and cannot be interrupted.
    Blocked,
    /// Stopped by a signal: SIGSTOP, or Ctrl-Z on a terminal.
    Stopped,
    /// Halted by a debugger.
    Traced,
    /// Ended; its parent has not asked how.
    Zombie,
    /// Anything that a newer kernel may say.
    Other,
}

/// A process as its line in `/proc` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) pid: u32,
    pub(super) name: String,
    pub(super) state: State,
    pub(super) parent: u32,
    pub(super) group: u32,
    pub(super) session: u32,
    /// Its own time on processors.
    pub(super) cpu_ticks: u64,
    /// That of its children, as far as it has asked how they ended.
    pub(super) children_ticks: u64,
    pub(super) threads: u64,
    /// In ticks since the boot.
    pub(super) started: u64,
    pub(super) resident_pages: u64,
}

impl Stat {
    /// `pid (name) state parent group session …`. The name may hold anything, also brackets, spaces and lines.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let (open, close) =
            (line.iter().position(|byte| *byte == b'(')?, line.iter().rposition(|byte| *byte == b')')?);
        let pid = std::str::from_utf8(line.get(..open)?).ok()?.trim().parse().ok()?;
        let name = String::from_utf8_lossy(line.get(open + 1..close)?).into_owned();
        let fields: Vec<_> =
            std::str::from_utf8(line.get(close + 1..)?).ok()?.split_ascii_whitespace().collect();
        let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
        // The kernel's own threads and some containers have groups and sessions of 0 or less.
        let id =
            |place: usize| fields.get(place)?.parse::<i64>().ok().map(|id| u32::try_from(id).unwrap_or(0));
        Some(Self {
            pid,
            name,
            state: State::of(fields.first()?),
            parent: id(1)?,
            group: id(2)?,
            session: id(3)?,
            cpu_ticks: number(11)?.saturating_add(number(12)?),
            // Signed in the kernel's own words.
            children_ticks: number(13).unwrap_or(0).saturating_add(number(14).unwrap_or(0)),
            threads: number(17)?,
            started: number(19)?,
            resident_pages: number(21).unwrap_or(0),
        })
    }

    /// Whether it is a part of the kernel, which has neither an environment nor a group.
    pub(super) fn is_kernel(&self) -> bool {
        self.group == 0 && self.session == 0
    }

    /// Whether it still runs. A process whose first thread has ended looks like a zombie while the others go on.
    pub(super) fn is_alive(&self) -> bool {
        self.state != State::Zombie || self.threads > 1
    }
}

impl State {
    fn of(letter: &str) -> Self {
        match letter {
            "R" => Self::Running,
            "S" | "I" => Self::Sleeping,
            "D" => Self::Blocked,
            "T" => Self::Stopped,
            "t" => Self::Traced,
            "Z" | "X" | "x" => Self::Zombie,
            _ => Self::Other,
        }
    }
}

/// Processes by number, as they were while the table was made.
pub(super) type Table = BTreeMap<u32, Stat>;

/// The line of a process, if there is such a process.
pub(super) fn stat(pid: u32) -> Option<Stat> {
    Stat::parse(&read(pid, "stat")?).filter(|stat| stat.pid == pid)
}

/// The numbers of all processes that can be seen, in order.
fn numbers() -> BTreeSet<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Every process that can be seen.
pub(super) fn all() -> Table {
    numbers().into_iter().filter_map(|pid| Some((pid, stat(pid)?))).collect()
}

/// Calls this with the number of each process, the newest first, and then with those that were born meanwhile.
///
/// Who forks and ends faster than all processes can be looked at is in no list of them. But its child was born after
/// the list was made, and numbers are given in order: so the new ones are looked at, until nobody was born or `visit`
/// wants no more. If that took too many rounds, the answer is `false`: somebody may have been missed.
pub(super) fn each(mut visit: impl FnMut(u32) -> ControlFlow<()>) -> bool {
    let mut newest = newest();
    if numbers().into_iter().rev().try_for_each(&mut visit).is_break() {
        return false;
    }
    for _ in 0..ROUNDS_MAX {
        let now = self::newest();
        let born = match (newest, now) {
            (Some(before), Some(now)) if before < now => before + 1..=now,
            (Some(before), Some(now)) if before == now => return true,
            // Numbers begin again from below.
            (_, Some(now)) => now.saturating_sub(BORN_MAX)..=now,
            (_, None) => return false,
        };
        newest = now;
        if born.rev().filter(|pid| is_process(*pid)).try_for_each(&mut visit).is_break() {
            return false;
        }
    }
    false
}

/// The last number that was given, to a process or a thread.
fn newest() -> Option<u32> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_ascii_whitespace().next_back()?.parse().ok()
}

/// Whether a number is that of a process: threads have numbers too.
fn is_process(pid: u32) -> bool {
    let status = read(pid, "status");
    status.and_then(|status| number_of(&status, "Tgid")) == Some(pid.into())
}

/// These processes and all who descend from them, without looking at any other. `None` if this kernel does not list
/// the children of a process.
pub(super) fn descending(from: impl IntoIterator<Item = u32>) -> Option<Table> {
    let mut table = Table::new();
    let mut next: Vec<_> = from.into_iter().collect();
    while let Some(pid) = next.pop() {
        if table.contains_key(&pid) {
            continue;
        }
        let Some(stat) = stat(pid) else { continue };
        // A zombie has no children: they went to another.
        if stat.is_alive() {
            next.extend(children(pid)?);
        }
        table.insert(pid, stat);
    }
    Some(table)
}

/// Who was started by each thread of this process, or came to it when its own parent ended.
pub(super) fn children(pid: u32) -> Option<Vec<u32>> {
    let mut found = Vec::new();
    let Ok(threads) = fs::read_dir(path(pid, "task")) else { return Some(found) };
    for thread in threads.flatten() {
        let Ok(text) = fs::read_to_string(thread.path().join("children")) else {
            // A thread that has ended meanwhile has none. If the file is missing for a living one, it always is.
            if thread.path().join("stat").exists() {
                return None;
            }
            continue;
        };
        found.extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    Some(found)
}

/// The variables that a process was started with, each as `NAME=value`. Secret: only names may leave this folder.
pub(super) fn environment(pid: u32) -> Option<Vec<u8>> {
    for _ in 0..EMPTY_READS {
        let environment = read_at_most(pid, "environ", ENVIRONMENT_MAX)?;
        if !environment.is_empty() {
            return Some(environment);
        }
        // It may be just about to become another program: then there is one in a moment.
        std::thread::yield_now();
    }
    Some(Vec::new())
}

/// A short file of a process.
pub(super) fn read(pid: u32, name: &str) -> Option<Vec<u8>> {
    read_at_most(pid, name, FILE_MAX)
}

/// Where a file of a process is.
pub(super) fn path(pid: u32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{name}"))
}

/// A number in a file of lines like `name: 12 kB` or `name 12`.
pub(super) fn number_of(text: &[u8], name: &str) -> Option<u64> {
    let text = String::from_utf8_lossy(text);
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let found = words.next()?;
        (found.strip_suffix(':').unwrap_or(found) == name).then(|| words.next()?.parse().ok())?
    })
}

/// Ticks as a time.
pub(super) fn time_of(ticks: u64) -> Duration {
    Duration::from_millis(ticks.saturating_mul(1_000 / TICKS_PER_SECOND))
}

fn read_at_most(pid: u32, name: &str, most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path(pid, name)).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const REST: &str = "0 -1 4194304 1 2 3 4 5 6 7 8 20 0 2 0 39539 3133440 360 1844";

    fn parse(line: &str) -> Option<Stat> {
        Stat::parse(line.as_bytes())
    }

    #[test]
    fn a_process_is_read_whatever_its_name() {
        for name in ["sh", "a) Z 1 2", "(", "", "x\ny"] {
            let stat = parse(&format!("12 ({name}) S 1 34 56 {REST}")).expect("a line");
            assert_eq!((stat.pid, stat.name.as_str(), stat.parent), (12, name, 1));
            assert_eq!((stat.group, stat.session, stat.state), (34, 56, State::Sleeping));
            assert_eq!((stat.cpu_ticks, stat.children_ticks), (11, 15));
            assert_eq!((stat.threads, stat.started, stat.resident_pages), (2, 39539, 360));
        }
        assert_eq!(parse("12 (sh) S 1"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn a_process_whose_first_thread_has_ended_is_alive_while_others_run() {
        assert!(parse(&format!("12 (a) Z 1 34 56 {REST}")).is_some_and(|stat| stat.is_alive()));
        let alone = REST.replace("20 0 2", "20 0 1");
        assert!(!parse(&format!("12 (a) Z 1 34 56 {alone}")).is_some_and(|stat| stat.is_alive()));
    }

    #[test]
    fn this_process_sees_itself_and_its_threads_children() {
        let own = std::process::id();
        let stat = stat(own).expect("it is there");
        assert_eq!(all().get(&own).map(|found| found.started), Some(stat.started));
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().expect("a program");
        assert!(children(own).expect("this kernel lists them").contains(&child.id()));
        assert!(descending([own]).expect("this kernel lists them").contains_key(&child.id()));
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
    }

    proptest! {
        #[test]
        fn no_line_is_too_strange_to_be_read(line in prop::collection::vec(any::<u8>(), 0..200)) {
            drop(Stat::parse(&line));
        }
    }
}
