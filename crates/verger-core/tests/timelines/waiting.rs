//! What an agent waits on, and its two other excuses: a fresh start and an outage. X03, X05, X07, L13, promise 10.

use insta::assert_snapshot;
use verger_core::health::HealthState::{self, Degraded, Healthy, Stuck, Unknown};
use verger_core::policy::Mode;
use verger_core::signal::Awaited;

use crate::timeline::{Timeline, lines, run};

fn after(script: &str) -> Timeline {
    Timeline::default().play(script)
}

fn state(script: &str) -> HealthState {
    after(script).view("a").state
}

fn waits_on(script: &str) -> Option<Awaited> {
    after(script).view("a").waiting_on.map(|wait| wait.awaited)
}

/// An agent at work that reports calls and checkpoints, so that silence would count.
const AT_WORK: &str = "0s beat \n 0s assign t \n 0s beating 5m \n 0s checkpoint c1 \n 0s call a \n 1m ";

#[test]
fn x03_each_wait_is_a_state_of_its_own() {
    let after = |word: &str| waits_on(&format!("{AT_WORK} {word}"));
    assert_eq!(after("activity"), None);
    assert_eq!(after("start build"), Some(Awaited::Tool));
    assert_eq!(after("model-starts"), Some(Awaited::Model));
    assert_eq!(after("sub-starts 7"), Some(Awaited::Subagent));
    assert_eq!(after("status waiting on=person"), Some(Awaited::Person));
    assert_eq!(after("outage for=30m"), Some(Awaited::Provider));
    assert_eq!(after("status waiting on=timer for=30m"), Some(Awaited::Timer));
}

#[test]
fn x03_no_wait_is_silence_within_its_patience_and_each_is_found_beyond_it() {
    for (word, within, beyond, found) in [
        ("start build", "1h20m", "1h40m", Stuck),
        ("start build limit=20m", "20m", "30m", Stuck),
        ("model-starts", "25m", "35m", Stuck),
        ("sub-starts 7", "1h50m", "2h10m", Stuck),
        ("status waiting on=person", "20h", "25h", Degraded),
        ("outage", "5h", "7h", Degraded),
        ("status waiting on=timer for=3h", "2h50m", "3h10m", Stuck),
        ("status busy for=3h", "2h50m", "3h10m", Stuck),
    ] {
        assert_eq!(state(&format!("{AT_WORK} {word} \n {within}")), Healthy, "{word}, {within}");
        let late = state(&format!("{AT_WORK} {word} \n {beyond}"));
        assert!(found <= late, "{word}, {beyond}: {late}");
    }
}

#[test]
fn x03_the_wait_itself_is_the_finding() {
    let view = after(&format!("{AT_WORK} start build \n 1h32m")).view("a");
    assert_snapshot!(view.evidence[0], @"waiting on a tool for 1h30m (patience 1h30m)");
}

#[test]
fn x03_a_busy_lease_is_no_free_pass() {
    let renewed = "0s beat \n 0s assign t \n 0s call a \n 1m..12h/20m beat busy for=30m \n";
    let timeline = after(renewed);
    assert_eq!(timeline.view("a").state, Stuck, "{}", timeline.so_far());
    let working = after(
        "0s beat \n 0s call a \n 1m..12h/20m beat busy for=30m \n 12h5m call b -> new \n 12h6m beat busy for=30m",
    );
    assert_eq!(working.view("a").state, Healthy, "progress begins a new row of leases: {}", working.so_far());
}

#[test]
fn x03_an_endless_lease_is_bounded() {
    assert_eq!(state(&format!("{AT_WORK} status busy for=365d \n 5h")), Stuck);
    assert_eq!(state(&format!("{AT_WORK} status waiting on=person for=365d \n 25h")), Degraded);
}

#[test]
fn x03_busy_without_a_duration_is_no_free_pass_either() {
    assert_eq!(
        state("0s beat \n 0s assign t \n 0s call a \n 1m status busy \n 1m beating 5m busy \n 1d"),
        Stuck
    );
}

