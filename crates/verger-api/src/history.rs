//! How an agent was, over time: `GET /v1/agents/{id}/history`.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::agents::AgentMetrics;
use crate::states::{Awaited, HealthState, LivenessStatus};
use crate::{HumanDuration, Time};

/// How an agent was at some moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthSnapshot {
    /// When.
    pub at: Time,
    /// Which of its lives.
    pub incarnation: u32,
    /// Its state.
    pub state: HealthState,
    /// Its liveness.
    pub liveness: LivenessStatus,
    /// What it waited on.
    pub waiting_on: Option<Awaited>,
    /// What it worked on.
    pub task_id: Option<String>,
    /// Its counters.
    pub metrics: AgentMetrics,
}

/// Over which time a history is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(default, rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct HistoryQuery {
    /// Back to so long ago. Default: `24h`.
    #[param(value_type = Option<String>)]
    pub duration: Option<HumanDuration>,
    /// At most so many.
    pub limit: Option<u32>,
    /// Where the last page ended.
    pub cursor: Option<String>,
}
