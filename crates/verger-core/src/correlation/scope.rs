//! Where agents belong together, and how one agent stands in it.

use std::fmt;

use crate::id::{HostId, ProviderId};
use crate::time::Timestamp;

/// What agents have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// All agents.
    Fleet,
    /// Those on one host.
    Host(HostId),
    /// Those that use one provider.
    Provider(ProviderId),
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fleet => f.write_str("the fleet"),
            Self::Host(host) => write!(f, "host {host}"),
            Self::Provider(provider) => write!(f, "provider {provider}"),
        }
    }
}

/// In which way an agent is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It is not heard.
    Silent,
    /// It makes no progress.
    Stuck,
    /// It is in an error loop or broken.
    Failing,
    /// Its process ended though nobody asked it to.
    Died,
    /// Its provider refuses or fails it: rate limit, authentication, outage. The agent itself is well.
    Provider,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [Self::Silent, Self::Stuck, Self::Failing, Self::Died, Self::Provider];

    /// Whether the process itself is in doubt, which no failure of a provider explains.
    pub(super) fn is_of_the_process(self) -> bool {
        match self {
            Self::Silent | Self::Died => true,
            Self::Stuck | Self::Failing | Self::Provider => false,
        }
    }

    /// Whether a change from one kind to another is news, or the same trouble seen again.
    pub(super) fn is_news_after(self, before: Self) -> bool {
        self != before && (self == Self::Died || self == Self::Provider || before == Self::Provider)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Silent => "silent",
            Self::Stuck => "stuck",
            Self::Failing => "failing",
            Self::Died => "dead",
            Self::Provider => "refused by the provider",
        })
    }
}

/// How one agent stands in its scopes. The agent keeps and stores it; only the machine changes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Membership {
    /// Whether it is counted among the fleet.
    pub(crate) joined: bool,
    pub(crate) host: Option<HostId>,
    pub(crate) provider: Option<ProviderId>,
    pub(crate) bad: Option<Bad>,
}

/// Since when and how an agent is bad, and in which scopes that counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bad {
    /// The second in which it turned bad.
    pub(crate) second: u64,
    pub(crate) kind: Kind,
    pub(crate) in_fleet: bool,
    pub(crate) in_host: bool,
    pub(crate) in_provider: bool,
}

impl Membership {
    /// Counted among the fleet, well, and of no known host or provider.
    pub(crate) fn of_the_fleet() -> Self {
        Self { joined: true, ..Self::default() }
    }

    /// As it would be if the agent were there now: to ask about one that has left.
    pub(crate) fn as_if_there(host: Option<&HostId>, provider: Option<&ProviderId>) -> Self {
        Self { joined: true, host: host.cloned(), provider: provider.cloned(), bad: None }
    }

    /// In which way it is bad, if it is.
    pub fn kind(&self) -> Option<Kind> {
        self.bad.map(|bad| bad.kind)
    }

    /// The scopes it belongs to, the widest first, each with whether its badness counts there.
    pub(super) fn scopes(&self) -> impl Iterator<Item = (Scope, bool)> + use<> {
        let counts = self.bad.map_or([false; 3], |bad| [bad.in_fleet, bad.in_host, bad.in_provider]);
        let fleet = self.joined.then_some((Scope::Fleet, counts[0]));
        let host = self.host.clone().map(|host| (Scope::Host(host), counts[1]));
        let provider = self.provider.clone().map(|provider| (Scope::Provider(provider), counts[2]));
        [fleet, host, provider].into_iter().flatten()
    }
}

/// Moments are counted by the second: fine enough for windows of minutes, and few however many agents fail.
pub(super) fn second(at: Timestamp) -> u64 {
    at.as_millis() / 1_000
}
