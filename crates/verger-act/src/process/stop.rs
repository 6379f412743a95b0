//! Ends a whole tree, within a limit (L22).
//!
//! ```text
//! ask (TERM, and CONT to who is stopped) ──grace──► kill, again and again ──limit──► who is left is told
//!        └── everybody has ended ──► done, after looking closely ◄──┘
//! ```
//!
//! A tree may fork while it is looked at. So it is looked at again as soon as somebody new was found, and counts as
//! ended only when a look found nobody during which nobody on the machine was born unseen. A control group is ended by
//! one word, at once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::handle::{self, Handle, SignalError};
use super::identity::Identity;
use super::proc::{self, Stat, State};
use super::tree::{Reach, Tree};
use rustix::process::Signal;

/// Who ended is told by name up to so many, and counted beyond.
const TOLD_MAX: usize = 256;
/// Processes that are waited for by pidfd at the same time. A process may have few open files, and a tree many
/// processes; beyond, they are looked for.
const HELD_MAX: usize = 128;
/// Between looks, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(100));

/// How long a tree may take to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// From being asked to being killed.
    pub grace: Duration,
    /// From being asked to being given up. At least the grace.
    pub limit: Duration,
}

impl Default for Patience {
    /// 10 s to end well, within the 30 s that cleaning up may take.
    fn default() -> Self {
        Self { grace: Duration::from_secs(10), limit: Duration::from_secs(30) }
    }
}

/// What became of a tree that was to end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stopped {
    /// Who ended, and how; the first 256.
    pub ended: Vec<Ended>,
    /// How many ended when they were asked.
    pub asked: u64,
    /// How many had to be killed.
    pub killed: u64,
    /// Who still runs.
    pub left: Vec<Left>,
    /// How long it took.
    pub took: Duration,
}

/// A process that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Which one.
    pub process: Identity,
    /// The name of its program.
    pub name: String,
    /// What it took.
    pub how: How,
}

/// What it took to end a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// SIGTERM.
    Asked,
    /// SIGKILL.
    Killed,
}

/// A process that did not end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// Which one.
    pub process: Identity,
    /// The name of its program.
    pub name: String,
    /// What it is doing; `blocked` says that it hangs in the kernel.
    pub state: State,
    /// Whether it may not be signalled, because it runs as another user.
    pub refused: bool,
}

impl Stopped {
    /// Whether nobody is left.
    pub fn is_complete(&self) -> bool {
        self.left.is_empty()
    }
}

impl Tree {
    /// Ends it: blocks until nobody is left or the limit has passed. Nobody else must reap the root meanwhile.
    pub fn stop(&mut self, patience: Patience) -> Stopped {
        Hunt::new(self, patience).run()
    }

    /// The same on the runtime's threads for blocking work. If the future is dropped, the work goes on.
    pub async fn stop_async(mut self, patience: Patience) -> (Self, Stopped) {
        let work = tokio::task::spawn_blocking(move || {
            let stopped = self.stop(patience);
            (self, stopped)
        });
        work.await.expect("it does not panic, and the runtime waits for it")
    }
}

struct Hunt<'a> {
    tree: &'a mut Tree,
    begun: Instant,
    kill_from: Instant,
    end: Instant,
    /// Who was signalled and has not ended yet, by number and start.
    quarries: BTreeMap<(u32, u64), Quarry>,
    /// How many of them are held by a pidfd.
    held: usize,
    report: Stopped,
}

struct Quarry {
    process: Identity,
    name: String,
    how: How,
    refused: bool,
    handle: Option<Handle>,
}

impl<'a> Hunt<'a> {
    fn new(tree: &'a mut Tree, patience: Patience) -> Self {
        let begun = Instant::now();
        Self {
            tree,
            begun,
            kill_from: begun + patience.grace,
            end: begun + patience.limit.max(patience.grace),
            quarries: BTreeMap::new(),
            held: 0,
            report: Stopped::default(),
        }
    }

    fn run(mut self) -> Stopped {
        let (mut reach, mut pause) = (Reach::Far, PAUSES.0);
        loop {
            let killing = self.kill_from <= Instant::now();
            let living = self.living(reach);
            self.note_the_ended(&living);
            let is_over = self.end <= Instant::now();
            if is_over || (living.is_empty() && reach == Reach::Far && self.tree.is_surely_empty()) {
                return self.told(&living);
            }
            let is_growing = if killing { self.kill(&living) } else { self.ask(&living) };
            pause = if is_growing { PAUSES.0 } else { (pause * 2).min(PAUSES.1) };
            // Nobody near, but perhaps far: that is looked at before anything else.
            let is_to_be_confirmed = living.is_empty() && reach == Reach::Near;
            let is_near_enough = !living.is_empty() && self.tree.near_is_enough();
            reach = if is_near_enough { Reach::Near } else { Reach::Far };
            let is_in_haste = is_to_be_confirmed || (killing && is_growing);
            if !is_in_haste {
                self.wait(pause, killing);
            }
        }
    }

