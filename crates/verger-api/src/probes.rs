//! Health checks of an agent: how they are set, and what they found (004).

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::words::words;
use crate::{HumanDuration, Time};

words! {
    /// What is looked at.
    pub enum ProbeType {
        /// The agent's heartbeats.
        Heartbeat = "heartbeat",
        /// An HTTP endpoint.
        Http = "http",
        /// A TCP port.
        Tcp = "tcp",
        /// An expression over what is known of the agent.
        Custom = "custom",
        /// The gRPC health protocol.
        Grpc = "grpc",
        /// A process.
        Process = "process",
        /// A program that is run.
        Command = "command",
    }
}

words! {
    /// What several probes find together (004 §5.2).
    pub enum ProbeState {
        /// All that count are well.
        Healthy = "Healthy",
        /// Some are not, or it is not yet certain.
        Degraded = "Degraded",
        /// One that counts has failed too often.
        Unhealthy = "Unhealthy",
        /// Nothing was found yet.
        Unknown = "Unknown",
    }
}

/// One health check, as it is set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProbeSettings {
    /// What is looked at.
    #[serde(rename = "type")]
    pub kind: ProbeType,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<HumanDuration>,
    /// How long it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<HumanDuration>,
    /// Failures in a row that count.
    #[serde(default, alias = "failure_threshold", skip_serializing_if = "Option::is_none")]
    pub failure_threshold: Option<u32>,
    /// Successes in a row that count.
    #[serde(default, alias = "success_threshold", skip_serializing_if = "Option::is_none")]
    pub success_threshold: Option<u32>,
    /// For `http`: what is asked.
    #[serde(default, alias = "http_endpoint", skip_serializing_if = "Option::is_none")]
    pub http_endpoint: Option<String>,
    /// For `http`: which answers are well.
    #[serde(default, alias = "expected_status_codes", skip_serializing_if = "Vec::is_empty")]
    pub expected_status_codes: Vec<u16>,
    /// For `tcp`: host and port.
    #[serde(default, alias = "tcp_endpoint", skip_serializing_if = "Option::is_none")]
    pub tcp_endpoint: Option<String>,
    /// For `custom`: the expression.
    #[serde(default, alias = "custom_expression", skip_serializing_if = "Option::is_none")]
    pub custom_expression: Option<String>,
    /// Others that are made with it.
    #[serde(default, alias = "additional_probes", skip_serializing_if = "Vec::is_empty")]
    pub additional_probes: Vec<String>,
    /// Whether it counts, or only advises.
    #[serde(default, alias = "include_in_aggregate", skip_serializing_if = "Option::is_none")]
    pub include_in_aggregate: Option<bool>,
}

/// What an agent's probes find together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProbesHealth {
    /// Together.
    pub state: ProbeState,
    /// Since when.
    pub state_changed_at: Option<Time>,
    /// When one was last made.
    pub last_checked_at: Option<Time>,
    /// Failures in a row.
    pub failure_count: u32,
    /// In a sentence.
    pub summary: String,
    /// Each one's last result.
    pub results: Vec<ProbeResult>,
}

/// What one probe found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProbeResult {
    /// Which probe.
    pub probe_name: String,
    /// Whether all is well.
    pub is_healthy: bool,
    /// In a sentence.
    pub description: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: u64,
    /// When it was made.
    pub checked_at: Time,
    /// Whatever else it found.
    #[schema(value_type = Option<Object>)]
    pub data: Option<serde_json::Map<String, serde_json::Value>>,
}

/// Over which time results are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(default, rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct ProbeQuery {
    /// Back to so long ago. Default: `1h`.
    #[param(value_type = Option<String>)]
    pub duration: Option<HumanDuration>,
    /// At most so many.
    pub limit: Option<u32>,
    /// Where the last page ended.
    pub cursor: Option<String>,
}
