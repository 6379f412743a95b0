//! Every injected fault is found in time.
//!
//! One run is too small a sample for "99 of 100": a kind may have one miss, or one in a hundred. The rate is
//! judged by the sum over many seeds. Near loops, and conditions of the world that are nobody's fault, are
//! not expected to be found.

use std::collections::BTreeMap;

use verger_core::time::Span;

use super::{Broken, Checker, End};
use crate::harness::Finding;
use crate::trace::Moment;
use crate::world::FaultKind;

/// L14: stuck is detected less than five minutes after the threshold.
const LATEST: Span = Span::minutes(5);
/// A runaway is a warning by statistics: use is uneven, and the first moment at which six of nine minutes can be far
/// above the usual is seldom the one at which they are.
const LATEST_BY_STATISTICS: Span = Span::hours(1);

/// Reads the judgement at the end.
#[derive(Debug)]
pub(super) struct FoundInTime;

impl Checker for FoundInTime {
    fn name(&self) -> &'static str {
        "every-fault-found-in-time"
    }

    fn observe(&mut self, _moment: &Moment<'_>) {}

    fn finish(&mut self, end: &End<'_>) -> Result<(), String> {
        let mut kinds: BTreeMap<FaultKind, Vec<&Finding>> = BTreeMap::new();
        for finding in &end.judgement.findings {
            if finding.allowance.is_some() && !finding.too_short {
                kinds.entry(finding.fault.kind).or_default().push(finding);
            }
        }
        let mut broken = Broken::default();
        for (kind, findings) in kinds {
            let latest = if kind == FaultKind::TokenRunaway { LATEST_BY_STATISTICS } else { LATEST };
            let late = |finding: &&&Finding| finding.found.is_none_or(|latency| latest < latency);
            let missed = findings.iter().filter(late).count();
            if missed > (findings.len() / 100).max(1) {
                let first = findings.iter().find(late).expect("there are some").fault.clone();
                broken.note(first.began, || {
                    format!("{missed} of {} {kind} not found in time, first {}", findings.len(), first.agent)
                });
            }
        }
        broken.verdict()
    }
}

#[cfg(test)]
mod tests {
    use verger_core::id::Incarnation;

    use super::super::testing::Trace;
    use super::*;
    use crate::world::SimTime;

    fn run(kind: FaultKind, allowance: Option<Span>, found: Option<Span>) -> Result<(), String> {
        let mut trace = Trace::new();
        for _ in 0..2 {
            let id = trace.truth.inject(0, kind, Incarnation::FIRST, None, SimTime(60_000));
            let fault = trace.truth.injected()[id as usize].clone();
            trace.judgement.findings.push(Finding {
                fault,
                allowance,
                too_short: false,
                found,
                intervened: None,
            });
        }
        trace.finish(&mut FoundInTime)
    }

    #[test]
    fn a_fault_that_is_never_found_is_caught() {
        let caught = run(FaultKind::Freeze, Some(Span::secs(4)), None);
        assert_eq!(caught, Err("at 1m: 2 of 2 freeze not found in time, first a".into()));
    }

    #[test]
    fn a_fault_that_is_found_too_late_is_caught() {
        assert!(run(FaultKind::Freeze, Some(Span::secs(4)), Some(Span::minutes(6))).is_err());
        assert_eq!(run(FaultKind::Freeze, Some(Span::secs(4)), Some(Span::minutes(4))), Ok(()));
    }

    #[test]
    fn a_near_loop_may_be_missed() {
        assert_eq!(run(FaultKind::NearLoop, None, None), Ok(()));
    }
}
