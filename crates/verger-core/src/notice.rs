//! What is told or ordered about something that is no agent: an incident of many, the recovery of a task.

use crate::correlation::{self, Scope};
use crate::id::{Actor, TaskId};
use crate::recovery;

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
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// It was done.
    Done,
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
}

impl NoticeError {
    /// Stable code; `docs/src/errors/<code>.md` tells the operator what to do.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoIncident(_) => "VG0301",
            Self::Recovery(error) => error.code(),
        }
    }
}
