//! The tree of one run: the process that was started, and all that came of it.
//!
//! It is looked at near or far. Near follows children from whom is known already, and costs as much as the tree is
//! large; a subreaper sees everybody that way, because who lost its parent came to it. Far goes through all processes
//! of the machine and finds also those whose parents and subreaper have ended, by their mark; a monitor that finishes
//! the job of a wrapper that was killed needs that.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::apart::children_apart;
use super::cgroup::Cgroup;
use super::identity::Identity;
use super::kin::{Claims, kin};
use super::mark::Mark;
use super::proc::{self, Stat, Table};
use super::sample::Ledger;

/// Members that a record names at most. The others are found by descent and mark.
const RECORDED_MAX: usize = 256;

/// More generations than any tree has; it bounds the work should `/proc` change meanwhile.
const GENERATIONS_MAX: usize = 128;

/// All processes of one run. It touches nobody by itself, and dropping it ends nobody.
#[derive(Debug)]
pub struct Tree {
    root: Identity,
    mark: Mark,
    adopts: bool,
    cgroup: Option<Cgroup>,
    /// Who was found when it was last looked at.
    known: BTreeMap<u32, Identity>,
    apart: BTreeMap<u32, u64>,
    pub(super) ledger: Ledger,
}

/// What another process needs to find the tree again, for example a monitor after its wrapper was killed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TreeRecord {
    /// The process that was started first.
    pub root: Identity,
    /// What all of its processes bear.
    pub mark: Mark,
    /// Its control group, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<PathBuf>,
    /// Who was in it when this was written.
    #[serde(default)]
    pub members: Vec<Identity>,
}

/// How much of the machine is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Who descends from known ones.
    Near,
    /// Everybody.
    Far,
}

impl Tree {
    /// The tree below a process that was started with this mark in its environment.
    pub fn new(root: Identity, mark: Mark) -> Self {
        let known = BTreeMap::from([(root.pid, root)]);
        Self {
            root,
            mark,
            adopts: false,
            cgroup: None,
            known,
            apart: BTreeMap::new(),
            ledger: Ledger::default(),
        }
    }

    /// This process is a subreaper for this tree and no other: every child that it has belongs to it, but for those
    /// that [`spawn_apart`](super::spawn_apart) started and those it was told to [`spare`](Self::spare). Children that
    /// it inherits are reaped by whatever looks at the tree; the root is left to whom it belongs.
    #[must_use]
    pub fn adopting(mut self) -> Self {
        self.adopts = true;
        self
    }

    /// It is in this control group.
    #[must_use]
    pub fn in_cgroup(mut self, cgroup: Cgroup) -> Self {
        self.cgroup = Some(cgroup);
        self
    }

    /// This process, and all below it, does not belong to the tree and is never touched.
    pub fn spare(&mut self, who: &Identity) {
        self.apart.insert(who.pid, who.started);
    }

    /// The process that was started first.
    pub fn root(&self) -> Identity {
        self.root
    }

    /// Its control group, if it has one.
    pub fn cgroup(&self) -> Option<&Cgroup> {
        self.cgroup.as_ref()
    }

    /// All of its processes that run now, wherever they went.
    pub fn processes(&mut self) -> Vec<Identity> {
        let found = self.look(Reach::Far);
        found
            .iter()
            .filter(|stat| stat.is_alive())
            .filter_map(|stat| self.known.get(&stat.pid).copied())
            .collect()
    }

    /// What is needed to find it again.
    pub fn record(&self) -> TreeRecord {
        TreeRecord {
            root: self.root,
            mark: self.mark.clone(),
            cgroup: self.cgroup.as_ref().map(|cgroup| cgroup.path().to_owned()),
            members: self.known.values().take(RECORDED_MAX).copied().collect(),
        }
    }

    /// The tree that was written down. Who has ended since is no longer found, whoever has its number.
    pub fn of_record(record: TreeRecord) -> Self {
        let cgroup = record.cgroup.and_then(|path| Cgroup::at(&path, &record.mark));
        let known = record.members.into_iter().map(|member| (member.pid, member)).collect();
        Self { cgroup, known, ..Self::new(record.root, record.mark) }
    }

    /// Its processes, those included that nobody has reaped. From now on they are known.
    pub(super) fn look(&mut self, reach: Reach) -> Vec<Stat> {
        // Held until the table is made: no child can be in it that is apart and not known to be.
        let guard = self.adopts.then(children_apart);
        let table = self.table(reach);
        let mut apart = self.apart.clone();
        apart.extend(guard.as_deref().into_iter().flatten());
        drop(guard);
        let in_group = self.cgroup.as_ref().map(Cgroup::members).unwrap_or_default();
        let marked = if reach == Reach::Far { self.marked(&table) } else { BTreeSet::new() };
        let known = self.still_there(&table);
        let claims = Claims {
            root: Some(self.root.pid).filter(|root| known.contains(root)),
            own: std::process::id(),
            adopts: self.adopts,
            known: &known,
            apart: &apart,
            in_group: &in_group,
            marked: &marked,
        };
        let kin = kin(&table, &claims);
        let found: Vec<_> = table.into_values().filter(|stat| kin.contains(&stat.pid)).collect();
        self.remember(&found);
        found
    }

