//! Circuit breakers (L24, X11) and checkpoints that wait to be written (L26): what is seen of calls, who asks, and
//! what people order.
//!
//! Only proven senders are heard: with reports of failures anybody could have an agent's calls refused.

use super::{Collector, Fleet};
use crate::breaker::{
    BreakerName, Breakers, CallResult, Change, Kind, Outcome, Permit, State, Submitted, WriteChange,
    WriteOutcome, WriteStep, Writes,
};
use crate::effect::{self, Action, EffectKey};
use crate::event::{BreakerOrder, Event, Fact};
use crate::fingerprint::ResultPrint;
use crate::id::{Actor, AgentId, CheckpointId, Incarnation, ToolName};
use crate::notice::{BreakerNotice, CheckpointNotice, NoticeError, Reply};
use crate::time::Timestamp;

impl Fleet {
    /// All circuit breakers, for views.
    pub fn breakers(&self) -> &Breakers {
        &self.machines.gates.breakers
    }

    /// The checkpoints that wait to be written, for views.
    pub fn writes(&self) -> &Writes {
        &self.machines.gates.writes
    }

    /// A call of a tool ended.
    pub(super) fn on_call_ended(
        &mut self,
        now: Timestamp,
        slot: u32,
        tool: &ToolName,
        result: ResultPrint,
        out: &mut Collector,
    ) {
        let called = match (result.failed, result.outage) {
            (false, _) => CallResult::Ok,
            (true, false) => CallResult::Failed,
            (true, true) => CallResult::Outage,
        };
        let outcome = Outcome { result: called, took: result.took };
        self.observe_breaker(now, slot, Kind::Tool, tool.as_str(), outcome, out);
    }

    /// The provider of its model answered it, or failed to.
    pub(super) fn on_model_call(
        &mut self,
        now: Timestamp,
        slot: u32,
        result: CallResult,
        out: &mut Collector,
    ) {
        let place = self.table.agent(slot).and_then(|agent| agent.place.as_ref());
        let Some(provider) = place.and_then(|place| place.provider.clone()) else { return };
        self.observe_breaker(now, slot, Kind::Api, provider.as_str(), result.into(), out);
    }

    /// Has a breaker learn what was seen. What succeeds where nothing failed before is nothing to learn, unless rates
    /// are wanted: most agents have no breaker.
    pub(super) fn observe_breaker(
        &mut self,
        now: Timestamp,
        slot: u32,
        kind: Kind,
        target: &str,
        outcome: Outcome,
        out: &mut Collector,
    ) {
        let breakers = &self.machines.gates.breakers;
        let policy = breakers.policies().of(Some(kind));
        let counts =
            outcome.result != CallResult::Ok || policy.failure_rate.is_some() || policy.slow_after.is_some();
        if !counts && breakers.is_empty() {
            return;
        }
        let Some(agent) = self.table.id(slot) else { return };
        let Ok(name) = BreakerName::of_agent(agent, kind, target) else { return };
        if counts || breakers.contains(&name) {
            self.tell_breakers(now, out, |breakers, changes| breakers.observe(now, &name, outcome, changes));
        }
    }

    /// What is asked of, told to or ordered about a breaker.
    pub(super) fn on_breaker_notice(
        &mut self,
        now: Timestamp,
        name: &BreakerName,
        what: &BreakerNotice,
        out: &mut Collector,
    ) -> Result<Reply, NoticeError> {
        // A breaker lives as long as its agent: one that is made for nobody would stay.
        let watched = name.is_shared() || self.slot_of(name).is_some();
        match what {
            BreakerNotice::Acquire if !watched => Ok(Reply::Permit(Permit::UNWATCHED)),
            BreakerNotice::Acquire => {
                let permit =
                    self.tell_breakers(now, out, |breakers, changes| breakers.acquire(now, name, changes))?;
                Ok(Reply::Permit(permit))
            }
            BreakerNotice::Report { permit, outcome } => {
                let report = |breakers: &mut Breakers, changes: &mut Vec<Change>| {
                    breakers.report(now, name, *permit, *outcome, changes)
                };
                Ok(Reply::Reported(self.tell_breakers(now, out, report)))
            }
            BreakerNotice::Reset { .. } | BreakerNotice::SetMode { .. } if !watched => {
                Err(NoticeError::NoBreaker(name.clone()))
            }
            BreakerNotice::Reset { by } => self.order_breaker(now, name, by, BreakerOrder::Reset, out),
            BreakerNotice::SetMode { by, mode } => {
                self.order_breaker(now, name, by, BreakerOrder::SetMode(*mode), out)
            }
        }
    }

