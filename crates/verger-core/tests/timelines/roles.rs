//! The profiles of 001 §1.3.2, and which timing holds: R02, L15, L53.

use verger_core::event::Fact;
use verger_core::health::HealthState::{Degraded, Healthy, Stuck, Terminated};
use verger_core::liveness::LivenessStatus;
use verger_core::policy::{Policies, Role};
use verger_core::{Span, Timestamp};

use crate::timeline::Timeline;

fn after(script: &str) -> Timeline {
    Timeline::default().play(script)
}

fn lost_at(timeline: &Timeline) -> Option<Timestamp> {
    timeline.events.iter().find(|event| matches!(event.fact, Fact::Disconnected { .. })).map(|event| event.at)
}

const ROLES: [(&str, Span, u64); 4] = [
    ("critical", Span::secs(30), 2),
    ("active", Span::secs(60), 3),
    ("background", Span::minutes(5), 3),
    ("standby", Span::minutes(15), 5),
];

#[test]
fn r02_the_four_roles_have_the_documents_intervals_and_thresholds() {
    let policies = Policies::default();
    for (name, interval, misses) in ROLES {
        let role = policies.role(Some(&name.into()));
        let pings = role.liveness.pings.as_ref().expect("it is polled");
        assert_eq!(
            (role.name.as_str(), pings.interval, u64::from(pings.misses_max)),
            (name, interval, misses)
        );
    }
}

#[test]
fn r02_a_polled_agent_is_lost_after_that_many_intervals_and_not_before() {
    for (name, interval, misses) in ROLES {
        let script = format!("0s spawn role={name} \n 0s channel \n 0s activity \n 0s silent");
        let found = lost_at(&after(&format!("{script} \n 6h"))).expect("it is found");
        let (least, most) = (interval.times(misses), interval.times(misses + 1) + Span::secs(1));
        assert!(Timestamp::ZERO + least <= found && found <= Timestamp::ZERO + most, "{name}: {found}");
    }
}

#[test]
fn r02_a_pushing_agent_of_a_role_is_lost_when_that_many_heartbeats_are_missing() {
    for (name, interval, misses) in ROLES {
        let found = lost_at(&after(&format!("0s beat role={name} \n 6h"))).expect("it is found");
        let late = interval.half().half();
        let due = Timestamp::ZERO + interval.times(misses + 1) + late;
        assert!(due <= found && found <= due + Span::millis(100), "{name}: late is not missed, {found}");
    }
}

#[test]
fn r02_users_add_their_own_and_an_unknown_role_is_the_default() {
    let mut policies = Policies::default();
    let mut own = Role::named("night-shift");
    own.liveness.beats.timeout = Span::hours(8);
    assert!(policies.set(own));
    let timeline = Timeline::new(policies).play("0s beat role=night-shift \n 0s @b beat role=no-such \n 7h");
    assert_eq!(timeline.view("a").state, Healthy);
    assert_eq!(timeline.view("b").role.as_str(), "default");
}

#[test]
fn r02_a_person_may_change_the_role() {
    let view = after("0s beat role=critical \n 1s order role standby \n 1h").view("a");
    assert_eq!((view.role.as_str(), view.state), ("standby", Healthy));
}

#[test]
fn l15_without_a_role_heartbeats_are_due_every_five_minutes_and_missing_after_ten() {
    assert_eq!(lost_at(&after("0s beat \n 1h")), Some(Timestamp::ZERO + Span::minutes(10)));
}

#[test]
fn l15_a_ping_channel_brings_the_production_preset() {
    assert_eq!(
        lost_at(&after("0s beat \n 0s channel \n 0s silent \n 1h")),
        Some(Timestamp::ZERO + Span::secs(4))
    );
}

