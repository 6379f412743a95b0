//! What an agent's probes say against it, for as long as they say anything.

use super::aggregate;
use super::{Probe, ProbeHealth, State};
use crate::evidence::{Measure, Severity, Sign};
use crate::signs::Finding;
use crate::time::Timestamp;

/// A result is believed for so many intervals of its probe. Two lost runs in a row are an accident; after three
/// the monitor no longer looks, and must not hold against the agent what it saw before.
const BELIEVED: u64 = 3;

impl ProbeHealth {
    /// What speaks against the agent. Failing checks are a note, and a warning once most of them fail: a probe
    /// may find its port closed while the agent behind it works, so it never says more than that.
    pub fn finding(&self, now: Timestamp) -> Option<Finding> {
        let severity = match self.state {
            State::Unknown | State::Healthy => return None,
            State::Degraded => Severity::Note,
            State::Unhealthy => Severity::Degraded,
        };
        self.believed_until().filter(|until| now < *until)?;
        let counted = || self.probes.iter().filter(|probe| probe.spec.included);
        let failing = counted().filter(|probe| aggregate::is_bad(probe)).count();
        Some(Finding {
            sign: Sign::Probes,
            value: Measure::Count(failing as u64),
            threshold: Measure::Count(counted().count() as u64),
            severity,
        })
    }

    /// Until when what was found is believed if nothing more is found; nothing while there is nothing to believe.
    pub fn believed_until(&self) -> Option<Timestamp> {
        self.probes.iter().filter(|probe| probe.spec.included).filter_map(believed_until).max()
    }
}

fn believed_until(probe: &Probe) -> Option<Timestamp> {
    let last = probe.last.as_ref()?;
    Some(last.checked_at + probe.spec.interval.times(BELIEVED) + probe.spec.timeout)
}
