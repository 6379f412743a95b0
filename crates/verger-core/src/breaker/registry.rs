//! All breakers, by name.
//!
//! A breaker is made when its name is first heard of. If its endpoint belongs to a group, an agent's call also asks
//! the group's shared breaker, and what becomes of the call counts for both: a dependency that fails behind a
//! hundred agents is then tried by one call at a time, not by one of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use super::call::{CallResult, Mode, Outcome, PermitNumber, Refusal, Reported};
use super::change::{Change, Reason, Transition};
use super::index::NameIndex;
use super::machine::Breaker;
use super::name::{BreakerName, Kind};
use super::policy::{Policies, Policy};
use crate::id::AgentId;
use crate::time::{Span, Timestamp};

/// All breakers. Time comes in with every call and never runs backwards.
#[derive(Debug)]
pub struct Breakers {
    pub(super) policies: Policies,
    /// The shared breaker of each endpoint that has one.
    pub(super) groups: BTreeMap<Box<str>, BreakerName>,
    pub(super) slots: Vec<Slot>,
    pub(super) free: Vec<u32>,
    /// All names in order.
    pub(super) names: BTreeMap<BreakerName, u32>,
    pub(super) index: NameIndex,
    /// When which slot must be looked at. Most breakers are closed, and not in it.
    pub(super) deadlines: BTreeSet<(Timestamp, u32)>,
    /// Slots whose rows changed since they were last taken.
    pub(super) changed: Vec<u32>,
    /// Breakers that were forgotten since rows were last taken.
    pub(super) forgotten: Vec<BreakerName>,
    /// No room was found among all; it is not looked for again before then.
    pub(super) crowded_until: Timestamp,
    /// People know that there is no room, and are not told again before then.
    pub(super) told_crowded_until: Timestamp,
    steps: Vec<Transition>,
}

/// A place in the table.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) generation: u32,
    pub(super) entry: Option<Entry>,
}

/// A breaker in its place.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: BreakerName,
    pub(super) breaker: Breaker,
    pub(super) kind: Option<Kind>,
    /// The breaker that it shares with others.
    pub(super) shared: Option<BreakerName>,
    /// Whether its row changed since it was last taken.
    pub(super) changed: bool,
}

/// A breaker's place in the table: the fast way to name it, until it is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerHandle {
    slot: u32,
    generation: u32,
}

/// Leave to make one call, to be given back with what became of it. Its text is opaque to who holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permit {
    /// Of the breaker itself; none if nobody watches.
    pub(crate) own: Option<PermitNumber>,
    /// Of the breaker that it shares with others.
    pub(crate) shared: Option<PermitNumber>,
}

/// A call that must not be made now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("breaker `{by}` refuses: {refusal}")]
pub struct Denied {
    /// The breaker that refuses: the one that was asked, or the one that it shares with others.
    pub by: BreakerName,
    /// Why, and when to ask again.
    pub refusal: Refusal,
}

/// There is no such breaker.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no breaker is called `{0}`")]
pub struct Unknown(pub BreakerName);

impl Breakers {
    /// No breakers yet. The seed keeps the look-up by name from being attacked with colliding names; it decides
    /// nothing else.
    pub fn new(policies: Policies, seed: u64) -> Self {
        Self {
            groups: groups(&policies),
            policies,
            slots: Vec::new(),
            free: Vec::new(),
            names: BTreeMap::new(),
            index: NameIndex::new(seed),
            deadlines: BTreeSet::new(),
            changed: Vec::new(),
            forgotten: Vec::new(),
            crowded_until: Timestamp::ZERO,
            told_crowded_until: Timestamp::ZERO,
            steps: Vec::new(),
        }
    }

    /// Asks whether a call may be made. Where there is no room for one more breaker, calls pass unwatched.
    pub fn acquire(
        &mut self,
        now: Timestamp,
        name: &BreakerName,
        out: &mut Vec<Change>,
    ) -> Result<Permit, Denied> {
        match self.enter(now, name, out) {
            Some(slot) => self.acquire_slot(now, slot, out),
            None => Ok(Permit::UNWATCHED),
        }
    }

    /// Takes in how a call ended that had a permit of this breaker.
    pub fn report(
        &mut self,
        now: Timestamp,
        name: &BreakerName,
        permit: Permit,
        outcome: Outcome,
        out: &mut Vec<Change>,
    ) -> Reported {
        match self.find(name) {
            Some(slot) => self.report_slot(now, slot, permit, outcome, out),
            None => Reported::Unwatched,
        }
    }

