//! What ends a recovery before its time: the task is over, goes to another agent, or its agent works on something
//! else.
//!
//! What was started for it is asked to end. Until that is settled nothing else is started for the task, even if it
//! is opened again or given to somebody else meanwhile; so the recovery is kept, unseen, until then or for a day.

use super::machine::Step;
use super::task::{Phase, Recovery, Scope};
use super::turns::Fate;
use super::{CallOff, Change, Closing, Count, Doubted, Life, Policy, Recoveries, Review, Word};
use crate::id::TaskId;
use crate::time::Timestamp;

impl Recoveries {
    /// The task is over: a recovery of it is called off at once, and none is begun any more.
    pub fn on_closed(&mut self, step: &mut Step<'_>, task: &TaskId, why: Closing) {
        self.with(step, task, |recovery, scope| recovery.on_closed(scope, why));
        self.note_unless_kept(step, task, Word::Closed(why));
    }

    /// The task is known to be over, and nothing is to be told of it.
    pub(crate) fn remember_closed(&mut self, now: Timestamp, task: &TaskId, why: Closing, policy: &Policy) {
        self.note(now, task.clone(), Word::Closed(why), policy);
    }

    /// Nobody watches the task's agent any more: nothing of it is remembered but that.
    pub fn on_unregistered(&mut self, step: &mut Step<'_>, task: &TaskId) {
        self.with(step, task, |recovery, scope| {
            recovery.on_closed(scope, Closing::Cancelled);
            Fate::Forget(Word::Closed(Closing::Cancelled))
        });
    }

    /// Somebody gave the task to another agent: what was begun for it is taken back.
    pub fn on_given_away(&mut self, step: &mut Step<'_>, task: &TaskId, life: &Life) {
        self.with(step, task, |recovery, scope| recovery.on_given_away(scope, life));
        self.note_unless_kept(step, task, Word::TakenOver(life.clone()));
    }

    /// The task was opened again.
    pub fn on_reopened(&mut self, task: &TaskId) {
        let closed = self.tasks.get_mut(task).filter(|recovery| recovery.closed.is_some());
        let is_kept = closed.is_some();
        if let Some(recovery) = closed {
            recovery.reopen(self.counts.tasks.remove(task));
        }
        if self.notes.forget(task) || is_kept {
            self.changed.tasks.insert(task.clone());
        }
    }

    /// A life was begun for the task: that somebody called it off, or that it failed, holds no longer.
    pub fn on_begun_again(&mut self, task: &TaskId) {
        if self.closing(task).is_some() {
            self.on_reopened(task);
        }
    }

    /// How the task came to its end, if it did.
    pub(crate) fn closing(&self, task: &TaskId) -> Option<Closing> {
        self.tasks.get(task).map_or_else(|| self.notes.closing(task), |recovery| recovery.closed)
    }

    /// An agent lives and works on this task. It is not started again for another: that would end it.
    pub(crate) fn keep_busy(&mut self, step: &mut Step<'_>, task: &TaskId, life: &Life) {
        let had = |recovery: &Recovery| {
            recovery.life.agent == life.agent && recovery.life.incarnation < life.incarnation
        };
        let others = self.tasks.iter().filter(|(other, recovery)| *other != task && had(recovery));
        let others: Vec<TaskId> = others.map(|(task, _)| task.clone()).collect();
        for other in others {
            self.with(step, &other, |recovery, scope| recovery.on_elsewhere(scope, life));
        }
    }

    fn note_unless_kept(&mut self, step: &Step<'_>, task: &TaskId, word: Word) {
        if !self.tasks.contains_key(task) {
            self.note(step.now, task.clone(), word, step.policy);
        }
    }
}

impl Recovery {
    fn on_closed(&mut self, scope: &mut Scope<'_, '_>, why: Closing) -> Fate {
        match self.phase {
            Phase::Watching { .. } if why == Closing::Finished => self.succeed(scope),
            Phase::Running { .. } => {
                self.withdraw(scope);
                scope.tell(|task| Change::CalledOff { task, why: CallOff::Closed(why) });
            }
            Phase::Waiting { .. } | Phase::Watching { .. } | Phase::HumanReview { .. } => {
                scope.tell(|task| Change::CalledOff { task, why: CallOff::Closed(why) });
            }
            Phase::Succeeded { .. } | Phase::Failed { .. } => {}
        }
        self.leave_count(scope);
        if self.doubts.is_empty() {
            return Fate::Forget(Word::Closed(why));
        }
        self.closed = Some(why);
        self.let_lives_be();
        let forget_at = scope.step.now + scope.step.policy.forget_after;
        self.enter(scope.step.now, Phase::Failed { forget_at });
        self.clear_all(scope);
        Fate::Keep
    }

    /// It is wanted again, also from whoever was asked to end.
    fn reopen(&mut self, counted: Option<Count>) {
        let Phase::Failed { forget_at } = self.phase else { return };
        let stable_at = counted.as_ref().map_or(forget_at, |counted| counted.until);
        (self.closed, self.progressed) = (None, false);
        self.phase = Phase::Succeeded { stable_at };
        if let Some(counted) = counted {
            self.go_on_counting(counted);
        }
    }

    fn on_given_away(&mut self, scope: &mut Scope<'_, '_>, life: &Life) -> Fate {
        if matches!(self.phase, Phase::Running { .. }) {
            self.withdraw(scope);
        }
        scope.tell(|task| Change::CalledOff { task, why: CallOff::TakenOver(life.clone()) });
        self.drop_doubts(scope, |doubted| *doubted == Doubted::Life(life.clone()));
        if self.doubts.is_empty() {
            return Fate::Forget(Word::TakenOver(life.clone()));
        }
        self.clear_all(scope);
        self.succeeded_by(life.clone());
        (self.attempt, self.progressed) = (0, false);
        let stable_at = scope.step.now + scope.step.policy.stable_after;
        self.enter(scope.step.now, Phase::Succeeded { stable_at });
        Fate::Keep
    }

    /// Its agent lives in a later life, and not for this.
    fn on_elsewhere(&mut self, scope: &mut Scope<'_, '_>, life: &Life) -> Fate {
        match self.phase {
            Phase::Waiting { .. } | Phase::Watching { .. } => self.review(scope, Review::AgentElsewhere),
            // What was started is there, and is left alone.
            Phase::Running { .. } if self.started.as_ref().is_none_or(|started| started == life) => {
                self.started = Some(life.clone());
                self.review(scope, Review::AgentElsewhere);
            }
            // Whoever began it for other work took it off this, which was well. What was counted stays counted.
            Phase::Running { .. }
            | Phase::Succeeded { .. }
            | Phase::Failed { .. }
            | Phase::HumanReview { .. } => {}
        }
        Fate::Keep
    }

    /// A life of a task that is over ended.
    pub(crate) fn on_ended_after_all(&mut self, scope: &mut Scope<'_, '_>, life: Life, confirmed: bool) {
        let of = Doubted::Life(life);
        if confirmed {
            self.settle_doubts(scope, |doubted| *doubted == of);
        } else {
            self.doubt(scope.step.now, of);
        }
    }
}
