//! A recovery as people see it.

use super::task::{Held, Phase, Recovery};
use super::{Policy, Recoveries};
use crate::id::{AgentId, CheckpointId, Incarnation, TaskId};
use crate::time::Timestamp;

/// Where a recovery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// An attempt will be made.
    Waiting,
    /// An attempt is under way.
    Running,
    /// The new life is watched closely.
    Watching,
    /// It passed the watch.
    Succeeded,
    /// It was called off.
    Failed,
    /// People must look.
    HumanReview,
}

impl Status {
    /// The name that the interfaces use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Watching => "watching",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::HumanReview => "human-review",
        }
    }
}

/// A recovery as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveryView {
    /// What is recovered.
    pub task: TaskId,
    /// Where it stands.
    pub status: Status,
    /// Since when.
    pub since: Timestamp,
    /// Attempts made since a person or a stable run last set the count to nought.
    pub attempt: u8,
    /// The state that the last attempt began with.
    pub from_checkpoint: Option<CheckpointId>,
    /// Whose work it is.
    pub agent: AgentId,
    /// Its present life, or the last one.
    pub incarnation: Incarnation,
    /// When the next attempt is made, if only time is waited for.
    pub next_attempt_at: Option<Timestamp>,
    /// Why it is where it is.
    pub reason: String,
}

impl Recoveries {
    /// One recovery.
    pub fn view(&self, task: &TaskId, policy: &Policy) -> Option<RecoveryView> {
        let (task, recovery) =
            self.tasks.get_key_value(task).filter(|(_, recovery)| recovery.closed.is_none())?;
        Some(recovery.view(task, self.shared.frozen, policy))
    }

    /// All recoveries, by task, after this one: a page begins where the last one ended.
    pub fn views<'a>(
        &'a self,
        after: Option<&TaskId>,
        policy: &'a Policy,
    ) -> impl Iterator<Item = RecoveryView> + 'a {
        use std::ops::Bound::{Excluded, Unbounded};
        let from = after.map_or(Unbounded, |task| Excluded(task.clone()));
        let frozen = self.shared.frozen;
        let seen = self.tasks.range((from, Unbounded)).filter(|(_, recovery)| recovery.closed.is_none());
        seen.map(move |(task, recovery)| recovery.view(task, frozen, policy))
    }
}

impl Recovery {
    fn view(&self, task: &TaskId, frozen: bool, policy: &Policy) -> RecoveryView {
        let waits_for_time = matches!(self.phase, Phase::Waiting { .. }) && self.doubts.is_empty();
        RecoveryView {
            task: task.clone(),
            status: self.status(),
            since: self.since,
            attempt: self.attempt,
            from_checkpoint: self.from.clone(),
            agent: self.life.agent.clone(),
            incarnation: self.life.incarnation,
            next_attempt_at: self.deadline(frozen, policy).filter(|_| waits_for_time),
            reason: self.why(frozen, policy),
        }
    }

    fn status(&self) -> Status {
        match self.phase {
            Phase::Waiting { .. } => Status::Waiting,
            Phase::Running { .. } => Status::Running,
            Phase::Watching { .. } => Status::Watching,
            Phase::Succeeded { .. } => Status::Succeeded,
            Phase::Failed { .. } => Status::Failed,
            Phase::HumanReview { .. } => Status::HumanReview,
        }
    }

    fn why(&self, frozen: bool, policy: &Policy) -> String {
        let ended = format!("the last life ended: {}", self.reason);
        match &self.phase {
            _ if !self.doubts.is_empty() => format!("the old life may still run; {ended}"),
            Phase::Waiting { by: None, .. } if frozen => {
                format!("many agents failed together, recoveries wait; {ended}")
            }
            Phase::Waiting { held: Some(hold), .. } => {
                let limit = policy.fleet_limit;
                let what = match hold.why {
                    Held::Hour => {
                        format!("the fleet's limit of {} per {} is used up", limit.count, limit.window)
                    }
                    Held::Burst => "others are being started just now".to_owned(),
                    Held::Agent => "its agent is being started for another task".to_owned(),
                    Held::Asked => "starting is held back for now".to_owned(),
                    Held::Survey => "its checkpoints are not known yet".to_owned(),
                };
                format!("{what}; {ended}")
            }
            Phase::Waiting { .. } | Phase::Running { .. } => ended,
            Phase::Watching { well: true, .. } => format!("the new life is well; {ended}"),
            Phase::Watching { well: false, .. } => format!("the new life is not well yet; {ended}"),
            Phase::Succeeded { .. } => format!("the new life passed its watch; {ended}"),
            Phase::Failed { .. } => format!("it was called off; {ended}"),
            Phase::HumanReview { why } => format!("{why}; {ended}"),
        }
    }
}