    /// Takes in how a call ended that was seen without having asked.
    pub fn observe(&mut self, now: Timestamp, name: &BreakerName, outcome: Outcome, out: &mut Vec<Change>) {
        if let Some(slot) = self.enter(now, name, out) {
            self.observe_slot(now, slot, outcome, out);
        }
    }

    /// Whether there is a breaker of this name.
    pub fn contains(&self, name: &BreakerName) -> bool {
        self.find(name).is_some()
    }

    /// The place of a breaker, which is made if need be; none if there is no room.
    pub fn handle(
        &mut self,
        now: Timestamp,
        name: &BreakerName,
        out: &mut Vec<Change>,
    ) -> Option<BreakerHandle> {
        let slot = self.enter(now, name, out)?;
        let generation = self.slots.get(slot as usize)?.generation;
        Some(BreakerHandle { slot, generation })
    }

    /// [`acquire`](Self::acquire) for who holds the handle. One that was forgotten lets calls pass unwatched.
    pub fn acquire_at(
        &mut self,
        now: Timestamp,
        handle: BreakerHandle,
        out: &mut Vec<Change>,
    ) -> Result<Permit, Denied> {
        if self.is_valid(handle) { self.acquire_slot(now, handle.slot, out) } else { Ok(Permit::UNWATCHED) }
    }

    /// [`report`](Self::report) for who holds the handle.
    pub fn report_at(
        &mut self,
        now: Timestamp,
        handle: BreakerHandle,
        permit: Permit,
        outcome: Outcome,
        out: &mut Vec<Change>,
    ) -> Reported {
        if self.is_valid(handle) {
            self.report_slot(now, handle.slot, permit, outcome, out)
        } else {
            Reported::Unwatched
        }
    }

    /// A person says that all is well with it.
    pub fn reset(
        &mut self,
        now: Timestamp,
        name: &BreakerName,
        out: &mut Vec<Change>,
    ) -> Result<(), Unknown> {
        let slot = self.find(name).ok_or_else(|| Unknown(name.clone()))?;
        self.step(slot, out, |breaker, _, steps| breaker.reset(now, steps));
        Ok(())
    }

    /// A person has it work another way. It is made if need be: what is to be held open may not have been called yet.
    pub fn set_mode(
        &mut self,
        now: Timestamp,
        name: &BreakerName,
        mode: Mode,
        out: &mut Vec<Change>,
    ) -> Result<(), Unknown> {
        let slot = self.enter(now, name, out).ok_or_else(|| Unknown(name.clone()))?;
        self.step(slot, out, |breaker, _, steps| breaker.set_mode(now, mode, steps));
        Ok(())
    }

    /// The agent is gone, and its breakers with it. Those that were not just closed are named.
    pub fn drop_agent(&mut self, agent: &AgentId, out: &mut Vec<Change>) {
        let prefix = BreakerName::prefix_of(agent);
        let slots: Vec<u32> = self.group(&prefix, false).collect();
        for slot in slots {
            self.forget(slot, Reason::Deregistered, out);
        }
    }

    /// The monitor was away: permits that were not written down are not taken for others.
    pub fn on_monitor_back(&mut self) {
        for (at, slot) in self.slots.iter_mut().enumerate() {
            if let Some(entry) = &mut slot.entry {
                entry.breaker.on_monitor_back();
                mark(entry, at as u32, &mut self.changed);
            }
        }
    }

    /// Other policies hold from now on; what is open under the old ones stays so no longer than the new ones allow.
    pub fn set_policies(&mut self, now: Timestamp, policies: Policies) {
        self.groups = groups(&policies);
        self.policies = policies;
        self.deadlines.clear();
        for (at, slot) in self.slots.iter_mut().enumerate() {
            let Some(entry) = &mut slot.entry else { continue };
            entry.breaker.fit(now, self.policies.of(entry.kind));
            entry.shared = shared_of(&entry.name, entry.kind, &self.groups);
            mark(entry, at as u32, &mut self.changed);
            self.deadlines.extend(entry.breaker.deadline().map(|deadline| (deadline, at as u32)));
        }
    }

