//! When failures count as one, and for how long nothing is done about them.

use crate::time::Span;

/// When the failures of many agents are one incident. Shares are in percent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The time within which agents must have turned bad to count together. Default 15 min: three intervals of the
    /// slowest usual heartbeat, over which one outage is noticed.
    pub window: Span,
    /// In a scope of fewer agents a share means nothing. Default 5, as Envoy's minimum of hosts.
    pub agents_min: u32,
    /// Fewer affected agents are no incident of a scope. Default 3, as Kubernetes' least unhealthy zone.
    pub affected_min: u32,
    /// The share of the fleet that makes a fleet's incident. Default 50, as Envoy's panic threshold.
    pub fleet_share: u8,
    /// The share of a host's agents that makes a host's incident. Default 50.
    pub host_share: u8,
    /// The share of a provider's users that makes a provider's incident, whatever is wrong with them. Default 50.
    pub provider_share: u8,
    /// As many users who report the provider's own failure make its outage. Default 3.
    pub outage_min: u32,
    /// They must also be this share of its users. Default 10: of a thousand agents, some always meet a rate limit.
    pub outage_share: u8,
    /// Successful calls since the last report that end an outage. Default 3.
    pub outage_successes: u16,
    /// An outage that nobody reported for so long after its reset time is over. Default 30 min.
    pub outage_quiet: Span,
    /// A provider's reset time is believed up to here. Default 6 h, as the patience with providers.
    pub reset_max: Span,
    /// The scope must look well this long before its incident is over. Default 2 min. Well is: fewer than half as
    /// many are affected as would open it.
    pub settle: Span,
    /// While a scope is frozen, people are asked again this often. Default 1 h; at least 1 min.
    pub ask_again: Span,
    /// The longest freeze that no person prolonged. Default 8 h: a night.
    pub freeze_max: Span,
    /// The longest incident. Who is bad after that is so for itself. Default 24 h.
    pub lasts_max: Span,
    /// Nobody is ended sooner than this after it turned bad: who else does is not known before. Default 1 min.
    pub look_around: Span,
    /// At most so many terminations are under way at once, in any state of the fleet. Default 5.
    pub stops_max: u16,
    /// They are at most this share of the fleet, and one is always allowed. Default 10, as Envoy's ejections.
    pub stops_share: u8,
    /// A termination of which no end was heard holds its place no longer than this. Default 10 min.
    pub stop_lasts_max: Span,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            window: Span::minutes(15),
            agents_min: 5,
            affected_min: 3,
            fleet_share: 50,
            host_share: 50,
            provider_share: 50,
            outage_min: 3,
            outage_share: 10,
            outage_successes: 3,
            outage_quiet: Span::minutes(30),
            reset_max: Span::hours(6),
            settle: Span::minutes(2),
            ask_again: Span::hours(1),
            freeze_max: Span::hours(8),
            lasts_max: Span::hours(24),
            look_around: Span::minutes(1),
            stops_max: 5,
            stops_share: 10,
            stop_lasts_max: Span::minutes(10),
        }
    }
}

impl Policy {
    /// How many affected agents of `of` make an incident.
    pub(super) fn needed(&self, share: u8, of: u32) -> u32 {
        self.affected_min.max(share_of(share, of)).max(1)
    }

    /// How many reports of `of` users make an outage.
    pub(super) fn outage_needed(&self, of: u32) -> u32 {
        self.outage_min.max(share_of(self.outage_share, of)).max(1)
    }

    /// How long to wait before people are asked again; a policy of nothing must not ask without end.
    pub(super) fn asks_after(&self) -> Span {
        self.ask_again.max(Span::minutes(1))
    }

    /// How many terminations may be under way in a fleet of `agents`.
    pub(super) fn stops_allowed(&self, agents: u32) -> u32 {
        let share = u64::from(agents) * u64::from(self.stops_share) / 100;
        u32::from(self.stops_max).min((share as u32).max(1))
    }
}

/// A share of a number, rounded up.
fn share_of(percent: u8, of: u32) -> u32 {
    // At most 255 % of 2^32: it fits 64 bits, and is cut to 32.
    let share = (u64::from(of) * u64::from(percent)).div_ceil(100);
    u32::try_from(share).unwrap_or(u32::MAX)
}
