//! What is done about a task whose time has come: all three parts of a stall are looked at, then its agent is asked.

use super::task::{Entry, explaining_wait};
use super::{Decision, Policy, Spared, Step, Tasks, Verdict, WhyTold};
use crate::id::{AgentId, TaskId};
use crate::standing::Reading;
use crate::time::{Span, Timestamp};

/// Steps of one task in one moment. Times of nothing at all must not keep us here.
const STEPS_MAX: u8 = 4;

impl Tasks {
    /// When [`wake`](Self::wake) is due next, after `now`.
    pub fn deadline(&self, now: Timestamp) -> Option<Timestamp> {
        self.index.next_due().map(|due| due.max(now + Span::millis(1)))
    }

    /// The limits have changed: what is due when is counted anew.
    pub fn on_policy(&mut self, policy: &Policy) {
        let ids: Vec<_> = self.slots.keys().cloned().collect();
        for id in ids {
            self.replace(policy, &id);
        }
    }

    /// Does what is due. Calling early is harmless.
    pub fn wake(&mut self, step: &mut Step<'_>) {
        for id in self.index.due(step.now) {
            // The limits may have changed since its place was found.
            self.replace(step.policy, &id);
            for _ in 0..STEPS_MAX {
                match self.slots.get(&id) {
                    Some(slot) if slot.place.due <= step.now => self.advance(step, &id),
                    Some(_) | None => break,
                }
            }
        }
    }

    fn advance(&mut self, step: &mut Step<'_>, id: &TaskId) {
        let abandoned = match self.slots.get(id).map(|slot| &slot.entry) {
            Some(Entry::Ended(_)) => return self.remove(id),
            Some(Entry::Open(task)) => task.touched_at + step.policy.abandoned_after <= step.now,
            None => return,
        };
        if abandoned {
            self.clear(step, id);
            self.push(step, id, None, Decision::Abandoned);
            return self.remove(id);
        }
        self.look(step, id);
    }

    /// Looks at a task whose agent may hold it up. It is called stalled only if all three parts hold together.
    pub(super) fn look(&mut self, step: &mut Step<'_>, id: &TaskId) {
        let Some(agent) = self.open(id).and_then(|task| task.agent.clone()) else { return };
        let worker = step.reading(&agent);
        // A wait may end before its time, so it is looked at again after a while.
        let waits = explaining_wait(worker).map(|left| step.now + left.min(step.policy.explained_for));
        if self.open(id).is_some_and(|task| task.waits_until != waits) {
            self.adjust(step, id, |task| task.waits_until = waits);
            self.settle(step, id);
        }
        let Some(task) = self.open(id) else { return };
        if task.failed.is_some() || !task.evidence(step.now, step.policy, None).is_stalled() {
            return;
        }
        if task.stalled_since.is_none() {
            let since = step.now;
            self.adjust(step, id, |task| task.stalled_since = Some(since));
            self.push(step, id, Some(worker), Decision::Stalled);
        }
        self.judge(step, id, &agent, worker);
    }

    /// Asks before anything is concluded.
    fn judge(&mut self, step: &mut Step<'_>, id: &TaskId, agent: &AgentId, worker: Reading) {
        match self.verdict(step, id) {
            Verdict::Ask => self.ask(step, id, agent, worker),
            Verdict::NotYet { until } => {
                self.adjust(step, id, |task| task.inquiry.look_at = Some(until));
            }
            Verdict::MayDeclareFailure { why } => self.declare(step, id, Some(worker), why),
            Verdict::No { why } => {
                self.adjust(step, id, |task| task.inquiry.on_spent());
                self.tell(step, id, Some(worker), WhyTold::Spared(why));
            }
        }
    }

    fn ask(&mut self, step: &mut Step<'_>, id: &TaskId, agent: &AgentId, worker: Reading) {
        let again = self.open(id).is_some_and(|task| task.inquiry.asked_at.is_some());
        let joined = self.index.of(agent).filter(|other| *other != id).any(|other| {
            let inquiry = self.open(other).map(|task| task.inquiry).unwrap_or_default();
            let asked_lately = |at: Timestamp| step.now < at + step.policy.inquiry_timeout;
            inquiry.asked_at.is_some_and(asked_lately) && (inquiry.repeated || !again)
        });
        let now = step.now;
        self.adjust(step, id, |task| task.inquiry.on_asked(now));
        self.push(step, id, Some(worker), Decision::Inquire { again, joined });
    }

    /// Whether a failure of this task may be declared now. Asking changes nothing.
    pub fn verdict(&self, step: &Step<'_>, id: &TaskId) -> Verdict {
        let Some(task) = self.open(id) else { return Verdict::No { why: Spared::NotOpen } };
        if task.failed.is_some_and(|failed| failed.by_own_word) {
            return Verdict::MayDeclareFailure { why: super::Failure::CannotGoOn };
        }
        let Some(agent) = task.agent.as_ref().filter(|_| task.stalled_since.is_some()) else {
            return Verdict::No { why: Spared::NotStalled };
        };
        task.inquiry.verdict(step.now, step.reading(agent), step.policy)
    }
}
