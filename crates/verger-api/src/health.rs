//! The monitor's own health: `GET /health` and `GET /ready`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Time;

/// The monitor runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// Always `ok`: whoever is not well does not answer.
    pub status: String,
    /// Its version, by which wrappers and hooks know whether they speak the same.
    pub version: String,
    /// For how long it runs.
    pub uptime_seconds: u64,
}

impl Health {
    /// The answer of a monitor that runs.
    pub fn ok(version: &str, uptime_seconds: u64) -> Self {
        Self { status: "ok".to_owned(), version: version.to_owned(), uptime_seconds }
    }
}

/// Whether the monitor does its work; 200 if so, else 503.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Readiness {
    /// Whether it does.
    pub ready: bool,
    /// What is missing, in sentences.
    pub missing: Vec<Missing>,
}

impl Readiness {
    /// Ready if nothing is missing.
    pub fn of(missing: Vec<Missing>) -> Self {
        Self { ready: missing.is_empty(), missing }
    }
}

/// Something without which the monitor does not do its work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Missing {
    /// Which part: `engine`, `store`, `outbox` …
    pub part: String,
    /// What is wrong with it, in a sentence.
    pub text: String,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// What that means for agents and people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}
