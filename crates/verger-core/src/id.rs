//! Names of things. Each is a type of its own, so that a task is never passed for an agent.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// Declares a shared, immutable name.
macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name! {
    /// An agent, across all its lives.
    AgentId
}
name! {
    /// A piece of work given to an agent.
    TaskId
}
name! {
    /// A message from one agent to another.
    MessageId
}
name! {
    /// A saved state that work can resume from.
    CheckpointId
}
name! {
    /// A machine on which agents run.
    HostId
}
name! {
    /// Whose language model an agent uses.
    ProviderId
}
name! {
    /// A named profile of thresholds (`critical`, `active`, …).
    RoleName
}
name! {
    /// A tool, as its agent calls it.
    ToolName
}
name! {
    /// A ticket that a judge wrote about a worker.
    TicketId
}
name! {
    /// A session of a worker: one run that writes one log of steps.
    SessionId
}
name! {
    /// A health probe of an agent.
    ProbeName
}
name! {
    /// Who gave a command: an operator, a token, the orchestrator.
    Actor
}

/// One life of an agent, counted from 1 by the monitor. Effects and pids belong to one incarnation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Incarnation(pub u32);

impl Incarnation {
    /// The life in which an agent is first seen.
    pub const FIRST: Self = Self(1);

    /// The life after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// An agent's place in the fleet's table: the fast way to name it, valid while it stays registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}
