//! What people order about an agent, and what becomes of it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Time;
use crate::words::words;

/// Remind an agent now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct NudgeRequest {
    /// The text; the role's own if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The life it is meant for. An order about an earlier life is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incarnation: Option<u32>,
}

/// Ask the orchestrator about an agent now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EscalateRequest {
    /// Why.
    pub reason: String,
    /// The life it is meant for. An order about an earlier life is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incarnation: Option<u32>,
}

/// End an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TerminateRequest {
    /// Why.
    pub reason: String,
    /// The life it is meant for. An order about an earlier life is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incarnation: Option<u32>,
}

words! {
    /// The answer to an escalation (000 §2.3).
    pub enum Decision {
        /// Leave it alone for a while, then look again.
        AllowMoreTime = "allow-more-time",
        /// Have it save its work and stop; a successor goes on.
        ForceHandoff = "force-handoff",
        /// Stop it, and start again from its last valid checkpoint.
        TerminateAndRecover = "terminate-and-recover",
    }
}

/// Answer an open escalation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DecisionRequest {
    /// The answer.
    pub decision: Decision,
    /// Why.
    #[serde(default)]
    pub reason: String,
    /// For `allow-more-time`: until when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// The life it is meant for. An order about an earlier life is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incarnation: Option<u32>,
}

words! {
    /// The three kinds of intervention, and the answer to one.
    pub enum InterventionKind {
        /// A reminder.
        Nudge = "nudge",
        /// People are asked.
        Escalation = "escalation",
        /// People have answered.
        Decision = "decision",
        /// The end.
        Termination = "termination",
    }
}

words! {
    /// How far an intervention got. "Sent" is not success.
    pub enum Delivery {
        /// Decided, and on its way.
        Queued = "queued",
        /// Its channel confirmed that it arrived.
        Delivered = "delivered",
        /// The agent, or whoever was asked, reacted.
        Answered = "answered",
        /// It could not be delivered.
        Failed = "failed",
    }
}

/// An intervention, and how far it got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Intervention {
    /// Its name, the same in events and audit.
    pub id: String,
    /// What it is.
    pub kind: InterventionKind,
    /// Whom it concerns.
    pub agent_id: String,
    /// Which of its lives.
    pub incarnation: u32,
    /// How far it got.
    pub delivery: Delivery,
    /// Which attempt, where there are several.
    pub attempt: Option<u32>,
    /// What is said to the agent.
    pub message: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Who ordered it; the monitor if nobody.
    pub by: Option<String>,
    /// When it was decided.
    pub created_at: Time,
}

/// What `sendNudge` of 000 §6 answers.
pub type NudgeResult = Intervention;
/// What `escalateToOrchestrator` of 000 §6 answers.
pub type EscalationResult = Intervention;
/// What `terminateAgent` of 000 §6 answers.
pub type TerminationResult = Intervention;
