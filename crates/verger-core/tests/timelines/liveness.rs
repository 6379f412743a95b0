//! Whether anybody is there: 002's option 4, 001 §1.3 and its flowchart; rows H01–H07, R03, R04, R09, R10, L42, X01.

use insta::assert_snapshot;
use verger_core::event::Fact;
use verger_core::health::HealthState::{Degraded, Failing, Healthy, Stuck, Terminated};
use verger_core::liveness::{Cause, LivenessStatus, Pings};
use verger_core::policy::Policies;
use verger_core::{AgentView, Timestamp};

use crate::timeline::{Timeline, run};

fn after(script: &str) -> Timeline {
    Timeline::default().play(script)
}

fn view(script: &str) -> AgentView {
    after(script).view("a")
}

/// When the agent was reported as silent, in milliseconds.
fn lost_at(timeline: &Timeline) -> Option<u64> {
    let lost = timeline.events.iter().find(|event| matches!(event.fact, Fact::Disconnected { .. }))?;
    Some(lost.at.as_millis())
}

fn with_pings(pings: Option<&Pings>) -> Timeline {
    let mut policies = Policies::default();
    policies.each(|role| role.liveness.pings = pings.cloned());
    Timeline::new(policies)
}

#[test]
fn h01_activity_or_a_pong_is_life() {
    assert_eq!(view("0s channel \n 0s silent \n 0s..1m/1s activity").state, Healthy, "activity alone");
    assert_eq!(view("0s channel \n 0s activity \n 1m").state, Healthy, "pongs alone");
    assert_eq!(
        view("0s beat \n 0s..1h/5m call c$N -> r$N").state,
        Healthy,
        "activity in place of heartbeats"
    );
    assert_eq!(view("0s channel \n 0s activity \n 0s silent \n 1m").state, Degraded, "neither");
}

