//! All agents, and the one way in.

mod breaker;
mod budgets;
mod cardinality;
mod correlation;
mod desk;
mod errands;
mod follow;
mod gates;
mod index;
mod machines;
mod messages;
mod notice;
mod policies;
mod probes;
mod recovery;
mod resources;
mod ring;
mod rows;
mod starts;
mod steps;
mod table;
mod tasks;
mod tickets;
mod verdicts;
mod waste;

pub(crate) use budgets::{FleetBudgets, Spending};
pub(crate) use errands::Errand;
pub use rows::{RestoreError, Row, RowKey};
pub use steps::FollowedCounts;

use crate::agent::{Agent, AgentView, Place, Refusal, Step, introduces};
use crate::command::{Command, CommandError, Order};
use crate::effect::Effect;
use crate::event::{Event, Fact};
use crate::id::{AgentId, Handle};
use crate::policy::{Policies, RoleIndex};
use crate::signal::{Body, Content, Signal, Trust};
use crate::signs::Finding;
use crate::time::{Span, Timestamp, WallTime};

use gates::Gates;
use index::IdIndex;
use machines::Machines;
use ring::DeadlineRing;
use rows::Drafts;
use table::Table;

/// What one step of the core has to say: facts to record and things to do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collector {
    /// Facts to record, in order.
    pub events: Vec<Event>,
    /// Things to do once the facts are on disk, in order.
    pub effects: Vec<Effect>,
}

/// More effects than one agent can cause between two commits: pings are not written down.
const UNRECORDED_EFFECTS: u32 = 4_096;

/// All agents. Time comes in with every call and never runs backwards.
#[derive(Debug)]
pub struct Fleet {
    policies: Policies,
    table: Table,
    index: IdIndex,
    ring: DeadlineRing,
    seed: u64,
    budgets: FleetBudgets,
    machines: Machines,
    /// Slots whose rows changed since they were last taken, each once.
    changed: Vec<u32>,
    drafts: Drafts,
    /// Agents that were forgotten since rows were last taken.
    forgotten: Vec<AgentId>,
    findings: Vec<Finding>,
    due: Vec<u32>,
}

impl Fleet {
    /// An empty fleet. The seed keeps the look-up by name from being attacked with colliding names, and spreads
    /// starts that would come at the same moment; it decides nothing else.
    pub fn new(policies: Policies, seed: u64) -> Self {
        Self {
            budgets: FleetBudgets::new(policies.limits.clone()),
            table: Table::default(),
            index: IdIndex::new(seed),
            seed,
            machines: Machines { gates: Gates::new(&policies, seed), ..Machines::default() },
            policies,
            ring: DeadlineRing::new(Timestamp::ZERO),
            changed: Vec::new(),
            drafts: Drafts::default(),
            forgotten: Vec::new(),
            findings: Vec::new(),
            due: Vec::new(),
        }
    }

    /// Takes in one signal. An agent never seen before is registered by it.
    pub fn observe(
        &mut self,
        now: Timestamp,
        signal: &Signal,
        out: &mut Collector,
    ) -> Result<Handle, Refusal> {
        let slot = match self.index.get(&signal.agent, &self.table) {
            Some(slot) => slot,
            None if introduces(&signal.content) => {
                self.admit(now, signal.content.trust, out)?;
                self.register(now, signal, out)
            }
            None => return Err(Refusal::Unregistered),
        };
        self.observe_slot(now, slot, &signal.content, out)?;
        Ok(self.table.handle(slot))
    }

    /// Takes in one signal about an agent whose handle the caller holds: the fast way.
    pub fn observe_at(
        &mut self,
        now: Timestamp,
        handle: Handle,
        content: &Content,
        out: &mut Collector,
    ) -> Result<(), Refusal> {
        let slot = self.table.resolve(handle).ok_or(Refusal::Unregistered)?;
        self.observe_slot(now, slot, content, out)
    }

