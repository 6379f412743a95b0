//! When the monitor knew a condition of the world for what it is.
//!
//! Nobody is alarmed because a provider refuses, or because a clock is wrong: both are shown. So they count as found when
//! a person who looks at the agent sees them.

use std::collections::BTreeMap;

use verger_core::signal::Awaited;
use verger_core::time::Timestamp;
use verger_core::{AgentView, Fleet};

use crate::world::{FaultKind, SimTime, Truth};

/// How often somebody looks. What is over before that, in seen time, nobody could have been shown.
pub(super) const LOOK_EVERY: u64 = 15_000;
/// Every wrong clock is wrong by a minute or more; one that is shown as wrong by half of that is known.
const WRONG_MS: u64 = 30_000;

/// What became known, and when.
#[derive(Debug, Default)]
pub(super) struct Known {
    since: BTreeMap<u32, SimTime>,
    /// Conditions that are not known yet.
    open: Vec<u32>,
    /// How many faults were looked through.
    read: usize,
    looked: u64,
}

/// Whether people are shown this, instead of being told.
pub(super) fn is_shown(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::ProviderOutage | FaultKind::ClockSkew)
}

impl Known {
    /// Looks at every agent under a condition that is not known yet, if it is time to.
    pub(super) fn look(&mut self, now: SimTime, observed: Timestamp, truth: &Truth, fleet: &Fleet) {
        if now.0 < self.looked + LOOK_EVERY {
            return;
        }
        self.looked = now.0;
        let injected = truth.injected();
        let begun = injected[self.read..].iter().filter(|fault| is_shown(fault.kind));
        self.open.extend(begun.map(|fault| fault.id));
        self.read = injected.len();
        let since = &mut self.since;
        self.open.retain(|id| {
            let fault = &injected[*id as usize];
            let view = fleet.view(observed, &fault.agent);
            let known = view.is_some_and(|view| shows(fault.kind, &view));
            if known {
                since.insert(*id, now);
            }
            !known && fault.is_active_at(now)
        });
    }

    /// When this fault became known, if it did.
    pub(super) fn since(&self, fault: u32) -> Option<SimTime> {
        self.since.get(&fault).copied()
    }
}

fn shows(kind: FaultKind, view: &AgentView) -> bool {
    match kind {
        FaultKind::ProviderOutage => view.waiting_on.is_some_and(|wait| wait.awaited == Awaited::Provider),
        _ => view.clock_skew_ms.is_some_and(|skew| WRONG_MS <= skew.unsigned_abs()),
    }
}

#[cfg(test)]
mod tests {
    use verger_core::id::{AgentId, HostId, Incarnation};
    use verger_core::policy::Policies;
    use verger_core::signal::{Body, Content, Failure, Signal, Trust};
    use verger_core::time::{AgentTime, WallTime};
    use verger_core::{Collector, fingerprint::TextPrint};

    use super::*;
    use crate::world::{AgentFacts, Connection};

    /// What becomes known of a condition of this kind by what an agent sends.
    fn known(kind: FaultKind, sent_at: Option<AgentTime>, body: Body) -> Option<SimTime> {
        let id = AgentId::from("a");
        let mut truth = Truth::default();
        truth.enrol(AgentFacts {
            id: id.clone(),
            role: None,
            connection: Connection::Sdk,
            pinged: false,
            beat_ms: None,
            verified: true,
            reports_tools: true,
            host: HostId::from("h"),
            provider: "p".into(),
        });
        let fault = truth.inject(0, kind, Incarnation::FIRST, None, SimTime::ZERO);
        let (mut known, mut fleet) = (Known::default(), Fleet::new(Policies::default(), 1));
        let now = Timestamp::from_millis(20_000);
        known.look(SimTime(20_000), now, &truth, &fleet);
        assert_eq!(known.since(fault), None, "nothing was heard yet");
        let content =
            Content { incarnation: None, sent_at, received_at: WallTime(0), trust: Trust::Verified, body };
        let _ = fleet.observe(now, &Signal { agent: id, content }, &mut Collector::default());
        known.look(SimTime(30_000), now, &truth, &fleet);
        assert_eq!(known.since(fault), None, "nobody looks yet");
        known.look(SimTime(40_000), now, &truth, &fleet);
        known.since(fault)
    }

    #[test]
    fn an_outage_is_known_when_the_agent_is_shown_to_wait_for_its_provider() {
        let refused = |provider| {
            let failure = Failure { text: TextPrint(1), unrecoverable: false, provider, retry_after: None };
            known(FaultKind::ProviderOutage, None, Body::Error(failure))
        };
        assert_eq!(refused(true), Some(SimTime(40_000)));
        assert_eq!(refused(false), None);
    }

    #[test]
    fn a_wrong_clock_is_known_when_it_is_shown_to_be_wrong() {
        let dated = |millis| known(FaultKind::ClockSkew, Some(AgentTime(millis)), Body::Activity);
        assert_eq!(dated(-60_000), Some(SimTime(40_000)));
        assert_eq!(dated(1_000), None);
    }
}
