//! An agent as people see it: `AgentHealth` of 000 §6, and what Verger adds.
//!
//! Answers hold every field, `null` where there is nothing to say, so that a script may rely on the names.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::states::{Awaited, Cause, FailureClass, HealthState, LivenessStatus, Mode};
use crate::{CircuitBreakerStatus, Evidence, ProbesHealth, Time};

/// How one agent is doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentHealth {
    /// Its name, across all its lives.
    pub agent_id: String,
    /// What it works on.
    pub task_id: Option<String>,
    /// How it is doing.
    pub state: HealthState,
    /// Since when.
    pub state_changed_at: Time,
    /// When its last heartbeat came.
    pub last_heartbeat: Option<Time>,
    /// When its work was last saved.
    pub last_checkpoint: Option<Time>,
    /// Its counters.
    pub metrics: AgentMetrics,
    /// Its circuit breakers.
    pub circuit_breakers: Vec<CircuitBreakerStatus>,
    /// Which of its lives this is, from 1.
    pub incarnation: u32,
    /// The profile it is watched under.
    pub role: String,
    /// What may be done to it.
    pub mode: Mode,
    /// Whether it should be given work now.
    pub ready: bool,
    /// Whether it is there.
    pub liveness: Liveness,
    /// What it waits on.
    pub waiting_on: Option<Waiting>,
    /// Why it is in this state; empty when all is well.
    pub evidence: Vec<Evidence>,
    /// What is being done about it.
    pub intervention: Option<Intervening>,
    /// What its probes find, if it has any.
    pub probes: Option<ProbesHealth>,
    /// How far its clock is ahead, in milliseconds.
    pub clock_skew_ms: Option<i64>,
    /// Where it runs.
    pub host: Option<String>,
    /// The id of its last checkpoint.
    pub checkpoint_id: Option<String>,
    /// What it used in vain, and an estimate of what intervening saved.
    pub waste: Waste,
}

/// Counters of one agent's present life.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentMetrics {
    /// For how long this life lasts.
    pub uptime_seconds: u64,
    /// Tokens used.
    pub token_count: u64,
    /// Errors met.
    pub error_count: u64,
    /// Tool calls that ended.
    pub tool_call_count: u64,
    /// Interventions over all lives.
    pub intervention_count: u64,
    /// Pings or heartbeats in a row that did not come.
    pub missed_heartbeats: u64,
    /// Heartbeats received.
    pub total_heartbeats: u64,
    /// Times it fell silent, over all lives.
    pub disconnection_count: u64,
    /// When it last did anything of its own.
    pub last_activity: Option<Time>,
    /// Money spent.
    pub cost_usd: f64,
}

/// Whether an agent is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Liveness {
    /// Online, idle, busy, unresponsive or offline.
    pub status: LivenessStatus,
    /// What seems to have happened to a silent one.
    pub cause: Option<Cause>,
    /// How grave the silence is, once classified.
    pub class: Option<FailureClass>,
    /// When it last showed life.
    pub since: Time,
}

/// What an agent waits on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// Tool, model, sub-agent, person, provider or timer.
    pub kind: Awaited,
    /// Since when.
    pub since: Time,
    /// Until when it is waited for with patience.
    pub until: Option<Time>,
}

crate::words::words! {
    /// The step of the ladder that is under way.
    pub enum Step {
        /// It was reminded.
        Nudging = "nudging",
        /// People were asked.
        Escalated = "escalated",
        /// People allowed more time.
        MoreTime = "more-time",
        /// It was asked to save its work and stop.
        HandingOff = "handing-off",
        /// It is being ended.
        Stopping = "stopping",
    }
}

/// What is being done about an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Intervening {
    /// The step.
    pub step: Step,
    /// Which attempt, where there are several.
    pub attempt: Option<u32>,
    /// When it goes on by itself.
    pub until: Option<Time>,
}

/// What was used in vain, and what intervening saved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Waste {
    /// Tokens used while stuck.
    pub tokens: u64,
    /// Money spent while stuck.
    pub cost_usd: f64,
    /// An estimate of the tokens that intervening saved,
    pub saved_tokens: u64,
    /// and of the money.
    pub saved_cost_usd: f64,
}

/// Which agents are asked for. What is not said does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(default, rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct AgentQuery {
    /// In this state.
    pub state: Option<HealthState>,
    /// Under this profile.
    pub role: Option<String>,
    /// At work on this task.
    #[serde(alias = "task_id", alias = "taskId")]
    pub task: Option<String>,
    /// At most so many.
    pub limit: Option<u32>,
    /// Where the last page ended.
    pub cursor: Option<String>,
}

/// Whether an agent should be given work now; 200 if so, else 503.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentReadiness {
    /// Which agent.
    pub agent_id: String,
    /// Whether it should.
    pub ready: bool,
    /// Why not, in sentences.
    pub reasons: Vec<String>,
}
