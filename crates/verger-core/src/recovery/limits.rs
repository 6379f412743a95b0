//! What was spent of the limits on starts, by whoever did them.
//!
//! Three windows: everybody's hour, everybody's minute (a burst), and the hour of each agent. A fleet's limit
//! makes recoveries wait, for when many fail together the cause is seldom in them. An agent's own limit sends
//! its task to people: who is started that often is the problem itself.

use std::collections::BTreeMap;

use super::Policy;
use crate::id::AgentId;
use crate::intervention::{Budget, Limit};
use crate::time::Timestamp;

/// Agents whose starts are remembered. An agent's entry goes when its window has passed.
const AGENTS_MAX: usize = 4_096;

/// Whether one more start is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allowance {
    /// Now.
    Now,
    /// The fleet's hour is used up until then.
    HourFull(Timestamp),
    /// Too many in quick succession until then.
    Burst(Timestamp),
    /// This agent's hour is used up.
    AgentUsedUp,
}

/// What was spent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Budgets {
    pub(crate) hour: Budget,
    pub(crate) burst: Budget,
    pub(crate) agents: BTreeMap<AgentId, Budget>,
}

impl Budgets {
    pub(crate) fn allowance(&self, now: Timestamp, agent: &AgentId, policy: &Policy) -> Allowance {
        let none = Budget::default();
        let own = self.agents.get(agent).unwrap_or(&none);
        if own.allows_at(now, policy.agent_limit) > now {
            return Allowance::AgentUsedUp;
        }
        let hour = self.hour.allows_at(now, policy.fleet_limit);
        if hour > now {
            return Allowance::HourFull(hour);
        }
        let burst = self.burst.allows_at(now, policy.burst_limit);
        if burst > now { Allowance::Burst(burst) } else { Allowance::Now }
    }

    /// One start more, also one that no limit could prevent.
    pub(crate) fn spend(&mut self, now: Timestamp, agent: &AgentId, policy: &Policy) {
        spend(&mut self.hour, now, policy.fleet_limit);
        spend(&mut self.burst, now, policy.burst_limit);
        if !self.agents.contains_key(agent) {
            self.make_room(now, policy.agent_limit);
        }
        spend(self.agents.entry(agent.clone()).or_default(), now, policy.agent_limit);
    }

    fn make_room(&mut self, now: Timestamp, limit: Limit) {
        if self.agents.len() < AGENTS_MAX {
            return;
        }
        self.agents.retain(|_, budget| budget.spent.back().is_some_and(|at| now.since(*at) < limit.window));
        while self.agents.len() >= AGENTS_MAX {
            let oldest = self.agents.iter().min_by_key(|(_, budget)| budget.spent.back().copied());
            let Some(oldest) = oldest.map(|(agent, _)| agent.clone()) else { return };
            self.agents.remove(&oldest);
        }
    }
}

/// Spends one, and keeps no more moments than the limit can ask for: an agent that restarts itself a thousand
/// times a second must not fill the memory.
fn spend(budget: &mut Budget, now: Timestamp, limit: Limit) {
    budget.spend(now, limit);
    while budget.spent.len() > usize::from(limit.count).max(1) {
        budget.spent.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn at(secs: u64) -> Timestamp {
        Timestamp::ZERO + Span::secs(secs)
    }

    #[test]
    fn l29_an_agent_has_its_own_hour_within_everybodys() {
        let policy = Policy { fleet_limit: Limit { count: 7, window: Span::hours(1) }, ..Policy::default() };
        let mut budgets = Budgets::default();
        let (mine, other) = (AgentId::from("mine"), AgentId::from("other"));
        for minute in 0..5 {
            assert_eq!(budgets.allowance(at(minute * 60), &mine, &policy), Allowance::Now);
            budgets.spend(at(minute * 60), &mine, &policy);
        }
        assert_eq!(budgets.allowance(at(300), &mine, &policy), Allowance::AgentUsedUp);
        assert_eq!(budgets.allowance(at(300), &other, &policy), Allowance::Now);
        budgets.spend(at(300), &other, &policy);
        budgets.spend(at(300), &other, &policy);
        assert_eq!(budgets.allowance(at(360), &other, &policy), Allowance::HourFull(at(3_600)));
        assert_eq!(budgets.allowance(at(3_600), &mine, &policy), Allowance::Now, "the window slides");
    }

    #[test]
    fn x14_starts_in_quick_succession_are_spread() {
        let policy = Policy::default();
        let mut budgets = Budgets::default();
        budgets.spend(at(0), &"a".into(), &policy);
        budgets.spend(at(10), &"b".into(), &policy);
        assert_eq!(budgets.allowance(at(10), &"c".into(), &policy), Allowance::Burst(at(60)));
    }

    #[test]
    fn starts_that_nobody_can_prevent_do_not_fill_the_memory() {
        let policy = Policy::default();
        let mut budgets = Budgets::default();
        for start in 0..10_000_u64 {
            let agent = AgentId::from(format!("agent-{start}"));
            budgets.spend(at(start / 100), &agent, &policy);
            budgets.spend(at(start / 100), &"busy".into(), &policy);
        }
        assert!(budgets.agents.len() <= AGENTS_MAX);
        assert!(budgets.hour.spent.len() <= 5 && budgets.agents[&AgentId::from("busy")].spent.len() <= 5);
        assert_eq!(budgets.allowance(at(100), &"busy".into(), &policy), Allowance::AgentUsedUp);
    }

    #[test]
    fn who_is_known_costs_nobody_its_place() {
        let policy = Policy::default();
        let mut budgets = Budgets::default();
        for agent in 0..AGENTS_MAX {
            budgets.spend(at(0), &AgentId::from(format!("agent-{agent}")), &policy);
        }
        budgets.spend(at(1), &"agent-0".into(), &policy);
        assert_eq!(budgets.agents.len(), AGENTS_MAX);
        budgets.spend(at(1), &"another".into(), &policy);
        assert_eq!(budgets.agents.len(), AGENTS_MAX, "the oldest makes room");
    }

    #[test]
    fn those_whose_hour_is_over_make_room_first() {
        let policy = Policy::default();
        let mut budgets = Budgets::default();
        for agent in 1..AGENTS_MAX {
            budgets.spend(at(0), &AgentId::from(format!("agent-{agent}")), &policy);
        }
        budgets.spend(at(3_599), &"young".into(), &policy);
        budgets.spend(at(3_600), &"another".into(), &policy);
        let left: Vec<&str> = budgets.agents.keys().map(AgentId::as_str).collect();
        assert_eq!(left, ["another", "young"]);
    }
}