#[test]
fn h01_activity_spares_the_ping() {
    assert_snapshot!(Timeline::default().with_pings().play("0s channel \n 0s..10s/1s activity \n 12s500ms").log(), @"
    0s registered
    0s UNKNOWN -> HEALTHY
    12s => ping
    ");
}

#[test]
fn h02_a_freeze_is_found_within_five_seconds() {
    assert_snapshot!(run("
        0s    spawn
        0s    channel
        1s    activity
        1s    silent
        16s
    "), @"
    0s registered
    1s UNKNOWN -> HEALTHY
    5s disconnected: unresponsive, event-loop-freeze
    5s HEALTHY -> DEGRADED: 2 pings unanswered (limit 2)
    5s => inquire
    15s incident Silent
    ");
}

#[test]
fn h02_an_answer_that_is_late_by_seconds_is_no_news_for_people() {
    let timeline = after("0s channel \n 1s activity \n 1s silent \n 14s activity \n 14s answers \n 60s");
    assert!(lost_at(&timeline).is_some(), "it is recorded:\n{}", timeline.so_far());
    assert_eq!(timeline.count("incident Silent"), 0, "{}", timeline.so_far());
}

#[test]
fn h02_a_freeze_is_found_within_five_seconds_wherever_it_begins() {
    for millis in (0..2_000).step_by(70) {
        let frozen = 60_000 + millis;
        let timeline = after(&format!("0s channel \n 0s activity \n {frozen}ms silent \n 80s"));
        let found = lost_at(&timeline).expect("it is found");
        assert!(found - frozen <= 5_000, "frozen at {frozen} ms, found at {found} ms");
    }
}

#[test]
fn h02_a_crash_is_found_within_two_seconds() {
    let timeline = after("0s channel \n 0s activity \n 60s refuses \n 60s hang-up \n 70s");
    assert!(lost_at(&timeline).is_some_and(|at| at - 60_000 <= 2_000), "{}", timeline.so_far());
    let timeline = after("0s channel \n 0s activity \n 60s exit signal=11");
    assert_eq!(timeline.view("a").state, Terminated, "a process exit at once");
}

#[test]
fn h02_who_no_longer_listens_is_judged_like_one_that_never_did() {
    let left = view("0s channel \n 0s activity \n 0s silent \n 1s leaves-channel \n 1m");
    assert_eq!((left.state, left.liveness.cause), (Healthy, None));
    let asked = after("0s channel \n 0s activity \n 0s silent \n 3s leaves-channel \n 1m");
    assert_eq!(lost_at(&asked), None, "a ping that was under way means nothing");
    let back = view("0s channel \n 0s activity \n 1s leaves-channel \n 10s channel \n 10s silent \n 1m");
    assert_eq!(back.state, Degraded, "it listens again");
}

#[test]
fn h02_a_crash_that_only_pings_notice_is_found_soon_after_the_first() {
    for millis in (0..2_000).step_by(70) {
        let crashed = 60_000 + millis;
        let timeline = after(&format!("0s channel \n 0s activity \n {crashed}ms refuses \n 80s"));
        let found = lost_at(&timeline).expect("it is found");
        // A ping is at most two seconds away; nobody listens, so there is nothing to wait for.
        assert!(found - crashed <= 2_500, "found after {} ms", found - crashed);
    }
}

#[test]
fn h03_freeze_crash_partition_and_idleness_are_told_apart() {
    let cause = |way: &str| {
        let liveness = view(&format!("0s channel \n 0s activity \n 10s {way} \n 90s")).liveness;
        (liveness.status, liveness.cause)
    };
    assert_eq!(cause("silent"), (LivenessStatus::Unresponsive, Some(Cause::EventLoopFreeze)));
    assert_eq!(cause("refuses"), (LivenessStatus::Offline, Some(Cause::ProcessCrash)));
    assert_eq!(cause("unreachable"), (LivenessStatus::Offline, Some(Cause::NetworkPartition)));
    assert_eq!(cause("answers"), (LivenessStatus::Idle, None));
    let names: Vec<String> = [Cause::EventLoopFreeze, Cause::ProcessCrash, Cause::NetworkPartition]
        .iter()
        .map(Cause::to_string)
        .collect();
    assert_eq!(names, ["event-loop-freeze", "process-crash", "network-partition"]);
}

#[test]
fn h04_a_long_model_call_stays_healthy_while_pongs_come() {
    let view = view("0s channel \n 0s model-starts \n 20m");
    assert_eq!(view.state, Healthy);
    assert_eq!(view.liveness.status, LivenessStatus::Busy);
}

#[test]
fn h04_edge_case_1_a_busy_agent_without_activity_is_not_even_degraded() {
    let timeline = after("0s channel \n 0s call a \n 1s model-starts \n 11m model-ends \n 11m call b");
    assert_eq!(timeline.count("HEALTHY ->"), 0, "{}", timeline.so_far());
}

#[test]
fn h04_edge_case_3_idle_is_expected() {
    let timeline = after("0s channel \n 0s activity \n 3d");
    assert_eq!(timeline.count("HEALTHY ->"), 0, "{}", timeline.so_far());
}

#[test]
fn h05_the_events_of_a_silence_and_its_end() {
    assert_snapshot!(run("
        0s    channel
        0s    activity
        10s   silent
        20s   answers
        1m
    "), @"
    0s registered
    0s UNKNOWN -> HEALTHY
    12s400ms disconnected: unresponsive, event-loop-freeze
    12s400ms HEALTHY -> DEGRADED: 2 pings unanswered (limit 2)
    12s400ms => inquire
    22s400ms incident Silent
    26s410ms reconnected after 18s100ms
    26s410ms DEGRADED -> HEALTHY
    26s410ms incident Silent over after 4s10ms
    ");
}

#[test]
fn h05_downtime_is_measured_from_the_last_sign_of_life() {
    let timeline = after("0s channel \n 0s activity \n 500ms silent \n 30s activity");
    assert!(timeline.has("reconnected after 30s"), "{}", timeline.so_far());
}

#[test]
fn h06_the_metrics_of_a_life() {
    let view = view("5s channel \n 5s beat \n 65s beat \n 80s call a \n 100s silent \n 110s");
    assert_eq!(view.born_at, Timestamp::from_millis(5_000), "uptime counts from here");
    assert_eq!(view.metrics.last_activity, Timestamp::from_millis(80_000));
    assert!(view.metrics.heartbeats >= 2);
    assert!(view.liveness.misses >= 2, "{} missed", view.liveness.misses);
    assert_eq!(view.metrics.disconnections, 1);
}

#[test]
fn h06_pongs_are_the_heartbeats_of_002() {
    let view = view("0s channel \n 0s activity \n 1m");
    assert!((25..=31).contains(&view.metrics.heartbeats), "{} heartbeats", view.metrics.heartbeats);
}

#[test]
fn h07_the_presets_of_002() {
    let preset = |pings: &Pings| {
        (
            pings.activity_timeout.as_secs(),
            pings.interval.as_secs(),
            pings.timeout.as_secs(),
            pings.misses_max,
        )
    };
    assert_eq!(preset(&Pings::DEVELOPMENT), (3, 1, 1, 2));
    assert_eq!(preset(&Pings::PRODUCTION), (5, 2, 1, 2));
    assert_eq!(preset(&Pings::HIGH_TOLERANCE), (10, 3, 1, 3));
    let found =
        |pings| lost_at(&with_pings(Some(&pings)).play("0s channel \n 0s activity \n 0s silent \n 30s"));
    assert_eq!(found(Pings::DEVELOPMENT), Some(3_000));
    assert_eq!(found(Pings::PRODUCTION), Some(4_000));
    assert_eq!(found(Pings::HIGH_TOLERANCE), Some(6_000));
}

#[test]
fn h07_pings_can_be_switched_off() {
    let timeline = with_pings(None).play("0s channel \n 0s activity \n 0s silent \n 1d");
    assert!(timeline.effects.is_empty());
    assert_eq!(timeline.view("a").state, Healthy, "and their absence is no evidence");
}

#[test]
fn h07_activity_tracking_can_be_switched_off() {
    let mut policies = Policies::default();
    policies.each(|role| role.liveness.activity_counts = false);
    let timeline = Timeline::new(policies).play("0s channel \n 0s beat \n 0s silent \n 0s..1m/1s activity");
    assert_eq!(timeline.view("a").state, Degraded, "activity does not hide unanswered pings");
}

#[test]
fn h07_an_unregistered_agent_is_forgotten_with_its_incidents() {
    let timeline = after("0s channel \n 0s activity \n 0s silent \n 20s order unregister");
    assert_snapshot!(timeline.so_far(), @"
    0s registered
    0s UNKNOWN -> HEALTHY
    4s disconnected: unresponsive, event-loop-freeze
    4s HEALTHY -> DEGRADED: 2 pings unanswered (limit 2)
    4s => inquire
    14s incident Silent
    20s incident Silent over after 6s
    20s unregistered
    ");
    assert_eq!(timeline.fleet.len(), 0);
    assert_eq!(timeline.fleet.next_wake().filter(|due| *due > Timestamp::from_millis(900_000)), None);
}

#[test]
fn h07_what_comes_late_for_an_unregistered_agent_does_not_bring_it_back() {
    let late = "0s channel \n 0s activity \n 0s silent \n 10s order unregister";
    for word in ["outcome delivered", "exit code=1"] {
        let timeline = after(&format!("{late} \n 11s {word}"));
        assert_eq!(timeline.fleet.len(), 0, "{word} brought a ghost:\n{}", timeline.so_far());
    }
}

#[test]
fn r03_what_an_answer_says() {
    let pongs = |status: &str| view(&format!("0s channel \n 0s activity \n 0s pongs-say {status} \n 10s"));
    assert_eq!(pongs("healthy").state, Healthy);
    assert_eq!(pongs("busy").state, Healthy);
    assert_eq!(pongs("degraded").state, Degraded);
    assert_eq!(pongs("idle").liveness.status, LivenessStatus::Idle);
    let back = view("0s channel \n 0s activity \n 0s pongs-say degraded \n 10s pongs-say healthy \n 20s");
    assert_eq!(back.state, Healthy, "and back");
}

#[test]
fn r03_busy_extends_the_timeout_and_no_longer_than_that() {
    let found = |status: &str| {
        lost_at(&after(&format!("0s channel \n 0s activity \n 0s status {status} \n 10s silent \n 1m")))
            .expect("found")
    };
    let (healthy, busy) = (found("healthy"), found("busy"));
    assert!(healthy < busy && busy <= 20_000, "healthy {healthy} ms, busy {busy} ms");
}

#[test]
fn r03_no_response_counts_and_an_answer_resets_the_count() {
    let view = view("0s channel \n 0s activity \n 0s silent \n 3s500ms answers \n 3s500ms activity \n 4s");
    assert_eq!((view.state, view.liveness.misses), (Healthy, 0));
}

#[test]
fn r04_failed_delivery_is_noticed_at_once_whatever_the_interval() {
    for role in ["critical", "active", "background", "standby"] {
        let timeline = after(&format!(
            "0s spawn role={role} \n 0s channel \n 0s activity \n 10s refuses \n 10s hang-up \n 3h"
        ));
        let found = lost_at(&timeline).expect("it is found");
        assert!(
            found <= 15_000,
            "{role}: a closed connection was noticed after {} s",
            (found - 10_000) / 1_000
        );
    }
}

#[test]
fn r09_flowchart_missed_below_the_threshold_schedules_the_next() {
    let log =
        Timeline::default().with_pings().play("0s channel \n 0s activity \n 0s silent \n 3s500ms").log();
    assert_snapshot!(log, @"
    0s registered
    0s UNKNOWN -> HEALTHY
    2s => ping
    3s => ping
    ");
}

#[test]
fn r09_flowchart_offline_is_classified_without_an_inquiry() {
    assert_snapshot!(run("
        0s    channel
        0s    activity
        0s    refuses
        40s
    "), @"
    0s registered
    0s UNKNOWN -> HEALTHY
    2s200ms disconnected: offline, process-crash
    2s200ms HEALTHY -> DEGRADED: nobody listens at its connection: refused 1 times (limit 1)
    2s200ms incident Silent
    32s200ms classified terminal
    32s200ms DEGRADED -> FAILING: nobody listens at its connection: refused 4 times (limit 1)
    32s200ms incident Failing
    32s200ms escalated: nobody listens at its connection: refused 4 times (limit 1)
    32s200ms => escalate
    ");
}

#[test]
fn r09_flowchart_online_but_silent_is_asked_and_then_unresponsive() {
    assert_snapshot!(run("
        0s    channel
        0s    activity
        0s    silent
        5m30s
    "), @"
    0s registered
    0s UNKNOWN -> HEALTHY
    4s disconnected: unresponsive, event-loop-freeze
    4s HEALTHY -> DEGRADED: 2 pings unanswered (limit 2)
    4s => inquire
    14s incident Silent
    5m4s classified recoverable
    5m4s DEGRADED -> STUCK: no answer to a status inquiry for 5m (limit 5m)
    5m4s incident Stuck
    5m4s escalated: no answer to a status inquiry for 5m (limit 5m)
    5m4s => escalate
    ");
}

#[test]
fn r09_flowchart_an_answer_to_the_inquiry_ends_it() {
    let timeline = after("0s channel \n 0s activity \n 0s silent \n 4m status busy \n 4m answers \n 10m");
    assert_eq!(timeline.view("a").state, Healthy);
    assert_eq!(timeline.count("classified"), 0);
}

#[test]
fn r09_a_partition_is_transient_and_only_later_recoverable() {
    assert_snapshot!(run("
        0s    channel
        0s    activity
        0s    unreachable
        31m
    "), @"
    0s registered
    0s UNKNOWN -> HEALTHY
    1m disconnected: offline, network-partition
    1m classified transient
    1m HEALTHY -> DEGRADED: unreachable for 1m (limit 30m)
    1m incident Silent
    31m classified recoverable
    31m DEGRADED -> STUCK: unreachable for 31m (limit 30m)
    31m incident Stuck
    31m escalated: unreachable for 31m (limit 30m)
    31m => escalate
    ");
}

#[test]
fn r09_every_class_has_a_way_back() {
    for way in ["silent", "refuses", "unreachable"] {
        let view = view(&format!("0s channel \n 0s activity \n 0s {way} \n 2h answers \n 2h5m"));
        assert_eq!(view.state, Healthy, "after {way}");
    }
}

#[test]
fn r10_one_missed_heartbeat_is_nothing_and_silence_alone_ends_nobody() {
    let one = after("0s channel \n 0s activity \n 0s silent \n 2s900ms answers \n 10s");
    assert_eq!(one.count("HEALTHY ->"), 0);
    for way in ["silent", "refuses", "unreachable"] {
        let script = format!("0s channel \n 0s activity \n 0s {way} \n 1d");
        let timeline = Timeline::in_mode(verger_core::policy::Mode::Full).play(&script);
        assert_eq!(timeline.count("=> stop"), 0, "{way}:\n{}", timeline.so_far());
    }
}

#[test]
fn r10_which_signals_agreed_is_shown() {
    let view = view("0s channel \n 0s call a \n 0s silent \n 1h");
    let signs: Vec<String> = view.evidence.iter().map(ToString::to_string).collect();
    assert_snapshot!(signs.join("\n"), @"no answer to a status inquiry for 59m2s (limit 5m)");
    assert!(view.state == Stuck || view.state == Failing);
}

#[test]
fn x01_a_ping_that_could_not_be_sent_changes_no_counter() {
    let timeline = after("0s channel \n 0s activity \n 0s unconfirmed \n 1d");
    assert_eq!(timeline.view("a").liveness.misses, 0);
    assert_eq!(timeline.count("HEALTHY ->"), 0, "{}", timeline.so_far());
}

#[test]
fn x01_an_unsent_ping_between_two_missed_ones_keeps_the_count() {
    let view = view("0s channel \n 0s activity \n 0s silent \n 2s500ms unconfirmed \n 1h");
    assert_eq!((view.state, view.liveness.misses), (Healthy, 1));
}

#[test]
fn l42_a_monitor_that_wakes_late_blames_nobody_for_what_it_did_not_see() {
    // Observed time stands still while the monitor is blind; what is left is one late wake.
    let mut timeline = after("0s channel \n 0s activity \n 1s");
    let mut out = verger_core::Collector::default();
    timeline.fleet.wake(Timestamp::from_millis(9_000), &mut out);
    assert!(out.events.is_empty(), "the first thing it does is ask: {:?}", out.events);
}
