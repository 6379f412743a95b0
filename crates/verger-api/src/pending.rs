//! What waits for an agent: carried by the reply to its heartbeat, and by its inbox.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::words::words;
use crate::{HumanDuration, Time};

words! {
    /// What an agent is told.
    pub enum PendingKind {
        /// A reminder, to be put into its context.
        Nudge = "nudge",
        /// A ping, to be answered by a `pong` signal with the same `seq`.
        Ping = "ping",
        /// Stop what you are doing.
        Cancel = "cancel",
        /// Save your work and stop.
        Handoff = "handoff",
        /// Another life of you runs: end yourself.
        Superseded = "superseded",
        /// Send heartbeats this often from now on.
        Interval = "interval",
    }
}

/// One thing that waits for an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingItem {
    /// Its name; the same item may come by several ways.
    pub id: String,
    /// What it is.
    pub kind: PendingKind,
    /// What it says.
    pub message: Option<String>,
    /// Which attempt.
    pub attempt: u32,
    /// When it was decided.
    pub created_at: Time,
    /// For `ping`: its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u32>,
    /// For `interval`: how often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_seconds: Option<u64>,
}

/// How an inbox is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(default, rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct InboxQuery {
    /// Wait so long for something to come. Default: do not wait.
    #[param(value_type = Option<String>)]
    pub wait: Option<HumanDuration>,
    /// The life that asks. One that is over is told so.
    pub incarnation: Option<u32>,
}
