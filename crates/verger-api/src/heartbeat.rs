//! The periodic report of 000 §2.2, under all the names it has had.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::ToSchema;

use crate::ingest::{Field, Fields, Limits, Reader};
use crate::states::AgentStatus;
use crate::{Time, ingest};

/// A heartbeat. Only the agent's name is needed; what an agent never sends is no evidence against it.
///
/// Names in `snake_case` and those of 000 §2.2 (`current_phase`, `last_tool_call_timestamp`) are read too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Heartbeat<'a> {
    /// Whose it is. An agent never seen before is registered by it.
    #[schema(value_type = String)]
    pub agent_id: Cow<'a, str>,
    /// What it works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub task_id: Option<Cow<'a, str>>,
    /// When the agent sent it, by its own clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Time>,
    /// The life that sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incarnation: Option<u32>,
    /// What the agent says of itself.
    #[serde(flatten)]
    pub vitals: Vitals<'a>,
}

/// What an agent says of itself from time to time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Vitals<'a> {
    /// The phase of its work, in its own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub phase: Option<Cow<'a, str>>,
    /// Its last tool call: when, or what.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub last_tool_call: Option<Cow<'a, str>>,
    /// Tokens used so far in this life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_count: Option<u64>,
    /// Errors met so far in this life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_count: Option<u64>,
    /// Anything that changes when it gets on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub progress_indicator: Option<Cow<'a, str>>,
    /// How it is doing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<AgentStatus>,
    /// Until when it announces to be busy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_until: Option<Time>,
    /// The profile that it claims.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub role: Option<Cow<'a, str>>,
    /// Tokens in its context window,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_used: Option<u64>,
    /// and how many fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_limit: Option<u64>,
    /// Money spent so far in this life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl<'a> Heartbeat<'a> {
    /// A heartbeat that says no more than that its agent is alive.
    pub fn of(agent_id: impl Into<Cow<'a, str>>) -> Self {
        Self { agent_id: agent_id.into(), ..Self::default() }
    }

    /// The same, independent of the body that it came in.
    pub fn into_owned(self) -> Heartbeat<'static> {
        Heartbeat {
            agent_id: owned(self.agent_id),
            task_id: self.task_id.map(owned),
            timestamp: self.timestamp,
            incarnation: self.incarnation,
            vitals: self.vitals.into_owned(),
        }
    }

    pub(crate) fn from_fields(fields: &mut Fields<'a>, limits: &Limits) -> Result<Self, String> {
        let mut reader = Reader::new(fields, limits);
        let agent_id = reader.name(Field::AgentId)?;
        let sent = reader.time(Field::Timestamp)?;
        Ok(Self {
            agent_id: agent_id.ok_or("agentId is missing")?,
            task_id: reader.name(Field::TaskId)?,
            timestamp: if sent.is_some() { sent } else { reader.time(Field::At)? },
            incarnation: reader.small(Field::Incarnation)?,
            vitals: Vitals::read(&mut reader)?,
        })
    }
}

impl<'a> Vitals<'a> {
    pub(crate) fn read(reader: &mut Reader<'_, 'a>) -> Result<Self, String> {
        Ok(Self {
            phase: reader.label(Field::Phase)?,
            last_tool_call: reader.label(Field::LastToolCall)?,
            token_count: reader.count(Field::TokenCount)?,
            error_count: reader.count(Field::ErrorCount)?,
            progress_indicator: reader.progress()?,
            status: reader.word(Field::Status)?,
            busy_until: reader.time(Field::BusyUntil)?,
            role: reader.name(Field::Role)?,
            context_used: reader.count(Field::ContextUsed)?,
            context_limit: reader.count(Field::ContextLimit)?,
            cost_usd: reader.amount(Field::CostUsd)?,
        })
    }

    /// The same, independent of the body that it came in.
    pub fn into_owned(self) -> Vitals<'static> {
        Vitals {
            phase: self.phase.map(owned),
            last_tool_call: self.last_tool_call.map(owned),
            progress_indicator: self.progress_indicator.map(owned),
            role: self.role.map(owned),
            token_count: self.token_count,
            error_count: self.error_count,
            status: self.status,
            busy_until: self.busy_until,
            context_used: self.context_used,
            context_limit: self.context_limit,
            cost_usd: self.cost_usd,
        }
    }
}

/// Clients read heartbeats by the same code that takes them in.
impl<'de> Deserialize<'de> for Heartbeat<'static> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<serde_json::value::RawValue>::deserialize(deserializer)?;
        match ingest::heartbeats(text.get().as_bytes(), &Limits::default()) {
            ingest::Ingest::One(Ok(heartbeat)) => Ok(heartbeat.into_owned()),
            ingest::Ingest::One(Err(error)) => Err(de::Error::custom(error)),
            ingest::Ingest::Many(_) => Err(de::Error::custom("a heartbeat must be an object")),
        }
    }
}

pub(crate) fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}
