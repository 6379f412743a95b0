//! What fails is spared: a breaker opens before long, lets no more than its half-open quota through while it is not
//! closed, however many agents stand behind it, and never closes while every call fails.
//!
//! Calls are counted as they reach the service, in observed time. Who calls without asking, because the monitor is
//! away, is not counted: no monitor can hold it back.

use verger_core::breaker::{Policy, State};
use verger_core::policy::Policies;
use verger_core::time::Span;

use super::{Broken, Checker, End};
use crate::trace::{Moment, What};
use crate::world::{ServiceFacts, SimTime, Trouble, TroubleKind};

/// Deadlines are noticed this late at most.
const SLACK: u64 = 1_000;
/// No client waits longer than this for a service: what began before the trouble is over by then.
const CALL_MAX: Span = Span::secs(120);

/// Knows when the monitor died, and reads the rest at the end.
#[derive(Debug)]
pub(super) struct FailingIsSpared {
    policies: Policies,
    deaths: Vec<SimTime>,
}

impl FailingIsSpared {
    pub(super) fn new(policies: Policies) -> Self {
        Self { policies, deaths: Vec::new() }
    }
}

impl Checker for FailingIsSpared {
    fn name(&self) -> &'static str {
        "failing-services-are-spared"
    }

    fn observe(&mut self, moment: &Moment<'_>) {
        if matches!(moment.what, What::Died) {
            self.deaths.push(moment.at);
        }
    }

    fn finish(&mut self, end: &End<'_>) -> Result<(), String> {
        let mut broken = Broken::default();
        for service in end.truth.services() {
            let policy = self.policies.breakers.of(service.breaker.kind());
            let call = Calls { service, policy, end, deaths: &self.deaths };
            call.within_quota(&mut broken);
            for trouble in &service.troubles {
                let counts = trouble.kind != TroubleKind::Unavailable || policy.outages_count;
                if trouble.kind.is_outright() && counts {
                    call.opens(trouble, &mut broken);
                    call.stays_open(trouble, &mut broken);
                }
            }
        }
        broken.verdict()
    }
}

/// The calls to one service.
struct Calls<'a> {
    service: &'a ServiceFacts,
    policy: &'a Policy,
    end: &'a End<'a>,
    deaths: &'a [SimTime],
}

