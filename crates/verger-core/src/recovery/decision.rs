//! What recovery decides, and what it tells happened.

use std::fmt;
use std::sync::Arc;

use super::{BrokenLink, Closing, Life, Order, Skipped};
use crate::id::{Actor, AgentId, CheckpointId, Incarnation, TaskId};
use crate::time::{Span, Timestamp};

/// Where decisions and changes are pushed, in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collector {
    /// What happened: facts to record.
    pub changes: Vec<Change>,
    /// What is to be done or told.
    pub decisions: Vec<Decision>,
}

/// Something to be done or told.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Look through the task's checkpoints and say which there are and which are intact
    /// ([`on_checkpoints`](super::Recoveries::on_checkpoints)).
    Survey {
        /// The task.
        task: TaskId,
    },
    /// Start a new life that goes on with the task.
    Spawn(Spawn),
    /// Take a start back: drop it if it is not done yet, and end what it began. What becomes of it must be
    /// told ([`on_withdrawn`](super::Recoveries::on_withdrawn)).
    Withdraw {
        /// The task.
        task: TaskId,
        /// Which start.
        start: u64,
        /// The agent that was to be started, or that was.
        agent: AgentId,
        /// The life that the start began, if it is known.
        incarnation: Option<Incarnation>,
    },
    /// People must look at this task; nothing is done before they have. Told once until it clears.
    HumanReview {
        /// The task.
        task: TaskId,
        /// Why.
        why: Review,
    },
    /// A person said what comes next, or it got well by itself: the review is over.
    ReviewOver {
        /// The task.
        task: TaskId,
    },
    /// People should know. Told once until it clears.
    Alert {
        /// The task; the fleet if none.
        task: Option<TaskId>,
        /// What.
        condition: Condition,
    },
    /// The condition is over.
    Clear {
        /// The task; the fleet if none.
        task: Option<TaskId>,
        /// What was.
        condition: Condition,
    },
}

/// A new life to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spawn {
    /// The task it goes on with.
    pub task: TaskId,
    /// The agent whose work it was.
    pub agent: AgentId,
    /// Names this start for ever; its outcome comes back with it.
    pub start: u64,
    /// Which attempt this is, counted from one.
    pub attempt: u8,
    /// The state to begin with; the task's start if none.
    pub from: Option<CheckpointId>,
    /// What the new life is told.
    pub context: Context,
}

/// What a new life is told about the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Why the last life ended.
    pub reason: Arc<str>,
    /// Which attempt this is.
    pub attempt: u8,
    /// How many there are at most.
    pub attempts_max: u8,
    /// The state it begins with.
    pub from: Option<CheckpointId>,
    /// What was lost.
    pub lost: Lost,
}

/// As it is put before a new life.
impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, attempt, attempts_max, from, lost } = self;
        write!(f, "This task was begun before; the last life ended: {reason}. ")?;
        write!(f, "This is attempt {attempt} of {attempts_max}. ")?;
        match (from, lost.work) {
            (Some(from), Some(work)) => {
                write!(f, "It goes on from checkpoint {from}; {work} of work was lost")?;
            }
            (Some(from), None) => write!(f, "It goes on from checkpoint {from}")?,
            (None, _) => write!(f, "It begins anew, for there is no checkpoint to go on from")?,
        }
        match lost.checkpoints {
            0 => {}
            1 => f.write_str(", with one newer checkpoint that could not be used")?,
            more => write!(f, ", with {more} newer checkpoints that could not be used")?,
        }
        f.write_str(". See what is there before you repeat any of it.")
    }
}

/// How much was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Checkpoints that were passed over.
    pub checkpoints: u32,
    /// The time between the chosen checkpoint and the end of the last life; everything since the start if
    /// none.
    pub work: Option<Span>,
}

/// A condition of a recovery that people are told of once, and once when it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    /// People must look (told as [`Decision::HumanReview`]).
    Review,
    /// A recovered task failed again; it is tried once more.
    FailedAgain,
    /// No valid checkpoint is left: the task begins anew.
    StartedOver,
    /// The chain of checkpoints is broken.
    ChainBroken,
    /// Nobody says which checkpoints there are, so nothing is started.
    ChainUnknown,
    /// The old life may still run, and only a person can tell.
    MayStillRun,
    /// The fleet's hourly limit holds recoveries back.
    FleetLimit,
    /// More recoveries than are kept: some tasks are not recovered.
    TooMany,
}

