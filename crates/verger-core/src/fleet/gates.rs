//! What agents must pass (circuit breakers, and the line of checkpoints behind one that is open) and what they may use.

use std::collections::BTreeMap;

use super::rows::{checked, content_row};
use super::{Collector, Fleet, RestoreError, Row, RowKey};
use crate::agent::Agent;
use crate::breaker::{BreakerName, BreakerRow, Breakers, CallResult, Writes};
use crate::effect::EffectKey;
use crate::id::CheckpointId;
use crate::policy::Policies;
use crate::record::{Damaged, Stored, from_row, to_row};
use crate::resources::FleetUse;
use crate::signal::{Body, Content, Trust};
use crate::time::Timestamp;
use crate::waste::Delta;

/// The machines that agents must pass.
#[derive(Debug)]
pub(crate) struct Gates {
    pub(crate) breakers: Breakers,
    pub(crate) writes: Writes,
    pub(crate) attempts: Attempts,
    /// Whether anything that anybody uses is limited.
    pub(crate) metered: bool,
    pub(crate) fleet_use: FleetUse,
    /// Since when the fleet uses more than it may.
    pub(crate) over_since: Option<Timestamp>,
    pub(crate) wasted: Delta,
    /// The row of the three is to be written.
    pub(crate) books_changed: bool,
}

/// Which effect writes which checkpoint: the last one of each line.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    by_breaker: BTreeMap<BreakerName, Attempt>,
    by_key: BTreeMap<EffectKey, BreakerName>,
}

type Attempt = (EffectKey, CheckpointId);

/// Rows that were read and are not restored yet.
#[derive(Default)]
pub(super) struct GateRows {
    breakers: Vec<(BreakerName, Vec<u8>)>,
    writes: Vec<(BreakerName, Vec<u8>)>,
    attempts: Attempts,
    books: Books,
}

/// What the fleet uses, since when it is too much, and what was used in vain.
type Books = ((FleetUse, Option<Timestamp>), Delta);

impl Default for Gates {
    fn default() -> Self {
        Self::new(&Policies::default(), 0)
    }
}

impl Gates {
    pub(super) fn new(policies: &Policies, seed: u64) -> Self {
        Self {
            breakers: Breakers::new(policies.breakers.clone(), seed),
            writes: Writes::new(policies.writes.clone()),
            attempts: Attempts::default(),
            metered: policies.limit_anything(),
            fleet_use: FleetUse::default(),
            over_since: None,
            wasted: Delta::default(),
            books_changed: false,
        }
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        let since_ever = Timestamp::ZERO;
        [self.breakers.deadline(since_ever), self.writes.deadline(since_ever)].into_iter().flatten().min()
    }

    pub(super) fn has_changes(&self) -> bool {
        self.breakers.has_changes() || self.writes.has_changes() || self.books_changed
    }

    pub(super) fn mark_all(&mut self) {
        self.breakers.mark_all();
        self.writes.mark_all();
        self.books_changed |= self.fleet_use != FleetUse::default() || self.wasted != Delta::default();
    }

    pub(super) fn take_changed_rows(&mut self, push: &mut dyn FnMut(Row)) {
        self.breakers.take_changed_rows(&mut |BreakerRow { name, bytes }| {
            push(content_row(RowKey::Breaker(name), bytes));
        });
        let attempts = &self.attempts.by_breaker;
        self.writes.take_changed_rows(&mut |BreakerRow { name, bytes }| {
            let content = bytes.map(|line| {
                let mut content = Vec::with_capacity(line.len() + 64);
                attempts.get(&name).cloned().put(&mut content);
                content.extend(line);
                content
            });
            push(content_row(RowKey::Checkpoints(name), content));
        });
        if std::mem::take(&mut self.books_changed) {
            let books = ((self.fleet_use.clone(), self.over_since), self.wasted);
            push(content_row(RowKey::Usage, Some(to_row(&books))));
        }
    }
}

impl Attempts {
    /// This effect writes this checkpoint; an earlier one behind the same breaker is no longer waited for.
    pub(super) fn on_begun(&mut self, breaker: BreakerName, key: EffectKey, id: CheckpointId) {
        self.by_key.insert(key.clone(), breaker.clone());
        if let Some((before, _)) = self.by_breaker.insert(breaker, (key, id)) {
            self.by_key.remove(&before);
        }
    }

    /// The checkpoint is no longer in line.
    pub(super) fn on_left(&mut self, breaker: &BreakerName, id: &CheckpointId) {
        if self.by_breaker.get(breaker).is_some_and(|(_, tried)| tried == id)
            && let Some((key, _)) = self.by_breaker.remove(breaker)
        {
            self.by_key.remove(&key);
        }
    }

    /// What this effect writes, if it is one of these. Most outcomes are those of pings.
    pub(super) fn find(&self, key: &EffectKey) -> Option<(BreakerName, CheckpointId)> {
        if self.by_key.is_empty() {
            return None;
        }
        let breaker = self.by_key.get(key)?;
        self.by_breaker.get(breaker).map(|(_, id)| (breaker.clone(), id.clone()))
    }
}

