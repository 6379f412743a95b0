//! 000 §2.4, row by row, with the thresholds of its §7.

use super::{at, play, run};
use crate::breaker::{Kind, Policies, Policy};
use crate::time::Span;

#[test]
fn l24_the_thresholds_are_those_of_the_specification() {
    let policies = Policies::default();
    let rows = [
        (Some(Kind::Tool), 5, 30),
        (Some(Kind::Checkpoint), 3, 120),
        (Some(Kind::Api), 3, 60),
        (Some(Kind::Recovery), 3, 60),
        (None, 3, 60),
    ];
    for (kind, failures, secs) in rows {
        let policy = policies.of(kind);
        assert_eq!(policy.failure_threshold, failures, "{kind:?}");
        assert_eq!(policy.open_for, Span::secs(secs), "{kind:?}");
        assert_eq!(policy.half_open_requests, 1, "{kind:?}");
    }
}

#[test]
fn l24_closed_lets_calls_pass_counts_failures_and_trips_on_the_threshold() {
    insta::assert_snapshot!(run(&Policy::default(), "
        1s ask a, 1s ask b, 2s a fail, 2s b fail, 3s ask c, 4s c fail, 5s ask d"), @r"
    1s a passes
    1s b passes
    3s c passes
    4s CLOSED -> OPEN: 3 failures in a row
    5s d is refused: it keeps failing; try again in 59s
    ");
}

#[test]
fn l24_only_failures_in_a_row_trip() {
    insta::assert_snapshot!(run(&Policy::default(), "
        1s fail, 2s fail, 3s ok, 4s fail, 5s fail, 6s ok, 7s fail, 8s fail, 9s unmade, 10s fail"), @r"
    10s CLOSED -> OPEN: 3 failures in a row
    ");
}

#[test]
fn l24_open_refuses_at_once_and_is_half_open_after_its_time_without_any_call() {
    insta::assert_snapshot!(run(&Policy::default(), "
        0s fail, 0s fail, 0s fail, 59s wake, 59s ask a, 60s wake, 60s wake"), @r"
    0s CLOSED -> OPEN: 3 failures in a row
    59s a is refused: it keeps failing; try again in 1s
    1m OPEN -> HALF_OPEN: open for 1m, it may be tried again
    ");
}

#[test]
fn l24_half_open_lets_one_call_pass_and_its_success_closes() {
    insta::assert_snapshot!(run(&Policy::default(), "
        0s fail, 0s fail, 0s fail, 60s ask a, 61s ask b, 62s a ok, 63s ask c, 64s c fail, 65s fail, 66s ok"), @r"
    0s CLOSED -> OPEN: 3 failures in a row
    1m OPEN -> HALF_OPEN: open for 1m, it may be tried again
    1m a passes
    1m1s b is refused: others try already whether it works again; try again in 1m
    1m2s HALF_OPEN -> CLOSED: it works again
    1m3s c passes
    ");
}

#[test]
fn l24_half_open_opens_again_when_the_call_that_tried_fails() {
    insta::assert_snapshot!(run(&Policy::default(), "
        0s fail, 0s fail, 0s fail, 60s ask a, 61s a fail, 62s ask b, 121s ask c, 122s c ok"), @r"
    0s CLOSED -> OPEN: 3 failures in a row
    1m OPEN -> HALF_OPEN: open for 1m, it may be tried again
    1m a passes
    1m1s HALF_OPEN -> OPEN: the call that tried it failed
    1m2s b is refused: it keeps failing; try again in 59s
    2m1s OPEN -> HALF_OPEN: open for 1m, it may be tried again
    2m1s c passes
    2m2s HALF_OPEN -> CLOSED: it works again
    ");
}

#[test]
fn l24_with_more_half_open_requests_all_of_them_must_succeed() {
    let policy = Policy { half_open_requests: 2, ..Policy::default() };
    insta::assert_snapshot!(run(&policy, "
        0s fail, 0s fail, 0s fail, 60s ask a, 60s ask b, 60s ask c, 61s a ok, 61s ask d, 62s b ok"), @r"
    0s CLOSED -> OPEN: 3 failures in a row
    1m OPEN -> HALF_OPEN: open for 1m, it may be tried again
    1m a passes
    1m b passes
    1m c is refused: others try already whether it works again; try again in 1m
    1m1s d is refused: others try already whether it works again; try again in 1m
    1m2s HALF_OPEN -> CLOSED: it works again
    ");
}

#[test]
fn l24_a_person_resets_it() {
    insta::assert_snapshot!(run(&Policy::default(), "
        0s fail, 0s fail, 0s fail, 5s reset, 6s ask a, 6s fail, 6s fail, 6s ok"), @r"
    0s CLOSED -> OPEN: 3 failures in a row
    5s OPEN -> CLOSED: reset by a person
    6s a passes
    ");
}

#[test]
fn l24_calls_that_are_seen_without_having_asked_count_and_close_it_too() {
    insta::assert_snapshot!(run(&Policy::default(), "
        0s fail, 0s fail, 0s fail, 30s ok, 31s fail, 60s ok, 61s fail, 61s fail, 61s fail, 121s fail"), @r"
    0s CLOSED -> OPEN: 3 failures in a row
    1m OPEN -> HALF_OPEN: open for 1m, it may be tried again
    1m HALF_OPEN -> CLOSED: it works again
    1m1s CLOSED -> OPEN: 3 failures in a row
    2m1s OPEN -> HALF_OPEN: open for 1m, it may be tried again
    2m1s HALF_OPEN -> OPEN: the call that tried it failed
    ");
}

#[test]
fn l24_who_never_asks_does_not_hold_it_open_for_longer() {
    insta::assert_snapshot!(run(&Policy::default(), "
        0s fail, 0s fail, 0s fail, 20s fail, 40s fail, 59s fail, 60s ask a, 61s a ok"), @r"
    0s CLOSED -> OPEN: 3 failures in a row
    1m OPEN -> HALF_OPEN: open for 1m, it may be tried again
    1m a passes
    1m1s HALF_OPEN -> CLOSED: it works again
    ");
}

#[test]
fn an_outage_of_the_provider_is_held_against_the_endpoint_and_not_against_the_tool() {
    let policies = Policies::default();
    let script = "0s outage, 1s outage, 2s outage, 3s outage, 4s outage, 5s outage";
    assert_eq!(run(&policies.tool, script), "");
    assert_eq!(run(&policies.api, script), "2s CLOSED -> OPEN: 3 failures in a row");
    assert_eq!(run(&policies.shared, script), "2s CLOSED -> OPEN: 3 failures in a row");
}

#[test]
fn a_call_that_tried_and_met_an_outage_lets_another_try() {
    insta::assert_snapshot!(run(&Policies::default().tool, "
        0s fail, 0s fail, 0s fail, 0s fail, 0s fail, 30s ask a, 31s a outage, 32s ask b, 33s b unmade, 900s ask c,
        901s c ok"), @r"
    0s CLOSED -> OPEN: 5 failures in a row
    30s OPEN -> HALF_OPEN: open for 30s, it may be tried again
    30s a passes
    32s b passes
    15m c passes
    15m1s HALF_OPEN -> CLOSED: it works again
    ");
}

#[test]
fn x11_one_that_knows_what_a_new_one_would_not_is_not_forgotten_for_another() {
    let policy = Policy { slow_after: Some(Span::secs(10)), ..Policy::default() };
    let quiet = |script: &str, secs| play(&policy, script).breaker.is_quiet(at(secs), &policy);
    assert!(quiet("0s ok", 1));
    for known in ["0s fail", "0s fail, 1s ok", "0s slow", "0s slow-fail, 1s ok", "0s mode disabled"] {
        assert!(!quiet(known, 2), "{known}");
    }
    let closed_again = "0s fail, 0s fail, 0s fail, 60s ok";
    assert!(!quiet(closed_again, 60 + 599), "how often it opened still counts");
    assert!(quiet(closed_again, 60 + 600));
}
