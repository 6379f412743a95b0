//! Circuit breakers: their state, and the calls that pass through them.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Time;
use crate::words::words;

words! {
    /// Whether calls pass a breaker.
    pub enum BreakerState {
        /// Calls pass, and failures are counted.
        Closed = "CLOSED",
        /// Calls are refused.
        Open = "OPEN",
        /// A few calls pass, to see whether it works again.
        HalfOpen = "HALF_OPEN",
    }
}

words! {
    /// How a breaker is told to work.
    pub enum BreakerMode {
        /// By its counts.
        Normal = "normal",
        /// Every call is refused until a person says otherwise.
        ForcedOpen = "forced-open",
        /// Every call passes, nothing is counted.
        Disabled = "disabled",
        /// Every call passes, and everything is counted.
        MetricsOnly = "metrics-only",
    }
}

/// One circuit breaker. Its name is `{agent}/{kind}/{target}`, or `shared/{target}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CircuitBreakerStatus {
    /// Its name.
    pub name: String,
    /// Whether calls pass.
    pub state: BreakerState,
    /// How it is told to work.
    pub mode: BreakerMode,
    /// Since when it is in this state.
    pub state_changed_at: Time,
    /// Failures in a row.
    pub failure_count: u32,
    /// When it opened, if it is not closed.
    pub opened_at: Option<Time>,
    /// When it may be tried, or since when it is.
    pub half_open_at: Option<Time>,
    /// Seconds until it may be tried, if it is open.
    pub half_open_in_seconds: Option<u64>,
    /// When a call last failed.
    pub last_failure: Option<Time>,
    /// How it failed.
    pub last_failure_kind: Option<String>,
    /// Calls in the window that is looked at,
    pub window_calls: u32,
    /// those of them that failed,
    pub window_failures: u32,
    /// and those that were slow.
    pub window_slow: u32,
    /// Permits that were given and not reported back.
    pub outstanding_permits: u32,
}

/// Which breakers are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(default, rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct BreakerQuery {
    /// In this state.
    pub state: Option<BreakerState>,
    /// Of this agent.
    #[serde(alias = "agent_id", alias = "agentId")]
    pub agent: Option<String>,
    /// At most so many.
    pub limit: Option<u32>,
    /// Where the last page ended.
    pub cursor: Option<String>,
}

/// A call may be made. It is reported back with this permit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Permit {
    /// Goes back with the report.
    pub permit: String,
    /// When the permit counts as a failure if nothing was reported.
    #[serde(default)]
    pub expires_at: Option<Time>,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallReport {
    /// The permit under which it was made.
    pub permit: String,
    /// Whether it worked.
    pub ok: bool,
    /// How long it took.
    #[serde(default, alias = "duration_ms", skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
