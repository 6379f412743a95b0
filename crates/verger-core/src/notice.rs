//! What is told or ordered about something that is no agent: an incident of many, the recovery of a task.

use std::sync::Arc;

use crate::breaker::{self, BreakerName, Denied, Permit, Reported, Submitted};
use crate::correlation::{self, Scope};
use crate::id::{Actor, AgentId, CheckpointId, MessageId, SessionId, TaskId, TicketId};
use crate::messages::{self, Acknowledgement, NewMessage, Receipt};
use crate::probe::{Ignored, ProbeResult, ProbeSpec, SpecRefusal};
use crate::recovery;
use crate::signal::Trust;
use crate::tasks::{self, Assigned, Explained, Start, TaskStatus, Updated};
use crate::time::Span;
use crate::verdicts::{self, Advice, Answer, DecideError, Draft, RaiseError};

/// One thing told or ordered.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// What a person orders about agents that failed together.
    Incident {
        /// Where they belong together.
        scope: Scope,
        /// Who orders it.
        by: Actor,
        /// What.
        order: correlation::Order,
    },
    /// What a person orders about the recovery of a task.
    Recovery {
        /// Which task.
        task: TaskId,
        /// Who orders it.
        by: Actor,
        /// What.
        order: recovery::Order,
    },
    /// What somebody says of a task.
    Task {
        /// Which task.
        task: TaskId,
        /// Who says it.
        by: Speaker,
        /// What.
        word: Box<TaskWord>,
    },
    /// An agent sends a message to another. The edge has made sure that it is from whom it says.
    Send(Box<NewMessage>),
    /// A message is acknowledged.
    Acknowledge {
        /// Which message.
        message: MessageId,
        /// By whom: its receiver, or a person who took care of it.
        by: Speaker,
    },
    /// What concerns a circuit breaker.
    Breaker {
        /// Which one.
        name: BreakerName,
        /// What is asked, told or ordered.
        what: BreakerNotice,
    },
    /// What concerns checkpoints that are to be written.
    Checkpoint {
        /// The breaker before their store, one of an agent's.
        breaker: BreakerName,
        /// What is told or ordered.
        what: CheckpointNotice,
    },
    /// A worker's session is under way: its steps are judged from now on, and those of another no longer.
    SessionBegan {
        /// Whose.
        worker: AgentId,
        /// Which.
        session: SessionId,
        /// The graph that it runs, where that is known.
        graph: Option<Arc<str>>,
    },
    /// A worker's session is over.
    SessionEnded {
        /// Whose.
        worker: AgentId,
        /// Which.
        session: SessionId,
    },
    /// A step was read from a worker's log.
    Step {
        /// Whose.
        worker: AgentId,
        /// In which session.
        session: SessionId,
        /// The step.
        step: Box<verdicts::Step>,
    },
    /// Somebody hands in a ticket about a worker.
    Ticket(Box<Draft>),
    /// What a language model thinks of a ticket.
    Advice {
        /// Which.
        ticket: TicketId,
        /// What it thinks.
        advice: Advice,
    },
    /// What a person decided about a ticket.
    Answer {
        /// Which.
        ticket: TicketId,
        /// What was decided.
        answer: Answer,
    },
    /// The probes that an agent is to have from now on, and no others.
    Probes {
        /// Who.
        agent: AgentId,
        /// The probes, the primary one first; none takes them all away.
        specs: Vec<ProbeSpec>,
    },
    /// What a run of a probe found.
    Probed {
        /// Of whom.
        agent: AgentId,
        /// What.
        result: Box<ProbeResult>,
    },
}

/// Who says something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// An agent.
    Agent {
        /// Which one.
        id: AgentId,
        /// Whether it proved that.
        trust: Trust,
    },
    /// A person, or the orchestrator.
    Person(Actor),
}

/// What is said of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskWord {
    /// It is given to an agent, or made known.
    Given {
        /// Whom to. Nobody leaves it with who has it; a new one waits for somebody.
        agent: Option<AgentId>,
        /// What it is.
        description: Option<Arc<str>>,
        /// In what time from now it is expected to be complete.
        due_in: Option<Span>,
        /// How long ago it was given; nothing, unless it is read from elsewhere.
        ago: Span,
        /// Whether this is a new start.
        start: Start,
    },
    /// How far it is, or that it is over.
    Update {
        /// How far.
        percent: Option<u8>,
        /// How it stands.
        status: Option<TaskStatus>,
        /// How long ago; nothing, unless it is read from elsewhere.
        ago: Span,
    },
    /// It is expected to be complete within this time from now.
    Due {
        /// The time.
        within: Span,
    },
    /// Why it takes so long.
    Explained {
        /// In words.
        text: Option<Arc<str>>,
        /// For how long that holds, if it is said.
        lasting: Option<Span>,
    },
    /// Its agent cannot go on.
    CannotGoOn,
}

impl TaskWord {
    /// Whether an unproven agent may not say this. It may say that it gets on, or why it does not; what decides about
    /// somebody's work it may not.
    pub(crate) fn needs_proof(&self) -> bool {
        match self {
            Self::Given { .. } | Self::Due { .. } => true,
            Self::Update { status, .. } => match status {
                Some(TaskStatus::Done | TaskStatus::Failed | TaskStatus::Cancelled) => true,
                Some(TaskStatus::Assigned | TaskStatus::InProgress) | None => false,
            },
            Self::Explained { .. } | Self::CannotGoOn => false,
        }
    }
}

