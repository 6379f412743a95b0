//! What a judge writes about a worker: the ticket of 003.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Time;
use crate::words::words;

words! {
    /// How grave a ticket is.
    pub enum Severity {
        /// Perhaps nothing.
        Low = "low",
        /// Worth a look.
        Medium = "medium",
        /// Needs somebody.
        High = "high",
        /// Needs somebody now.
        Critical = "critical",
    }
}

/// One ticket. All of its fields are required, in 003's own spelling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EscalationTicket {
    /// Its name.
    #[serde(alias = "ticketId")]
    pub ticket_id: String,
    /// When it was written.
    #[serde(alias = "createdAt")]
    pub created_at: Time,
    /// Who is reported.
    #[serde(alias = "workerAgentId")]
    pub worker_agent_id: String,
    /// In which session.
    #[serde(alias = "workerSessionId")]
    pub worker_session_id: String,
    /// At which step of its graph.
    #[serde(alias = "workerNodeId")]
    pub worker_node_id: String,
    /// In which graph.
    #[serde(alias = "workerGraphId")]
    pub worker_graph_id: String,
    /// How grave it is.
    pub severity: Severity,
    /// What was observed.
    pub cause: String,
    /// Why that is worth a ticket.
    #[serde(alias = "judgeReasoning")]
    pub judge_reasoning: String,
    /// What could be done.
    #[serde(alias = "suggestedAction")]
    pub suggested_action: String,
    /// The latest verdicts, oldest first.
    #[serde(alias = "recentVerdicts")]
    pub recent_verdicts: Vec<String>,
    /// Steps that were looked at.
    #[serde(alias = "totalStepsChecked")]
    pub total_steps_checked: u64,
    /// Steps since the last ACCEPT.
    #[serde(alias = "stepsSinceLastAccept")]
    pub steps_since_last_accept: u64,
    /// For how long the worker has stood still, if it does.
    #[serde(alias = "stallMinutes")]
    #[schema(required = true)]
    pub stall_minutes: Option<f64>,
    /// An excerpt of its last output, 500 characters at most.
    #[serde(alias = "evidenceSnippet")]
    pub evidence_snippet: String,
}