impl GateRows {
    pub(super) fn add_breaker(&mut self, name: BreakerName, bytes: &[u8]) -> Result<(), RestoreError> {
        let content = checked(name.as_str(), bytes)?.to_vec();
        self.breakers.push((name, content));
        Ok(())
    }

    pub(super) fn set_books(&mut self, bytes: &[u8]) -> Result<(), RestoreError> {
        let what = "what the fleet uses";
        self.books = from_row(checked(what, bytes)?).map_err(|_| RestoreError::Damaged(what.to_owned()))?;
        Ok(())
    }

    pub(super) fn add_line(&mut self, name: BreakerName, bytes: &[u8]) -> Result<(), RestoreError> {
        let mut content = checked(name.as_str(), bytes)?;
        let attempt = <Option<Attempt> as Stored>::take(&mut content).map_err(|_| damaged(&name))?;
        if let Some((key, id)) = attempt {
            self.attempts.on_begun(name.clone(), key, id);
        }
        self.writes.push((name, content.to_vec()));
        Ok(())
    }
}

fn damaged(name: &BreakerName) -> RestoreError {
    RestoreError::Damaged(format!("`{name}`"))
}

impl Fleet {
    /// Puts back what the rows say, when all agents are there.
    pub(super) fn restore_gates(
        &mut self,
        seed: u64,
        rows: GateRows,
        now: Timestamp,
    ) -> Result<(), RestoreError> {
        let unreadable = |what: &str| {
            let what = what.to_owned();
            move |_: Damaged| RestoreError::Damaged(what)
        };
        let GateRows { breakers, writes, attempts, books } = rows;
        // Checkpoints wait only for agents that are there: both rows go together.
        if let Some((name, _)) = writes.iter().find(|(name, _)| self.slot_of(name).is_none()) {
            return Err(damaged(name));
        }
        let gates = &mut self.machines.gates;
        gates.breakers = Breakers::restore(self.policies.breakers.clone(), seed, breakers, now)
            .map_err(unreadable("the circuit breakers"))?;
        gates.writes = Writes::restore(self.policies.writes.clone(), writes, now)
            .map_err(unreadable("the checkpoints that wait"))?;
        gates.attempts = attempts;
        ((gates.fleet_use, gates.over_since), gates.wasted) = books;
        self.recall_use(now);
        Ok(())
    }

    /// Whether this is news about a call for the breaker of its tool. Asked before the agent hears of it.
    pub(super) fn is_news_of_call(&self, slot: u32, content: &Content) -> bool {
        match &content.body {
            Body::ToolFinished { call, tool: Some(_), .. } => {
                !self.table.agent(slot).is_some_and(|agent: &Agent| agent.knows_end_of(*call))
            }
            _ => false,
        }
    }

    /// Hands on a signal that the agent's step took in.
    pub(super) fn follow_gates(
        &mut self,
        now: Timestamp,
        slot: u32,
        content: &Content,
        is_news: bool,
        out: &mut Collector,
    ) {
        if content.trust != Trust::Verified {
            return;
        }
        if self.machines.gates.metered || self.table.agent_mut(slot).usage.is_some() {
            self.follow_use(now, slot, &content.body, out);
        }
        match &content.body {
            Body::ToolFinished { tool: Some(tool), result, .. } if is_news => {
                self.on_call_ended(now, slot, tool, *result, out);
            }
            Body::Error(failure) if failure.provider => {
                self.on_model_call(now, slot, CallResult::Outage, out);
            }
            Body::ModelFinished => self.on_model_call(now, slot, CallResult::Ok, out),
            _ => {}
        }
    }

    /// What became of an effect of these machines is their own business, however the agent fares.
    pub(super) fn hear_gates(
        &mut self,
        now: Timestamp,
        slot: u32,
        content: &Content,
        out: &mut Collector,
    ) -> bool {
        match &content.body {
            Body::Outcome { key, outcome }
                if content.trust == Trust::Verified && self.table.id(slot) == Some(&key.agent) =>
            {
                self.on_write_outcome(now, key, *outcome, out)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Incarnation;

    #[test]
    fn a_checkpoint_that_left_the_line_is_no_longer_waited_for() {
        let breaker: BreakerName = "a/checkpoint/s3".parse().expect("a name");
        let key = EffectKey { agent: "a".into(), incarnation: Incarnation::FIRST, seq: 1 };
        let mut attempts = Attempts::default();
        attempts.on_begun(breaker.clone(), key.clone(), "c1".into());
        attempts.on_left(&breaker, &"c2".into());
        assert_eq!(attempts.find(&key), Some((breaker.clone(), "c1".into())), "another one left");
        attempts.on_left(&breaker, &"c1".into());
        assert_eq!(attempts.find(&key), None);
        assert!(attempts.by_breaker.is_empty() && attempts.by_key.is_empty());
    }
}