    fn living(&mut self, reach: Reach) -> Vec<Stat> {
        let mut members = self.tree.look(reach);
        self.tree.reap(&members);
        members.retain(Stat::is_alive);
        members
    }

    /// Asks whom it has not asked yet, and wakes the stopped. Says whether there were new ones.
    fn ask(&mut self, living: &[Stat]) -> bool {
        let mut is_growing = false;
        for stat in living {
            if !self.quarries.contains_key(&(stat.pid, stat.started)) {
                is_growing = true;
                self.signal(stat, Signal::TERM, How::Asked);
            }
            // A stopped process gets the request only when it goes on. One that a debugger holds is left to it.
            if stat.state == State::Stopped {
                self.signal(stat, Signal::CONT, How::Asked);
            }
        }
        is_growing
    }

    /// Kills everybody, the oldest first: those have the most descendants. Says whether there were new ones.
    fn kill(&mut self, living: &[Stat]) -> bool {
        if let Some(cgroup) = self.tree.cgroup() {
            // What could not be ended by one word is ended one by one.
            let _ = cgroup.kill();
        }
        // Nobody was seen, and somebody may be there: it is too quick to be looked at.
        let mut is_growing = living.is_empty();
        for stat in living {
            let quarry = self.quarries.get(&(stat.pid, stat.started));
            is_growing |= quarry.is_none_or(|quarry| quarry.how == How::Asked);
            self.signal(stat, Signal::KILL, How::Killed);
        }
        if is_growing {
            self.sweep();
        }
        is_growing
    }

    /// Kills whoever belongs to the tree as soon as it is seen. A tree whose processes fork and end within the time of
    /// a look would otherwise always be one step ahead.
    fn sweep(&mut self) {
        proc::each(|pid| {
            if let Some(stat) = proc::stat(pid).filter(|stat| self.tree.claims(stat)) {
                self.signal(&stat, Signal::KILL, How::Killed);
            }
            if Instant::now() < self.end { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }

    fn signal(&mut self, stat: &Stat, signal: Signal, how: How) {
        let process = self.tree.identity(stat);
        let key = (stat.pid, stat.started);
        let quarry = self.quarries.entry(key).or_insert_with(|| Quarry {
            process,
            name: stat.name.clone(),
            how,
            refused: false,
            handle: None,
        });
        quarry.how = quarry.how.max(how);
        let fresh = if quarry.handle.is_none() { process.open().ok() } else { None };
        let Some(handle) = quarry.handle.as_ref().or(fresh.as_ref()) else { return };
        quarry.refused = matches!(handle.signal(signal), Err(SignalError::Refused));
        if fresh.is_some() && self.held < HELD_MAX {
            quarry.handle = fresh;
            self.held += 1;
        }
    }

    fn note_the_ended(&mut self, living: &[Stat]) {
        let living: BTreeSet<_> = living.iter().map(|stat| (stat.pid, stat.started)).collect();
        for (_, quarry) in self.quarries.extract_if(.., |who, _| !living.contains(who)) {
            self.held -= usize::from(quarry.handle.is_some());
            match quarry.how {
                How::Asked => self.report.asked += 1,
                How::Killed => self.report.killed += 1,
            }
            if self.report.ended.len() < TOLD_MAX {
                let Quarry { process, name, how, .. } = quarry;
                self.report.ended.push(Ended { process, name, how });
            }
        }
    }

    /// Until somebody ends, or it is time to look or to do more.
    fn wait(&self, pause: Duration, killing: bool) {
        let next = if killing { self.end } else { self.kill_from };
        let deadline = next.min(Instant::now() + pause);
        let held = self.quarries.values().filter_map(|quarry| quarry.handle.as_ref());
        handle::wait_for_any(held.filter(|handle| !handle.has_ended()), deadline);
    }

    fn told(mut self, living: &[Stat]) -> Stopped {
        self.report.left = living
            .iter()
            .take(TOLD_MAX)
            .map(|stat| Left {
                process: self.tree.identity(stat),
                name: stat.name.clone(),
                state: stat.state,
                refused: self.quarries.get(&(stat.pid, stat.started)).is_some_and(|quarry| quarry.refused),
            })
            .collect();
        self.report.took = self.begun.elapsed();
        self.report
    }
}
