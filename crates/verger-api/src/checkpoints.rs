//! Saved states of tasks, and the chain that leads to each.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{AnyJson, Time};

/// Save a state: `POST /v1/checkpoints`.
///
/// The state is not looked into: it points into the request's body and is written down as it came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewCheckpoint<'a> {
    /// Which task.
    #[serde(alias = "task_id")]
    pub task_id: String,
    /// Who saves it.
    #[serde(alias = "agent_id")]
    pub agent_id: String,
    /// The state, any JSON,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value, required = false)]
    pub state: Option<AnyJson<'a>>,
    /// or where it is: a branch, a path, an address.
    #[serde(default, alias = "state_ref", skip_serializing_if = "Option::is_none")]
    pub state_ref: Option<String>,
    /// Its name; given by the monitor if it has none. Saving the same one again changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The state that it follows; the task's newest if it is not said.
    #[serde(default, alias = "parent_id", skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// The phase of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// When the agent saved it; now, if it does not say, or says a time to come.
    #[serde(default, alias = "created_at", skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Time>,
    /// The life that saved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incarnation: Option<u32>,
}

/// What a checkpoint says it holds.
#[derive(Clone, Debug, PartialEq)]
pub enum State<'a> {
    /// The state itself.
    Body(AnyJson<'a>),
    /// Where it is.
    Reference(String),
}

/// A checkpoint without a state, or with two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a checkpoint has either state or stateRef")]
pub struct StateError;

impl<'a> NewCheckpoint<'a> {
    /// The state, of which there must be exactly one.
    pub fn take_state(&mut self) -> Result<State<'a>, StateError> {
        match (self.state.take(), self.state_ref.take()) {
            (Some(body), None) => Ok(State::Body(body)),
            (None, Some(reference)) => Ok(State::Reference(reference)),
            _ => Err(StateError),
        }
    }
}

/// A checkpoint that is on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointInfo {
    /// Its name.
    pub id: String,
    /// The one that it follows.
    pub parent_id: Option<String>,
    /// The BLAKE3 hash of its state, in hexadecimal.
    pub hash: String,
    /// When it was saved.
    pub created_at: Time,
    /// Which task.
    pub task_id: String,
    /// Who saved it.
    pub agent_id: String,
    /// The phase of the work.
    pub phase: Option<String>,
    /// Where its state is, if it is not here.
    pub state_ref: Option<String>,
    /// How large its state is, in bytes.
    pub size: u64,
    /// Whether it waits to be written because its breaker is open (L26).
    #[serde(default)]
    pub queued: bool,
}

/// Which checkpoints of a task are asked for, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(default, rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct CheckpointQuery {
    /// At most so many.
    pub limit: Option<u32>,
    /// Where the last page ended.
    pub cursor: Option<String>,
}

/// A checkpoint with its state: `GET /v1/checkpoints/{id}`.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint<'a> {
    /// All but the state.
    #[serde(flatten)]
    pub info: CheckpointInfo,
    /// The state as it was saved; `null` if it is elsewhere.
    #[schema(value_type = Value)]
    pub state: Option<AnyJson<'a>>,
}

impl<'a> Checkpoint<'a> {
    /// Reads a checkpoint whose state points into the body. It is read twice, because a reader that is derived
    /// would unpack the state to find out which fields are whose.
    pub fn decode(body: &'a [u8]) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Rest<'a> {
            #[serde(borrow)]
            state: Option<AnyJson<'a>>,
        }
        let Rest { state } = serde_json::from_slice(body)?;
        Ok(Self { info: serde_json::from_slice(body)?, state })
    }
}