#[test]
fn l15_offline_is_degraded_until_it_is_classified() {
    let timeline = after("0s channel \n 0s activity \n 0s refuses \n 4s");
    let view = timeline.view("a");
    assert_eq!(
        (view.state, view.liveness.status, view.liveness.class),
        (Degraded, LivenessStatus::Offline, None)
    );
    assert!(timeline.play("1m").view("a").liveness.class.is_some());
}

#[test]
fn l15_idle_or_in_flight_with_pongs_is_healthy_and_an_exit_is_terminated() {
    assert_eq!(after("0s channel \n 0s activity \n 5h").view("a").state, Healthy);
    assert_eq!(after("0s channel \n 0s start build \n 50m").view("a").state, Healthy);
    assert_eq!(after("0s channel \n 0s activity \n 1s exit code=3").view("a").state, Terminated);
}

#[test]
fn l53_liveness_is_judged_on_receipt_whatever_the_agents_clock_shows() {
    for clock in ["3d", "-3d", "0s", "30d"] {
        let timeline =
            after(&format!("0s clock {clock} \n 0s beat \n 0s beating 5m \n 1h \n 1h still \n 2h"));
        assert_eq!(lost_at(&timeline), Some(Timestamp::ZERO + Span::minutes(70)), "a clock {clock} ahead");
    }
}

#[test]
fn l53_skew_is_measured_and_shown() {
    let skew = |script: &str| after(script).view("a").clock_skew_ms;
    assert_eq!(skew("0s beat"), None);
    assert_eq!(skew("0s clock 90s \n 0s beat \n 5m beat"), Some(90_000));
    assert_eq!(skew("0s clock -1h \n 0s beat \n 5m beat"), Some(-3_600_000));
}

#[test]
fn l53_a_clock_that_jumps_moves_no_deadline() {
    let jumps = "0s clock 0s \n 0s beat \n 5m clock 300d \n 5m beat \n 10m clock -300d \n 10m beat \n";
    let timeline = after(&format!("{jumps} 19m"));
    assert_eq!(timeline.view("a").state, Healthy);
    assert_eq!(lost_at(&timeline.play("21m")), Some(Timestamp::ZERO + Span::minutes(20)));
}

#[test]
fn l04_progress_that_only_rare_heartbeats_tell_of_is_not_stale_when_one_is_lost() {
    let lost = "0s beat role=standby progress=1 \n 15m beat progress=2";
    let timeline = after(&format!("{lost} \n 45m1s beat progress=3 \n 59m beat progress=4"));
    assert_eq!(timeline.count("HEALTHY ->"), 0, "{}", timeline.so_far());
    let same = timeline.play("59m beating 15m progress=4 \n 1h28m");
    assert_eq!(same.count("HEALTHY ->"), 0, "{}", same.so_far());
    let same = same.play("1h40m");
    assert_eq!(same.view("a").state, Degraded, "it beats, and nothing is new:\n{}", same.so_far());
    let same = same.play("2h2m");
    assert_eq!(same.view("a").state, Degraded, "four beats are given, and a little:\n{}", same.so_far());
    assert_eq!(same.play("2h4m").view("a").state, Stuck);
}

#[test]
fn r02_a_proven_agent_may_change_its_role_and_an_unproven_one_may_not() {
    let timeline = after("0s beat \n 1s beat role=critical");
    assert_eq!(timeline.view("a").role.as_str(), "critical");
    let timeline = timeline.play("2s unverified \n 2s beat role=standby");
    assert_eq!(timeline.view("a").role.as_str(), "critical");
}

#[test]
fn r02_at_most_256_roles_are_there_and_one_that_is_there_can_always_be_changed() {
    let mut policies = Policies::default();
    let role = |name: String| Role { name: name.into(), ..policies_first() };
    let taken = (0..300).filter(|n| policies.set(role(format!("role-{n}")))).count();
    assert!(taken < 256 && !policies.set(role("another".to_owned())), "{taken} beside those that were there");
    assert!(policies.set(role("role-0".to_owned())));
}

fn policies_first() -> Role {
    Policies::default().role(None).clone()
}
