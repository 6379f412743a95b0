//! What is decided about tasks, and the evidence it rests on.

use std::fmt;

use super::{Failure, Spared, TaskStatus};
use crate::id::{AgentId, TaskId};
use crate::standing::Reading;
use crate::time::Span;

/// One decision about one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// Which task.
    pub task: TaskId,
    /// Who works at it.
    pub agent: Option<AgentId>,
    /// What is to be done or recorded.
    pub decision: Decision,
    /// Why.
    pub evidence: Evidence,
}

/// What is to be done or recorded. Each condition is told once when it begins and once when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is stalled: all three parts of the evidence hold.
    Stalled,
    /// It is stalled no longer.
    Unstalled {
        /// How long it was.
        lasted: Span,
    },
    /// Ask its agent with high priority how it gets on.
    Inquire {
        /// The second try: a question may be lost, and so may its answer.
        again: bool,
        /// The agent was asked about another task just now: it is recorded, and not asked twice.
        joined: bool,
    },
    /// Tell people. It is no failure, and not well either.
    Escalate {
        /// Why.
        why: WhyTold,
    },
    /// What people were told of is over.
    EscalationOver {
        /// How long it lasted.
        lasted: Span,
    },
    /// It has failed, as far as can be known. What follows is for recovery and people to decide; the task stays open.
    DeclareFailed {
        /// Why.
        why: Failure,
    },
    /// That is over: its agent is back, it gets on, another one has it, or it ended.
    FailureOver {
        /// How long it lasted.
        lasted: Span,
    },
    /// Another agent has it now. Nothing that the one before says of it counts any more.
    Superseded {
        /// Who had it before.
        from: AgentId,
    },
    /// Its progress went backwards. An update all the same.
    WentBack {
        /// From this percentage.
        from: u8,
        /// To that.
        to: u8,
    },
    /// It is over.
    Ended {
        /// How.
        status: TaskStatus,
    },
    /// Nothing was heard of it for so long that it is forgotten.
    Abandoned,
    /// The end of a task was forgotten before its time, to make room. Were it given to somebody again, it would be
    /// done again.
    Forgotten {
        /// How it had ended.
        status: TaskStatus,
    },
}

/// Why people are told of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyTold {
    /// It is stalled, its agent does not answer, and yet no failure may be declared.
    Spared(Spared),
    /// Its agent has explained itself often enough, and nothing came of it.
    OnlyWords,
    /// Somebody who did not prove to be its agent says that it cannot go on.
    UnverifiedWord,
}

/// The three parts of a stall (001 §1.5.2), each as it is now, together with how the agent stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// How long ago the last update came, or the task was given.
    pub quiet: Span,
    /// How long ago that may be.
    pub quiet_limit: Span,
    /// For how long it is overdue; nothing if it is not, or nobody said when it is due.
    pub overdue: Option<Span>,
    /// For how much longer the delay is explained; nothing if it is not.
    pub explained: Option<Span>,
    /// How the agent stands; nothing where that was of no concern.
    pub worker: Option<Reading>,
    /// How long ago it was asked.
    pub asked: Option<Span>,
}

impl Evidence {
    /// The first part: no update for longer than the limit.
    pub fn is_quiet(&self) -> bool {
        self.quiet_limit < self.quiet
    }

    /// The second part: the time at which it was to be complete has passed.
    pub fn is_overdue(&self) -> bool {
        self.overdue.is_some()
    }

    /// The third part: no message explains the delay.
    pub fn is_unexplained(&self) -> bool {
        self.explained.is_none()
    }

    /// All three.
    pub fn is_stalled(&self) -> bool {
        self.is_quiet() && self.is_overdue() && self.is_unexplained()
    }
}

/// The sentence a person reads.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quiet, quiet_limit, .. } = self;
        write!(f, "no update for {quiet} (limit {quiet_limit}); ")?;
        match self.overdue {
            Some(overdue) => write!(f, "overdue for {overdue}; ")?,
            None => f.write_str("not overdue; ")?,
        }
        match self.explained {
            Some(left) => write!(f, "explained for another {left}")?,
            None => f.write_str("no message explains it")?,
        }
        if let Some(asked) = self.asked {
            write!(f, "; asked {asked} ago")?;
        }
        match self.worker {
            Some(worker) => write!(f, "; of its agent: {worker}"),
            None => Ok(()),
        }
    }
}

/// What an assignment did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assigned {
    /// The agent has it now.
    Begun,
    /// The agent had it already: only what was said of it changed.
    Again,
}

/// What an update did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updated {
    /// It gets on.
    Noted,
    /// It is over.
    Ended,
    /// It was over already, in the same way.
    Again,
}

/// What an explanation is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explained {
    /// It holds for this long.
    For(Span),
    /// There were too many without any progress.
    NotBelieved,
}

/// Why something about a task was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// No such task is known.
    #[error("no task `{0}` is known")]
    Unknown(TaskId),
    /// It is over.
    #[error("task `{task}` is {status}")]
    Ended {
        /// Which one.
        task: TaskId,
        /// How it ended.
        status: TaskStatus,
    },
    /// Another agent works at it.
    #[error("task `{task}` is the work of {}", worker.as_ref().map_or("nobody yet", AgentId::as_str))]
    NotTheirs {
        /// Which one.
        task: TaskId,
        /// Who does.
        worker: Option<AgentId>,
    },
    /// There are too many open tasks.
    #[error("there is no room for more open tasks: at most {0}")]
    Full(u32),
    /// A name is longer than names are.
    #[error("a name is longer than {0} bytes")]
    NameTooLong(usize),
}