    /// Takes those off the system's table that came to this process and have ended. The root is another's to reap.
    pub(super) fn reap(&self, members: &[Stat]) {
        if !self.adopts {
            return;
        }
        let own = std::process::id();
        let ended =
            members.iter().filter(|stat| stat.parent == own && !stat.is_alive() && stat.pid != self.root.pid);
        for identity in ended.filter_map(|stat| self.known.get(&stat.pid)) {
            if let Ok(handle) = identity.open() {
                handle.reap();
            }
        }
    }

    /// Whether looking near finds everybody.
    pub(super) fn near_is_enough(&self) -> bool {
        self.adopts
    }

    /// Whether a process belongs to the tree, as far as it tells by itself: it bears the mark, or came to this process.
    pub(super) fn claims(&self, stat: &Stat) -> bool {
        let own = std::process::id();
        let is_ours = || (self.adopts && stat.parent == own) || self.bears_mark(stat.pid);
        stat.pid != own && self.may_bear_mark(stat) && is_ours() && !self.is_apart(stat)
    }

    /// Whether it, or somebody above it, was set apart.
    fn is_apart(&self, stat: &Stat) -> bool {
        let mut apart = children_apart().clone();
        apart.extend(&self.apart);
        let mut next = (!apart.is_empty()).then(|| stat.clone());
        for _ in 0..GENERATIONS_MAX {
            let Some(stat) = next else { return false };
            if apart.get(&stat.pid) == Some(&stat.started) {
                return true;
            }
            next = proc::stat(stat.parent);
        }
        false
    }

    /// Whether nobody is left, beyond doubt: also nobody who forks and ends faster than a look takes. Only after a look
    /// far that found nobody. If somebody is left, or it cannot be told, somebody is.
    pub(super) fn is_surely_empty(&self) -> bool {
        proc::each(|pid| {
            if proc::stat(pid).is_some_and(|stat| self.claims(&stat)) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
    }

    /// The known identity of a member.
    pub(super) fn identity(&self, stat: &Stat) -> Identity {
        self.known.get(&stat.pid).copied().unwrap_or_else(|| Identity::by_line(stat))
    }

    fn bears_mark(&self, pid: u32) -> bool {
        proc::environment(pid).is_some_and(|environment| self.mark.is_in(&environment))
    }

    fn table(&self, reach: Reach) -> Table {
        if reach == Reach::Far {
            return proc::all();
        }
        let own = self.adopts.then(std::process::id);
        let in_group = self.cgroup.as_ref().map(Cgroup::members).unwrap_or_default();
        let from = self.known.keys().copied().chain([self.root.pid]).chain(own).chain(in_group);
        proc::descending(from).unwrap_or_else(proc::all)
    }

    /// Those that were found before and have kept their number. The line alone does not prove it: it tells when a
    /// process was started in hundredths of a second only.
    fn still_there(&self, table: &Table) -> BTreeSet<u32> {
        let unknown_root = (!self.known.contains_key(&self.root.pid)).then_some(&self.root);
        let known = self.known.values().chain(unknown_root);
        let same = known.filter(|known| table.get(&known.pid).is_some_and(|stat| known.is_meant_by(stat)));
        same.filter(|known| known.open().is_ok()).map(|known| known.pid).collect()
    }

    /// Who bears the mark, of those that nothing else is known about.
    fn marked(&self, table: &Table) -> BTreeSet<u32> {
        let strangers = table.values().filter(|stat| {
            let known = self.known.get(&stat.pid).is_some_and(|known| known.is_meant_by(stat));
            !known && self.may_bear_mark(stat)
        });
        strangers.map(|stat| stat.pid).filter(|pid| self.bears_mark(*pid)).collect()
    }

    fn may_bear_mark(&self, stat: &Stat) -> bool {
        self.root.started <= stat.started && stat.is_alive() && !stat.is_kernel()
    }

    fn remember(&mut self, found: &[Stat]) {
        let known = found.iter().map(|stat| {
            let before = self.known.get(&stat.pid).filter(|known| known.is_meant_by(stat));
            // If its number is another's by now, what the line said is kept, and never opened.
            let now = || Identity::of(stat.pid).filter(|now| now.is_meant_by(stat));
            (stat.pid, before.copied().or_else(now).unwrap_or_else(|| Identity::by_line(stat)))
        });
        self.known = known.collect();
        // The root is given with the serial number that it was started with.
        if let Some(root) =
            self.known.get_mut(&self.root.pid).filter(|known| known.started == self.root.started)
        {
            *root = self.root;
        }
    }
}
