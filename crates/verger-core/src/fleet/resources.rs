//! Limits on what agents use (L12): what is counted, and for whom.
//!
//! Nothing is limited by default, and then nothing is counted. What the fleet as a whole uses ends nobody: people are
//! told, for whom to end is not the fleet's to choose.

use super::{Collector, Fleet};
use crate::agent::{Agent, Usage};
use crate::event::{Event, Fact, Incident};
use crate::health::HealthState;
use crate::resources::{Account, Change, FleetUse, Load, Policy, Step, Used};
use crate::signal::{Body, TaskChange};
use crate::time::Timestamp;

impl Fleet {
    /// What all agents together use, where that is limited.
    pub fn fleet_use(&self) -> &FleetUse {
        &self.machines.gates.fleet_use
    }

    /// Hands on what a proven sender said of an agent's use.
    pub(super) fn follow_use(&mut self, now: Timestamp, slot: u32, body: &Body, out: &mut Collector) {
        match body {
            Body::Heartbeat(beat)
                if beat.tokens.is_some() || beat.cost_micros.is_some() || beat.task.is_some() =>
            {
                self.meter(now, slot, out, |account, step| {
                    if beat.task.is_some() {
                        account.on_task(step, beat.task.as_ref());
                    }
                    account.on_totals(step, beat.tokens, beat.cost_micros)
                });
            }
            Body::Tokens { input, output, cost_micros } => {
                let used = Used { tokens: input.saturating_add(*output), cost_micros: *cost_micros };
                self.meter(now, slot, out, |account, step| account.on_used(step, used));
            }
            Body::Load(load) => self.hold(now, slot, *load, out),
            Body::Spawn(spawn) if spawn.task.is_some() => {
                // As the agent took it: an announcement may be a late copy.
                let task = self.table.agent_mut(slot).task.clone();
                self.meter(now, slot, out, |account, step| {
                    account.on_task(step, task.as_ref());
                    Used::default()
                });
            }
            Body::Task(TaskChange::Assigned(task)) => self.meter(now, slot, out, |account, step| {
                account.on_task(step, Some(task));
                Used::default()
            }),
            Body::Task(TaskChange::Ended(task)) => self.meter(now, slot, out, |account, step| {
                if account.task() == Some(task) {
                    account.on_task(step, None);
                }
                Used::default()
            }),
            _ => {}
        }
    }

    /// An agent begins a life, ends one, or is no longer watched.
    pub(super) fn follow_use_of_life(&mut self, now: Timestamp, slot: u32, fact: &Fact, out: &mut Collector) {
        let agent = self.table.agent_mut(slot);
        if agent.usage.is_none() && !self.machines.gates.metered {
            return;
        }
        match fact {
            Fact::Registered { .. } => {
                let task = agent.task.clone();
                self.meter(now, slot, out, |account, step| {
                    account.on_new_life(step);
                    account.on_task(step, task.as_ref());
                    Used::default()
                });
                self.count_living(now, slot, true, out);
            }
            Fact::Terminated { .. } | Fact::Unregistered { .. } => {
                self.hold(now, slot, Load::default(), out);
                self.count_living(now, slot, false, out);
            }
            _ => {}
        }
    }

    /// Time alone may have exceeded a limit, or completed what was saved.
    pub(super) fn wake_use(&mut self, now: Timestamp, slot: u32, out: &mut Collector) {
        let usage = self.table.agent(slot).and_then(|agent| agent.usage.as_ref());
        if usage.is_some_and(|usage| usage.due.is_some_and(|due| due <= now)) {
            self.complete_savings(now, slot, out);
            self.meter(now, slot, out, |account, step| {
                account.wake(step);
                Used::default()
            });
        }
    }

    pub(super) fn wake_fleet_use(&mut self, now: Timestamp, out: &mut Collector) {
        if self.fleet_use_deadline().is_some_and(|due| due <= now) {
            self.tell_fleet_use(now, out, FleetUse::wake);
        }
    }

    pub(super) fn fleet_use_deadline(&self) -> Option<Timestamp> {
        let policy = &self.policies.resources;
        if !policy.fleet.any() {
            return None;
        }
        self.machines.gates.fleet_use.deadline(Timestamp::ZERO, policy)
    }

    /// After a restart: limits may be others than before, and everybody is looked at once.
    pub(super) fn recall_use(&mut self, now: Timestamp) {
        let (mut living, mut load) = (0_u32, Load::default());
        for slot in 0..self.table.slots() {
            if self.table.agent(slot).is_none() {
                continue;
            }
            let agent = self.table.agent_mut(slot);
            if self.policies.resources_of(agent.role).any() {
                agent.usage.get_or_insert_with(|| Box::new(Usage::new(agent.born_at)));
            }
            let lives = agent.state != HealthState::Terminated;
            let Some(usage) = &mut agent.usage else { continue };
            usage.due = Some(now);
            usage.living = lives;
            living = living.saturating_add(u32::from(lives));
            let held = usage.account.load();
            load.memory_bytes = load.memory_bytes.saturating_add(held.memory_bytes);
            load.cpu_millis = load.cpu_millis.saturating_add(held.cpu_millis);
        }
        let fleet_use = &mut self.machines.gates.fleet_use;
        (fleet_use.living, fleet_use.load) = (living, load);
    }

