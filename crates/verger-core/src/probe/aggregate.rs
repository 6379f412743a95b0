//! One state of several probes, and the sentence for it.
//!
//! 004 §4.6 calls an agent healthy when all checks pass, degraded when some fail and unhealthy when most or all
//! fail. Most is more than half of the probes that count; those that have found nothing yet are no failure, and
//! advisory ones are only mentioned.

use std::fmt::Write as _;

use super::health::Probe;
use super::track::State;
use crate::text;

/// Characters of a summary.
pub(super) const SUMMARY_MAX: usize = 500;
/// Characters of one probe's description in it.
const DETAIL_MAX: usize = 80;

pub(super) fn state(probes: &[Probe]) -> State {
    let included = || probes.iter().filter(|probe| probe.spec.included);
    let count = |state| included().filter(|probe| probe.track.state == state).count();
    let (unhealthy, degraded) = (count(State::Unhealthy), count(State::Degraded));
    if unhealthy * 2 > included().count() {
        State::Unhealthy
    } else if unhealthy + degraded > 0 {
        State::Degraded
    } else if count(State::Healthy) > 0 {
        State::Healthy
    } else {
        State::Unknown
    }
}

/// The longest row of failures of a probe that counts.
pub(super) fn failure_count(probes: &[Probe]) -> u32 {
    probes.iter().filter(|probe| probe.spec.included).map(|probe| probe.track.failures).max().unwrap_or(0)
}

/// What a person reads.
pub(super) fn summary(probes: &[Probe]) -> String {
    let included = probes.iter().filter(|probe| probe.spec.included);
    let bad: Vec<_> = included.clone().filter(|probe| is_bad(probe)).collect();
    let mut text = match (bad.is_empty(), state(probes)) {
        (false, _) => format!("{} of {} health checks failing", bad.len(), included.count()),
        (true, State::Unknown) => "Health not yet determined".to_owned(),
        (true, State::Healthy | State::Degraded | State::Unhealthy) => "All health checks passing".to_owned(),
    };
    for (n, probe) in bad.iter().enumerate() {
        let _ = write!(text, "{} {}", if n == 0 { ":" } else { "," }, told(probe));
    }
    for probe in probes.iter().filter(|probe| !probe.spec.included && is_bad(probe)) {
        let _ = write!(text, "; advisory: {}", told(probe));
    }
    // One lost run is noise; two in a row are worth a word.
    for probe in probes.iter().filter(|probe| probe.unreported > 1) {
        let _ = write!(text, "; {}: nothing found out in {} checks", probe.spec.name, probe.unreported);
    }
    text::first(&text, SUMMARY_MAX).to_owned()
}

pub(super) fn is_bad(probe: &Probe) -> bool {
    matches!(probe.track.state, State::Degraded | State::Unhealthy)
}

fn told(probe: &Probe) -> String {
    let (name, track, spec) = (&probe.spec.name, probe.track, &probe.spec);
    if track.passes > 0 {
        return format!("{name} recovering, {} of {} passes", track.passes, spec.success_threshold);
    }
    let said = probe.last.as_ref().map(super::Reported::text).unwrap_or_default();
    format!("{name} {} in a row ({})", track.failures, text::first(&said, DETAIL_MAX))
}
