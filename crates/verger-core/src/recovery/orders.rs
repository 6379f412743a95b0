//! What people order about a recovery.

use super::machine::Step;
use super::task::{Elsewhere, Phase, Recovery, Scope};
use super::turns::Fate;
use super::{CallOff, Change, Closing, Condition, Life, Recoveries, Word};
use crate::id::{Actor, AgentId, CheckpointId, TaskId};

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Recover now. Out of a review, or after it was called off, the attempts are counted from one again.
    Recover {
        /// From this checkpoint, even if it is believed to be poisoned; the best one if none.
        from: Option<CheckpointId>,
    },
    /// Do not recover.
    Cancel,
    /// The review is done, and nothing is to be recovered.
    ReviewDone,
    /// The old life does not run any more.
    ConfirmEnded,
}

/// Why an order was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OrderError {
    /// Nothing of this task is to be recovered.
    #[error("there is nothing to recover of task `{0}`")]
    NothingToRecover(TaskId),
    /// The task is over.
    #[error("task `{task}` is over ({why}); reopen it first")]
    TaskClosed {
        /// Which.
        task: TaskId,
        /// How it ended.
        why: Closing,
    },
    /// An attempt is under way.
    #[error("a recovery of this task is running already")]
    Running,
    /// The task's agent lives.
    #[error("incarnation {} of agent `{}` works on this task", .0.incarnation, .0.agent)]
    Alive(Life),
    /// The agent lives and works on something else: starting it again would end that.
    #[error("agent `{0}` works on another task; give this one to another agent, or stop it first")]
    AgentElsewhere(AgentId),
    /// The checkpoint is not one that work can resume from.
    #[error("checkpoint `{0}` is not among the valid ones of this task")]
    UnknownCheckpoint(CheckpointId),
    /// It was called off already.
    #[error("the recovery of this task was called off already")]
    CalledOff,
    /// No review is open.
    #[error("no review of this task is open")]
    NothingToReview,
    /// As many tasks are being recovered as are followed at once.
    #[error(
        "{0} tasks are being recovered, and no more are followed at once; settle or cancel some of them first"
    )]
    NoRoom(usize),
    /// No end is in doubt.
    #[error("no end of a life of this task is in doubt")]
    NothingInDoubt,
}

impl OrderError {
    /// Stable code; `docs/src/errors/<code>.md` tells the operator what to do.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NothingToRecover(_) => "VG0311",
            Self::TaskClosed { .. } => "VG0312",
            Self::Running | Self::Alive(_) => "VG0313",
            Self::AgentElsewhere(_) => "VG0314",
            Self::UnknownCheckpoint(_) => "VG0315",
            Self::NoRoom(_) => "VG0317",
            Self::CalledOff | Self::NothingToReview | Self::NothingInDoubt => "VG0316",
        }
    }
}

impl Recoveries {
    /// Carries out what a person ordered, and records who it was.
    pub fn order(
        &mut self,
        step: &mut Step<'_>,
        task: &TaskId,
        by: &Actor,
        order: &Order,
    ) -> Result<(), OrderError> {
        if let Some(why) = self.closing(task) {
            return Err(OrderError::TaskClosed { task: task.clone(), why });
        }
        let Some(recovery) = self.tasks.get(task) else {
            return Err(OrderError::NothingToRecover(task.clone()));
        };
        recovery.may_order(order)?;
        let is_start = matches!(order, Order::Recover { .. });
        if is_start && self.elsewhere(&recovery.life) == Elsewhere::Lives {
            return Err(OrderError::AgentElsewhere(recovery.life.agent.clone()));
        }
        self.with(step, task, |recovery, scope| recovery.on_order(scope, by, order));
        Ok(())
    }
}

impl Recovery {
    fn may_order(&self, order: &Order) -> Result<(), OrderError> {
        match order {
            Order::Recover { from } => {
                self.may_begin()?;
                let unknown = from
                    .as_ref()
                    .filter(|from| !self.chain.candidates.iter().any(|candidate| candidate.id == **from));
                unknown.map_or(Ok(()), |from| Err(OrderError::UnknownCheckpoint(from.clone())))
            }
            Order::Cancel => match self.phase {
                Phase::Waiting { .. } | Phase::Running { .. } | Phase::HumanReview { .. } => Ok(()),
                Phase::Watching { .. } | Phase::Succeeded { .. } => Err(OrderError::Alive(self.life.clone())),
                Phase::Failed { .. } => Err(OrderError::CalledOff),
            },
            Order::ReviewDone => match self.phase {
                Phase::HumanReview { .. } => Ok(()),
                Phase::Waiting { .. }
                | Phase::Running { .. }
                | Phase::Watching { .. }
                | Phase::Succeeded { .. }
                | Phase::Failed { .. } => Err(OrderError::NothingToReview),
            },
            Order::ConfirmEnded if self.doubts.is_empty() => Err(OrderError::NothingInDoubt),
            Order::ConfirmEnded => Ok(()),
        }
    }

    fn may_begin(&self) -> Result<(), OrderError> {
        match self.phase {
            Phase::Waiting { .. } | Phase::Failed { .. } | Phase::HumanReview { .. } => Ok(()),
            Phase::Running { .. } => Err(OrderError::Running),
            Phase::Watching { .. } | Phase::Succeeded { .. } => Err(OrderError::Alive(self.life.clone())),
        }
    }

    fn on_order(&mut self, scope: &mut Scope<'_, '_>, by: &Actor, order: &Order) -> Fate {
        let (who, what) = (by.clone(), order.clone());
        scope.tell(|task| Change::Ordered { task, by: who, order: what });
        match order {
            Order::Recover { from } => self.recover_now(scope, by, from.clone()),
            Order::ConfirmEnded => self.settle_doubts(scope, |_| true),
            Order::ReviewDone => self.call_off(scope, None),
            Order::Cancel => self.call_off(scope, Some(by)),
        }
        Fate::Keep
    }

    fn recover_now(&mut self, scope: &mut Scope<'_, '_>, by: &Actor, from: Option<CheckpointId>) {
        let now = scope.step.now;
        if !matches!(self.phase, Phase::Waiting { .. }) {
            self.attempt = 0;
            self.clear(scope, Condition::Review);
        }
        self.blamed.retain(|blame| Some(&blame.id) != from.as_ref());
        self.wanted = from;
        self.enter(now, Phase::Waiting { at: now, held: None, by: Some(by.clone()) });
        self.begin(scope);
    }

    fn call_off(&mut self, scope: &mut Scope<'_, '_>, by: Option<&Actor>) {
        if matches!(self.phase, Phase::Running { .. }) {
            self.withdraw(scope);
        }
        if let Some(by) = by.cloned() {
            scope.tell(|task| Change::CalledOff { task, why: CallOff::ByPerson(by) });
        }
        // A person has looked: whatever fails next is counted from one.
        self.attempt = 0;
        let forget_at = scope.step.now + scope.step.policy.forget_after;
        self.enter(scope.step.now, Phase::Failed { forget_at });
        self.clear_all(scope);
    }

    /// What is remembered when a recovery is forgotten.
    pub(crate) fn last_word(&self) -> Word {
        self.closed.map_or_else(|| Word::Last(self.life.clone()), Word::Closed)
    }
}