    /// The policies in force.
    pub fn policies(&self) -> &Policies {
        &self.policies
    }

    /// When [`wake`](Self::wake) has something to do, if nothing comes in before.
    pub fn deadline(&self, now: Timestamp) -> Option<Timestamp> {
        self.deadlines.first().map(|(at, _)| (*at).max(now + Span::millis(1)))
    }

    /// Does everything that is due. Calling early is harmless.
    pub fn wake(&mut self, now: Timestamp, out: &mut Vec<Change>) {
        let before = out.len();
        // What is woken has its next deadline after now, so this ends.
        while let Some((_, slot)) = self.deadlines.first().copied().filter(|(at, _)| *at <= now) {
            self.step(slot, out, |breaker, policy, steps| breaker.wake(now, policy, steps));
        }
        // By name, so that the order does not depend on which was made first.
        if let Some(woken) = out.get_mut(before..) {
            woken.sort_by(|a, b| a.name.cmp(&b.name));
        }
    }

    fn is_valid(&self, handle: BreakerHandle) -> bool {
        self.slots.get(handle.slot as usize).is_some_and(|slot| slot.generation == handle.generation)
    }

    fn acquire_slot(&mut self, now: Timestamp, slot: u32, out: &mut Vec<Change>) -> Result<Permit, Denied> {
        let shared_name = self.entry(slot).and_then(|entry| entry.shared.clone());
        let shared_slot = shared_name.as_ref().and_then(|name| self.enter(now, name, out));
        let shared = match shared_slot {
            Some(slot) => self.acquire_one(now, slot, out)?,
            None => None,
        };
        let own = self.acquire_one(now, slot, out).inspect_err(|_| {
            if let (Some(slot), Some(number)) = (shared_slot, shared) {
                self.report_one(now, slot, number, CallResult::NotMade.into(), out);
            }
        })?;
        Ok(Permit { own, shared })
    }

    fn acquire_one(
        &mut self,
        now: Timestamp,
        slot: u32,
        out: &mut Vec<Change>,
    ) -> Result<Option<PermitNumber>, Denied> {
        let answer = self.step(slot, out, |breaker, policy, steps| breaker.acquire(now, policy, steps));
        match (answer, self.entry(slot)) {
            (Some(Err(refusal)), Some(entry)) => Err(Denied { by: entry.name.clone(), refusal }),
            (Some(Ok(number)), _) => {
                self.mark(slot);
                Ok(Some(number))
            }
            _ => Ok(None),
        }
    }

    fn report_slot(
        &mut self,
        now: Timestamp,
        slot: u32,
        permit: Permit,
        outcome: Outcome,
        out: &mut Vec<Change>,
    ) -> Reported {
        let shared = match (permit.shared, self.shared_slot(slot)) {
            (Some(number), Some(slot)) => self.report_one(now, slot, number, outcome, out),
            (None, _) | (_, None) => Reported::Unwatched,
        };
        permit.own.map_or(shared, |number| self.report_one(now, slot, number, outcome, out))
    }

    fn report_one(
        &mut self,
        now: Timestamp,
        slot: u32,
        number: PermitNumber,
        outcome: Outcome,
        out: &mut Vec<Change>,
    ) -> Reported {
        let run = |breaker: &mut Breaker, policy: &Policy, steps: &mut Vec<Transition>| {
            breaker.report(now, number, outcome, policy, steps)
        };
        let reported = self.step(slot, out, run).unwrap_or(Reported::Unwatched);
        if reported == Reported::Counted {
            self.mark(slot);
        }
        reported
    }

    fn observe_slot(&mut self, now: Timestamp, slot: u32, outcome: Outcome, out: &mut Vec<Change>) {
        let shared_name = self.entry(slot).and_then(|entry| entry.shared.clone());
        let shared_slot = shared_name.and_then(|name| self.enter(now, &name, out));
        for slot in [Some(slot), shared_slot].into_iter().flatten() {
            self.step(slot, out, |breaker, policy, steps| breaker.observe(now, outcome, policy, steps));
            self.mark(slot);
        }
    }

    fn shared_slot(&self, slot: u32) -> Option<u32> {
        self.find(self.entry(slot)?.shared.as_ref()?)
    }

    pub(super) fn find(&self, name: &BreakerName) -> Option<u32> {
        self.index.get(name, &self.slots)
    }

