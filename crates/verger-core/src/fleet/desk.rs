//! What tasks and messages share: both expect something of an agent, and both ask how it stands before they conclude
//! anything from its silence (R05, R07).
//!
//! They are told when an agent comes, goes or falls silent, and when it answers a question. A question of theirs is
//! one question to the agent, together with those that its own silence raises (`agent::inquiry`).

use super::index::IdIndex;
use super::rows::{RestoreError, Row, RowKey, checked, versioned};
use super::table::Table;
use super::{Collector, Fleet};
use crate::agent::{Agent, Question};
use crate::effect::{Action, EffectKey};
use crate::event::{Event, Fact};
use crate::health::HealthState;
use crate::id::{AgentId, TaskId};
use crate::messages::{self, Messages};
use crate::policy::Policies;
use crate::signal::{Author, Body};
use crate::standing::Standing;
use crate::tasks::Tasks;
use crate::time::Timestamp;

/// How an agent stands; nothing if none of that name is registered.
pub(super) fn standing(
    now: Timestamp,
    id: &AgentId,
    table: &Table,
    index: &IdIndex,
    policies: &Policies,
) -> Option<Standing> {
    let agent = table.agent(index.get(id, table)?)?;
    Some(agent.standing(now, policies.at(agent.role)))
}

impl Fleet {
    /// An agent came, went or fell silent, or is back.
    pub(super) fn follow_standing(&mut self, now: Timestamp, slot: u32, fact: &Fact, out: &mut Collector) {
        match fact {
            Fact::Registered { .. }
            | Fact::Disconnected { .. }
            | Fact::Reconnected { .. }
            | Fact::Classified { .. }
            | Fact::Terminated { .. }
            | Fact::StateChanged { from: HealthState::Unknown, .. } => {}
            _ => return,
        }
        let Some(agent) = self.table.id(slot).cloned() else { return };
        if matches!(fact, Fact::Registered { .. }) {
            self.on_receiver_reborn(now, &agent, out);
        }
        self.on_receiver_changed(now, &agent, out);
        self.on_worker_changed(now, &agent, out);
    }

    /// An agent is no longer registered, and nobody of its name.
    pub(super) fn on_nobody_there(&mut self, now: Timestamp, agent: &AgentId, out: &mut Collector) {
        self.on_receiver_changed(now, agent, out);
        self.on_worker_changed(now, agent, out);
    }

    /// What an agent says or does that concerns what others expect of it. Most concerns nobody, and must cost nothing.
    pub(super) fn follow_word(&mut self, now: Timestamp, slot: u32, body: &Body, out: &mut Collector) {
        match body {
            Body::Status(_) => {
                self.on_own_word(now, slot, out);
                self.on_wait(now, slot, out);
            }
            Body::Message { author: Author::Agent, .. } => self.on_own_word(now, slot, out),
            Body::Blocker { .. } => {
                self.on_own_word(now, slot, out);
                self.on_blocker(now, slot, out);
            }
            Body::Error(failure) if failure.provider => self.on_wait(now, slot, out),
            Body::Heartbeat(beat) => {
                if beat.progress.is_some() {
                    self.on_worked(now, slot, out);
                }
                if beat.status.is_some() || beat.busy_for.is_some() {
                    self.on_wait(now, slot, out);
                }
            }
            Body::Output(_) | Body::Checkpoint { .. } => self.on_worked(now, slot, out),
            Body::Outcome { key, outcome } => self.on_delivery_outcome(now, slot, key, *outcome, out),
            _ => {}
        }
    }

    /// It says something of its own. If it was asked, that is the answer, and it is for all who asked. A heartbeat is
    /// none: it comes by a timer.
    fn on_own_word(&mut self, now: Timestamp, slot: u32, out: &mut Collector) {
        let Some(agent) = self.table.agent(slot) else { return };
        if agent.past.as_ref().is_none_or(|past| past.asked.is_none()) {
            return;
        }
        let id = agent.id.clone();
        if let Some(past) = &mut self.table.agent_mut(slot).past {
            past.asked = None;
        }
        self.on_worker_answered(now, &id, out);
        self.on_receiver_answered(now, &id, out);
    }

