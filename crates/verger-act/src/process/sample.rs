//! What a tree uses, and how it stands, at one moment (L12).

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use super::proc::{self, Stat, State};
use super::tree::{Reach, Tree};

/// A tree at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When it was taken.
    pub at: Instant,
    /// The process that was started first; `None` once it was reaped.
    pub root: Option<RootSample>,
    /// How many of its processes run or wait; those that ended and were not reaped are none.
    pub processes: u32,
    /// How many of them are stopped by a signal.
    pub stopped: u32,
    /// How many of them wait for a device or a lock of the kernel.
    pub blocked: u32,
    /// Since when somebody has been blocked while nobody used a processor.
    pub blocked_since: Option<Instant>,
    /// Time on processors of all that ever belonged to it, as far as it was seen. Never falls.
    pub cpu: Duration,
    /// Resident memory in bytes. What processes share is counted for each of them: an upper bound. Before anybody is
    /// ended for it, [`Tree::memory_exact`] tells.
    pub memory: u64,
    /// Stands for who belongs to it: differs when somebody came or went.
    pub family: u64,
}

/// The process that was started first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootSample {
    /// What the scheduler says.
    pub state: State,
    /// Who debugs it, halted or not.
    pub tracer: Option<u32>,
}

impl Tree {
    /// How it stands now. Costs a few files of `/proc` for each of its processes. Children that this process inherited
    /// and that have ended are reaped.
    pub fn sample(&mut self) -> Sample {
        let at = Instant::now();
        let members = self.look(Reach::Near);
        self.reap(&members);
        let moved = self.ledger.count(&members);
        let living: Vec<_> = members.iter().filter(|stat| stat.is_alive()).collect();
        let in_state = |state: State| living.iter().filter(|stat| stat.state == state).count() as u32;
        let blocked = in_state(State::Blocked);
        let blocked_since = self.ledger.blocked_since(at, blocked > 0 && !moved);
        let pages = living.iter().map(|stat| stat.resident_pages).sum::<u64>();
        Sample {
            at,
            root: self.root_sample(&members),
            processes: living.len() as u32,
            stopped: in_state(State::Stopped),
            blocked,
            blocked_since,
            cpu: proc::time_of(self.ledger.total),
            memory: pages.saturating_mul(rustix::param::page_size() as u64),
            family: family(&living),
        }
    }

    /// Memory in bytes, with what processes share counted once. Costs milliseconds for each gigabyte. Processes that
    /// may not be looked at that closely count with all that is resident.
    pub fn memory_exact(&mut self) -> u64 {
        let page = rustix::param::page_size() as u64;
        let members = self.look(Reach::Near);
        let living = members.iter().filter(|stat| stat.is_alive());
        living
            .map(|stat| {
                let exact =
                    proc::read(stat.pid, "smaps_rollup").and_then(|text| proc::number_of(&text, "Pss"));
                exact.map_or(stat.resident_pages.saturating_mul(page), |kilobytes| {
                    kilobytes.saturating_mul(1024)
                })
            })
            .sum()
    }

    fn root_sample(&self, members: &[Stat]) -> Option<RootSample> {
        let root = self.root();
        let stat = members.iter().find(|stat| root.is_meant_by(stat))?;
        let tracer = proc::read(root.pid, "status").and_then(|status| proc::number_of(&status, "TracerPid"));
        let tracer = tracer.and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid != 0);
        // If only its first thread has ended, the others go on.
        let state = if stat.state == State::Zombie && stat.is_alive() { State::Sleeping } else { stat.state };
        Some(RootSample { state, tracer })
    }
}

/// Time on processors, summed over processes that come and go.
///
/// A process counts for itself and for the children that it has reaped. When one is gone, its parent counts for it if
/// the parent belongs to the tree; if not, the time that was last seen is kept here.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    seen: BTreeMap<(u32, u64), Entry>,
    gone: u64,
    total: u64,
    blocked_since: Option<Instant>,
}

#[derive(Debug)]
struct Entry {
    parent: u32,
    ticks: u64,
}

impl Ledger {
    /// Takes note of all members, and says whether anybody has used a processor since.
    fn count(&mut self, members: &[Stat]) -> bool {
        let now: BTreeMap<_, _> = members
            .iter()
            .map(|stat| {
                let ticks = stat.cpu_ticks.saturating_add(stat.children_ticks);
                ((stat.pid, stat.started), Entry { parent: stat.parent, ticks })
            })
            .collect();
        let is_here = |pid: u32| now.range((pid, 0)..=(pid, u64::MAX)).next().is_some();
        let left = self.seen.iter().filter(|(who, entry)| !now.contains_key(who) && !is_here(entry.parent));
        self.gone = left.fold(self.gone, |gone, (_, entry)| gone.saturating_add(entry.ticks));
        let sum = now.values().fold(self.gone, |sum, entry| sum.saturating_add(entry.ticks));
        let moved = sum > self.total;
        self.total = sum.max(self.total);
        self.seen = now;
        moved
    }

    fn blocked_since(&mut self, at: Instant, is_blocked: bool) -> Option<Instant> {
        self.blocked_since = is_blocked.then(|| self.blocked_since.unwrap_or(at));
        self.blocked_since
    }
}

fn family(living: &[&Stat]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for stat in living {
        (stat.pid, stat.started).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(pid: u32, parent: u32, own: u64, children: u64) -> Stat {
        let line = format!("{pid} (a) S {parent} 1 1 0 -1 0 0 0 0 0 {own} 0 {children} 0 20 0 1 0 7 0 0");
        Stat::parse(line.as_bytes()).expect("a line")
    }

    #[test]
    fn l12_the_time_of_those_who_ended_is_not_lost_and_not_counted_twice() {
        let mut ledger = Ledger::default();
        assert!(ledger.count(&[stat(10, 1, 5, 0), stat(11, 10, 3, 0)]));
        assert_eq!(ledger.total, 8);
        assert!(!ledger.count(&[stat(10, 1, 5, 3)]), "its parent has reaped it, and counts for it");
        assert_eq!(ledger.total, 8);
        assert!(ledger.count(&[stat(10, 1, 5, 3), stat(12, 1, 4, 0)]));
        assert!(!ledger.count(&[stat(10, 1, 5, 3)]), "nobody here has reaped it");
        assert_eq!(ledger.total, 12);
        assert!(!ledger.count(&[]));
        assert_eq!(ledger.total, 12);
    }
}