#[test]
fn x03_a_call_whose_end_was_lost_is_not_held_against_an_agent_that_goes_on() {
    let lost_end = format!("{AT_WORK} start build \n 2m..3h/5m call c$N -> r$N");
    assert_eq!(state(&lost_end), Healthy);
}

#[test]
fn x03_a_long_build_does_not_stop_the_progress_clock_from_running_after_it() {
    let built = format!("{AT_WORK} start build \n 41m finish build -> ok$N");
    assert_eq!(state(&built), Healthy, "forty minutes of building are no forty minutes without progress");
    assert_eq!(state(&format!("{built} \n 1h12m")), Stuck, "half an hour after it without a call is");
}

#[test]
fn x03_the_end_of_a_wait_is_seen() {
    assert_eq!(waits_on(&format!("{AT_WORK} start build \n 5m finish build")), None);
    assert_eq!(waits_on(&format!("{AT_WORK} model-starts \n 5m model-ends")), None);
    assert_eq!(waits_on(&format!("{AT_WORK} sub-starts 7 \n 5m sub-ends 7")), None);
    assert_eq!(waits_on(&format!("{AT_WORK} status waiting on=person \n 5m person-says yes")), None);
    assert_eq!(waits_on(&format!("{AT_WORK} status waiting on=person \n 5m status healthy")), None);
    assert_eq!(waits_on(&format!("{AT_WORK} outage \n 5m says done")), None);
}

#[test]
fn x03_a_late_signal_does_not_end_a_wait_announced_after_it() {
    let late = "0s clock 0s \n 0s beat \n 0s call a \n 1m status waiting on=person \n 61s clock -30s \n 61s start old";
    assert_eq!(waits_on(&format!("{late} \n 61s clock 0s")), Some(Awaited::Person));
}

#[test]
fn x03_an_outage_is_not_a_stuck_agent() {
    let retries = "0s call a \n 0s beating 5m \n 1m..40m/1m call ask -> 429 failed outage";
    let timeline = after(retries);
    assert_eq!(timeline.view("a").waiting_on.map(|wait| wait.awaited), Some(Awaited::Provider));
    assert!(timeline.view("a").state <= Degraded);
    assert_eq!(timeline.count("=>"), 0, "nothing is done to it:\n{}", timeline.so_far());
    let over = after(&format!("{retries} \n 41m call ask -> fine"));
    assert_eq!((over.view("a").state, over.view("a").waiting_on), (Healthy, None));
}

#[test]
fn x03_a_rate_limit_lasts_until_the_providers_reset_time() {
    let view = after("0s beat \n 0s call a \n 1m outage for=5h \n 2h").view("a");
    let wait = view.waiting_on.expect("it waits");
    assert_eq!(wait.awaited, Awaited::Provider);
    assert!(wait.until >= verger_core::Timestamp::ZERO + verger_core::Span::minutes(301));
}

#[test]
fn x03_providers_failures_are_no_streak_and_no_rate() {
    assert_eq!(state("0s beat \n 1s..60s/1s outage"), Healthy);
    assert_eq!(state("0s call a \n 1s..60s/1s call ask -> 500 failed outage"), Healthy);
}