    /// It may have begun to wait, or ended it.
    fn on_wait(&mut self, now: Timestamp, slot: u32, out: &mut Collector) {
        let Some(agent) = self.table.id(slot) else { return };
        if self.machines.tasks.of(agent).next().is_some() {
            let agent = agent.clone();
            self.on_worker_changed(now, &agent, out);
        }
    }

    /// Asks an agent how it is, if somebody is there to be asked; what was asked just now is not asked again.
    pub(super) fn inquire(
        &mut self,
        now: Timestamp,
        agent: &AgentId,
        question: Question<'_>,
        out: &mut Collector,
    ) {
        let Some(slot) = self.present(agent) else { return };
        let agent = self.table.agent_mut(slot);
        agent.ask(now, self.policies.at(agent.role), question, &mut out.effects);
        self.touch(slot);
    }

    /// Has something done to an agent's present life, if there is one.
    pub(super) fn act_on(
        &mut self,
        agent: &AgentId,
        action: Action,
        out: &mut Collector,
    ) -> Option<EffectKey> {
        let slot = self.present(agent)?;
        let key = self.table.agent_mut(slot).put_out(action, &mut out.effects);
        self.touch(slot);
        Some(key)
    }

    /// Where an agent is that is registered and whose life is not over.
    fn present(&self, agent: &AgentId) -> Option<u32> {
        let slot = self.index.get(agent, &self.table)?;
        let lives = |agent: &Agent| agent.state != HealthState::Terminated;
        self.table.agent(slot).is_some_and(lives).then_some(slot)
    }

    /// Records a fact about an agent, or about the fleet if no such agent is registered.
    pub(super) fn record_about(
        &self,
        now: Timestamp,
        agent: Option<&AgentId>,
        fact: Fact,
        out: &mut Collector,
    ) {
        let slot = agent.and_then(|agent| self.index.get(agent, &self.table));
        let known = slot.and_then(|slot| self.table.agent(slot));
        let agent = known.map(|agent| (agent.id.clone(), agent.incarnation));
        out.events.push(Event { at: now, agent, fact });
    }
}

/// The rows of tasks and messages, until all have been read.
#[derive(Default)]
pub(super) struct DeskRows {
    tasks: Vec<(TaskId, Vec<u8>)>,
    messages: Vec<(messages::RowKey, Vec<u8>)>,
}

impl DeskRows {
    pub(super) fn task(&mut self, id: TaskId, bytes: &[u8]) -> Result<(), RestoreError> {
        let content = checked(id.as_str(), bytes)?.to_vec();
        self.tasks.push((id, content));
        Ok(())
    }

    pub(super) fn message(&mut self, key: messages::RowKey, bytes: &[u8]) -> Result<(), RestoreError> {
        let name = match &key {
            messages::RowKey::Message(id) => id.as_str(),
            messages::RowKey::Inbox(agent) => agent.as_str(),
            messages::RowKey::Books => "the messages given up",
        };
        let content = checked(name, bytes)?.to_vec();
        self.messages.push((key, content));
        Ok(())
    }
}

impl Fleet {
    pub(super) fn take_desk_rows(&mut self, push: &mut dyn FnMut(Row)) {
        self.machines.tasks.take_changed_rows(&mut |id, content| {
            push(Row { key: RowKey::Task(id), bytes: content.map(versioned) });
        });
        self.machines.messages.take_changed_rows(&mut |key, content| {
            push(Row { key: RowKey::Message(key), bytes: content.map(versioned) });
        });
    }

    pub(super) fn restore_desk(&mut self, rows: DeskRows) -> Result<(), RestoreError> {
        let damaged = |what: &str| RestoreError::Damaged(what.to_owned());
        let tasks = Tasks::restore(rows.tasks, &self.policies.tasks);
        self.machines.tasks = tasks.map_err(|_| damaged("a task"))?;
        let messages = Messages::restore(rows.messages, &self.policies.messages);
        self.machines.messages = messages.map_err(|_| damaged("a message"))?;
        Ok(())
    }
}