    /// Carries out an order of a person or the orchestrator.
    pub fn command(
        &mut self,
        now: Timestamp,
        command: &Command,
        out: &mut Collector,
    ) -> Result<(), CommandError> {
        let unknown = || CommandError::UnknownAgent(command.agent.clone());
        let slot = self.index.get(&command.agent, &self.table).ok_or_else(unknown)?;
        if let Order::SetRole(role) = &command.order {
            let index =
                self.policies.index_of(role).ok_or_else(|| CommandError::UnknownRole(role.clone()))?;
            self.table.agent_mut(slot).role = index;
        }
        self.step(now, None, slot, out, |agent, step| {
            // People decide, and are told, on what is true now.
            agent.wake(step);
            agent.order(step, command)?;
            agent.wake(step);
            Ok(())
        })?;
        if command.order == Order::Unregister {
            self.step(now, None, slot, out, |agent, step| {
                agent.resolve_all_incidents(step);
                agent.record(step, Fact::Unregistered { by: Some(command.by.clone()) });
            });
            self.forget(now, slot, out);
        }
        Ok(())
    }

    /// Does everything that is due. Calling early is harmless.
    pub fn wake(&mut self, now: Timestamp, out: &mut Collector) {
        let mut due = std::mem::take(&mut self.due);
        self.ring.take_due(now, &mut due);
        // By slot, so that the order does not depend on how the deadlines came about.
        due.sort_unstable();
        due.dedup();
        for slot in due.drain(..) {
            if self.table.agent(slot).is_some() {
                self.step(now, None, slot, out, Agent::wake);
                self.wake_use(now, slot, out);
                self.forget_if_gone(now, slot, out);
            }
        }
        self.due = due;
        self.wake_machines(now, out);
        self.budgets.wake(now, out);
    }