/// What is asked of, told to or ordered about a circuit breaker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreakerNotice {
    /// Somebody asks whether a call may be made. Calls for agents that are not registered pass unwatched.
    Acquire,
    /// A call ended that had a permit.
    Report {
        /// The permit.
        permit: Permit,
        /// How the call ended.
        outcome: breaker::Outcome,
    },
    /// A person says that all is well.
    Reset {
        /// Who.
        by: Actor,
    },
    /// A person has it work another way.
    SetMode {
        /// Who.
        by: Actor,
        /// How it is to work.
        mode: breaker::Mode,
    },
}

/// What is told or ordered about checkpoints that are to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointNotice {
    /// This one is to be written.
    Submit {
        /// Which.
        id: CheckpointId,
    },
    /// A person says that the store works: the first in line need not wait any longer.
    Retry {
        /// Who.
        by: Actor,
    },
    /// A person gives one up.
    Discard {
        /// Who.
        by: Actor,
        /// Which.
        id: CheckpointId,
    },
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// It was done.
    Done,
    /// What an assignment did.
    Assigned(Assigned),
    /// What an update did.
    Updated(Updated),
    /// What an explanation is worth.
    Explained(Explained),
    /// What became of a message that was sent.
    Sent(Receipt),
    /// What an acknowledgement did.
    Acknowledged(Acknowledgement),
    /// The call may be made; how it ended is to be reported with this.
    Permit(Permit),
    /// What a report was worth.
    Reported(Reported),
    /// The checkpoint is written now, or waits in line.
    Submitted(Submitted),
    /// This ticket was taken in or decided.
    Ticket(TicketId),
}

/// Why it was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoticeError {
    /// No such incident is open.
    #[error("no incident of {0} is open")]
    NoIncident(Scope),
    /// An order about a recovery does not fit.
    #[error(transparent)]
    Recovery(recovery::OrderError),
    /// A word about a task was refused.
    #[error(transparent)]
    Task(#[from] tasks::Refusal),
    /// A message was not taken.
    #[error(transparent)]
    Message(#[from] messages::Refusal),
    /// Only somebody who proved who it is may say this.
    #[error("only a verified agent may say this")]
    Unproven,
    /// What is to be acknowledged is not known, or long over.
    #[error("no message `{0}` is known")]
    UnknownMessage(MessageId),
    /// What is to be acknowledged is for somebody else.
    #[error("message `{0}` is for another agent")]
    NotTheirMessage(MessageId),
    /// The call must not be made now.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// There is no such breaker, and none can be made: its agent is not registered, or too many are there.
    #[error("no breaker is called `{0}`")]
    NoBreaker(BreakerName),
    /// So many checkpoints wait that this one was not taken.
    #[error("too many checkpoints wait behind `{breaker}`: `{id}` was not taken")]
    QueueFull {
        /// Behind which breaker.
        breaker: BreakerName,
        /// The one that was not taken.
        id: CheckpointId,
    },
    /// Nothing waits behind this breaker, or not that checkpoint.
    #[error("no such checkpoint waits behind `{0}`")]
    NotWaiting(BreakerName),
    /// No such agent is registered.
    #[error("no agent `{0}` is registered")]
    UnknownAgent(AgentId),
    /// Its life is over.
    #[error("agent `{0}` has ended")]
    Ended(AgentId),
    /// The session is not followed.
    #[error("session `{session}` of `{worker}` is not followed")]
    NoSession {
        /// Whose.
        worker: AgentId,
        /// Which.
        session: SessionId,
    },
    /// There is no room for another worker.
    #[error("{0} workers are followed; no more can be added")]
    TooManyWorkers(usize),
    /// A ticket was not taken in.
    #[error(transparent)]
    Raise(#[from] RaiseError),
    /// A word about a ticket was not taken.
    #[error(transparent)]
    Decide(#[from] DecideError),
    /// The probes are not what probes may be.
    #[error(transparent)]
    Probes(#[from] SpecRefusal),
    /// The result of a probe is not awaited.
    #[error(transparent)]
    Probed(#[from] Ignored),
}

impl NoticeError {
    /// Stable code; `docs/src/errors/<code>.md` tells the operator what to do.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoIncident(_) => "VG0301",
            Self::Recovery(error) => error.code(),
            Self::Task(tasks::Refusal::Unknown(_)) => "VG0321",
            Self::Task(tasks::Refusal::Ended { .. }) => "VG0322",
            Self::Task(tasks::Refusal::NotTheirs { .. }) => "VG0323",
            Self::Task(tasks::Refusal::Full(_)) => "VG0324",
            Self::Task(tasks::Refusal::NameTooLong(_)) | Self::Message(messages::Refusal::NameTooLong(_)) => {
                "VG0325"
            }
            Self::Unproven => "VG0326",
            Self::Message(messages::Refusal::AgentNotFound(_)) => "VG0331",
            Self::Message(messages::Refusal::IdTaken(_)) => "VG0332",
            Self::Message(messages::Refusal::Full(_)) => "VG0333",
            Self::UnknownMessage(_) => "VG0334",
            Self::NotTheirMessage(_) => "VG0335",
            Self::Denied(_) => "VG0341",
            Self::NoBreaker(_) => "VG0342",
            Self::QueueFull { .. } => "VG0343",
            Self::NotWaiting(_) => "VG0344",
            Self::UnknownAgent(_) => "VG0101",
            Self::Ended(_) => "VG0104",
            Self::Raise(RaiseError::Refused(_)) => "VG0351",
            Self::Raise(RaiseError::Taken(_)) => "VG0352",
            Self::Raise(RaiseError::Full) => "VG0353",
            Self::Decide(DecideError::Unknown(_)) => "VG0354",
            Self::Decide(DecideError::Over(_) | DecideError::Decided { .. }) => "VG0355",
            Self::NoSession { .. } => "VG0356",
            Self::TooManyWorkers(_) => "VG0357",
            Self::Probes(_) => "VG0361",
            Self::Probed(_) => "VG0362",
        }
    }
}
