//! What X11 adds: permits that expire, rates over a window, slow calls, a growing time, and modes.

use super::{SLOW, at, run};
use crate::breaker::{Breaker, BreakerName, CallResult, Outcome, Policy, State};
use crate::time::Span;

#[test]
fn x11_a_permit_that_is_never_reported_back_expires_and_nothing_latches() {
    insta::assert_snapshot!(run(&Policy::default(), "
        0s fail, 0s fail, 0s fail, 60s ask a, 359s wake, 359s ask b, 360s wake, 361s a ok, 420s ask c, 421s a fail,
        422s c ok"), @r"
    0s CLOSED -> OPEN: 3 failures in a row
    1m OPEN -> HALF_OPEN: open for 1m, it may be tried again
    1m a passes
    5m59s b is refused: others try already whether it works again; try again in 1s
    6m HALF_OPEN -> OPEN: the call that tried it was never reported back
    6m1s a is Late
    7m OPEN -> HALF_OPEN: open for 1m, it may be tried again
    7m c passes
    7m1s a is Late
    7m2s HALF_OPEN -> CLOSED: it works again
    ");
}

#[test]
fn x11_a_permit_expires_even_if_nobody_woke_the_breaker() {
    insta::assert_snapshot!(run(&Policy::default(), "
        0s fail, 0s fail, 0s fail, 60s ask a, 360s a ok, 361s ask b"), @r"
    0s CLOSED -> OPEN: 3 failures in a row
    1m OPEN -> HALF_OPEN: open for 1m, it may be tried again
    1m a passes
    6m HALF_OPEN -> OPEN: the call that tried it was never reported back
    6m a is Late
    6m1s b is refused: it keeps failing; try again in 59s
    ");
}

#[test]
fn reports_of_an_earlier_state_and_repeated_ones_change_nothing() {
    insta::assert_snapshot!(run(&Policy::default(), "
        0s ask a, 0s ask b, 0s ask c, 0s ask d, 1s a fail, 1s a fail, 1s a fail, 1s a fail, 2s b fail, 3s c fail,
        4s d ok, 63s ask e, 64s d ok, 64s b fail, 65s e ok, 66s e fail, 66s d fail"), @r"
    0s a passes
    0s b passes
    0s c passes
    0s d passes
    1s a is Repeated
    1s a is Repeated
    1s a is Repeated
    3s CLOSED -> OPEN: 3 failures in a row
    4s d is Late
    1m3s OPEN -> HALF_OPEN: open for 1m, it may be tried again
    1m3s e passes
    1m4s d is Late
    1m4s b is Late
    1m5s HALF_OPEN -> CLOSED: it works again
    1m6s e is Late
    1m6s d is Late
    ");
}

#[test]
fn of_thousands_of_calls_under_way_each_counts_at_most_once() {
    let policy = Policy { failure_threshold: u16::MAX, ..Policy::default() };
    let mut breaker = Breaker::new(at(0));
    let mut out = Vec::new();
    let permits: Vec<_> =
        (0..1_000).map(|_| breaker.acquire(at(0), &policy, &mut out).expect("it is closed")).collect();
    for _ in 0..3 {
        for permit in &permits {
            breaker.report(at(1), *permit, CallResult::Failed.into(), &policy, &mut out);
        }
    }
    assert_eq!(breaker.streak, 1_000);
    assert_eq!(breaker.outstanding(), 0);
}

#[test]
fn l25_each_call_that_is_seen_answers_for_one_permit_however_many_are_out() {
    let policy = Policy::default();
    let mut breaker = Breaker::new(at(0));
    let mut out = Vec::new();
    for _ in 0..130 {
        breaker.acquire(at(0), &policy, &mut out).expect("it is closed");
    }
    for left in (0..130).rev() {
        breaker.observe(at(1), CallResult::Ok.into(), &policy, &mut out);
        assert_eq!(breaker.outstanding(), left);
    }
}

#[test]
fn l25_a_call_that_began_when_the_breaker_opened_is_no_earlier_one() {
    let policy = Policy { failure_threshold: 1, ..Policy::default() };
    for (took, closes) in [(61, false), (60, true)] {
        let mut breaker = Breaker::new(at(0));
        let mut out = Vec::new();
        breaker.observe(at(0), CallResult::Failed.into(), &policy, &mut out);
        let seen = Outcome { result: CallResult::Ok, took: Some(Span::secs(took)) };
        breaker.observe(at(60), seen, &policy, &mut out);
        assert_eq!(breaker.state() == State::Closed, closes, "it took {took} s");
    }
}

#[test]
fn x11_a_failure_rate_opens_once_there_are_enough_calls() {
    let policy = Policy {
        failure_threshold: 100,
        failure_rate: Some(500),
        window: 8,
        minimum_calls: 6,
        ..Policy::default()
    };
    insta::assert_snapshot!(run(&policy, "1s fail, 2s ok, 3s fail, 4s ok, 5s fail, 6s ok, 7s ok, 8s fail"), @r"
    8s CLOSED -> OPEN: 4 of the last 8 calls failed
    ");
    insta::assert_snapshot!(run(&policy, "1s fail, 2s fail, 3s fail, 4s fail, 5s fail, 6s fail"), @r"
    6s CLOSED -> OPEN: 6 of the last 6 calls failed
    ");
}

#[test]
fn x11_the_window_slides_and_a_success_never_opens() {
    let policy = Policy {
        failure_threshold: 100,
        failure_rate: Some(500),
        window: 4,
        minimum_calls: 4,
        ..Policy::default()
    };
    let old_failures_leave =
        "1s fail, 1s ok, 1s ok, 1s ok, 2s fail, 3s ok, 4s ok, 5s ok, 6s fail, 7s ok, 8s fail";
    assert_eq!(run(&policy, old_failures_leave), "8s CLOSED -> OPEN: 2 of the last 4 calls failed");
    assert_eq!(run(&policy, "1s fail, 1s fail, 1s fail, 1s ok, 1s ok, 1s ok, 1s ok, 2s fail, 3s ok"), "");
}

#[test]
fn x11_slow_calls_open_by_their_rate_and_a_slow_try_is_no_success() {
    let policy = Policy {
        slow_after: Some(SLOW.half()),
        slow_rate: 750,
        window: 4,
        minimum_calls: 4,
        ..Policy::default()
    };
    insta::assert_snapshot!(run(&policy, "
        1s slow, 2s slow, 3s ok, 4s ok, 5s slow, 6s slow, 7s slow, 67s ask a, 68s a slow, 128s ask b, 129s b ok"), @r"
    7s CLOSED -> OPEN: 3 of the last 4 calls were slow
    1m7s OPEN -> HALF_OPEN: open for 1m, it may be tried again
    1m7s a passes
    1m8s HALF_OPEN -> OPEN: the call that tried it failed
    2m8s OPEN -> HALF_OPEN: open for 1m, it may be tried again
    2m8s b passes
    2m9s HALF_OPEN -> CLOSED: it works again
    ");
    assert_eq!(
        run(&Policy::default(), "1s slow, ".repeat(99).trim_end_matches([',', ' '])),
        "",
        "off by default"
    );
}

#[test]
fn x11_the_open_time_grows_to_its_maximum_and_a_stable_time_ends_that() {
    let policy = Policy {
        failure_threshold: 1,
        growth_percent: 200,
        open_for_max: Span::secs(200),
        ..Policy::default()
    };
    insta::assert_snapshot!(run(&policy, "
        0s fail, 60s fail, 180s fail, 380s fail, 580s ok, 1179s fail, 1379s ok, 1979s fail, 2039s wake"), @r"
    0s CLOSED -> OPEN: a failure
    1m OPEN -> HALF_OPEN: open for 1m, it may be tried again
    1m HALF_OPEN -> OPEN: the call that tried it failed
    3m OPEN -> HALF_OPEN: open for 2m, it may be tried again
    3m HALF_OPEN -> OPEN: the call that tried it failed
    6m20s OPEN -> HALF_OPEN: open for 3m20s, it may be tried again
    6m20s HALF_OPEN -> OPEN: the call that tried it failed
    9m40s OPEN -> HALF_OPEN: open for 3m20s, it may be tried again
    9m40s HALF_OPEN -> CLOSED: it works again
    19m39s CLOSED -> OPEN: a failure
    22m59s OPEN -> HALF_OPEN: open for 3m20s, it may be tried again
    22m59s HALF_OPEN -> CLOSED: it works again
    32m59s CLOSED -> OPEN: a failure
    33m59s OPEN -> HALF_OPEN: open for 1m, it may be tried again
    ");
}

#[test]
fn x11_each_opening_lasts_longer_by_the_same_share() {
    let spans = |growth_percent| {
        let policy = Policy { growth_percent, open_for_max: Span::secs(200), ..Policy::default() };
        [0, 1, 2, 3, u8::MAX].map(|times| policy.open_span(times).as_secs())
    };
    assert_eq!(spans(100), [60, 60, 60, 60, 60]);
    assert_eq!(spans(150), [60, 90, 135, 200, 200]);
    assert_eq!(spans(200), [60, 120, 200, 200, 200]);
}

#[test]
fn x11_forced_open_lets_nothing_pass_until_a_person_ends_it() {
    insta::assert_snapshot!(run(&Policy::default(), "
        0s ask a, 1s mode forced-open, 2s a ok, 2s ask b, 9000s wake, 9000s ask c, 9001s ok, 9002s mode normal,
        9003s ask d, 9004s mode forced-open, 9005s reset, 9006s ask e"), @r"
    0s a passes
    1s CLOSED -> OPEN: set from normal to forced-open
    2s a is Late
    2s b is refused: a person holds it open; try again in 1m
    2h30m c is refused: a person holds it open; try again in 1m
    2h30m OPEN -> CLOSED: set from forced-open to normal
    2h30m d passes
    2h30m CLOSED -> OPEN: set from normal to forced-open
    2h30m OPEN -> CLOSED: reset by a person
    2h30m e passes
    ");
}

#[test]
fn x11_disabled_and_metrics_only_let_everything_pass_and_only_the_second_counts() {
    insta::assert_snapshot!(run(&Policy::default(), "
        0s fail, 0s fail, 0s fail, 1s mode disabled, 2s fail, 2s fail, 2s fail, 2s fail, 3s ask a, 4s mode metrics-only,
        5s fail, 5s fail, 5s fail, 5s fail, 6s ask b"), @r"
    0s CLOSED -> OPEN: 3 failures in a row
    1s OPEN -> CLOSED: set from normal to disabled
    3s a passes
    4s CLOSED -> CLOSED: set from disabled to metrics-only
    6s b passes
    ");
    let name = BreakerName::shared("x").expect("a name");
    for (mode, failures) in [(super::read_mode("disabled"), 0), (super::read_mode("metrics-only"), 4)] {
        let mut breaker = Breaker::new(at(0));
        breaker.set_mode(at(0), mode, &mut Vec::new());
        for _ in 0..4 {
            breaker.observe(at(1), CallResult::Failed.into(), &Policy::default(), &mut Vec::new());
        }
        let view = breaker.view(&name, at(1));
        assert_eq!(
            (view.failure_count, view.failures, view.state),
            (failures, failures as u8, State::Closed)
        );
    }
}

#[test]
fn l24_time_until_half_open_is_shown() {
    let mut breaker = Breaker::new(at(0));
    let name = BreakerName::shared("x").expect("a name");
    let policy = Policy::default();
    for _ in 0..3 {
        breaker.observe(at(5), CallResult::Failed.into(), &policy, &mut Vec::new());
    }
    let view = breaker.view(&name, at(15));
    assert_eq!(view.state, State::Open);
    assert_eq!(
        (view.opened_at, view.half_open_at, view.half_open_in),
        (Some(at(5)), Some(at(65)), Some(Span::secs(50)))
    );
    assert_eq!((view.failure_count, view.last_failure), (3, Some(at(5))));
    breaker.wake(at(70), &policy, &mut Vec::new());
    let view = breaker.view(&name, at(71));
    assert_eq!((view.opened_at, view.half_open_at, view.half_open_in), (Some(at(5)), Some(at(70)), None));
}

#[test]
fn x11_a_breaker_is_small_and_owns_nothing_outside_itself() {
    // It is moved bit by bit into a row of plain numbers: there is no pointer in it that could own more.
    assert!(size_of::<Breaker>() < 128, "{} bytes", size_of::<Breaker>());
    assert!(!std::mem::needs_drop::<Breaker>());
}
