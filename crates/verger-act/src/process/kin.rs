//! Who belongs to a tree, judged from a table of processes.
//!
//! Each of these alone is enough: to be the root; to be in its session or group while the root is there, for their
//! numbers are its own; to bear the mark; to be in the control group; to have been found before; to have come to the
//! subreaper of the tree. And so do all who descend from one who belongs. Who was set apart never does, with its
//! descendants.

use std::collections::{BTreeMap, BTreeSet};

use super::proc::{Stat, Table};

/// What is known about a tree, besides the table.
#[derive(Debug)]
pub(super) struct Claims<'a> {
    /// The root, if it is still there: its number is its own then.
    pub(super) root: Option<u32>,
    /// The process that judges. It is never part of the tree.
    pub(super) own: u32,
    /// Whether it inherits the tree's orphans, and only those.
    pub(super) adopts: bool,
    /// Found before, and still there.
    pub(super) known: &'a BTreeSet<u32>,
    /// Apart from the tree: number and start.
    pub(super) apart: &'a BTreeMap<u32, u64>,
    pub(super) in_group: &'a BTreeSet<u32>,
    pub(super) marked: &'a BTreeSet<u32>,
}

/// The numbers of all who belong.
pub(super) fn kin(table: &Table, claims: &Claims<'_>) -> BTreeSet<u32> {
    let children = by_parent(table);
    let mut barred = BTreeSet::from([claims.own]);
    let apart = table.values().filter(|stat| claims.apart.get(&stat.pid) == Some(&stat.started));
    descend(apart.map(|stat| stat.pid).collect(), &children, &mut barred);
    let mut kin = barred.clone();
    let root = claims.root.and_then(|root| table.get(&root));
    let seeds = table.values().filter(|stat| !barred.contains(&stat.pid) && claims.is_seed(stat, root));
    descend(seeds.map(|stat| stat.pid).collect(), &children, &mut kin);
    kin.difference(&barred).copied().collect()
}

impl Claims<'_> {
    fn is_seed(&self, stat: &Stat, root: Option<&Stat>) -> bool {
        let with_root = root.is_some_and(|root| {
            // Only those that it leads itself bear its number; in another it is a guest.
            (root.session == root.pid && stat.session == root.pid)
                || (root.group == root.pid && stat.group == root.pid)
        });
        root.is_some_and(|root| root.pid == stat.pid)
            || with_root
            || (self.adopts && stat.parent == self.own)
            || self.in_group.contains(&stat.pid)
            || self.marked.contains(&stat.pid)
            || self.known.contains(&stat.pid)
    }
}

fn by_parent(table: &Table) -> BTreeMap<u32, Vec<u32>> {
    let mut children = BTreeMap::<u32, Vec<u32>>::new();
    for stat in table.values() {
        children.entry(stat.parent).or_default().push(stat.pid);
    }
    children
}

/// Adds these and all below them to `found`, and goes no further below one that is in it already.
fn descend(mut next: Vec<u32>, children: &BTreeMap<u32, Vec<u32>>, found: &mut BTreeSet<u32>) {
    while let Some(pid) = next.pop() {
        if found.insert(pid) {
            next.extend(children.get(&pid).into_iter().flatten());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::proc::State;
    use super::*;

    const OWN: u32 = 1000;
    const ROOT: u32 = 2000;

    /// A table of `(pid, parent, group, session)`; all were started at the time of their number.
    fn table(lines: &[(u32, u32, u32, u32)]) -> Table {
        let stat = |&(pid, parent, group, session): &(u32, u32, u32, u32)| Stat {
            pid,
            name: String::new(),
            state: State::Sleeping,
            parent,
            group,
            session,
            cpu_ticks: 0,
            children_ticks: 0,
            threads: 1,
            started: pid.into(),
            resident_pages: 0,
        };
        lines.iter().map(|line| (line.0, stat(line))).collect()
    }

    #[derive(Default)]
    struct Case {
        root_is_gone: bool,
        adopts: bool,
        known: Vec<u32>,
        apart: Vec<(u32, u64)>,
        in_group: Vec<u32>,
        marked: Vec<u32>,
    }

    fn found(table: &Table, case: &Case) -> Vec<u32> {
        let claims = Claims {
            root: (!case.root_is_gone).then_some(ROOT),
            own: OWN,
            adopts: case.adopts,
            known: &case.known.iter().copied().collect(),
            apart: &case.apart.iter().copied().collect(),
            in_group: &case.in_group.iter().copied().collect(),
            marked: &case.marked.iter().copied().collect(),
        };
        kin(table, &claims).into_iter().collect()
    }

    const OURS: (u32, u32, u32, u32) = (OWN, 900, OWN, 900);
    const HEAD: (u32, u32, u32, u32) = (ROOT, OWN, ROOT, ROOT);

    #[test]
    fn a_tree_is_its_root_and_all_below_it_whatever_their_session() {
        let all =
            table(&[OURS, HEAD, (2001, ROOT, ROOT, ROOT), (2002, 2001, 2002, 2002), (3000, OWN, 3000, 3000)]);
        assert_eq!(found(&all, &Case::default()), [ROOT, 2001, 2002]);
    }

    #[test]
    fn who_lost_its_parent_is_found_by_session_mark_group_acquaintance_or_adoption() {
        let all =
            table(&[OURS, HEAD, (2001, 1, 2001, ROOT), (2002, 1, 2002, 2002), (2003, 2002, 2002, 2002)]);
        assert_eq!(found(&all, &Case::default()), [ROOT, 2001]);
        assert_eq!(found(&all, &Case { marked: vec![2002], ..Case::default() }), [ROOT, 2001, 2002, 2003]);
        assert_eq!(found(&all, &Case { in_group: vec![2002], ..Case::default() }), [ROOT, 2001, 2002, 2003]);
        assert_eq!(found(&all, &Case { known: vec![2002], ..Case::default() }), [ROOT, 2001, 2002, 2003]);
        let inherited = table(&[OURS, HEAD, (2002, OWN, 2002, 2002)]);
        assert_eq!(found(&inherited, &Case { adopts: true, ..Case::default() }), [ROOT, 2002]);
        assert_eq!(found(&inherited, &Case::default()), [ROOT]);
    }

    #[test]
    fn x10_a_stranger_with_the_number_of_the_root_does_not_belong_nor_does_its_session() {
        let all = table(&[OURS, HEAD, (2001, ROOT, ROOT, ROOT), (2002, 1, 2002, 2002)]);
        let gone = Case { root_is_gone: true, ..Case::default() };
        assert_eq!(found(&all, &gone), Vec::<u32>::new());
    }

    #[test]
    fn neither_this_process_nor_who_is_apart_ever_belongs() {
        let all =
            table(&[OURS, HEAD, (2001, OWN, 2001, 2001), (2002, 2001, 2002, 2002), (2003, OWN, ROOT, ROOT)]);
        let case =
            Case { adopts: true, apart: vec![(2001, 2001)], marked: vec![OWN, 2001], ..Case::default() };
        assert_eq!(found(&all, &case), [ROOT, 2003]);
        let reused = Case { adopts: true, apart: vec![(2001, 1)], ..Case::default() };
        assert_eq!(found(&all, &reused), [ROOT, 2001, 2002, 2003], "the number that was apart is another's");
    }
}