#[test]
fn l13_assigned_work_must_run() {
    assert_snapshot!(run("
        0s    beat
        0s    beating 5m
        0s    call a
        1m    status idle
        20m   assign t1
        31m
    "), @"
    0s registered
    0s UNKNOWN -> HEALTHY
    30m HEALTHY -> DEGRADED: idle for 10m with work assigned (limit 10m)
    30m nudge 1 queued
    30m => nudge 1
    ");
}

#[test]
fn l13_a_worker_that_never_starts_is_nudged_and_one_without_work_is_not() {
    assert_eq!(state("0s spawn task=t1 \n 16m"), Degraded, "five minutes of grace, ten of idleness");
    assert_eq!(state("0s spawn \n 1d"), Unknown);
    assert_eq!(state("0s beat \n 0s beating 5m \n 1m status idle \n 1d"), Healthy);
    assert_eq!(
        state("0s assign t1 \n 1s call a \n 2s end-task t1 \n 3s status idle \n 3s beating 5m \n 1d"),
        Healthy
    );
}

#[test]
fn l13_idle_while_a_sub_agent_or_a_person_works_on_it_is_not_idle() {
    let idle = "0s beat \n 0s beating 5m \n 0s assign t1 \n 0s call a \n 1m ";
    assert_eq!(state(&format!("{idle} sub-starts 1 \n 2m status idle \n 1h")), Healthy);
    assert_eq!(state(&format!("{idle} status waiting on=person \n 1h")), Healthy);
}

#[test]
fn x05_a_new_life_is_not_blamed_for_its_silence_and_success_ends_the_grace() {
    let mut policies = verger_core::policy::Policies::default();
    policies.each(|role| role.requires_heartbeats = true);
    let state = |script: &str| Timeline::new(policies.clone()).play(script).view("a").state;
    assert_eq!(state("0s spawn \n 14m50s"), Unknown, "grace, then the heartbeat's timeout");
    assert_eq!(state("0s spawn \n 15m10s"), Degraded);
    assert_eq!(state("0s spawn \n 1m beat"), Healthy, "success counts within the grace");
    assert_eq!(state("0s spawn \n 1m beat \n 11m10s"), Degraded, "and ends it");
}

#[test]
fn x05_nobody_is_pinged_to_death_while_it_starts() {
    let timeline = after("0s spawn \n 0s channel \n 0s silent \n 4m59s");
    assert_eq!(timeline.count("disconnected"), 0, "{}", timeline.so_far());
}

#[test]
fn x07_flapping_is_one_condition_with_hysteresis() {
    let flaps = lines(0..10, |n| format!("{0}m silent \n {1}m answers \n", 4 * n + 1, 4 * n + 3));
    let timeline = after(&format!("0s channel \n 0s activity \n {flaps} 3h"));
    assert_eq!(timeline.count("incident Flapping"), 2, "opened once, closed once:\n{}", timeline.so_far());
    let silences = timeline.count("incident Silent") / 2;
    assert!(silences <= 4, "{silences} alerts for one condition:\n{}", timeline.so_far());
    assert_eq!(timeline.count("incident Flapping over"), 1);
    assert_eq!(timeline.view("a").state, Healthy, "and it ends by itself");
}

#[test]
fn x07_flapping_of_an_earlier_life_is_not_held_against_the_next() {
    let flaps = lines(0..5, |n| format!("{0}m silent \n {1}m answers \n", 4 * n + 1, 4 * n + 3));
    let flapping = after(&format!("0s channel \n 0s activity \n {flaps} 20m"));
    assert_eq!(flapping.view("a").state, Degraded, "{}", flapping.so_far());
    let next = flapping.play("20m exit code=0 \n 21m spawn \n 21m channel \n 21m activity \n 40m");
    assert_eq!((next.count("incident Flapping"), next.count("incident Flapping over")), (2, 1));
    assert_eq!(next.view("a").state, Healthy, "{}", next.so_far());
    assert_eq!(next.count("#2 HEALTHY ->"), 0, "{}", next.so_far());
}

#[test]
fn x03_a_request_that_ends_in_a_refusal_ends_no_outage() {
    // Each retry is announced, ends, and is told to have been refused, all within a moment.
    let mut lines = Vec::new();
    for minute in (1..120).step_by(2) {
        lines.push(format!("{minute}m model-starts \n {minute}m model-ends \n {minute}m outage refused"));
    }
    let script = format!("0s beat \n 0s beating 5m \n 30s call a -> r \n {}", lines.join("\n"));
    let timeline = Timeline::in_mode(Mode::Full).play(&script);
    assert_eq!(timeline.count("=> stop") + timeline.count("incident Stuck"), 0, "{}", timeline.so_far());
}

#[test]
fn x03_an_answer_that_is_followed_by_work_ends_an_outage() {
    let script = "0s beat \n 0s beating 5m \n 30s call a -> r \n 1m outage refused \n 20m model-starts \n \
                  21m model-ends \n 22m model-starts";
    let timeline = Timeline::default().play(script);
    let awaited = timeline.view("a").waiting_on.map(|wait| wait.awaited);
    assert_eq!(awaited, Some(Awaited::Model), "{}", timeline.so_far());
}
