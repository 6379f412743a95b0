//! What comes in: one thing that an agent did, said or had happen to it.
//!
//! The edge turns the outside's formats into signals. By then text has become fingerprints, credentials
//! are gone, and an agent's clock readings have become spans ("busy for 20 minutes") wherever a decision
//! depends on them, so that a wrong clock cannot move a deadline.

use std::sync::Arc;

use crate::effect::{EffectKey, Outcome};
use crate::fingerprint::{CallPrint, ResultPrint, TextPrint};
use crate::id::{AgentId, CheckpointId, HostId, Incarnation, ProviderId, RoleName, TaskId, ToolName};
use crate::recovery::Checkpoint;
use crate::resources::Load;
use crate::stuck::StepPrint;
use crate::time::{AgentTime, Span, WallTime};

/// One signal, as the edge hands it over.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Whom it is about. An agent never seen before is registered by its first signal.
    pub agent: AgentId,
    /// Everything but the name.
    pub content: Content,
}

/// A signal without its agent's name, for callers that hold a [`Handle`](crate::Handle).
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    /// The life it belongs to, where the sender knows it.
    pub incarnation: Option<Incarnation>,
    /// When the agent says it happened. Used to measure skew and to recognise late arrivals, never for liveness.
    pub sent_at: Option<AgentTime>,
    /// What people's clocks showed when it was read from the socket.
    pub received_at: WallTime,
    /// Whether the sender proved who it is.
    pub trust: Trust,
    /// What happened.
    pub body: Body,
}

/// Whether a signal's sender proved who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Sent with a token, by a wrapper or by the monitor's own probes.
    Verified,
    /// Anyone on this machine may have sent it: it shows life, and never leads to a termination.
    Unverified,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// The periodic report of 000 §2.2.
    Heartbeat(Heartbeat),
    /// Any sign of life without further content.
    Activity,
    /// A tool call began. `limit` is the call's own time limit, where it has one.
    ToolStarted {
        /// Identifies the call until it finishes; repeats of a known call are one call.
        call: u64,
        /// What is called.
        print: CallPrint,
        /// The call's own time limit, where it has one.
        limit: Option<Span>,
    },
    /// A tool call ended. It need not have been seen to start.
    ToolFinished {
        /// The call that ended.
        call: u64,
        /// What was called.
        print: CallPrint,
        /// What came of it.
        result: ResultPrint,
        /// The tool's name, where the sender says it: its circuit breaker goes by it.
        tool: Option<ToolName>,
        /// The whole step, where its text was heard: by it near repeats are seen.
        step: Option<Box<StepPrint>>,
    },
    /// Something was said in the agent's conversation.
    Message {
        /// Who said it.
        author: Author,
        /// What was said.
        text: TextPrint,
        /// The same, to be compared with what was said before.
        step: Option<Box<StepPrint>>,
    },
    /// A request to the language model began.
    ModelStarted,
    /// A request to the language model ended.
    ModelFinished,
    /// A sub-agent began to work for this agent.
    SubagentStarted {
        /// Which one.
        id: u64,
    },
    /// A sub-agent is done.
    SubagentFinished {
        /// Which one.
        id: u64,
    },
    /// The context window was compacted.
    Compaction,
    /// Tokens were used since the last such signal.
    Tokens {
        /// Tokens read.
        input: u64,
        /// Tokens written.
        output: u64,
        /// What they cost, in millionths of a US dollar.
        cost_micros: u64,
    },
    /// Work became visible outside the conversation.
    Output(Output),
    /// Something failed outside a tool call.
    Error(Failure),
    /// The agent says what it is doing or waiting for.
    Status(StatusReport),
    /// The agent asks to hand its work over.
    Handoff {
        /// Why, in its words.
        reason: Arc<str>,
    },
    /// The agent says that it cannot go on.
    Blocker {
        /// Why, in its words.
        reason: Arc<str>,
    },
    /// The answer to a ping.
    Pong {
        /// The ping's number.
        seq: u32,
        /// What the agent says of itself along with it.
        status: Option<Status>,
    },
    /// A new life begins.
    Spawn(Spawn),
    /// The process ended.
    Exit(Exit),
    /// Work was saved.
    Checkpoint {
        /// What was saved.
        id: CheckpointId,
    },
    /// The agent's work changed.
    Task(TaskChange),
    /// The connection over which this agent answers pings came or went.
    Channel(Channel),
    /// What became of an effect.
    Outcome {
        /// Which effect.
        key: EffectKey,
        /// What became of it.
        outcome: Outcome,
    },
    /// A task's checkpoints were looked through, as an effect asked.
    Surveyed {
        /// Which effect.
        key: EffectKey,
        /// All that there are.
        checkpoints: Arc<[Checkpoint]>,
    },
    /// What its process tree holds of memory and processor, as somebody measured it.
    Load(Load),
}