    fn order_breaker(
        &mut self,
        now: Timestamp,
        name: &BreakerName,
        by: &Actor,
        order: BreakerOrder,
        out: &mut Collector,
    ) -> Result<Reply, NoticeError> {
        let mut changes = Vec::new();
        let breakers = &mut self.machines.gates.breakers;
        let done = match &order {
            BreakerOrder::SetMode(mode) => breakers.set_mode(now, name, *mode, &mut changes),
            BreakerOrder::Reset | BreakerOrder::Retry | BreakerOrder::Discard(_) => {
                breakers.reset(now, name, &mut changes)
            }
        };
        // Even one that could not be made may have had others forgotten for it.
        if done.is_ok() {
            self.record_order(now, name, by, order, out);
        }
        self.on_breaker_changes(now, changes, out);
        done.map(|()| Reply::Done).map_err(|unknown| NoticeError::NoBreaker(unknown.0))
    }

    /// What is told or ordered about checkpoints that are to be written.
    pub(super) fn on_checkpoint_notice(
        &mut self,
        now: Timestamp,
        breaker: &BreakerName,
        what: &CheckpointNotice,
        out: &mut Collector,
    ) -> Result<Reply, NoticeError> {
        if breaker.kind() != Some(Kind::Checkpoint) || self.slot_of(breaker).is_none() {
            return Err(NoticeError::NoBreaker(breaker.clone()));
        }
        let waits = |writes: &Writes, id: &CheckpointId| {
            writes.view(breaker).is_some_and(|line| line.waiting.contains(id))
        };
        let writes = &self.machines.gates.writes;
        match what {
            CheckpointNotice::Submit { id } => {
                match self.tell_writes(now, out, |writes, step| writes.submit(step, breaker, id)) {
                    Submitted::Full => {
                        Err(NoticeError::QueueFull { breaker: breaker.clone(), id: id.clone() })
                    }
                    taken @ (Submitted::Begun | Submitted::Queued { .. }) => Ok(Reply::Submitted(taken)),
                }
            }
            CheckpointNotice::Retry { by } if writes.contains(breaker) => {
                self.record_order(now, breaker, by, BreakerOrder::Retry, out);
                self.tell_writes(now, out, |writes, step| writes.retry_now(step, breaker));
                Ok(Reply::Done)
            }
            CheckpointNotice::Discard { by, id } if waits(writes, id) => {
                self.record_order(now, breaker, by, BreakerOrder::Discard(id.clone()), out);
                self.tell_writes(now, out, |writes, step| writes.discard(step, breaker, id));
                Ok(Reply::Done)
            }
            CheckpointNotice::Retry { .. } | CheckpointNotice::Discard { .. } => {
                Err(NoticeError::NotWaiting(breaker.clone()))
            }
        }
    }

    /// What became of an effect, if it was to write a checkpoint; tells whether it was.
    pub(super) fn on_write_outcome(
        &mut self,
        now: Timestamp,
        key: &EffectKey,
        outcome: effect::Outcome,
        out: &mut Collector,
    ) -> bool {
        let Some((breaker, id)) = self.machines.gates.attempts.find(key) else { return false };
        let outcome = match outcome {
            effect::Outcome::Delivered => WriteOutcome::Written,
            effect::Outcome::Rejected => WriteOutcome::Rejected,
            effect::Outcome::Refused
            | effect::Outcome::Unreachable
            | effect::Outcome::Stopped
            | effect::Outcome::Failed
            | effect::Outcome::Unreadable => WriteOutcome::Failed,
        };
        self.tell_writes(now, out, |writes, step| writes.on_outcome(step, &breaker, &id, outcome));
        true
    }

    /// An agent is no longer watched: nothing can be done for it any more.
    pub(super) fn on_agent_left(&mut self, now: Timestamp, slot: u32, out: &mut Collector) {
        let Some(agent) = self.table.id(slot).cloned() else { return };
        self.tell_writes(now, out, |writes, step| writes.drop_agent(step, &agent));
        self.tell_breakers(now, out, |breakers, changes| breakers.drop_agent(&agent, changes));
    }

