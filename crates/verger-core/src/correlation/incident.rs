//! One incident of a scope, and what is said of it.

use std::fmt;

use super::{Kind, Scope};
use crate::time::{Span, Timestamp};

/// What happened to an incident. Each that opens is resolved once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// So many turned bad together that it is one incident; the scope is frozen, unless this is what is left of a
    /// fleet's incident whose freeze was over.
    Opened {
        /// Of whom.
        scope: Scope,
        /// How many are affected.
        affected: u32,
        /// Of how many.
        of: u32,
        /// What is wrong with most of them.
        kind: Kind,
        /// When the first of them turned bad.
        since: Timestamp,
    },
    /// Twice as many are affected as people were told last, or it turned out to be the provider's outage.
    Widened {
        /// Of whom.
        scope: Scope,
        /// How many are affected.
        affected: u32,
        /// Of how many.
        of: u32,
        /// What is wrong with most of them.
        kind: Kind,
    },
    /// The scope is still frozen: people are asked again.
    StillFrozen {
        /// Of whom.
        scope: Scope,
        /// How many are affected.
        affected: u32,
        /// Of how many.
        of: u32,
        /// When the freeze ends by itself.
        until: Timestamp,
    },
    /// A person prolonged the freeze, or began it again.
    Frozen {
        /// Of whom.
        scope: Scope,
        /// When it ends by itself.
        until: Timestamp,
    },
    /// The freeze is over though the incident is not.
    Thawed {
        /// Of whom.
        scope: Scope,
        /// Why.
        by: Thaw,
    },
    /// The incident is over, and its freeze with it.
    Resolved {
        /// Of whom.
        scope: Scope,
        /// How long it was open.
        lasted: Span,
        /// Why.
        by: Ending,
    },
}

/// The sentence a person reads.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opened { scope, affected, of, kind, .. } => {
                write!(
                    f,
                    "{affected} of {of} agents of {scope} turned {kind} together: nobody is ended for it"
                )
            }
            Self::Widened { scope, affected, of, kind } => {
                write!(f, "by now {affected} of {of} agents of {scope} are {kind}")
            }
            Self::StillFrozen { scope, affected, of, .. } => {
                write!(f, "{affected} of {of} agents of {scope} are still bad, and nobody is ended for it")
            }
            Self::Frozen { scope, .. } => write!(f, "a person froze {scope}"),
            Self::Thawed { scope, by: Thaw::Time } => {
                write!(f, "the freeze of {scope} lasted as long as it may")
            }
            Self::Thawed { scope, by: Thaw::Person } => write!(f, "a person ended the freeze of {scope}"),
            Self::Resolved { scope, lasted, by } => {
                write!(f, "the incident of {scope} is over after {lasted}: {by}")
            }
        }
    }
}

/// Why a freeze is over before its incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thaw {
    /// It lasted as long as it may.
    Time,
    /// A person said so.
    Person,
}

/// Why an incident is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Few enough are affected, and were for long enough.
    Recovered,
    /// The provider serves its users again.
    Served,
    /// Nobody reported the provider's outage any more.
    Quiet,
    /// It is part of the fleet's incident now, which opened in the same step.
    Merged,
    /// It lasted as long as it may: who is still bad is so for itself.
    Time,
    /// A person said so.
    Person,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Recovered => "they are well again",
            Self::Served => "the provider serves again",
            Self::Quiet => "nobody reports it any more",
            Self::Merged => "it is part of the fleet's",
            Self::Time => "who is still bad is so for itself",
            Self::Person => "a person said so",
        })
    }
}

/// Why nobody is ended or respawned at present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Freeze {
    /// Whose incident it is.
    pub scope: Scope,
    /// How many are affected.
    pub affected: u32,
    /// Of how many.
    pub of: u32,
    /// What is wrong with most of them.
    pub kind: Kind,
    /// When it ends by itself.
    pub until: Timestamp,
}

/// The reason a person reads.
impl fmt::Display for Freeze {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scope, affected, of, kind, .. } = self;
        write!(f, "{affected} of {of} agents of {scope} turned {kind} together")
    }
}

/// What people see of an open incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncidentView {
    /// Of whom.
    pub scope: Scope,
    /// How many are affected.
    pub affected: u32,
    /// Of how many.
    pub of: u32,
    /// What is wrong with most of them.
    pub kind: Kind,
    /// When the first of them turned bad.
    pub since: Timestamp,
    /// When the freeze ends by itself; none if it is over.
    pub frozen_until: Option<Timestamp>,
    /// When the incident ends at the latest.
    pub ends_at: Timestamp,
}

/// A provider's outage, shared by all who use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutageView {
    /// When it was first met.
    pub since: Timestamp,
    /// When the provider says that it serves again, as far as that is believed.
    pub reset_at: Option<Timestamp>,
}

/// An open incident. All its moments are fixed when they are set, so that a new policy cannot strand it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Incident {
    pub(crate) kind: Kind,
    pub(crate) opened_at: Timestamp,
    /// The second from which on whoever turned bad belongs to it.
    pub(crate) from: u64,
    /// How many were affected when people were last told.
    pub(crate) told: u32,
    pub(crate) frozen_until: Option<Timestamp>,
    pub(crate) ask_at: Option<Timestamp>,
    /// Since the scope looks well: when it counts as recovered.
    pub(crate) clear_at: Option<Timestamp>,
    pub(crate) ends_at: Timestamp,
    pub(crate) outage: Option<Outage>,
}

/// What is special about a provider's outage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outage {
    /// Calls that succeeded since it was last reported.
    pub(crate) successes: u16,
    /// When it is over if nobody reports it again.
    pub(crate) quiet_at: Timestamp,
}

impl Incident {
    /// When the first of the affected turned bad.
    pub(super) fn since(&self) -> Timestamp {
        Timestamp::from_millis(self.from.saturating_mul(1_000))
    }

    /// When it must be looked at next.
    pub(super) fn due(&self) -> Timestamp {
        let quiet = self.outage.map(|outage| outage.quiet_at);
        let asks = [self.frozen_until, self.ask_at, self.clear_at, quiet];
        asks.into_iter().flatten().fold(self.ends_at, Timestamp::min)
    }

    /// Whether it explains that an agent of its scope is bad in this way.
    pub(super) fn explains(&self, scope: &Scope, kind: Kind) -> bool {
        match scope {
            Scope::Fleet | Scope::Host(_) => true,
            // A provider that fails neither silences nor ends a process, unless this is how it was noticed.
            Scope::Provider(_) => !kind.is_of_the_process() || self.kind.is_of_the_process(),
        }
    }
}
