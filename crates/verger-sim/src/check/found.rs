//! Every injected fault is found in time.
//!
//! One run is too small a sample for "99 of 100": of 26 faults, a monitor that finds 99 % in time misses two in one run
//! out of 35. So a run is broken when it misses so many of a kind that such a monitor would do so less than once in a
//! thousand runs: four of 26, or two of two. The rate itself is judged by the sum over many seeds. What is endured is not
//! expected to be found.

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

/// The share of faults that may be missed.
const MISSED: f64 = 0.01;
/// What happens by chance in fewer runs than this is no chance.
const RARE: f64 = 0.001;

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
            let latest = latest(kind);
            let late = |finding: &&&Finding| finding.found.is_none_or(|latency| latest < latency);
            let missed = findings.iter().filter(late).count();
            if is_beyond_chance(missed, findings.len()) {
                let first = findings.iter().find(late).expect("there are some").fault.clone();
                broken.note(first.began, || {
                    format!("{missed} of {} {kind} not found in time, first {}", findings.len(), first.agent)
                });
            }
        }
        broken.verdict()
    }
}

/// How late it may be found.
fn latest(kind: FaultKind) -> Span {
    match kind {
        FaultKind::TokenRunaway => LATEST_BY_STATISTICS,
        // It decides nothing, and is measured from what the agent sends: who says little is measured late.
        FaultKind::ClockSkew => Span::FOREVER,
        _ => LATEST,
    }
}

/// Whether a monitor that misses one fault in a hundred would miss so many of `count` less than once in a thousand runs.
fn is_beyond_chance(missed: usize, count: usize) -> bool {
    let fewer: f64 = (0..missed).map(|misses| binomial(misses, count)).sum();
    missed > 0 && 1.0 - fewer < RARE
}

/// The probability of so many misses of `count`, where one fault in a hundred is missed.
fn binomial(misses: usize, count: usize) -> f64 {
    let ways: f64 = (0..misses).map(|nth| (count - nth) as f64 / (nth + 1) as f64).product();
    ways * MISSED.powf(misses as f64) * (1.0 - MISSED).powf((count - misses) as f64)
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
                lasted: Span::hours(1),
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
    fn chance_may_miss_some_of_many_and_not_most_of_few() {
        let fewest = |count| (1..=count).find(|missed| is_beyond_chance(*missed, count));
        assert_eq!(
            [1, 2, 10, 26, 100, 1_000].map(fewest),
            [None, Some(2), Some(3), Some(4), Some(6), Some(22)]
        );
        assert!(!is_beyond_chance(0, 0));
    }

    #[test]
    fn a_wrong_clock_may_be_found_late_and_not_be_missed() {
        assert_eq!(run(FaultKind::ClockSkew, Some(Span::ZERO), Some(Span::hours(3))), Ok(()));
        assert!(run(FaultKind::ClockSkew, Some(Span::ZERO), None).is_err());
    }

    #[test]
    fn a_near_loop_is_found_like_any_other_and_what_is_endured_is_not() {
        assert!(run(FaultKind::NearLoop, Some(Span::minutes(2)), None).is_err());
        assert_eq!(run(FaultKind::Transport, None, None), Ok(()));
    }
}