impl Calls<'_> {
    /// While it is not closed, no more calls than the half-open quota pass in any stretch for which it stays open.
    ///
    /// A permit need not survive the monitor: after each of its deaths the quota is given anew.
    fn within_quota(&self, broken: &mut Broken) {
        let quota = usize::from(self.policy.half_open_requests.max(1));
        let turns = self.end.breakers.of(&self.service.breaker);
        let mut calls: Vec<(u64, SimTime)> = self.permitted().collect();
        calls.sort_unstable();
        for (nth, turned) in turns.iter().enumerate().filter(|(_, turned)| turned.to == State::Open) {
            let from = turned.at.as_millis();
            let closed = turns[nth..].iter().find(|turned| turned.to == State::Closed);
            let until = closed.map_or(u64::MAX, |turned| turned.at.as_millis());
            let inside = calls.partition_point(|(seen, _)| *seen <= from)
                ..calls.partition_point(|(seen, _)| *seen < until);
            for pair in calls[inside].windows(quota + 1) {
                let (first, last) = (pair[0], pair[quota]);
                let died = self.deaths.iter().any(|death| first.1 <= *death && *death <= last.1);
                if last.0 - first.0 + SLACK < self.policy.open_for.as_millis() && !died {
                    let (name, count) = (&self.service.breaker, quota + 1);
                    let within = Span::millis(last.0 - first.0);
                    broken.note(last.1, || {
                        format!("{count} calls pass {name} within {within}, of {quota} allowed")
                    });
                }
            }
        }
    }

    /// When enough calls have failed and were heard, no more pass until it has opened.
    fn opens(&self, trouble: &Trouble, broken: &mut Broken) {
        let asks = &self.service.asks;
        let from = asks.partition_point(|ask| ask.at < trouble.began);
        let ended = trouble.ended.unwrap_or(self.end.at);
        let inside = || asks[from..].iter().take_while(|ask| ask.at < ended).filter(|ask| ask.permitted);
        let mut heard: Vec<SimTime> = inside().filter_map(|ask| ask.heard).collect();
        heard.sort_unstable();
        // Those that began before may still succeed in between, and some reports come late.
        let enough = 3 * usize::from(self.policy.failure_threshold) + 10;
        let Some(heard) = heard.get(enough) else { return };
        let (began, heard) = (self.end.seen.at(trouble.began), self.end.seen.at(*heard));
        let turns = self.end.breakers.of(&self.service.breaker);
        let before = turns.partition_point(|turned| turned.at.as_millis() <= heard + SLACK);
        let shut = turns[..before].last().is_none_or(|turned| turned.to == State::Closed);
        let opened = turns[..before].iter().any(|turned| began <= turned.at.as_millis());
        if shut && !opened {
            let name = &self.service.breaker;
            broken.note(trouble.began, || format!("{name} does not open though {enough} calls failed"));
        }
    }

    /// It does not close while every call fails.
    fn stays_open(&self, trouble: &Trouble, broken: &mut Broken) {
        let from = self.end.seen.at(trouble.began + CALL_MAX.as_millis());
        let until = self.end.seen.at(trouble.ended.unwrap_or(self.end.at));
        let turns = self.end.breakers.of(&self.service.breaker);
        let closed = |at: u64, to: State| to == State::Closed && from < at && at < until;
        if turns.iter().any(|turned| closed(turned.at.as_millis(), turned.to)) {
            let name = &self.service.breaker;
            broken.note(trouble.began, || format!("{name} closes though every call fails"));
        }
    }

    /// Calls that were made with a permit, in observed and in true time.
    fn permitted(&self) -> impl Iterator<Item = (u64, SimTime)> {
        let calls = self.service.asks.iter().filter(|ask| ask.permitted).filter_map(|ask| ask.called);
        calls.map(|at| (self.end.seen.at(at), at))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trace, turns, wanted};
    use super::*;

    fn checker() -> FailingIsSpared {
        FailingIsSpared::new(Policies::default())
    }

    /// A service that fails for an hour from 1000 s on; calls at these seconds have a permit.
    fn run(opens: bool, calls: &[u64], closes: Option<u64>) -> Result<(), String> {
        let mut trace = Trace::new();
        trace.trouble(TroubleKind::Fails, 1_000, 4_600);
        for at in calls {
            wanted(&mut trace, *at, true);
        }
        if opens {
            trace.at(1_010).commit(&mut checker(), vec![turns(State::Closed, State::Open)], vec![]);
        }
        if let Some(at) = closes {
            trace.at(at).commit(&mut checker(), vec![turns(State::HalfOpen, State::Closed)], vec![]);
        }
        trace.at(5_000).finish(&mut checker())
    }

    #[test]
    fn calls_beyond_the_quota_are_caught() {
        let open_for = Policies::default().breakers.shared.open_for.as_millis() / 1_000;
        assert_eq!(run(true, &[1_001, 1_002, 1_003, 1_100, 1_100 + open_for], None), Ok(()));
        let caught = run(true, &[1_001, 1_100, 1_101], None);
        assert_eq!(
            caught,
            Err("at 18m21s: 2 calls pass shared/store within 1s, of 1 allowed".into()),
            "the policy allows one"
        );
    }

    #[test]
    fn a_breaker_that_never_opens_is_caught() {
        let many: Vec<u64> = (0..60).map(|nth| 1_001 + nth * 20).collect();
        assert!(run(false, &many, None).unwrap_err().contains("shared/store does not open"));
        assert_eq!(run(false, &many[..9], None), Ok(()), "too few calls to tell");
    }

    #[test]
    fn a_breaker_that_closes_while_every_call_fails_is_caught() {
        assert_eq!(run(true, &[], Some(4_700)), Ok(()));
        assert!(run(true, &[], Some(3_000)).unwrap_err().contains("closes though every call fails"));
    }
}
