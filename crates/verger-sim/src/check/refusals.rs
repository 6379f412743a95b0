//! No breaker refuses for ever: who is refused asks in vain for a while that the policy names, no permit is stuck, and
//! when what it stands before is well and calls have shown it, it closes.
//!
//! Everything is measured in observed time: a monitor that was away could not let anybody through.

use verger_core::breaker::{Policy, Refused};
use verger_core::policy::Policies;
use verger_core::time::Span;

use super::{Broken, Checker, End};
use crate::trace::Moment;
use crate::world::{Answered, ServiceFacts, SimTime};

/// Deadlines are noticed this late at most.
const SLACK: u64 = 1_000;
/// Calls that must have gone well before a breaker has to be closed, in half-open quotas: some of them fail by chance,
/// are reported too late, or never.
const QUOTAS: usize = 5;

/// Reads what was asked and answered at the end.
#[derive(Debug)]
pub(super) struct NoEndlessRefusal {
    policies: Policies,
}

impl NoEndlessRefusal {
    pub(super) fn new(policies: Policies) -> Self {
        Self { policies }
    }
}

impl Checker for NoEndlessRefusal {
    fn name(&self) -> &'static str {
        "no-breaker-refuses-for-ever"
    }

    fn observe(&mut self, _moment: &Moment<'_>) {}

    fn finish(&mut self, end: &End<'_>) -> Result<(), String> {
        let mut broken = Broken::default();
        for service in end.truth.services() {
            let policy = self.policies.breakers.of(service.breaker.kind());
            refusals(service, policy, end, &mut broken);
            for well in service.troubles.iter().filter_map(|trouble| trouble.ended) {
                closing(service, policy, end, well, &mut broken);
            }
        }
        broken.verdict()
    }
}

/// A refusal is never older than the last permit allows: it may be out for its time, and then the breaker open for its.
fn refusals(service: &ServiceFacts, policy: &Policy, end: &End<'_>, broken: &mut Broken) {
    let mut answers: Vec<(SimTime, Answered)> = service.asks.iter().filter_map(|ask| ask.answer).collect();
    answers.sort_by_key(|(at, _)| *at);
    let mut permitted: Option<SimTime> = None;
    for (at, answer) in answers {
        let (because, retry_after) = match answer {
            Answered::Permitted => {
                permitted = Some(at);
                continue;
            }
            Answered::Denied { because, retry_after } => (because, retry_after),
            Answered::Unwatched => continue,
        };
        let most = match because {
            Refused::Open => policy.permit_timeout + policy.open_for_max.max(policy.open_for),
            Refused::Trying => policy.permit_timeout,
            Refused::Forced => continue,
        };
        let since = end.seen.between(permitted.unwrap_or_default(), at);
        let name = &service.breaker;
        if most.as_millis() + SLACK < since {
            let since = Span::millis(since);
            broken.note(at, || format!("{name} refuses ({because}), and gave no permit for {since}"));
        }
        if most < retry_after {
            broken.note(at, || format!("{name} has its caller wait for {retry_after} ({because})"));
        }
    }
}

/// When it is well and calls have shown that, the breaker closes.
fn closing(service: &ServiceFacts, policy: &Policy, end: &End<'_>, well: SimTime, broken: &mut Broken) {
    let Some(closed) = end.breakers.closed_after(&service.breaker, end.seen.at(well)) else { return };
    let from = service.asks.partition_point(|ask| ask.at < well);
    let troubled = |at: SimTime| service.trouble_at(at).is_some();
    let shown = service.asks[from..].iter().take_while(|ask| !troubled(ask.at)).filter_map(|ask| ask.heard);
    let mut shown: Vec<SimTime> = shown.collect();
    shown.sort_unstable();
    let enough = QUOTAS * usize::from(policy.half_open_requests.max(1));
    let Some(at) = shown.get(enough) else { return };
    if closed.is_none_or(|closed| end.seen.at(*at) + SLACK < closed) {
        let name = &service.breaker;
        broken
            .note(*at, || format!("{name} is not closed after {enough} calls, and all is well since {well}"));
    }
}

#[cfg(test)]
mod tests {
    use verger_core::breaker::State;

    use super::super::testing::{Trace, asked, turns, wanted};
    use super::*;
    use crate::world::TroubleKind;

    const OPEN: Answered = Answered::Denied { because: Refused::Open, retry_after: Span::secs(10) };
    const TRYING: Answered = Answered::Denied { because: Refused::Trying, retry_after: Span::secs(10) };

    fn checker() -> NoEndlessRefusal {
        NoEndlessRefusal::new(Policies::default())
    }

    /// Seconds after which a refusal is too old.
    fn limits() -> (u64, u64) {
        let policy = Policies::default().breakers.shared;
        let out = policy.permit_timeout.as_millis() / 1_000;
        (out, out + policy.open_for_max.max(policy.open_for).as_millis() / 1_000)
    }

    #[test]
    fn a_permit_that_is_stuck_is_caught() {
        let (out, _) = limits();
        let run = |secs| {
            let mut trace = Trace::new();
            asked(&mut trace, 10, Answered::Permitted);
            asked(&mut trace, 10 + secs, TRYING);
            trace.finish(&mut checker())
        };
        assert_eq!(run(out), Ok(()));
        let caught = run(out + 2).unwrap_err();
        assert!(caught.contains("shared/store refuses (others try already"), "{caught}");
    }

    #[test]
    fn a_breaker_that_stays_open_is_caught() {
        let (_, most) = limits();
        let run = |secs| {
            let mut trace = Trace::new();
            asked(&mut trace, 10, Answered::Permitted);
            asked(&mut trace, 20, OPEN);
            asked(&mut trace, 10 + secs, OPEN);
            trace.finish(&mut checker())
        };
        assert_eq!(run(most), Ok(()));
        assert!(run(most + 2).unwrap_err().contains("shared/store refuses (it keeps failing)"));
    }

    #[test]
    fn a_breaker_that_does_not_close_though_calls_go_well_is_caught() {
        let run = |closes: bool| {
            let mut trace = Trace::new();
            trace.trouble(TroubleKind::Fails, 100, 200);
            trace.at(110).commit(&mut checker(), vec![turns(State::Closed, State::Open)], vec![]);
            for nth in 0..20 {
                wanted(&mut trace, 210 + 60 * nth, true);
            }
            if closes {
                trace.at(280).commit(&mut checker(), vec![turns(State::Open, State::Closed)], vec![]);
            }
            trace.at(3_600).finish(&mut checker())
        };
        assert_eq!(run(true), Ok(()));
        assert!(run(false).unwrap_err().contains("shared/store is not closed after 5 calls"));
    }
}
