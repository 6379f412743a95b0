//! What a silence is called: status, cause and class, in the words of the specifications.

use std::fmt;

/// Whether an agent is there and what it seems to be doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LivenessStatus {
    /// It shows life by its own activity.
    Online,
    /// It shows life but does nothing.
    Idle,
    /// It shows life and said, or is seen, to be at work.
    Busy,
    /// The way to it works, and it does not answer.
    Unresponsive,
    /// There is no way to it.
    Offline,
}

impl fmt::Display for LivenessStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Online => "online",
            Self::Idle => "idle",
            Self::Busy => "busy",
            Self::Unresponsive => "unresponsive",
            Self::Offline => "offline",
        })
    }
}

/// What seems to have happened to a silent agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Pings arrive, and nothing answers.
    EventLoopFreeze,
    /// The process is gone.
    ProcessCrash,
    /// The way to it is broken.
    NetworkPartition,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EventLoopFreeze => "event-loop-freeze",
            Self::ProcessCrash => "process-crash",
            Self::NetworkPartition => "network-partition",
        })
    }
}

/// How grave a silence is (001 §1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureClass {
    /// It may well come back by itself: wait.
    Transient,
    /// It will not by itself, but an intervention can bring it back.
    Recoverable,
    /// This life is over.
    Terminal,
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Transient => "transient",
            Self::Recoverable => "recoverable",
            Self::Terminal => "terminal",
        })
    }
}