    pub(super) fn wake_gates(&mut self, now: Timestamp, out: &mut Collector) {
        if self.machines.gates.deadline().is_none_or(|due| now < due) {
            return;
        }
        self.tell_breakers(now, out, |breakers, changes| breakers.wake(now, changes));
        self.tell_writes(now, out, Writes::wake);
    }

    /// The slot of the agent whose breaker this is.
    pub(super) fn slot_of(&self, name: &BreakerName) -> Option<u32> {
        self.index.get(&name.agent()?, &self.table)
    }

    fn tell_breakers<T>(
        &mut self,
        now: Timestamp,
        out: &mut Collector,
        tell: impl FnOnce(&mut Breakers, &mut Vec<Change>) -> T,
    ) -> T {
        let mut changes = Vec::new();
        let result = tell(&mut self.machines.gates.breakers, &mut changes);
        self.on_breaker_changes(now, changes, out);
        result
    }

    fn on_breaker_changes(&mut self, now: Timestamp, changes: Vec<Change>, out: &mut Collector) {
        for change in changes {
            let (name, transition) = (change.name.clone(), change.transition);
            self.record_gate(now, &name, Fact::Breaker(change), out);
            let closed = transition.from != State::Closed && transition.to == State::Closed;
            if closed && name.kind() == Some(Kind::Checkpoint) {
                self.tell_writes(now, out, |writes, step| writes.retry_now(step, &name));
            }
        }
    }

    fn tell_writes<T>(
        &mut self,
        now: Timestamp,
        out: &mut Collector,
        tell: impl FnOnce(&mut Writes, &mut WriteStep<'_>) -> T,
    ) -> T {
        let (mut changes, mut written) = (Vec::new(), Vec::new());
        let gates = &mut self.machines.gates;
        let mut step =
            WriteStep { now, breakers: &mut gates.breakers, changes: &mut changes, out: &mut written };
        let result = tell(&mut gates.writes, &mut step);
        for change in written {
            self.on_write_change(now, change, out);
        }
        self.on_breaker_changes(now, changes, out);
        result
    }

    fn on_write_change(&mut self, now: Timestamp, change: WriteChange, out: &mut Collector) {
        let breaker = match &change {
            WriteChange::Begin { breaker, id, attempt } => {
                return self.begin_write(breaker, id, *attempt, out);
            }
            WriteChange::Written { breaker, id } | WriteChange::Dropped { breaker, id } => {
                self.machines.gates.attempts.on_left(breaker, id);
                breaker.clone()
            }
            WriteChange::Queued { breaker, .. }
            | WriteChange::Overflowed { breaker, .. }
            | WriteChange::Persistent { breaker, .. }
            | WriteChange::Recovered { breaker, .. } => breaker.clone(),
        };
        self.record_gate(now, &breaker, Fact::Checkpoint(change), out);
    }

    /// Has a checkpoint written. If that is never heard of, the line tries again.
    fn begin_write(&mut self, breaker: &BreakerName, id: &CheckpointId, attempt: u32, out: &mut Collector) {
        let Some(slot) = self.slot_of(breaker) else { return };
        let action =
            Action::WriteCheckpoint { id: id.clone(), store: breaker.target().into_owned().into(), attempt };
        let key = self.table.agent_mut(slot).put_out(action, &mut out.effects);
        self.touch(slot);
        self.machines.gates.attempts.on_begun(breaker.clone(), key, id.clone());
    }

    fn record_order(
        &self,
        now: Timestamp,
        name: &BreakerName,
        by: &Actor,
        order: BreakerOrder,
        out: &mut Collector,
    ) {
        let fact = Fact::BreakerOrdered { name: name.clone(), by: by.clone(), order };
        self.record_gate(now, name, fact, out);
    }

    fn record_gate(&self, now: Timestamp, name: &BreakerName, fact: Fact, out: &mut Collector) {
        let slot = self.slot_of(name);
        let agent: Option<(AgentId, Incarnation)> =
            slot.and_then(|slot| self.table.agent(slot)).map(|agent| (agent.id.clone(), agent.incarnation));
        out.events.push(Event { at: now, agent, fact });
    }
}
