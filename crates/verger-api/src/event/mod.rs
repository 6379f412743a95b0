//! What happened, as `CloudEvents` 1.0 in JSON: on SSE, to webhooks, in the journal.
//!
//! ```json
//! {"specversion":"1.0","id":"42","source":"/verger","type":"NUDGE_SENT","subject":"agent-7",
//!  "time":"2026-11-16T14:28:00.000Z","datacontenttype":"application/json","incarnation":2,
//!  "data":{"agentId":"agent-7","attempt":1,"message":"…"}}
//! ```
//!
//! `id` is the event's number in the journal, so it is also what a stream resumes from. The types are the names of
//! the specifications, unprefixed. Two attributes are Verger's own: `incarnation` and `taskid`, by which a
//! subscriber filters without looking into `data`.

mod envelope;
mod kinds;
mod payload;

pub use envelope::{CloudEvent, DecodeError};
pub use kinds::{EventData, EventType};
pub use payload::{
    AgentCritical, AgentDegraded, AgentDisconnected, AgentHealthy, AgentReconnected, AgentTerminated,
    BreakerStateChanged, EscalationDecided, EscalationTriggered, HealthStateChanged, IncidentOpened,
    IncidentResolved, InterventionRequested, MonitorBlind, Note, NudgeAnswered, NudgeDelivered, NudgeSent,
    RecoveryCompleted, RecoveryFailed, RecoveryInitiated, TicketRaised,
};

use serde::Deserialize;
use utoipa::IntoParams;

use crate::HumanDuration;

/// Which events are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(default, rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct EventQuery {
    /// About this agent.
    #[serde(alias = "agent_id", alias = "agentId")]
    pub agent: Option<String>,
    /// About this task.
    #[serde(alias = "task_id", alias = "taskId")]
    pub task: Option<String>,
    /// Of this type.
    #[serde(rename = "type")]
    #[param(rename = "type")]
    pub kind: Option<EventType>,
    /// Back to so long ago.
    #[param(value_type = Option<String>)]
    pub duration: Option<HumanDuration>,
    /// At most so many.
    pub limit: Option<u32>,
    /// Where the last page ended.
    pub cursor: Option<String>,
}

/// Which events a stream brings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(default, rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct StreamQuery {
    /// About this agent.
    #[serde(alias = "agent_id", alias = "agentId")]
    pub agent: Option<String>,
    /// About this task.
    #[serde(alias = "task_id", alias = "taskId")]
    pub task: Option<String>,
    /// Of this type.
    #[serde(rename = "type")]
    #[param(rename = "type")]
    pub kind: Option<EventType>,
    /// `1` adds heartbeats, which are not kept and cannot be resumed.
    pub heartbeats: Option<u8>,
}
