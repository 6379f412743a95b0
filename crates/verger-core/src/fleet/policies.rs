//! Other policies, while the fleet is watched (X15).
//!
//! What they mean for an agent, a task or a breaker is what they would mean after a restart: facts stay as they are,
//! and what follows from them is counted anew. So nothing that was spent, tried or promised is forgotten, and nobody is
//! blamed at once for a limit that was not there before unless it is over by now.

use super::Fleet;
use crate::policy::{Policies, RoleIndex};
use crate::time::Timestamp;

impl Fleet {
    /// Judges by other policies from now on. What follows from them is done at the next [`wake`](Self::wake).
    ///
    /// Agents keep the role of the same name; those whose role is gone are judged like agents that claim none.
    pub fn set_policies(&mut self, now: Timestamp, policies: Policies) {
        let before = std::mem::replace(&mut self.policies, policies);
        self.rename_roles(&before);
        self.try_again_what_was_held(now, &before);
        self.budgets.set_limits(self.policies.limits.clone());
        let (policies, machines) = (&self.policies, &mut self.machines);
        machines.gates.breakers.set_policies(now, policies.breakers.clone());
        machines.gates.writes.set_policy(now, policies.writes.clone());
        machines.gates.metered = policies.limit_anything();
        machines.tasks.on_policy(&policies.tasks);
        machines.messages.on_policy(&policies.messages);
        machines.workers.on_policy(&policies.verdicts.judge);
        machines.tickets.arm(&policies.verdicts);
        self.recall_use(now);
        self.look_at_everybody(now);
    }

    fn rename_roles(&mut self, before: &Policies) {
        let renamed = |role: RoleIndex| self.policies.index_of(&before.at(role).name).unwrap_or_default();
        for slot in 0..self.table.slots() {
            if let Some(agent) = self.table.agent(slot) {
                let role = renamed(agent.role);
                self.table.agent_mut(slot).role = role;
            }
        }
    }

    /// What a limit held back is tried again where the limits are others now; it may have room.
    fn try_again_what_was_held(&mut self, now: Timestamp, before: &Policies) {
        let fleets = before.limits != self.policies.limits;
        for slot in 0..self.table.slots() {
            let Some(agent) = self.table.agent(slot) else { continue };
            let role = self.policies.at(agent.role);
            if fleets || before.role(Some(&role.name)).intervention != role.intervention {
                self.table.agent_mut(slot).on_other_limits(now);
            }
        }
    }

    fn look_at_everybody(&mut self, now: Timestamp) {
        for slot in 0..self.table.slots() {
            if self.table.agent(slot).is_some() {
                self.touch(slot);
                self.ring.arm(slot, now);
            }
        }
    }
}
