//! What is wrong, or was: told once when it begins and once when it ends.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::words::words;
use crate::{Evidence, Time};

words! {
    /// What is wrong.
    pub enum IncidentKind {
        /// An agent is silent.
        Silent = "silent",
        /// An agent makes no progress.
        Stuck = "stuck",
        /// An agent is in an error loop or broken.
        Failing = "failing",
        /// An agent's process ended though nobody asked it to.
        Died = "died",
        /// An agent's state keeps changing.
        Flapping = "flapping",
        /// So many agents need interventions that the fleet's limits hold them back.
        Storm = "storm",
        /// More is used than may be.
        OverLimit = "over-limit",
        /// Many agents turned bad together.
        Correlated = "correlated",
    }
}

words! {
    /// Whether an incident goes on.
    pub enum IncidentState {
        /// It does.
        Open = "open",
        /// It is over.
        Resolved = "resolved",
    }
}

/// One incident.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Incident {
    /// Its name: that of the event that opened it.
    pub id: String,
    /// What is wrong.
    pub kind: IncidentKind,
    /// Whether it goes on.
    pub state: IncidentState,
    /// Whom it is about; the fleet if nobody.
    pub agent_id: Option<String>,
    /// Which of its lives.
    pub incarnation: Option<u32>,
    /// Of many agents: what they have in common, as in `host build-3`.
    pub scope: Option<String>,
    /// Of many agents: how many.
    pub affected: Option<u32>,
    /// The incident of many that stands for this one.
    pub part_of: Option<String>,
    /// When it began.
    pub opened_at: Time,
    /// When it was over.
    pub resolved_at: Option<Time>,
    /// What was found.
    pub evidence: Vec<Evidence>,
    /// Whether a person said that it was a false alarm.
    pub wrong: bool,
}

/// Which incidents are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(default, rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct IncidentQuery {
    /// Open or resolved.
    pub state: Option<IncidentState>,
    /// About this agent.
    #[serde(alias = "agent_id", alias = "agentId")]
    pub agent: Option<String>,
    /// At most so many.
    pub limit: Option<u32>,
    /// Where the last page ended.
    pub cursor: Option<String>,
}

/// Say that an alarm was false: `POST /v1/events/{id}/wrong`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct WrongRequest {
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An alarm that was false.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WrongMark {
    /// Which event.
    pub event_id: String,
    /// Whom it was about.
    pub agent_id: Option<String>,
    /// Who said so.
    pub by: String,
    /// When.
    pub at: Time,
    /// Why.
    pub reason: Option<String>,
}
