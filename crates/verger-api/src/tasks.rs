//! Pieces of work, and how they get on.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Time;
use crate::words::words;

words! {
    /// How a task stands.
    pub enum TaskStatus {
        /// Given to an agent that has not begun.
        Assigned = "assigned",
        /// At work.
        InProgress = "in_progress",
        /// Finished.
        Done = "done",
        /// Given up; it may be given to somebody again.
        Failed = "failed",
        /// Called off.
        Cancelled = "cancelled",
    }
}

/// One task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its name.
    pub task_id: String,
    /// Who works at it, or did.
    pub agent_id: Option<String>,
    /// How it stands.
    pub status: TaskStatus,
    /// What it is.
    pub description: Option<String>,
    /// When it was given.
    pub assigned_at: Option<Time>,
    /// When it was to be complete.
    pub expected_completion: Option<Time>,
    /// When it was last heard to get on.
    pub last_progress_update: Option<Time>,
    /// How far it is, from 0 to 100.
    #[schema(minimum = 0, maximum = 100)]
    pub progress_percentage: Option<u8>,
    /// Why it takes so long, in its agent's words.
    pub explanation: Option<String>,
    /// Since when it is stalled.
    pub stalled_since: Option<Time>,
    /// Since when it counts as failed, though it is open.
    pub failed_since: Option<Time>,
    /// When it ended.
    pub ended_at: Option<Time>,
}

/// What is said of a task: `PUT /v1/tasks/{id}`. What is left out stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct TaskUpdate {
    /// Who works at it.
    #[serde(alias = "agent_id", skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it was given.
    #[serde(alias = "assigned_at", skip_serializing_if = "Option::is_none")]
    pub assigned_at: Option<Time>,
    /// When it should be complete.
    #[serde(alias = "expected_completion", skip_serializing_if = "Option::is_none")]
    pub expected_completion: Option<Time>,
    /// When it last got on.
    #[serde(alias = "last_progress_update", skip_serializing_if = "Option::is_none")]
    pub last_progress_update: Option<Time>,
    /// How far it is, from 0 to 100.
    #[serde(alias = "progress_percentage", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 100)]
    pub progress_percentage: Option<f64>,
    /// How it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// Why it takes so long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
}

impl TaskUpdate {
    /// How far it is, in whole percent; an error if that is no percentage.
    pub fn percent(&self) -> Result<Option<u8>, PercentError> {
        let Some(percent) = self.progress_percentage else { return Ok(None) };
        if !(0.0..=100.0).contains(&percent) {
            return Err(PercentError);
        }
        #[expect(clippy::cast_sign_loss, reason = "the range was checked")]
        let whole = percent as u8;
        Ok(Some(whole))
    }
}

/// A number that is no percentage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("progressPercentage must be between 0 and 100")]
pub struct PercentError;

/// Which tasks are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(default, rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct TaskQuery {
    /// Of this agent.
    #[serde(alias = "agent_id", alias = "agentId")]
    pub agent: Option<String>,
    /// In this status.
    pub status: Option<TaskStatus>,
    /// At most so many.
    pub limit: Option<u32>,
    /// Where the last page ended.
    pub cursor: Option<String>,
}
