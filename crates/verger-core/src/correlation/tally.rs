//! The counters of one scope.

use std::collections::BTreeMap;

use super::Kind;

const KINDS: usize = Kind::ALL.len();

/// Who belongs to a scope, who of them is bad, and who turned so lately.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tally {
    pub(super) members: u32,
    /// Those whose badness counts in this scope, however old it is.
    bad: u32,
    /// Of those, the ones that turned bad lately, by second and kind.
    recent: BTreeMap<u64, [u32; KINDS]>,
    counts: [u32; KINDS],
}

impl Tally {
    /// One more turned bad in that second; `counts` if that is recent enough.
    pub(super) fn add(&mut self, second: u64, kind: Kind, counts: bool) {
        self.bad = self.bad.saturating_add(1);
        if counts {
            let at = self.recent.entry(second).or_default();
            at[kind as usize] = at[kind as usize].saturating_add(1);
            self.counts[kind as usize] = self.counts[kind as usize].saturating_add(1);
        }
    }

    /// One that turned bad in that second is no longer so, or no longer here.
    pub(super) fn remove(&mut self, second: u64, kind: Kind) {
        self.bad = self.bad.saturating_sub(1);
        let Some(at) = self.recent.get_mut(&second) else { return };
        let Some(fewer) = at[kind as usize].checked_sub(1) else { return };
        at[kind as usize] = fewer;
        self.counts[kind as usize] = self.counts[kind as usize].saturating_sub(1);
        if at.iter().all(|count| *count == 0) {
            self.recent.remove(&second);
        }
    }

    /// What happened before that second is no longer recent.
    pub(super) fn forget_before(&mut self, floor: u64) {
        while let Some(entry) = self.recent.first_entry().filter(|entry| *entry.key() < floor) {
            for (count, old) in self.counts.iter_mut().zip(entry.remove()) {
                *count = count.saturating_sub(old);
            }
        }
    }

    /// How many turned bad lately and still are.
    pub(super) fn affected(&self) -> u32 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// How many did so in that way.
    pub(super) fn affected_by(&self, kind: Kind) -> u32 {
        self.counts[kind as usize]
    }

    /// Of how many: the well, and those who turned bad lately.
    pub(super) fn of(&self) -> u32 {
        self.members.saturating_sub(self.bad).saturating_add(self.affected())
    }

    /// What is wrong with most of them; of two, what comes first in the list of kinds.
    pub(super) fn kind(&self) -> Kind {
        let mut most = Kind::Silent;
        for kind in Kind::ALL {
            if self.affected_by(most) < self.affected_by(kind) {
                most = kind;
            }
        }
        most
    }

    /// When the first of them turned bad.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.recent.first_key_value().map(|(second, _)| *second)
    }
}
