//! Which breakers are forgotten when there are too many.
//!
//! Names come from outside, so breakers are kept to a number, for each agent and in all. One that is closed and quiet
//! knows nothing that a new one would not, and is forgotten first; then those that are closed; then those that wait,
//! half open, for a call that does not come. Among equals it is the one that was unused for longest. One that is
//! open, or that a person has set, is never forgotten while its agent is there. If nothing can be forgotten, the
//! newcomer is not watched and its calls pass: refusing them would let a full table stop an agent.

use std::ops::Bound;

use super::call::{Mode, State};
use super::change::{Change, Reason, Transition};
use super::name::BreakerName;
use super::registry::{Breakers, Entry};
use crate::time::{Span, Timestamp};

/// When all is full, this share of all breakers is forgotten at once, so that newcomers need not look each time.
const SHARE_FORGOTTEN: u32 = 64;
/// How long all are not looked through again after no room was found, and people are not told again.
const CROWDED_FOR: Span = Span::minutes(1);

/// How readily a breaker is forgotten: the least first.
type Rank = (u8, Timestamp, BreakerName);

impl Breakers {
    /// Makes sure that one more fits in; tells whether it does.
    pub(super) fn make_room(&mut self, now: Timestamp, name: &BreakerName, out: &mut Vec<Change>) -> bool {
        let fits = self.make_room_in_group(now, name, out) && self.make_room_in_all(now, out);
        if !fits && self.told_crowded_until <= now {
            self.told_crowded_until = now + CROWDED_FOR;
            let transition = Transition { from: State::Closed, to: State::Closed, reason: Reason::NoRoom };
            out.push(Change { name: name.clone(), transition });
        }
        fits
    }

    /// The slots of those whose names begin so, the shared or the others.
    pub(super) fn group<'a>(&'a self, prefix: &'a str, shared: bool) -> impl Iterator<Item = u32> + 'a {
        self.names
            .range::<str, _>((Bound::Included(prefix), Bound::Unbounded))
            .take_while(move |(name, _)| name.as_str().starts_with(prefix))
            .filter(move |(name, _)| name.is_shared() == shared)
            .map(|(_, slot)| *slot)
    }

    /// Forgets a breaker. If it was not just closed, that is told.
    pub(super) fn forget(&mut self, slot: u32, reason: Reason, out: &mut Vec<Change>) {
        self.index.remove(slot, &self.slots);
        let Some(place) = self.slots.get_mut(slot as usize) else { return };
        let Some(entry) = place.entry.take() else { return };
        place.generation = place.generation.wrapping_add(1);
        self.free.push(slot);
        self.names.remove(&entry.name);
        if let Some(deadline) = entry.breaker.deadline() {
            self.deadlines.remove(&(deadline, slot));
        }
        let from = entry.breaker.state();
        if from != State::Closed || entry.breaker.mode() != Mode::Normal {
            let transition = Transition { from, to: State::Closed, reason };
            out.push(Change { name: entry.name.clone(), transition });
        }
        self.forgotten.push(entry.name);
    }

    fn make_room_in_group(&mut self, now: Timestamp, name: &BreakerName, out: &mut Vec<Change>) -> bool {
        let shared = name.is_shared();
        let bounds = self.policies.bounds;
        let most = if shared { bounds.shared_max } else { bounds.per_agent_max };
        let prefix = name.as_str().split_inclusive('/').next().unwrap_or_default();
        if self.group(prefix, shared).count() < usize::from(most) {
            return true;
        }
        let first = self.group(prefix, shared).filter_map(|slot| self.rank(now, slot)).min();
        first.is_some_and(|rank| self.forget_ranked(&rank, out))
    }

    fn make_room_in_all(&mut self, now: Timestamp, out: &mut Vec<Change>) -> bool {
        let most = self.policies.bounds.total_max as usize;
        if self.names.len() < most {
            return true;
        }
        if now < self.crowded_until {
            return false;
        }
        let mut ranks: Vec<Rank> = self.names.values().filter_map(|slot| self.rank(now, *slot)).collect();
        let surplus = self.names.len() - most;
        let wanted = surplus + (self.policies.bounds.total_max / SHARE_FORGOTTEN).max(1) as usize;
        if wanted < ranks.len() {
            ranks.select_nth_unstable(wanted);
            ranks.truncate(wanted);
        }
        ranks.sort_unstable();
        for rank in ranks {
            self.forget_ranked(&rank, out);
        }
        let fits = self.names.len() < most;
        if !fits {
            self.crowded_until = now + CROWDED_FOR;
        }
        fits
    }

    fn forget_ranked(&mut self, (_, _, name): &Rank, out: &mut Vec<Change>) -> bool {
        self.find(name).map(|slot| self.forget(slot, Reason::MadeRoom, out)).is_some()
    }

    fn rank(&self, now: Timestamp, slot: u32) -> Option<Rank> {
        let Entry { name, breaker, kind, .. } = self.entry(slot)?;
        let rank = match (breaker.mode(), breaker.state()) {
            (Mode::Normal, State::Closed) if breaker.is_quiet(now, self.policies.of(*kind)) => 0,
            (Mode::Normal, State::Closed) => 1,
            (Mode::Normal, State::HalfOpen) if breaker.outstanding() == 0 => 2,
            (Mode::Normal, State::HalfOpen | State::Open)
            | (Mode::ForcedOpen | Mode::Disabled | Mode::MetricsOnly, _) => return None,
        };
        Some((rank, breaker.used, name.clone()))
    }
}