/// Why people must look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// All attempts for the task were made.
    AttemptsUsedUp,
    /// Its agent was started too often within the hour.
    AgentLimit,
    /// Whoever starts agents will not start this one: no command is known, or it is not allowed.
    Refused,
    /// Its agent lives and works on something else; starting it again would end that.
    AgentElsewhere,
}

/// As a sentence's end.
impl fmt::Display for Review {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AttemptsUsedUp => "all attempts were used up",
            Self::AgentLimit => "its agent was started too often within the hour",
            Self::Refused => "nobody would start its agent",
            Self::AgentElsewhere => "its agent works on another task",
        })
    }
}

/// Why an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It could not be started.
    NotStarted,
    /// Its checkpoint could not be read.
    CheckpointUnreadable,
    /// It did not show itself in time.
    NeverCameUp,
    /// It ended within the watch.
    EndedInWatch,
    /// It ended after the watch, before it counted as stable.
    EndedLater,
    /// It was replaced by a life that ended too.
    EndedUnseen,
}

/// Why a recovery was called off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOff {
    /// The task is over.
    Closed(Closing),
    /// Another agent has it.
    TakenOver(Life),
    /// The agent was not gone after all.
    CameBack,
    /// A person said so.
    ByPerson(Actor),
}

/// Why an end was not followed by a recovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Neglect {
    /// The task is over.
    Closed(Closing),
    /// Another life has the task.
    Superseded,
    /// More recoveries than are kept.
    TooMany,
}

/// What happened to a recovery.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// An attempt will be made.
    Scheduled {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: u8,
        /// When.
        at: Timestamp,
    },
    /// An attempt was begun (`RECOVERY_INITIATED`).
    Initiated {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: u8,
        /// Which start.
        start: u64,
        /// The state to begin with; the task's start if none.
        from: Option<CheckpointId>,
        /// What was lost.
        lost: Lost,
        /// What was passed over, at most sixteen.
        skipped: Vec<Skipped>,
        /// Where the chain is broken.
        breaks: Vec<BrokenLink>,
        /// Checkpoints that the walk did not reach.
        unseen: u32,
        /// Who ordered it; the monitor if nobody.
        by: Option<Actor>,
    },
    /// The new life showed itself; the close watch begins.
    CameUp {
        /// The task.
        task: TaskId,
        /// The new life.
        life: Life,
        /// Whether somebody else had started it.
        by_others: bool,
    },
    /// The new life passed its watch (`RECOVERY_COMPLETED`).
    Completed {
        /// The task.
        task: TaskId,
        /// The life that goes on with it.
        life: Life,
        /// After how many attempts.
        attempts: u8,
    },
    /// One attempt failed; another one follows, or a review.
    AttemptFailed {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: u8,
        /// Why.
        why: Failure,
    },
    /// Recovery failed; people must look (`RECOVERY_FAILED`).
    Failed {
        /// The task.
        task: TaskId,
        /// Why no further attempt is made.
        why: Review,
        /// After how many attempts.
        attempts: u8,
    },
    /// Recovery was called off.
    CalledOff {
        /// The task.
        task: TaskId,
        /// Why.
        why: CallOff,
    },
    /// An agent ended, and its task is not recovered.
    NotRecovered {
        /// The task.
        task: TaskId,
        /// Why not.
        why: Neglect,
    },
    /// It is certain now that no old life runs.
    EndConfirmed {
        /// The task.
        task: TaskId,
    },
    /// The task has been stable for long enough: its attempts are counted from one again.
    Forgotten {
        /// The task.
        task: TaskId,
    },
    /// A person gave an order.
    Ordered {
        /// The task.
        task: TaskId,
        /// Who.
        by: Actor,
        /// What.
        order: Order,
    },
}

impl Change {
    /// Which task it is about.
    pub fn task(&self) -> &TaskId {
        match self {
            Self::Scheduled { task, .. }
            | Self::Initiated { task, .. }
            | Self::CameUp { task, .. }
            | Self::Completed { task, .. }
            | Self::AttemptFailed { task, .. }
            | Self::Failed { task, .. }
            | Self::CalledOff { task, .. }
            | Self::NotRecovered { task, .. }
            | Self::EndConfirmed { task }
            | Self::Forgotten { task }
            | Self::Ordered { task, .. } => task,
        }
    }
}
