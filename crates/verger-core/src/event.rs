//! What is recorded: facts, in the past tense, each with the evidence it rests on.

use std::sync::Arc;

use crate::breaker::{self, BreakerName, WriteChange};
use crate::command::Decision;
use crate::correlation::{self, Scope};
use crate::effect::EffectKey;
use crate::evidence::Evidence;
use crate::health::HealthState;
use crate::id::{Actor, AgentId, CheckpointId, Incarnation, MessageId, TaskId};
use crate::liveness::{Cause, FailureClass, LivenessStatus};
use crate::notice::TaskWord;
use crate::probe;
use crate::recovery;
use crate::time::{Span, Timestamp};
use crate::verdicts::{self, Assessment, Ticket};
use crate::{messages, resources, tasks, waste};

/// One fact about one agent, or about the fleet.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When, in observed time.
    pub at: Timestamp,
    /// Whom it is about; the fleet if nobody.
    pub agent: Option<(AgentId, Incarnation)>,
    /// What happened.
    pub fact: Fact,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// A new agent, or a new life of a known one.
    Registered {
        /// What it works on.
        task: Option<TaskId>,
    },
    /// The agent is no longer watched.
    Unregistered {
        /// Who said so; the monitor if nobody.
        by: Option<Actor>,
    },
    /// The composite state changed.
    StateChanged {
        /// From this.
        from: HealthState,
        /// To that.
        to: HealthState,
        /// For these reasons; empty when all is well.
        evidence: Arc<[Evidence]>,
    },
    /// A sign of life after silence was missing for too long (`agent-disconnected`).
    Disconnected {
        /// Offline or unresponsive.
        status: LivenessStatus,
        /// What seems to have happened to it.
        cause: Option<Cause>,
        /// When it last showed life.
        last_seen: Timestamp,
    },
    /// It is back (`agent-reconnected`).
    Reconnected {
        /// For how long it was away.
        downtime: Span,
    },
    /// The silence was classified (001 §1.7).
    Classified {
        /// As this.
        class: FailureClass,
        /// By what seems to have happened.
        cause: Option<Cause>,
    },
    /// A reminder was decided on and queued.
    NudgeSent {
        /// Its effect.
        key: EffectKey,
        /// Which attempt of this sequence.
        attempt: u8,
        /// The text.
        text: Arc<str>,
        /// Who asked for it; the monitor if nobody.
        by: Option<Actor>,
    },
    /// The channel confirmed that the reminder reached the agent.
    NudgeDelivered {
        /// Its effect.
        key: EffectKey,
    },
    /// The channel could not deliver it.
    NudgeFailed {
        /// Its effect.
        key: EffectKey,
    },
    /// The agent reacted. That is not progress by itself.
    NudgeAnswered {
        /// Its effect.
        key: EffectKey,
        /// How long it took.
        after: Span,
    },
    /// The orchestrator was asked.
    EscalationTriggered {
        /// Why.
        reason: Arc<str>,
        /// Who asked for it; the monitor if nobody.
        by: Option<Actor>,
    },
    /// The escalation was answered.
    EscalationDecided {
        /// How.
        decision: Decision,
        /// Why.
        reason: Arc<str>,
        /// By whom; the timeout if nobody.
        by: Option<Actor>,
    },
    /// The escalation is over because the agent got on by itself.
    EscalationWithdrawn,
    /// The agent's turn was interrupted because it repeated itself.
    Interrupted {
        /// How often it did.
        repeats: u32,
    },
    /// The agent is to be stopped.
    TerminationOrdered {
        /// Why.
        reason: Arc<str>,
        /// By whom; the monitor if nobody.
        by: Option<Actor>,
        /// The findings behind it; empty when a person ordered it.
        evidence: Arc<[Evidence]>,
    },
    /// Before it could be stopped it took another course, and nobody had ordered it.
    TerminationCalledOff,
    /// It could not be stopped; people are asked.
    TerminationFailed {
        /// How often it was tried.
        attempts: u8,
    },
    /// This life is over.
    Terminated {
        /// Why.
        reason: Arc<str>,
        /// Where its work can resume.
        checkpoint: Option<CheckpointId>,
        /// Whether a successor is to go on with its work.
        recover: bool,
        /// Whether its end was seen. If not, something of it may still run.
        seen: bool,
    },
    /// Something is wrong and open until it is resolved: one for each condition.
    IncidentOpened {
        /// What is wrong.
        incident: Incident,
        /// Since when.
        since: Timestamp,
        /// The incident of many that stands for this one: people know of it already.
        part_of: Option<Scope>,
    },
    /// It is over.
    IncidentResolved {
        /// What was wrong.
        incident: Incident,
        /// For how long it was.
        lasted: Span,
    },
    /// A signal from a life that is over was turned away.
    Superseded {
        /// The life it belonged to, if it said.
        stale: Option<Incarnation>,
    },
    /// An intervention was due and a limit held it back; reported once until there is room again.
    BudgetExhausted {
        /// How many per window.
        limit: u16,
        /// The window.
        per: Span,
    },
    /// Many agents turned bad together, or that is over (X02).
    Correlated(correlation::Change),
    /// A person gave an order about them.
    IncidentOrdered {
        /// Where they belong together.
        scope: Scope,
        /// Who.
        by: Actor,
        /// What.
        order: correlation::Order,
    },
    /// The recovery of a task went on (L27–L29).
    Recovery(Box<recovery::Change>),
    /// People must look at a task: it is not recovered without them.
    ReviewOpened {
        /// Which task.
        task: TaskId,
        /// Why.
        why: recovery::Review,
    },
    /// The review is over.
    ReviewOver {
        /// Which task.
        task: TaskId,
    },
    /// People should know this of a recovery; told once until it is over.
    RecoveryAlert {
        /// Which task; the fleet if none.
        task: Option<TaskId>,
        /// What.
        condition: recovery::Condition,
    },
    /// It is over.
    RecoveryAlertOver {
        /// Which task; the fleet if none.
        task: Option<TaskId>,
        /// What was.
        condition: recovery::Condition,
    },
    /// Something was decided about a task (R06, R07). It is about the agent that works at it.
    Task(Box<tasks::Decided>),
    /// A person or the orchestrator said something of a task, and it holds.
    TaskOrdered {
        /// Which task.
        task: TaskId,
        /// Who.
        by: Actor,
        /// What.
        word: Box<TaskWord>,
    },
    /// Something was decided about a message (R05). It is about its receiver.
    Message(Box<messages::Decided>),
    /// A person took care of a message: nobody waits for its receiver any more.
    MessageSettled {
        /// Which message.
        message: MessageId,
        /// Who.
        by: Actor,
    },
    /// A circuit breaker opened, is tried, or closed (L24).
    Breaker(breaker::Change),
    /// A checkpoint waits, is safe or was given up, or none can be written for long (L26).
    Checkpoint(WriteChange),
    /// A person gave an order about a breaker, or about the checkpoints that wait behind it.
    BreakerOrdered {
        /// Which breaker.
        name: BreakerName,
        /// Who.
        by: Actor,
        /// What.
        order: BreakerOrder,
    },
    /// A limit on what is used is near, exceeded, or no longer (L12).
    Limit(resources::Change),
    /// What went into a trouble that is over, or an estimate of what ending it saved (X17).
    Wasted(waste::Delta),
    /// The judge looked at a worker and found it in another standing, or has something to report (J01).
    Judged(Box<Assessment>),
    /// A ticket was taken in (`WORKER_ESCALATION_TICKET`).
    TicketRaised(Box<Ticket>),
    /// Something became of a ticket.
    TicketChanged(Box<verdicts::Change>),
    /// What probes find of an agent changed (P04).
    Probed(Box<probe::Change>),
}

/// What people order about a breaker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreakerOrder {
    /// All is well with it.
    Reset,
    /// It is to work another way.
    SetMode(breaker::Mode),
    /// The first checkpoint in line need not wait any longer.
    Retry,
    /// This checkpoint is given up.
    Discard(CheckpointId),
}

/// A condition that people are told of once when it begins and once when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Incident {
    /// An agent is silent: unresponsive or offline.
    Silent,
    /// An agent makes no progress.
    Stuck,
    /// An agent is in an error loop or broken.
    Failing,
    /// An agent's process ended though nobody asked it to.
    Died,
    /// An agent's state keeps changing.
    Flapping,
    /// So many agents need interventions at once that the fleet's limits hold them back.
    Storm,
    /// An agent, or the fleet, uses more than it may.
    OverLimit,
}
