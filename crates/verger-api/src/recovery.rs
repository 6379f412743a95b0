//! How the work of a task is taken up again after its agent's end.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Time;
use crate::words::words;

words! {
    /// Where a recovery stands.
    pub enum RecoveryPhase {
        /// An attempt will be made.
        Waiting = "waiting",
        /// An attempt is under way.
        Running = "running",
        /// The new life is watched closely.
        Watching = "watching",
        /// It passed the watch.
        Succeeded = "succeeded",
        /// It was called off.
        Failed = "failed",
        /// People must look.
        HumanReview = "human-review",
    }
}

/// The recovery of one task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryStatus {
    /// What is recovered.
    pub task_id: String,
    /// Whose work it is.
    pub agent_id: String,
    /// Where it stands.
    pub status: RecoveryPhase,
    /// Since when.
    pub since: Time,
    /// Attempts made since a person or a stable run last set the count to nought.
    pub attempt: u32,
    /// The state that the last attempt began with.
    pub from_checkpoint: Option<String>,
    /// The present life of its agent, or the last one.
    pub incarnation: u32,
    /// When the next attempt is made, if only time is waited for.
    pub next_attempt_at: Option<Time>,
    /// Why it is where it is.
    pub reason: String,
}

/// What `initiateRecovery` of 000 §6 answers.
pub type RecoveryResult = RecoveryStatus;

/// Recover a task now: `POST /v1/tasks/{id}/recover`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct RecoverRequest {
    /// From this state; the newest valid one if it is not said.
    #[serde(alias = "from_checkpoint", skip_serializing_if = "Option::is_none")]
    pub from_checkpoint: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Which recoveries are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(default, rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct RecoveryQuery {
    /// That stand there.
    pub status: Option<RecoveryPhase>,
    /// At most so many.
    pub limit: Option<u32>,
    /// Where the last page ended.
    pub cursor: Option<String>,
}
