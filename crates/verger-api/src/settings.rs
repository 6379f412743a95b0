//! What can be set for one agent: `PUT /v1/agents/{id}`.
//!
//! A field that is left out stays as it is. `spawn` and `probes` make the monitor run or reach something, so only
//! an admin may set them; the server checks that with [`AgentSettings::needs_admin`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Mode;
use crate::probes::ProbeSettings;

/// The settings of one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct AgentSettings {
    /// The profile it is watched under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// What it works on.
    #[serde(alias = "task_id", skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// What may be done to it, whatever its role says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// What it may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<ResourceLimits>,
    /// How it is reminded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nudge: Option<NudgeSettings>,
    /// Its health checks, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<Vec<ProbeSettings>>,
    /// How it is started again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawn: Option<SpawnSettings>,
}

impl AgentSettings {
    /// Whether only an admin may say this.
    pub fn needs_admin(&self) -> bool {
        self.spawn.is_some() || self.probes.is_some()
    }
}

/// What an agent may use. What is not said is not limited here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct ResourceLimits {
    /// Tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money.
    #[serde(alias = "cost_usd", skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Time from its start.
    #[serde(alias = "wall_seconds", skip_serializing_if = "Option::is_none")]
    pub wall_seconds: Option<u64>,
    /// Memory of its whole process tree.
    #[serde(alias = "memory_mb", skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<u64>,
    /// Processor; 100 is one core.
    #[serde(alias = "cpu_percent", skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<f64>,
}

/// How an agent is reminded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct NudgeSettings {
    /// The ways to it, the best first.
    pub channels: Vec<String>,
}

/// How an agent is started again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpawnSettings {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where it is run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What is added to its environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}
