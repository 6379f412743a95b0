//! Who may do what. A token is shown once, when it is made; after that it is known by its name.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::words::words;
use crate::{HumanDuration, Time};

words! {
    /// What the holder of a token may do.
    pub enum Scope {
        /// Speak for one agent: all its signals, its inbox, checkpoints, task, breakers and health.
        Agent = "agent",
        /// Read everything.
        Read = "read",
        /// Everything.
        Admin = "admin",
    }
}

/// Make a token: `POST /v1/tokens`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewToken {
    /// What its holder may do.
    pub scope: Scope,
    /// For `agent`: the agent that it speaks for.
    #[serde(default, alias = "agent_id", skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What it is for, in people's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How long it holds; until it is revoked if not said.
    #[serde(default, alias = "expires_in", skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<HumanDuration>,
}

/// An agent's token without an agent, or another with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NewTokenError {
    /// An agent's token speaks for one agent.
    #[error("a token of scope agent needs agentId")]
    NoAgent,
    /// Other tokens speak for nobody.
    #[error("only a token of scope agent has agentId")]
    AgentNotWanted,
}

impl NewToken {
    /// Whether scope and agent go together.
    pub fn check(&self) -> Result<(), NewTokenError> {
        match (self.scope, &self.agent_id) {
            (Scope::Agent, None) => Err(NewTokenError::NoAgent),
            (Scope::Read | Scope::Admin, Some(_)) => Err(NewTokenError::AgentNotWanted),
            (Scope::Agent, Some(_)) | (Scope::Read | Scope::Admin, None) => Ok(()),
        }
    }
}

/// What is known of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// Its name, by which people speak of it. It opens nothing.
    pub id: String,
    /// What its holder may do.
    pub scope: Scope,
    /// The one agent that it speaks for.
    pub agent_id: Option<String>,
    /// What it is for.
    pub label: Option<String>,
    /// When it was made.
    pub created_at: Time,
    /// When it ends by itself.
    pub expires_at: Option<Time>,
    /// When somebody ended it.
    pub revoked_at: Option<Time>,
}

/// A new token. This is the only time that its secret is shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedToken {
    /// What is known of it.
    pub token: Token,
    /// What its holder presents, as `Authorization: Bearer …`.
    pub secret: String,
}

/// Without the secret: what is printed for debugging ends up in logs.
impl std::fmt::Debug for CreatedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreatedToken").field("token", &self.token).finish_non_exhaustive()
    }
}