/// The periodic report of 000 §2.2. Every field may be missing; a field never sent is no evidence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heartbeat {
    /// What the agent works on.
    pub task: Option<TaskId>,
    /// The role that the agent claims.
    pub role: Option<RoleName>,
    /// Tokens used so far in this life.
    pub tokens: Option<u64>,
    /// Errors met so far in this life.
    pub errors: Option<u64>,
    /// Digest of `progressIndicator` and `phase`: a change is progress.
    pub progress: Option<u64>,
    /// What the agent says of itself.
    pub status: Option<Status>,
    /// For how long it announces to be busy.
    pub busy_for: Option<Span>,
    /// How full the context window is.
    pub context: Option<Context>,
    /// Money spent so far, in millionths of a US dollar.
    pub cost_micros: Option<u64>,
}

/// How full the context window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// Tokens in use.
    pub used: u64,
    /// Tokens that fit.
    pub limit: u64,
}

/// Work that became visible outside the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Files that were changed since the last report.
    pub files_changed: Option<u32>,
    /// Tests that pass.
    pub tests_passed: Option<u32>,
    /// Tests that fail.
    pub tests_failed: Option<u32>,
}

/// Something that failed outside a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What it said.
    pub text: TextPrint,
    /// The agent cannot continue after this.
    pub unrecoverable: bool,
    /// The model's provider failed (rate limit, authentication, outage), not the agent.
    pub provider: bool,
    /// When the provider says to come back.
    pub retry_after: Option<Span>,
}

/// What an agent says it is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All is well.
    Healthy,
    /// At work; answers may be slow.
    Busy,
    /// In some trouble.
    Degraded,
    /// Nothing to do.
    Idle,
    /// Waiting for something outside.
    Waiting,
}

/// A status with what the agent waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusReport {
    /// What the agent says of itself.
    pub status: Status,
    /// What it waits for, if it says so.
    pub waiting_on: Option<Awaited>,
    /// For how long it expects to.
    pub lasting: Option<Span>,
}

/// What an agent can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Awaited {
    /// A tool call in flight.
    Tool,
    /// An answer of the language model.
    Model,
    /// A sub-agent at work.
    Subagent,
    /// A person's answer or permission.
    Person,
    /// The provider's outage or rate limit to end.
    Provider,
    /// A moment it set itself.
    Timer,
}

/// Who said something in an agent's conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// The agent.
    Agent,
    /// A person.
    Person,
    /// The program around the agent.
    System,
}

/// A new life of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spawn {
    /// Where it runs.
    pub host: Option<HostId>,
    /// Whose language model it uses.
    pub provider: Option<ProviderId>,
    /// The profile it is watched under.
    pub role: Option<RoleName>,
    /// What it is to do.
    pub task: Option<TaskId>,
}

/// The end of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// The exit code, if it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl Exit {
    /// Whether it ended by itself and said that all went well.
    pub fn is_clean(self) -> bool {
        self.code == Some(0) && self.signal.is_none()
    }
}

/// A change to an agent's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskChange {
    /// It was given this work and is expected to run it.
    Assigned(TaskId),
    /// The work is done, failed for good or was called off.
    Ended(TaskId),
}

/// The connection over which an agent answers pings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Pings can be sent from now on.
    Opened,
    /// The other end closed it or vanished.
    Closed,
    /// The agent no longer listens, which says nothing about its life: it asked from time to time, and does not now.
    Left,
}
