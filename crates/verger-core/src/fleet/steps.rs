//! Whose steps are followed, and who makes room when they are too many.
//!
//! To follow an agent's steps takes some 16 KB, whoever it is. Beyond the limit the agent that took no step for the
//! longest time is followed no more; it begins anew with its next one. What is lost is the beginning of a loop, never
//! a false one: an agent is judged by less, and is counted.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::{read, row};
use super::{Fleet, RestoreError, Row, RowKey};
use crate::id::AgentId;
use crate::signal::Body;
use crate::signs::Steps;
use crate::signs::steps::{KEPT, Kept};
use crate::time::Timestamp;

/// Agents whose steps are followed at once: 64 MB. As many agents as one machine runs at work at the same time, with
/// room to spare; those that merely beat cost nothing here.
const FOLLOWED_MAX: usize = 4_096;

/// Whose steps are followed.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    /// By the time of their last step.
    order: BTreeSet<(Timestamp, u32)>,
    last: BTreeMap<u32, Timestamp>,
    /// Steps of agents that are followed no more: whose, and how many rows they may have.
    dropped: Vec<(AgentId, u32)>,
    /// How often somebody had to make room.
    displaced: u64,
}

/// How many agents' steps are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FollowedCounts {
    /// At present.
    pub followed: usize,
    /// Agents that had to make room for others since the program began.
    pub displaced: u64,
}

impl Followed {
    /// It took a step.
    fn on_step(&mut self, slot: u32, at: Timestamp) {
        if let Some(before) = self.last.insert(slot, at) {
            self.order.remove(&(before, slot));
        }
        self.order.insert((at, slot));
    }

    fn remove(&mut self, slot: u32) {
        if let Some(before) = self.last.remove(&slot) {
            self.order.remove(&(before, slot));
        }
    }

    /// Who must make room, if there are more than `max`.
    fn longest_silent(&self, max: usize) -> Option<u32> {
        self.order.first().map(|(_, slot)| *slot).filter(|_| max < self.order.len())
    }

    pub(super) fn has_changes(&self) -> bool {
        !self.dropped.is_empty()
    }

    pub(super) fn drop_rows(&mut self, push: &mut dyn FnMut(Row)) {
        for (agent, rows) in self.dropped.drain(..) {
            for place in 0..rows as u8 {
                push(Row { key: RowKey::Step(agent.clone(), place), bytes: None });
            }
            if rows == KEPT {
                push(Row { key: RowKey::StepsBefore(agent), bytes: None });
            }
        }
    }
}

impl Fleet {
    /// How many agents' steps are followed.
    pub fn followed(&self) -> FollowedCounts {
        FollowedCounts {
            followed: self.machines.followed.order.len(),
            displaced: self.machines.followed.displaced,
        }
    }

    /// Hands on that a step was taken. Whoever sends no text costs nothing.
    pub(super) fn follow_steps(&mut self, slot: u32, body: &Body) {
        if matches!(body, Body::ToolFinished { step: Some(_), .. } | Body::Message { step: Some(_), .. }) {
            self.keep_followed(slot, FOLLOWED_MAX);
        }
    }

    fn keep_followed(&mut self, slot: u32, max: usize) {
        let signs = self.table.agent(slot).and_then(|agent| agent.signs.as_ref());
        let Some(steps) = signs.and_then(|signs| signs.steps.as_ref()) else { return };
        let last = steps.last();
        self.machines.followed.on_step(slot, last);
        while let Some(longest) = self.machines.followed.longest_silent(max) {
            self.machines.followed.displaced += 1;
            self.unfollow(longest);
            // It is looked at again without them.
            self.ring.arm(longest, last);
        }
    }

    fn unfollow(&mut self, slot: u32) {
        let agent = self.table.agent_mut(slot);
        let steps = agent.signs.as_mut().and_then(|signs| signs.steps.take());
        let dropped = steps.map(|steps| (agent.id.clone(), steps.rows()));
        self.machines.followed.remove(slot);
        self.machines.followed.dropped.extend(dropped);
    }

    /// The agent is about to be forgotten.
    pub(super) fn forget_steps(&mut self, slot: u32) {
        if self.machines.followed.last.contains_key(&slot) {
            self.unfollow(slot);
        }
    }

    /// The rows of steps that this agent took since they were last taken.
    pub(super) fn take_step_rows(&mut self, slot: u32, push: &mut dyn FnMut(Row)) {
        let agent = self.table.agent_mut(slot);
        let Some(steps) = agent.signs.as_mut().and_then(|signs| signs.steps.as_mut()) else { return };
        if let Some(before) = steps.take_before() {
            push(row(RowKey::StepsBefore(agent.id.clone()), &*before));
        }
        for kept in steps.take_unsaved() {
            push(row(RowKey::Step(agent.id.clone(), kept.place()), &kept));
        }
    }
}

/// Rows of steps, until their agents are there.
#[derive(Debug, Default)]
pub(super) struct StepRows(BTreeMap<AgentId, (Option<Steps>, Vec<Kept>)>);

impl StepRows {
    pub(super) fn add(&mut self, agent: AgentId, place: u8, bytes: &[u8]) -> Result<(), RestoreError> {
        let what = format!("a step of agent `{agent}`");
        let kept: Kept = read(&what, bytes)?;
        if kept.place() != place {
            return Err(RestoreError::Damaged(what));
        }
        self.0.entry(agent).or_default().1.push(kept);
        Ok(())
    }

    pub(super) fn add_before(&mut self, agent: AgentId, bytes: &[u8]) -> Result<(), RestoreError> {
        let before = read(&format!("the earlier steps of agent `{agent}`"), bytes)?;
        self.0.entry(agent).or_default().0 = Some(before);
        Ok(())
    }
}

impl Fleet {
    /// Folds the steps of all agents again. Those of nobody are dropped: they can do no harm, and no good.
    pub(super) fn restore_steps(&mut self, rows: StepRows) {
        for (id, (before, kept)) in rows.0 {
            let Some(slot) = self.index.get(&id, &self.table) else {
                self.machines.followed.dropped.push((id, KEPT));
                continue;
            };
            let steps = Box::new(Steps::recall(before, kept));
            self.table.agent_mut(slot).signs.get_or_insert_default().steps = Some(steps);
            self.keep_followed(slot, FOLLOWED_MAX);
        }
    }
}

#[cfg(test)]
mod tests;