    /// When [`wake`](Self::wake) has something to do, if nothing comes in before. It may be early, never late.
    pub fn next_wake(&self) -> Option<Timestamp> {
        let machines = self.machines.deadline(&self.policies);
        [self.ring.next(), self.budgets.deadline(), machines, self.fleet_use_deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    /// How many agents are registered.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether nobody is registered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What people see of one agent as of `now`.
    pub fn view(&self, now: Timestamp, id: &AgentId) -> Option<AgentView> {
        let agent = self.table.agent(self.index.get(id, &self.table)?)?;
        Some(agent.view(now, self.policies.at(agent.role)))
    }

    /// What people see of up to `limit` agents, in the order of the table, from `cursor` on; and where to go on.
    pub fn page(&self, now: Timestamp, cursor: u32, limit: usize) -> (Vec<AgentView>, Option<u32>) {
        let mut views = Vec::with_capacity(limit.min(self.len()));
        let mut slot = cursor;
        while slot < self.table.slots() && views.len() < limit {
            if let Some(agent) = self.table.agent(slot) {
                views.push(agent.view(now, self.policies.at(agent.role)));
            }
            slot += 1;
        }
        (views, (slot < self.table.slots()).then_some(slot))
    }

    /// The policies in force.
    pub fn policies(&self) -> &Policies {
        &self.policies
    }

    fn register(&mut self, now: Timestamp, signal: &Signal, out: &mut Collector) -> u32 {
        let role = self.role_named_by(&signal.content.body).unwrap_or_default();
        let mut agent = Agent::new(signal.agent.clone(), role, now);
        agent.next_effect = self.budgets.first_effect;
        agent.place = Some(Box::new(Place::nowhere()));
        let event = Event {
            at: now,
            agent: Some((agent.id.clone(), agent.incarnation)),
            fact: Fact::Registered { task: None },
        };
        let from = out.events.len();
        out.events.push(event);
        let slot = self.table.insert(agent);
        self.index.insert(slot, &self.table);
        self.ring.grow(self.table.slots());
        self.follow_facts(now, slot, from, out);
        slot
    }

    fn observe_slot(
        &mut self,
        now: Timestamp,
        slot: u32,
        content: &Content,
        out: &mut Collector,
    ) -> Result<(), Refusal> {
        if let Some(result) = self.on_errand(now, slot, content, out) {
            return result;
        }
        if self.hear_gates(now, slot, content, out) {
            return Ok(());
        }
        let wall = Some(content.received_at);
        let repeats = self.repeats_its_task(slot, &content.body);
        let life = self.table.agent_mut(slot).incarnation;
        let is_news = self.is_news_of_call(slot, content);
        self.step(now, wall, slot, out, |agent, step| agent.observe(step, content))?;
        self.follow_signal(now, slot, &content.body, out);
        if content.trust == Trust::Verified && !(repeats && self.table.agent_mut(slot).incarnation == life) {
            self.follow_claim(now, slot, &content.body, out);
        }
        self.follow_tasks(now, slot, &content.body, repeats, out);
        self.follow_gates(now, slot, content, is_news, out);
        self.follow_steps(slot, &content.body);
        let claimed = self.claimed_role(content).filter(|role| self.table.agent_mut(slot).role != *role);
        if let Some(role) = claimed {
            self.table.agent_mut(slot).role = role;
            self.step(now, wall, slot, out, Agent::wake);
        }
        Ok(())
    }

    /// The role that a proven sender claims. Who proved nothing may choose by which limits it is judged when it is
    /// first seen, and cannot change it afterwards, when it may be somebody else.
    fn claimed_role(&self, content: &Content) -> Option<RoleIndex> {
        self.role_named_by(&content.body).filter(|_| content.trust == Trust::Verified)
    }

    fn role_named_by(&self, body: &Body) -> Option<RoleIndex> {
        let name = match body {
            Body::Heartbeat(beat) => beat.role.as_ref(),
            Body::Spawn(spawn) => spawn.role.as_ref(),
            _ => None,
        };
        name.and_then(|name| self.policies.index_of(name))
    }

    /// The monitor was away: what agents did meanwhile is not known. For `grace` nobody is blamed for silence, so
    /// that they can connect again and say how they are, and effects are numbered far beyond those that were
    /// never written down.
    pub fn forgive(&mut self, now: Timestamp, grace: Span) {
        for slot in 0..self.table.slots() {
            if self.table.agent(slot).is_none() {
                continue;
            }
            let agent = self.table.agent_mut(slot);
            agent.liveness.on_monitor_back(now + grace);
            if !agent.stands_still() {
                agent.progress.on_monitor_back();
            }
            agent.next_effect = agent.next_effect.saturating_add(UNRECORDED_EFFECTS);
            self.touch(slot);
            self.arm(now, slot);
        }
        self.machines.gates.breakers.on_monitor_back();
        self.budgets.first_effect = self.budgets.first_effect.saturating_add(UNRECORDED_EFFECTS);
        self.budgets.changed = true;
    }

    /// Runs one step of one agent, then arms its next deadline and notes that its row changed.
    fn step<T>(
        &mut self,
        now: Timestamp,
        wall: Option<WallTime>,
        slot: u32,
        out: &mut Collector,
        run: impl FnOnce(&mut Agent, &mut Step<'_>) -> T,
    ) -> T {
        let agent = self.table.agent_mut(slot);
        let from = out.events.len();
        let mut step = Step {
            now,
            wall,
            role: self.policies.at(agent.role),
            fleet: &mut self.budgets,
            together: &self.machines.correlation,
            bounds: &self.policies.correlation,
            out,
            findings: &mut self.findings,
        };
        let result = run(agent, &mut step);
        if from < out.events.len() {
            self.follow_facts(now, slot, from, out);
        }
        self.arm(now, slot);
        self.touch(slot);
        result
    }

    /// The agent's row is to be written.
    fn touch(&mut self, slot: u32) {
        if self.table.mark_changed(slot) {
            self.changed.push(slot);
        }
    }

    fn arm(&mut self, now: Timestamp, slot: u32) {
        let Some(agent) = self.table.agent(slot) else { return };
        let gone = agent.gone_at(now, &self.policies.cardinality);
        let deadline = agent.deadline(now, self.policies.at(agent.role));
        self.ring.arm(slot, deadline.map_or(gone, |deadline| deadline.min(gone)));
    }

    fn forget(&mut self, now: Timestamp, slot: u32, out: &mut Collector) {
        if let Some(agent) = self.table.agent(slot) {
            self.index.remove(&agent.id.clone(), &self.table);
        }
        self.forget_steps(slot);
        let Some(agent) = self.table.remove(slot) else { return };
        self.ring.disarm(slot);
        self.budgets.first_effect = self.budgets.first_effect.max(agent.next_effect);
        self.budgets.changed = true;
        self.on_nobody_there(now, &agent.id, out);
        self.forgotten.push(agent.id);
    }
}
