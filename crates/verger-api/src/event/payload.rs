//! What each type of event holds: the fields of the specifications, and a few more.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::agents::AgentMetrics;
use crate::fleet::BlindCause;
use crate::interventions::Decision;
use crate::states::{Cause, HealthState};
use crate::tickets::{EscalationTicket, Severity};
use crate::{BreakerState, Evidence, IncidentKind, Time};

/// Declares the data of an event: derives, spelling, nothing else.
macro_rules! payload {
    ($($(#[$doc:meta])* pub struct $name:ident { $($body:tt)* })+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
            #[serde(rename_all = "camelCase")]
            pub struct $name { $($body)* }
        )+
    };
}

payload! {
    /// An agent's state changed.
    pub struct HealthStateChanged {
        /// Which agent.
        pub agent_id: String,
        /// From this.
        pub from: HealthState,
        /// To that.
        pub to: HealthState,
        /// Why, in a sentence.
        pub reason: String,
        /// What was found; empty when all is well.
        #[serde(default)]
        pub evidence: Vec<Evidence>,
        /// What it works on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub task_id: Option<String>,
        /// Where its work could resume.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub checkpoint: Option<String>,
        /// Reminders that it was sent about this trouble, if there is trouble.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub nudges: Option<u32>,
        /// What may be decided about it, if there is trouble.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub options: Vec<Decision>,
    }

    /// A reminder was decided on and queued.
    pub struct NudgeSent {
        /// Which agent.
        pub agent_id: String,
        /// Which attempt of this sequence.
        pub attempt: u32,
        /// The text.
        pub message: String,
        /// The intervention.
        pub id: String,
        /// Who asked for it; the monitor if nobody.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub by: Option<String>,
    }

    /// A reminder reached its agent.
    pub struct NudgeDelivered {
        /// Which agent.
        pub agent_id: String,
        /// The intervention.
        pub id: String,
    }

    /// An agent reacted to a reminder. That is not progress by itself.
    pub struct NudgeAnswered {
        /// Which agent.
        pub agent_id: String,
        /// The intervention.
        pub id: String,
        /// How long it took, in milliseconds.
        pub after_ms: u64,
    }

    /// The orchestrator was asked.
    pub struct EscalationTriggered {
        /// Which agent.
        pub agent_id: String,
        /// Why.
        pub reason: String,
        /// Who asked for it; the monitor if nobody.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub by: Option<String>,
        /// What was found.
        #[serde(default)]
        pub evidence: Vec<Evidence>,
        /// What it works on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub task_id: Option<String>,
        /// Where its work could resume.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub checkpoint: Option<String>,
        /// What may be answered.
        #[serde(default)]
        pub options: Vec<Decision>,
        /// When it is decided without an answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub deadline: Option<Time>,
    }

    /// An escalation was answered.
    pub struct EscalationDecided {
        /// Which agent.
        pub agent_id: String,
        /// How.
        pub decision: Decision,
        /// Why.
        pub reason: String,
        /// By whom; the timeout if nobody.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub by: Option<String>,
    }

    /// A life is over.
    pub struct AgentTerminated {
        /// Which agent.
        pub agent_id: String,
        /// Why.
        pub reason: String,
        /// Where its work can resume.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub checkpoint: Option<String>,
        /// Whether a successor is to go on with its work.
        #[serde(default)]
        pub recover: bool,
    }

    /// An attempt to recover a task began.
    pub struct RecoveryInitiated {
        /// Which task.
        pub task_id: String,
        /// The state it begins with; `null` if with none.
        pub from_checkpoint: Option<String>,
        /// Which attempt.
        pub attempt: u32,
    }

    /// A recovery has passed its watch.
    pub struct RecoveryCompleted {
        /// Which task.
        pub task_id: String,
        /// Who goes on with it: the same agent in a new life.
        pub new_agent_id: String,
        /// Which life.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub incarnation: Option<u32>,
    }

    /// A recovery has failed.
    pub struct RecoveryFailed {
        /// Which task.
        pub task_id: String,
        /// Why.
        pub reason: String,
        /// How often it was tried.
        pub attempts: u32,
    }

    /// A circuit breaker opened, is tried, or closed.
    pub struct BreakerStateChanged {
        /// Its name.
        pub name: String,
        /// From this.
        pub from: BreakerState,
        /// To that.
        pub to: BreakerState,
        /// Why, in a sentence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub reason: Option<String>,
    }

    /// An agent shows life (002).
    pub struct AgentHealthy {
        /// Which agent.
        pub agent: String,
        /// Its counters.
        pub metrics: AgentMetrics,
    }

    /// Neither activity nor pong explains an agent's silence (002).
    pub struct AgentDegraded {
        /// Which agent.
        pub agent: String,
        /// Why.
        pub reason: String,
        /// For how long it did nothing, in milliseconds.
        pub idle_time: u64,
    }

    /// An agent is silent for too long (002).
    pub struct AgentDisconnected {
        /// Which agent.
        pub agent: String,
        /// Why.
        pub reason: String,
        /// When it last showed life.
        pub last_seen: Time,
        /// What seems to have happened.
        #[serde(rename = "type")]
        pub kind: Option<Cause>,
    }

    /// An agent is back (002).
    pub struct AgentReconnected {
        /// Which agent.
        pub agent: String,
        /// For how long it was away, in milliseconds.
        pub downtime: u64,
    }

    /// Somebody should act (002).
    pub struct AgentCritical {
        /// Which agent.
        pub agent: String,
        /// What seems to have happened.
        #[serde(rename = "type")]
        pub kind: Option<Cause>,
    }

    /// A judge reported a worker (003).
    pub struct TicketRaised {
        /// The ticket.
        pub ticket: EscalationTicket,
    }

    /// Something is wrong.
    pub struct IncidentOpened {
        /// Its name.
        pub id: String,
        /// What is wrong.
        pub kind: IncidentKind,
        /// Whom it is about; the fleet if nobody.
        pub agent_id: Option<String>,
        /// Since when.
        pub since: Time,
        /// Of many agents: what they have in common.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub scope: Option<String>,
        /// The incident of many that stands for this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub part_of: Option<String>,
        /// What was found.
        #[serde(default)]
        pub evidence: Vec<Evidence>,
    }

    /// What was wrong is over.
    pub struct IncidentResolved {
        /// Its name.
        pub id: String,
        /// What was wrong.
        pub kind: IncidentKind,
        /// Whom it was about; the fleet if nobody.
        pub agent_id: Option<String>,
        /// For how long, in milliseconds.
        pub lasted_ms: u64,
    }

    /// The monitor could not see for a while. Nothing of it is held against any agent.
    pub struct MonitorBlind {
        /// From when.
        pub from: Time,
        /// Until when.
        pub until: Time,
        /// For how long, in milliseconds.
        pub lasted_ms: u64,
        /// Why.
        pub cause: BlindCause,
    }

    /// What else was recorded, in a sentence and with its details.
    pub struct Note {
        /// Which agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub agent_id: Option<String>,
        /// Which task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub task_id: Option<String>,
        /// What happened, in a sentence.
        pub text: String,
        /// Who did it; the monitor if nobody.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub by: Option<String>,
        /// What was found.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub evidence: Vec<Evidence>,
        /// Whatever else there is to say, by name.
        #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
        #[schema(value_type = Object, required = false)]
        pub details: serde_json::Map<String, serde_json::Value>,
    }
}

/// The queen asks a person to look (003, in its own spelling).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct InterventionRequested {
    /// The ticket.
    pub ticket_id: String,
    /// What the queen thinks of it.
    pub analysis: String,
    /// How grave it is.
    pub severity: Severity,
    /// Which graph asks.
    pub queen_graph_id: String,
    /// Which stream asks.
    pub queen_stream_id: String,
}
