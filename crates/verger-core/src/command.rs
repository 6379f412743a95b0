//! What people and the orchestrator order.

use std::sync::Arc;

use crate::id::{Actor, AgentId, Incarnation, RoleName};
use crate::policy::Mode;
use crate::time::Span;

/// One order about one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Whom it concerns.
    pub agent: AgentId,
    /// The life it is meant for. A command about an earlier life is refused, never carried over.
    pub incarnation: Option<Incarnation>,
    /// Who gave it.
    pub by: Actor,
    /// What to do.
    pub order: Order,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Send a reminder now.
    Nudge {
        /// The text, or the role's own.
        text: Option<Arc<str>>,
    },
    /// Ask the orchestrator now.
    Escalate {
        /// Why.
        reason: Arc<str>,
    },
    /// Answer an open escalation.
    Decide {
        /// The answer.
        decision: Decision,
        /// Why.
        reason: Arc<str>,
    },
    /// End this agent.
    Terminate {
        /// Why.
        reason: Arc<str>,
    },
    /// Watch it under another profile.
    SetRole(RoleName),
    /// Change what may be done to it, whatever its role says.
    SetMode(Option<Mode>),
    /// Forget it.
    Unregister,
}

/// The answer to an escalation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Leave it alone for this long (the role's escalation timeout if not said), then look again.
    AllowMoreTime(Option<Span>),
    /// Have it save its work and stop; a successor goes on from there.
    ForceHandoff,
    /// Stop it, and start again from its last valid checkpoint.
    TerminateAndRecover,
}

/// Why a command was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// No such agent is registered.
    #[error("no agent `{0}` is registered")]
    UnknownAgent(AgentId),
    /// The command is about an earlier life.
    #[error("incarnation {asked} of this agent is over; the present one is {present}")]
    Superseded {
        /// The life the command was meant for.
        asked: Incarnation,
        /// The life there is now.
        present: Incarnation,
    },
    /// There is nothing to decide.
    #[error("no escalation of this agent is open")]
    NothingToDecide,
    /// It is over already.
    #[error("this agent has ended")]
    Ended,
    /// It is being ended already.
    #[error("this agent is being stopped already")]
    Stopping,
    /// A limit against storms holds it back.
    #[error("the limit of {limit} per {per} for this agent is used up")]
    AgentBudget {
        /// How many.
        limit: u16,
        /// In which time.
        per: Span,
    },
    /// No profile of that name exists.
    #[error("no role `{0}` is configured")]
    UnknownRole(RoleName),
}

impl CommandError {
    /// Stable code; `docs/src/errors/<code>.md` tells the operator what to do.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownAgent(_) => "VG0101",
            Self::Superseded { .. } => "VG0102",
            Self::NothingToDecide => "VG0103",
            Self::Ended => "VG0104",
            Self::Stopping => "VG0105",
            Self::AgentBudget { .. } => "VG0106",
            Self::UnknownRole(_) => "VG0107",
        }
    }
}