    pub(super) fn entry(&self, slot: u32) -> Option<&Entry> {
        self.slots.get(slot as usize)?.entry.as_ref()
    }

    /// Runs one step of one breaker, names what changed, and keeps its deadline.
    fn step<T>(
        &mut self,
        slot: u32,
        out: &mut Vec<Change>,
        run: impl FnOnce(&mut Breaker, &Policy, &mut Vec<Transition>) -> T,
    ) -> Option<T> {
        let entry = self.slots.get_mut(slot as usize)?.entry.as_mut()?;
        let before = entry.breaker.deadline();
        let result = run(&mut entry.breaker, self.policies.of(entry.kind), &mut self.steps);
        let after = entry.breaker.deadline();
        if before != after {
            before.map(|at| self.deadlines.remove(&(at, slot)));
            after.map(|at| self.deadlines.insert((at, slot)));
        }
        if !self.steps.is_empty() {
            mark(entry, slot, &mut self.changed);
            let name = &entry.name;
            out.extend(self.steps.drain(..).map(|transition| Change { name: name.clone(), transition }));
        }
        Some(result)
    }

    fn mark(&mut self, slot: u32) {
        if let Some(entry) = self.slots.get_mut(slot as usize).and_then(|slot| slot.entry.as_mut()) {
            mark(entry, slot, &mut self.changed);
        }
    }

    /// The place of a breaker, which is made if need be; none if there is no room.
    fn enter(&mut self, now: Timestamp, name: &BreakerName, out: &mut Vec<Change>) -> Option<u32> {
        if let Some(slot) = self.find(name) {
            return Some(slot);
        }
        self.make_room(now, name, out).then(|| self.insert(name.clone(), Breaker::new(now)))
    }

    /// Puts in a breaker whose name is not there yet.
    pub(super) fn insert(&mut self, name: BreakerName, breaker: Breaker) -> u32 {
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        let kind = name.kind();
        let shared = shared_of(&name, kind, &self.groups);
        self.deadlines.extend(breaker.deadline().map(|deadline| (deadline, slot)));
        self.names.insert(name.clone(), slot);
        let mut entry = Entry { name, breaker, kind, shared, changed: false };
        mark(&mut entry, slot, &mut self.changed);
        match self.slots.get_mut(slot as usize) {
            Some(place) => place.entry = Some(entry),
            None => self.slots.push(Slot { generation: 0, entry: Some(entry) }),
        }
        self.index.insert(slot, &self.slots);
        slot
    }
}

pub(super) fn mark(entry: &mut Entry, slot: u32, changed: &mut Vec<u32>) {
    if !entry.changed {
        entry.changed = true;
        changed.push(slot);
    }
}

fn groups(policies: &Policies) -> BTreeMap<Box<str>, BreakerName> {
    let named = |(endpoint, group): &(String, String)| {
        // A group that cannot be a name groups nothing; the configuration refuses it before.
        BreakerName::shared(group).ok().map(|name| (endpoint.as_str().into(), name))
    };
    policies.groups.iter().filter_map(named).collect()
}

fn shared_of(
    name: &BreakerName,
    kind: Option<Kind>,
    groups: &BTreeMap<Box<str>, BreakerName>,
) -> Option<BreakerName> {
    if kind != Some(Kind::Api) || groups.is_empty() {
        return None;
    }
    groups.get(name.target().as_ref()).cloned()
}

impl Permit {
    /// For calls that nobody watches.
    pub(crate) const UNWATCHED: Self = Self { own: None, shared: None };
}

impl fmt::Display for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |permit: Option<PermitNumber>| permit.map_or(0, |number| number.0.get());
        write!(f, "{:x}", number(self.own))?;
        if self.shared.is_some() {
            write!(f, "-{:x}", number(self.shared))?;
        }
        Ok(())
    }
}

/// It was not given by a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a permit")]
pub struct NoPermit;

impl FromStr for Permit {
    type Err = NoPermit;

    fn from_str(text: &str) -> Result<Self, NoPermit> {
        let number =
            |text| u64::from_str_radix(text, 16).map(|number| NonZeroU64::new(number).map(PermitNumber));
        let (own, shared) = text.split_once('-').unwrap_or((text, "0"));
        match (number(own), number(shared)) {
            (Ok(own), Ok(shared)) => Ok(Self { own, shared }),
            _ => Err(NoPermit),
        }
    }
}
