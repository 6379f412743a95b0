//! Probes as one state (P04): a change is a fact, and no probe ends anybody.

use std::collections::BTreeSet;

use verger_core::health::HealthState;
use verger_core::notice::{Notice, NoticeError};
use verger_core::policy::{Mode, Policies, RestartPolicy};
use verger_core::probe::{ProbeSpec, State};

use crate::timeline::{Timeline, lines, run};

fn state(timeline: &Timeline) -> Option<State> {
    timeline.view("a").probes.map(|probes| probes.state)
}

fn probed() -> Timeline {
    Timeline::default().play("0s beat \n 0s beating 1m \n 0s probes http \n 20s")
}

#[test]
fn p04_an_endpoint_that_fails_is_degraded_then_unhealthy_and_then_well_again() {
    let log = run(
        "0s beat \n 0s beating 1m \n 0s check http fails \n 0s probes http \n 30s check http passes \n 1m",
    );
    insta::assert_snapshot!(log, @"
    0s registered
    0s UNKNOWN -> HEALTHY
    2s400ms probe http: Unknown -> Degraded
    2s400ms probes: Unknown -> Degraded: 1 of 1 health checks failing: http 1 in a row (Check failed)
    12s400ms probe http: Degraded -> Unhealthy
    12s400ms probes: Degraded -> Unhealthy: 1 of 1 health checks failing: http 3 in a row (Check failed)
    12s400ms HEALTHY -> DEGRADED: 1 of 1 health checks fail
    32s400ms probe http: Unhealthy -> Degraded
    32s400ms probes: Unhealthy -> Degraded: 1 of 1 health checks failing: http recovering, 1 of 2 passes
    32s400ms DEGRADED -> HEALTHY: 1 of 1 health checks fail
    34s900ms probe http: Degraded -> Healthy
    34s900ms probes: Degraded -> Healthy: All health checks passing
    ");
}

#[test]
fn p04_the_state_is_seen_with_its_age_and_its_words() {
    let timeline = probed().play("30s check http times-out \n 2m");
    let view = timeline.view("a");
    let probes = view.probes.expect("it has one");
    assert_eq!((probes.state, view.state), (State::Unhealthy, HealthState::Degraded));
    assert_eq!(probes.probes.len(), 1);
    assert!(probes.summary.contains("timed out after"), "{}", probes.summary);
    let changed = timeline.so_far().lines().rfind(|line| line.contains("probes: Degraded -> Unhealthy"));
    let at = changed.and_then(|line| line.split(' ').next()).expect("it was recorded");
    assert_eq!(at, probes.state_changed_at.to_string());
}

#[test]
fn p04_one_of_several_makes_it_degraded_and_an_advisory_one_nothing() {
    let several = probed().play("20s probes http tcp \n 21s check tcp fails \n 3m");
    assert_eq!(state(&several), Some(State::Degraded));
    assert_eq!(several.view("a").state, HealthState::Healthy, "worth a note: {}", several.so_far());
    let advisory = probed().play("20s probes http tcp,advisory \n 21s check tcp fails \n 3m");
    assert_eq!(state(&advisory), Some(State::Healthy));
    assert!(advisory.view("a").probes.expect("some").summary.contains("advisory: tcp"));
}

#[test]
fn p04_no_probe_ends_anybody_and_nobody_is_ended_for_it_beside_another_sign() {
    let mut policies = Policies::default();
    policies.each(|role| {
        role.mode = Mode::Full;
        role.restart = RestartPolicy::Recover;
    });
    let play = |beside: &str| {
        let start = format!("0s beat \n 0s beating 1m \n 0s check http fails \n {beside} \n");
        Timeline::apart(policies.clone()).play(&start)
    };
    let alone = play("0s probes http").play("5h");
    assert_eq!((alone.count("=> "), alone.count("incident")), (0, 0), "{}", alone.so_far());
    let fails = "20s..90s/1s call b$N -> boom failed \n 91s";
    let (with, other) = (play("0s probes http").play(fails), play("0s status degraded").play(fails));
    assert!(with.has("HEALTHY -> DEGRADED: 1 of 1") && with.has("incident Failing"), "{}", with.so_far());
    assert_eq!(with.count("=> stop"), 0, "{}", with.so_far());
    assert!(other.has("=> stop"), "its own word would end it: {}", other.so_far());
}

#[test]
fn p04_what_nobody_looks_at_any_more_is_held_against_nobody() {
    let timeline = probed().play("20s check http fails \n 2m check http lost \n 2m5s");
    assert_eq!(timeline.view("a").state, HealthState::Degraded);
    let blind = timeline.play("2m30s");
    assert_eq!(blind.view("a").state, HealthState::Healthy, "{}", blind.so_far());
    assert!(blind.view("a").probes.expect("one").summary.contains("nothing found out in"));
    let again = blind.play("3m check http fails \n 4m check http passes \n 5m");
    assert_eq!((state(&again), again.view("a").state), (Some(State::Healthy), HealthState::Healthy));
}

#[test]
fn p04_probes_that_are_taken_away_say_nothing_more() {
    let timeline = probed().play("20s check http fails \n 2m probes \n 10m");
    assert_eq!((state(&timeline), timeline.view("a").state), (None, HealthState::Healthy));
    let last = timeline.effects.len();
    let later = timeline.play("20m");
    assert_eq!(later.effects.len(), last, "nothing is probed");
}

#[test]
fn x05_failures_while_it_starts_count_from_the_first_pass_on() {
    let starting = Timeline::default().play("0s spawn \n 0s check http fails \n 0s probes http \n 4m59s");
    assert_eq!(state(&starting), Some(State::Unknown), "{}", starting.so_far());
    let started = starting.play("6m");
    assert_eq!(state(&started), Some(State::Unhealthy), "{}", started.so_far());
    let passed = Timeline::default().play("0s spawn \n 0s probes http \n 1m check http fails \n 2m");
    assert_eq!(state(&passed), Some(State::Unhealthy), "{}", passed.so_far());
}

#[test]
fn p04_a_life_begins_with_nothing_known_and_none_is_probed_after_its_end() {
    let timeline =
        probed().play("20s check http fails \n 1m still \n 117s check http lost \n 2m exit code=0 \n 2m5s");
    assert_eq!(state(&timeline), Some(State::Unhealthy), "what was found last stays to be seen");
    let run = timeline.effects.last().expect("a run was lost").key.seq;
    let timeline = timeline.play(&format!("2m5s result http run={run} passes"));
    assert!(timeline.has("refused: the result is about a life"), "{}", timeline.so_far());
    let effects = timeline.effects.len();
    let dead = timeline.play("10m");
    assert_eq!(dead.effects.len(), effects);
    let next = dead.play("11m check http passes \n 11m spawn \n 11m beat \n 11m10s");
    assert!(next.has("#2 probes: Unhealthy -> Unknown"), "{}", next.so_far());
    assert_eq!(state(&next), Some(State::Healthy), "{}", next.so_far());
}

#[test]
fn p04_results_that_are_late_double_or_foreign_change_nothing() {
    let timeline = probed().play("20s check http lost \n 25s");
    let run =
        |timeline: &Timeline| timeline.effects.iter().rfind(|effect| effect.key.seq > 0).map(|e| e.key.seq);
    let latest = run(&timeline).expect("it was started");
    let before = timeline.view("a").probes;
    let words = format!(
        "25s result http run={} fails \n 25s result http run={latest} fails life=7 \n 25s result tcp run={latest} fails \n \
         25s @nobody result http run=1 fails",
        latest - 1,
    );
    let after = timeline.play(&words);
    assert_eq!(after.view("a").probes, before);
    assert_eq!(after.count("refused"), 4, "{}", after.so_far());
    let taken =
        after.play(&format!("25s result http run={latest} fails \n 25s result http run={latest} fails"));
    assert_eq!(state(&taken), Some(State::Degraded), "{}", taken.so_far());
    assert_eq!(taken.count("refused"), 5, "the second is not awaited: {}", taken.so_far());
}

#[test]
fn p04_a_result_of_probes_taken_away_is_not_taken_for_that_of_others() {
    let timeline = Timeline::default().play("0s beat \n 0s check http lost \n 0s probes http \n 6s");
    let old = timeline.effects.last().expect("it was started").key.seq;
    let again = timeline.play("6s probes \n 6s probes http \n 12s");
    let new = again.effects.last().expect("it was started").key.seq;
    let late = again.play(&format!("12s result http run={old} fails"));
    assert!(old < new && state(&late) == Some(State::Unknown), "{}", late.so_far());
}

#[test]
fn p03_wrong_probes_are_refused_as_a_whole() {
    let mut timeline = probed();
    let mut wrong = ProbeSpec::new("HTTP", 1);
    wrong.failure_threshold = 0;
    let before = timeline.view("a");
    let specs = vec![ProbeSpec::new("tcp", 1), wrong];
    let refused = timeline.notice(&Notice::Probes { agent: "a".into(), specs });
    assert!(matches!(&refused, Err(NoticeError::Probes(why)) if why.flaws.len() == 2), "{refused:?}");
    assert_eq!(refused.map_err(|error| error.code()), Err("VG0361"));
    assert_eq!(timeline.view("a"), before);
    let nobody = timeline.notice(&Notice::Probes { agent: "nobody".into(), specs: Vec::new() });
    assert_eq!(nobody.map_err(|error| error.code()), Err("VG0101"));
}

#[test]
fn l03_a_degraded_agent_is_probed_twice_as_often() {
    let runs = |timeline: Timeline| timeline.play("10m").effects.len();
    let (calm, degraded) = (runs(probed()), runs(probed().play("20s status degraded")));
    assert!(calm * 18 <= degraded * 10 && degraded <= calm * 2, "{calm} and {degraded}");
}

#[test]
fn x14_probes_of_a_fleet_that_starts_at_once_do_not() {
    let start = lines(0..50, |n| format!("0s @a{n} beat \n 0s @a{n} probes http"));
    let timeline = Timeline::default().play(&start).play("5s");
    let agents: BTreeSet<_> = timeline.effects.iter().map(|effect| &effect.key.agent).collect();
    assert_eq!(agents.len(), 50, "each in the first interval");
    let early = Timeline::default().play(&start).play("500ms");
    assert!((1..15).contains(&early.effects.len()), "{}", early.effects.len());
}

#[test]
fn p04_a_restart_at_any_point_changes_nothing() {
    let words = [
        "21s check http fails",
        "27s",
        "50s",
        "52s exit code=0",
        "1m spawn",
        "62s beat",
        "2m check http passes",
        "3m",
    ];
    let play = |at: Option<usize>| {
        let mut timeline = probed().with_pings();
        for (n, words) in words.iter().enumerate() {
            timeline = timeline.play(words);
            if at == Some(n) {
                timeline.do_words("restart");
            }
        }
        let log = timeline.log();
        lines(log.lines().filter(|line| !line.ends_with("restarted")), ToOwned::to_owned)
    };
    let calm = play(None);
    for (n, words) in words.iter().enumerate() {
        assert_eq!(play(Some(n)), calm, "restarted after `{words}`");
    }
}
