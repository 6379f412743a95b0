//! Anything an agent does, says or has happen to it, by `kind`.

mod owned;
mod read;

use std::borrow::Cow;

use serde::Serialize;
use utoipa::ToSchema;

use crate::heartbeat::Vitals;
use crate::states::{AgentStatus, Awaited};
use crate::words::words;
use crate::{AnyJson, HumanDuration, Time};

/// One signal: whom it is about, and what happened.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Signal<'a> {
    /// Whom it is about. An agent never seen before is registered by it.
    #[schema(value_type = String)]
    pub agent_id: Cow<'a, str>,
    /// What it works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub task_id: Option<Cow<'a, str>>,
    /// When it happened, by the agent's own clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
    /// The life it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incarnation: Option<u32>,
    /// What happened.
    #[serde(flatten)]
    pub body: SignalBody<'a>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum SignalBody<'a> {
    /// The periodic report.
    Heartbeat(Box<Vitals<'a>>),
    /// Any sign of life without further content.
    Activity,
    /// A tool call began or ended.
    ToolCall(Box<ToolCall<'a>>),
    /// Something was said in the agent's conversation.
    Message(Message<'a>),
    /// A request to the language model began or ended.
    ModelRequest(ModelRequest<'a>),
    /// A sub-agent began or ended its work.
    Subagent(Subagent<'a>),
    /// The context window was compacted.
    Compaction,
    /// Tokens were used since the last such signal.
    Tokens(Tokens),
    /// Work became visible outside the conversation.
    Output(Output),
    /// Something failed outside a tool call.
    Error(Failure<'a>),
    /// The agent says what it is doing or waiting for.
    Status(StatusReport<'a>),
    /// The agent asks to hand its work over.
    Handoff(Reason<'a>),
    /// The agent says that it cannot go on.
    Blocker(Reason<'a>),
    /// The answer to a ping.
    Pong(Pong),
    /// A new life begins.
    Spawn(Spawn<'a>),
    /// The process ended.
    Exit(Exit<'a>),
}

words! {
    /// The kinds of signals.
    pub enum SignalKind {
        /// The periodic report.
        Heartbeat = "heartbeat",
        /// Any sign of life.
        Activity = "activity",
        /// A tool call.
        ToolCall = "toolCall",
        /// Something said.
        Message = "message",
        /// A request to the model.
        ModelRequest = "modelRequest",
        /// A sub-agent.
        Subagent = "subagent",
        /// A compaction.
        Compaction = "compaction",
        /// Tokens used.
        Tokens = "tokens",
        /// Files and tests.
        Output = "output",
        /// A failure.
        Error = "error",
        /// What it is doing.
        Status = "status",
        /// It wants to hand over.
        Handoff = "handoff",
        /// It cannot go on.
        Blocker = "blocker",
        /// An answer to a ping.
        Pong = "pong",
        /// A new life.
        Spawn = "spawn",
        /// The end of one.
        Exit = "exit",
    }
}

impl SignalKind {
    /// Whether only somebody with a token may say this. The others are vital signs that anybody on the machine may
    /// send; they are marked as unverified and never lead to a termination.
    pub const fn needs_token(self) -> bool {
        match self {
            Self::Heartbeat
            | Self::Activity
            | Self::ToolCall
            | Self::Message
            | Self::ModelRequest
            | Self::Tokens
            | Self::Pong => false,
            Self::Subagent
            | Self::Compaction
            | Self::Output
            | Self::Error
            | Self::Status
            | Self::Handoff
            | Self::Blocker
            | Self::Spawn
            | Self::Exit => true,
        }
    }
}

impl SignalBody<'_> {
    /// Which kind it is.
    pub const fn kind(&self) -> SignalKind {
        match self {
            Self::Heartbeat(_) => SignalKind::Heartbeat,
            Self::Activity => SignalKind::Activity,
            Self::ToolCall(_) => SignalKind::ToolCall,
            Self::Message(_) => SignalKind::Message,
            Self::ModelRequest(_) => SignalKind::ModelRequest,
            Self::Subagent(_) => SignalKind::Subagent,
            Self::Compaction => SignalKind::Compaction,
            Self::Tokens(_) => SignalKind::Tokens,
            Self::Output(_) => SignalKind::Output,
            Self::Error(_) => SignalKind::Error,
            Self::Status(_) => SignalKind::Status,
            Self::Handoff(_) => SignalKind::Handoff,
            Self::Blocker(_) => SignalKind::Blocker,
            Self::Pong(_) => SignalKind::Pong,
            Self::Spawn(_) => SignalKind::Spawn,
            Self::Exit(_) => SignalKind::Exit,
        }
    }
}

words! {
    /// Whether something begins or ends.
    pub enum Phase {
        /// It begins.
        Started = "started",
        /// It ends.
        Finished = "finished",
    }
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall<'a> {
    /// Identifies the call; its repeats are one call.
    #[schema(value_type = String)]
    pub call_id: Cow<'a, str>,
    /// What is called.
    #[schema(value_type = String)]
    pub tool: Cow<'a, str>,
    /// Whether it begins or ends.
    pub phase: Phase,
    /// With what it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value, required = false)]
    pub args: Option<AnyJson<'a>>,
    /// What came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value, required = false)]
    pub result: Option<AnyJson<'a>>,
    /// What went wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub error: Option<Cow<'a, str>>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// Something said in an agent's conversation.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message<'a> {
    /// Who said it: `assistant`, `user`, `system`, or as the agent's program calls them.
    #[schema(value_type = String)]
    pub role: Cow<'a, str>,
    /// What was said.
    #[schema(value_type = String)]
    pub text: Cow<'a, str>,
}

/// A request to the language model.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelRequest<'a> {
    /// Whether it begins or ends.
    pub phase: Phase,
    /// Which model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub model: Option<Cow<'a, str>>,
    /// Tokens it used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

/// A sub-agent at work.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Subagent<'a> {
    /// Whether it begins or ends.
    pub phase: Phase,
    /// Which one.
    #[schema(value_type = String)]
    pub id: Cow<'a, str>,
}

/// Tokens used since the last such signal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// Tokens read.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// What they cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// Work that became visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Files changed since the last report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_changed: Option<u32>,
    /// Tests that pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests_passed: Option<u32>,
    /// Tests that fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests_failed: Option<u32>,
}

/// Something that failed outside a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Failure<'a> {
    /// What it said.
    #[schema(value_type = String)]
    pub message: Cow<'a, str>,
    /// The agent cannot continue after this.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub unrecoverable: bool,
    /// Whose fault it is, if it is the model provider's: its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub provider: Option<Cow<'a, str>>,
    /// After how long the provider says to come back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<HumanDuration>,
}

/// What an agent says it is doing.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusReport<'a> {
    /// How it is doing.
    pub status: AgentStatus,
    /// What it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_on: Option<Awaited>,
    /// Until when, as it expects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// Why, in its words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub reason: Option<Cow<'a, str>>,
}

/// Why, in the agent's words.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reason<'a> {
    /// Why.
    #[schema(value_type = String)]
    pub reason: Cow<'a, str>,
}

/// The answer to a ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pong {
    /// The ping's number.
    pub seq: u32,
    /// What the agent says of itself along with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<AgentStatus>,
}

/// A new life.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Spawn<'a> {
    /// Its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Where it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub host: Option<Cow<'a, str>>,
    /// How it was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub command: Option<Cow<'a, str>>,
    /// The profile it is watched under.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub role: Option<Cow<'a, str>>,
    /// Whose language model it uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub provider: Option<Cow<'a, str>>,
}

/// The end of a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exit<'a> {
    /// The exit code, if it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The number of the signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Why, as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub reason: Option<Cow<'a, str>>,
}
