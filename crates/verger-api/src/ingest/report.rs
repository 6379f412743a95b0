//! What whoever sent something is told.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::PendingItem;

/// An item that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rejected {
    /// Its place in the body, from 0. Empty lines do not count.
    pub index: usize,
    /// Why, in a sentence that names the field.
    pub error: String,
}

/// How many items were taken, and which were not: the answer to heartbeats and signals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngestReport {
    /// How many were taken.
    pub accepted: usize,
    /// Those that were not.
    pub rejected: Vec<Rejected>,
    /// What waits for the agent. Only for a body of one object, which has one agent to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Vec<PendingItem>>,
}
