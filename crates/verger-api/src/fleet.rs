//! All agents at a glance: `GET /v1/fleet`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::agents::Waste;
use crate::{Incident, Missing, Time};

/// The fleet, and the monitor that watches it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetSummary {
    /// When this was so.
    pub at: Time,
    /// How many agents there are.
    pub agents: u64,
    /// How many should be given work now.
    pub ready: u64,
    /// By state.
    pub states: StateCounts,
    /// By liveness.
    pub liveness: LivenessCounts,
    /// By what they wait on.
    pub waiting: WaitingCounts,
    /// Tasks.
    pub tasks: TaskCounts,
    /// Circuit breakers.
    pub breakers: BreakerCounts,
    /// What is wrong at present.
    pub incidents: Vec<Incident>,
    /// How many incidents are open; the list above may be shorter.
    pub open_incidents: u64,
    /// What was used in vain, and saved.
    pub waste: Waste,
    /// The monitor itself.
    pub monitor: MonitorHealth,
}

/// Agents by state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub struct StateCounts {
    /// No evidence yet.
    pub unknown: u64,
    /// Making progress.
    pub healthy: u64,
    /// With warning signs.
    pub degraded: u64,
    /// Without progress.
    pub stuck: u64,
    /// In an error loop, or broken.
    pub failing: u64,
    /// Ended.
    pub terminated: u64,
}

/// Agents by liveness.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LivenessCounts {
    /// Active.
    pub online: u64,
    /// Alive without doing anything.
    pub idle: u64,
    /// At work.
    pub busy: u64,
    /// Reached, and silent.
    pub unresponsive: u64,
    /// Not reached.
    pub offline: u64,
}

/// Agents by what they wait on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingCounts {
    /// Nothing.
    pub nothing: u64,
    /// A tool.
    pub tool: u64,
    /// The model.
    pub model: u64,
    /// A sub-agent.
    pub subagent: u64,
    /// A person.
    pub person: u64,
    /// The provider.
    pub provider: u64,
    /// A moment they set themselves.
    pub timer: u64,
}

/// Tasks, open and ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskCounts {
    /// Not over.
    pub open: u64,
    /// Of these: stalled.
    pub stalled: u64,
    /// Over, and remembered.
    pub ended: u64,
}

/// Circuit breakers by state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub struct BreakerCounts {
    /// Calls pass.
    pub closed: u64,
    /// Calls are refused.
    pub open: u64,
    /// A few calls pass.
    pub half_open: u64,
}

/// How the monitor itself is doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MonitorHealth {
    /// Its version.
    pub version: String,
    /// When it was started.
    pub started_at: Time,
    /// For how long it was able to see, over all its lives.
    pub observed_seconds: u64,
    /// By how much it is behind, in milliseconds.
    pub lateness_ms: u64,
    /// Effects that are decided and not yet done.
    pub effects_pending: u64,
    /// The newest event.
    pub last_event_id: Option<String>,
    /// When it could not see, the latest first.
    pub blind_times: Vec<BlindTime>,
    /// What keeps it from its work at present, as `/ready` says it. While the store is named here, states are judged from
    /// memory and not on disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
}

crate::words::words! {
    /// Why the monitor could not see.
    pub enum BlindCause {
        /// It did not run.
        Down = "down",
        /// It was stopped, or the machine slept.
        Paused = "paused",
        /// It did not keep up.
        Behind = "behind",
        /// It could not write.
        Store = "store",
    }
}

/// A time in which the monitor could not see. Nothing of it is held against any agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlindTime {
    /// From when.
    pub from: Time,
    /// Until when.
    pub until: Time,
    /// Why.
    pub cause: BlindCause,
}
