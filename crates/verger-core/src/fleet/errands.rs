//! Effects whose outcome concerns a machine beside the agents, until it is heard.
//!
//! An effect bears the key of the life it is about, and that life may be over when the outcome comes: so it is
//! looked up here before any agent is asked.

use std::collections::{BTreeMap, VecDeque};

use super::{Collector, Fleet};
use crate::agent::Refusal;
use crate::effect::{Action, EffectKey, Outcome};
use crate::id::{AgentId, TaskId};
use crate::signal::{Body, Content, Trust};
use crate::time::Timestamp;

/// Errands that are remembered. Who asks for more than that at once gets no answer for the oldest, and asks again.
const REMEMBERED: usize = 4_096;

/// What an effect was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Errand {
    /// To look through the checkpoints of this task.
    Survey(TaskId),
    /// To start a new life for this task.
    Start(TaskId, u64),
    /// To take that start back.
    Withdraw(TaskId, u64),
}

/// What is out, by agent and number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Errands {
    pub(crate) out: BTreeMap<(AgentId, u32), Errand>,
    /// In the order in which they went out, with some that are over; those from before a restart come first.
    sent: VecDeque<(AgentId, u32)>,
    pub(crate) changed: bool,
}

impl Errands {
    /// What was out before a restart.
    pub(super) fn recall(out: BTreeMap<(AgentId, u32), Errand>) -> Self {
        Self { sent: out.keys().cloned().collect(), out, changed: false }
    }

    fn send(&mut self, key: &EffectKey, errand: Errand) {
        while self.out.len() >= REMEMBERED {
            self.forget_oldest();
        }
        if self.sent.len() >= 2 * REMEMBERED {
            self.sent.retain(|key| self.out.contains_key(key));
        }
        let key = (key.agent.clone(), key.seq);
        self.sent.push_back(key.clone());
        self.out.insert(key, errand);
        self.changed = true;
    }

    fn forget_oldest(&mut self) {
        match self.sent.pop_front() {
            Some(oldest) => drop(self.out.remove(&oldest)),
            None => drop(self.out.pop_first()),
        }
    }

    /// The errand that this is about. It is over by that, unless a start is to be taken back and that is only on its
    /// way: that it is done comes later.
    fn take(&mut self, key: &EffectKey, body: &Body) -> Option<Errand> {
        let key = (key.agent.clone(), key.seq);
        let is_under_way = matches!(body, Body::Outcome { outcome: Outcome::Delivered, .. });
        if let Some(errand @ Errand::Withdraw(..)) = self.out.get(&key).filter(|_| is_under_way) {
            return Some(errand.clone());
        }
        let errand = self.out.remove(&key)?;
        self.changed = true;
        Some(errand)
    }

    /// What is still said of this task's checkpoints is out of date.
    pub(super) fn drop_surveys_of(&mut self, task: &TaskId) {
        self.drop_where(|_, errand| matches!(errand, Errand::Survey(of) if of == task));
    }

    fn drop_where(&mut self, gone: impl Fn(&AgentId, &Errand) -> bool) {
        let before = self.out.len();
        self.out.retain(|(agent, _), errand| !gone(agent, errand));
        self.changed |= self.out.len() != before;
    }

    fn has(&self, key: &EffectKey) -> bool {
        self.out.contains_key(&(key.agent.clone(), key.seq))
    }

    /// Nobody waits for these any more.
    pub(super) fn drop_of(&mut self, agent: &AgentId) {
        self.drop_where(|whose, _| whose == agent);
    }
}

impl Fleet {
    /// Has something done that concerns the last life of this agent, and remembers what for. Tells whether the agent
    /// is known.
    pub(super) fn run_errand(
        &mut self,
        agent: &AgentId,
        errand: Errand,
        action: Action,
        out: &mut Collector,
    ) -> bool {
        let Some(slot) = self.index.get(agent, &self.table) else { return false };
        let key = self.table.agent_mut(slot).put_out(action, &mut out.effects);
        self.touch(slot);
        self.machines.errands.send(&key, errand);
        true
    }

    /// Takes in what became of an errand, if this signal says so.
    pub(super) fn on_errand(
        &mut self,
        now: Timestamp,
        slot: u32,
        content: &Content,
        out: &mut Collector,
    ) -> Option<Result<(), Refusal>> {
        let (Body::Outcome { key, .. } | Body::Surveyed { key, .. }) = &content.body else { return None };
        // Of what was done for an agent, no other one has a say.
        if !self.machines.errands.has(key) || self.table.id(slot) != Some(&key.agent) {
            return None;
        }
        if content.trust == Trust::Unverified {
            return Some(Err(Refusal::Unverified));
        }
        let errand = self.machines.errands.take(key, &content.body)?;
        self.on_recovery_errand(now, errand, &content.body, out);
        Some(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Incarnation;

    fn key(agent: &str, seq: u32) -> EffectKey {
        EffectKey { agent: agent.into(), incarnation: Incarnation::FIRST, seq }
    }

    #[test]
    fn when_too_many_are_out_the_oldest_are_forgotten_whatever_their_names() {
        let mut errands = Errands::default();
        for seq in 0..REMEMBERED as u32 {
            errands.send(&key("zoe", seq), Errand::Survey("t".into()));
        }
        let mut errands = Errands::recall(errands.out);
        for agent in ["ada", "bob", "cleo"] {
            errands.send(&key(agent, 1), Errand::Survey("u".into()));
        }
        assert!(["ada", "bob", "cleo"].iter().all(|agent| errands.has(&key(agent, 1))));
        assert!(!errands.has(&key("zoe", 2)) && errands.has(&key("zoe", 3)));
        assert_eq!(errands.out.len(), REMEMBERED);
    }

    #[test]
    fn errands_that_are_over_take_up_no_room() {
        let mut errands = Errands::default();
        let answered = Body::Outcome { key: key("ada", 0), outcome: Outcome::Stopped };
        for seq in 0..3 * REMEMBERED as u32 {
            errands.send(&key("ada", seq), Errand::Survey("t".into()));
            assert!(errands.take(&key("ada", seq), &answered).is_some());
        }
        assert!(errands.sent.len() <= 2 * REMEMBERED, "{}", errands.sent.len());
    }

    #[test]
    fn what_nobody_waits_for_any_more_is_gone_after_a_restart_too() {
        let mut errands = Errands::default();
        errands.send(&key("ada", 1), Errand::Survey("t".into()));
        errands.changed = false;
        errands.drop_of(&"bob".into());
        assert!(errands.has(&key("ada", 1)) && !errands.changed, "nothing was dropped");
        errands.drop_of(&"ada".into());
        assert!(!errands.has(&key("ada", 1)) && errands.changed, "its row is to be written");
    }
}
