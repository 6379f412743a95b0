//! What agents say of their tasks besides progress: why it takes so long, that they are there, that they cannot go on.

use std::sync::Arc;

use super::machine::bounded;
use super::task::{Failed, Told};
use super::{Decision, Explained, Failure, Inquiry, Refusal, Step, Tasks, WhyTold};
use crate::id::{AgentId, TaskId};
use crate::signal::Trust;
use crate::standing::Reading;
use crate::time::Span;

impl Tasks {
    /// Its agent, or a person, explains why a task takes so long, and for how long that holds, if it says.
    pub fn on_explained(
        &mut self,
        step: &mut Step<'_>,
        id: &TaskId,
        by: Option<&AgentId>,
        text: Option<Arc<str>>,
        lasting: Option<Span>,
    ) -> Result<Explained, Refusal> {
        self.theirs(id, by)?;
        let policy = step.policy;
        let holds = lasting.unwrap_or(policy.explained_for).min(policy.explained_max);
        let until = step.now + holds;
        let believed = self.change(step, id, |task| {
            task.explanation = text.map(bounded).or(task.explanation.take());
            let believed = task.explanations < policy.explanations_max;
            if believed {
                task.explanations = task.explanations.saturating_add(1);
                task.explained_until = task.explained_until.max(Some(until));
            }
            believed
        });
        self.settle(step, id);
        if believed == Some(true) {
            return Ok(Explained::For(holds));
        }
        self.on_empty_words(step, id);
        Ok(Explained::NotBelieved)
    }

    /// It has answered, so it is no failure; but nothing comes of it.
    fn on_empty_words(&mut self, step: &mut Step<'_>, id: &TaskId) {
        if self.open(id).is_none_or(|task| task.stalled_since.is_none()) {
            return;
        }
        self.close_failure(step, id, false);
        self.adjust(step, id, |task| task.inquiry.on_spent());
        self.tell(step, id, None, WhyTold::OnlyWords);
    }

    /// An agent answered when it was asked how it gets on: that explains each task it was asked about, for a while.
    pub fn on_answered(&mut self, step: &mut Step<'_>, agent: &AgentId) {
        let ids: Vec<_> = self.index.of(agent).cloned().collect();
        for id in ids {
            if self.open(&id).is_some_and(|task| task.stalled_since.is_some()) {
                // It is theirs and open, so that nothing is refused.
                let _ = self.on_explained(step, &id, Some(agent), None, None);
            }
        }
    }

    /// Its agent says that it cannot go on. From somebody who did not prove to be that agent, it is for people to judge.
    pub fn on_cannot_go_on(
        &mut self,
        step: &mut Step<'_>,
        id: &TaskId,
        by: Option<&AgentId>,
        trust: Trust,
    ) -> Result<(), Refusal> {
        self.theirs(id, by)?;
        self.change(step, id, |_| ());
        match trust {
            Trust::Verified => self.declare(step, id, None, Failure::CannotGoOn),
            Trust::Unverified => self.tell(step, id, None, WhyTold::UnverifiedWord),
        }
        Ok(())
    }

    /// An agent went silent, came back or began to wait. Telling it twice is harmless.
    pub fn on_worker_changed(&mut self, step: &mut Step<'_>, agent: &AgentId) {
        let ids: Vec<_> = self.index.of(agent).cloned().collect();
        let worker = step.reading(agent);
        let is_back = matches!(worker, Reading::There | Reading::Engaged { .. });
        for id in ids {
            let Some(task) = self.open(&id) else { continue };
            if task.stalled_since.is_none() {
                // What it waited on may be over; whether that makes a stall is found out in its time.
                if task.waits_until.is_some() {
                    self.adjust(step, &id, |task| task.waits_until = None);
                }
                continue;
            }
            if is_back && task.failed.is_some_and(|failed| !failed.by_own_word) {
                self.close_failure(step, &id, false);
                self.adjust(step, &id, |task| task.inquiry = Inquiry::default());
            }
            self.look(step, &id);
        }
    }

    /// Ends whatever was wrong with a task: it gets on, another one has it, or it is over.
    pub(super) fn clear(&mut self, step: &mut Step<'_>, id: &TaskId) {
        self.unstall(step, id);
        self.close_told(step, id);
        self.close_failure(step, id, true);
    }

    /// Ends a stall of which a part no longer holds, and what followed from it.
    pub(super) fn settle(&mut self, step: &mut Step<'_>, id: &TaskId) {
        let Some(task) = self.open(id) else { return };
        if task.stalled_since.is_none() || task.evidence(step.now, step.policy, None).is_stalled() {
            return;
        }
        let of_the_stall = task.told.is_some_and(|told| told.why != WhyTold::UnverifiedWord);
        self.unstall(step, id);
        if of_the_stall {
            self.close_told(step, id);
        }
        self.close_failure(step, id, false);
    }

    fn unstall(&mut self, step: &mut Step<'_>, id: &TaskId) {
        let Some(since) = self.open(id).and_then(|task| task.stalled_since) else { return };
        self.adjust(step, id, |task| {
            task.stalled_since = None;
            task.inquiry = Inquiry::default();
        });
        self.push(step, id, None, Decision::Unstalled { lasted: step.now.since(since) });
    }

    fn close_told(&mut self, step: &mut Step<'_>, id: &TaskId) {
        let Some(told) = self.open(id).and_then(|task| task.told) else { return };
        self.adjust(step, id, |task| task.told = None);
        self.push(step, id, None, Decision::EscalationOver { lasted: step.now.since(told.at) });
    }

    /// Its own word that it cannot go on is taken back by progress alone.
    fn close_failure(&mut self, step: &mut Step<'_>, id: &TaskId, even_own_word: bool) {
        let Some(failed) = self.open(id).and_then(|task| task.failed) else { return };
        if failed.by_own_word && !even_own_word {
            return;
        }
        self.adjust(step, id, |task| task.failed = None);
        self.push(step, id, None, Decision::FailureOver { lasted: step.now.since(failed.at) });
    }

    /// Declares a failure, once.
    pub(super) fn declare(
        &mut self,
        step: &mut Step<'_>,
        id: &TaskId,
        worker: Option<Reading>,
        why: Failure,
    ) {
        let by_own_word = why == Failure::CannotGoOn;
        let at = step.now;
        let is_news = self.adjust(step, id, |task| {
            let since = task.failed.map_or(at, |failed| failed.at);
            let is_own = by_own_word || task.failed.is_some_and(|failed| failed.by_own_word);
            task.failed.replace(Failed { at: since, by_own_word: is_own }).is_none()
        });
        if is_news == Some(true) {
            self.push(step, id, worker, Decision::DeclareFailed { why });
        }
    }

    /// Tells people, once.
    pub(super) fn tell(&mut self, step: &mut Step<'_>, id: &TaskId, worker: Option<Reading>, why: WhyTold) {
        let at = step.now;
        let is_news = self.adjust(step, id, |task| {
            let is_news = task.told.is_none();
            task.told.get_or_insert(Told { at, why });
            is_news
        });
        if is_news == Some(true) {
            self.push(step, id, worker, Decision::Escalate { why });
        }
    }
}