    /// A sample of what it holds.
    fn hold(&mut self, now: Timestamp, slot: u32, load: Load, out: &mut Collector) {
        let held = |fleet: &Self| {
            let usage = fleet.table.agent(slot).and_then(|agent| agent.usage.as_ref());
            usage.map_or_else(Load::default, |usage| usage.account.load())
        };
        let before = held(self);
        self.meter(now, slot, out, |account, step| {
            account.on_sample(step, load);
            Used::default()
        });
        let after = held(self);
        self.tell_fleet_use(now, out, |fleet, step| fleet.on_load(step, before, after));
    }

    /// Has an agent's account told something, if it has one or should.
    fn meter(
        &mut self,
        now: Timestamp,
        slot: u32,
        out: &mut Collector,
        tell: impl FnOnce(&mut Account, &mut Step<'_>) -> Used,
    ) {
        let agent = self.table.agent_mut(slot);
        let policy = self.policies.resources_of(agent.role);
        if policy.any() {
            agent.usage.get_or_insert_with(|| Box::new(Usage::new(agent.born_at)));
        }
        let Some(usage) = &mut agent.usage else { return };
        let mut changes = Vec::new();
        let mut step = Step { now, policy: &policy, out: &mut changes };
        let growth = tell(&mut usage.account, &mut step);
        if growth != Used::default() {
            self.waste_used(now, slot, growth);
            self.tell_fleet_use(now, out, |fleet, step| fleet.on_growth(step, growth));
        }
        self.settle_use(now, slot, &policy, changes, out);
    }

    /// Notes what is exceeded and when to look again, and has the agent act on it if that is news.
    fn settle_use(
        &mut self,
        now: Timestamp,
        slot: u32,
        policy: &Policy,
        changes: Vec<Change>,
        out: &mut Collector,
    ) {
        let agent = self.table.agent_mut(slot);
        let lives = agent.state != HealthState::Terminated;
        let who = Some((agent.id.clone(), agent.incarnation));
        let Some(usage) = &mut agent.usage else { return };
        let breach = usage.account.breach(now, policy).filter(|_| lives);
        let is_news = breach.is_some() != usage.breach.is_some();
        usage.breach = breach;
        let account = usage.account.deadline(now, policy).filter(|_| lives);
        let savings = usage.waste.as_ref().and_then(|waste| waste.deadline(now));
        usage.due = [account, savings].into_iter().flatten().min();
        let facts = changes.into_iter().map(Fact::Limit);
        out.events.extend(facts.map(|fact| Event { at: now, agent: who.clone(), fact }));
        if is_news && lives {
            return self.step(now, None, slot, out, Agent::wake);
        }
        self.arm(now, slot);
        self.touch(slot);
    }

    fn count_living(&mut self, now: Timestamp, slot: u32, lives: bool, out: &mut Collector) {
        let Some(usage) = &mut self.table.agent_mut(slot).usage else { return };
        if std::mem::replace(&mut usage.living, lives) == lives {
            return;
        }
        self.tell_fleet_use(now, out, |fleet, step| {
            let living = if lives { fleet.living.saturating_add(1) } else { fleet.living.saturating_sub(1) };
            fleet.on_living(step, living);
        });
    }

    fn tell_fleet_use(
        &mut self,
        now: Timestamp,
        out: &mut Collector,
        tell: impl FnOnce(&mut FleetUse, &mut Step<'_>),
    ) {
        let policy = &self.policies.resources;
        if !policy.fleet.any() {
            return;
        }
        let gates = &mut self.machines.gates;
        let mut changes = Vec::new();
        tell(&mut gates.fleet_use, &mut Step { now, policy, out: &mut changes });
        gates.books_changed = true;
        let mut record = |fact| out.events.push(Event { at: now, agent: None, fact });
        changes.into_iter().map(Fact::Limit).for_each(&mut record);
        let (incident, part_of) = (Incident::OverLimit, None);
        match (gates.over_since, gates.fleet_use.breach(policy)) {
            (None, Some(_)) => {
                gates.over_since = Some(now);
                record(Fact::IncidentOpened { incident, since: now, part_of });
            }
            (Some(since), None) => {
                gates.over_since = None;
                record(Fact::IncidentResolved { incident, lasted: now.since(since) });
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
    }
}
