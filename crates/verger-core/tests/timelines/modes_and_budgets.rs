//! What may be done without a person, and how often: X12, L23, trust, and that no single finding ends anybody.

use std::collections::BTreeSet;

use insta::assert_snapshot;
use verger_core::Span;
use verger_core::effect::Action;
use verger_core::event::Fact;
use verger_core::health::HealthState::{Failing, Stuck};
use verger_core::policy::{Mode, Policies, RestartPolicy};

use crate::timeline::Timeline;

fn policies(mode: Mode, restart: RestartPolicy) -> Policies {
    let mut policies = Policies::default();
    policies.each(|role| {
        role.mode = mode;
        role.restart = restart;
    });
    policies
}

fn recovering(script: &str) -> Timeline {
    Timeline::new(policies(Mode::Full, RestartPolicy::Recover)).play(script)
}

/// Stuck, and deaf to three reminders that reached it.
const DEAF: &str = "0s call a \n 0s checkpoint c1 \n 0s beating 5m \n 30m10s outcome delivered \n 40m20s outcome delivered \n \
                    50m30s outcome delivered \n";

#[test]
fn x12_each_mode_goes_as_far_as_it_says() {
    let done = |mode| {
        let timeline = Timeline::in_mode(mode).play(&format!("{DEAF_OR_NOT} 3h"));
        (timeline.count("=> nudge") > 0, timeline.count("=> escalate") > 0, timeline.count("=> stop") > 0)
    };
    assert_eq!(done(Mode::Observe), (false, false, false));
    assert_eq!(done(Mode::Nudge), (true, false, false));
    assert_eq!(done(Mode::Escalate), (true, true, false));
}

const DEAF_OR_NOT: &str = "0s checkpoint c1 \n 0s beating 5m \n";

#[test]
fn x12_full_stops_when_nobody_answers() {
    let timeline = Timeline::in_mode(Mode::Full).play(&format!("{DEAF} 3h"));
    assert!(timeline.count("=> stop") > 0, "{}", timeline.so_far());
}

#[test]
fn x12_the_default_is_escalate_and_people_decide_about_stopping() {
    let timeline = Timeline::default().play(&format!("{DEAF} 7d"));
    assert_eq!(timeline.view("a").mode, Mode::Escalate);
    assert_eq!(timeline.count("to be stopped"), 0);
}

#[test]
fn x12_in_mode_observe_the_state_is_still_told() {
    let timeline = Timeline::in_mode(Mode::Observe).play(&format!("{DEAF_OR_NOT} 1h"));
    assert_eq!(timeline.view("a").state, Stuck);
    assert_eq!(timeline.count("incident Stuck"), 1);
    assert!(timeline.effects.is_empty());
}

#[test]
fn x12_a_person_may_change_the_mode_of_one_agent_and_order_what_the_mode_forbids() {
    let timeline = Timeline::default().play(&format!("{DEAF_OR_NOT} 1s order mode observe \n 2h"));
    assert!(timeline.effects.is_empty());
    let timeline = timeline.play("2h1m order terminate");
    assert_eq!(timeline.count("=> stop"), 1);
}

#[test]
fn x12_lowering_the_mode_takes_the_deadline_away() {
    for mode in ["escalate", "nudge", "observe"] {
        let timeline =
            Timeline::in_mode(Mode::Full).play(&format!("{DEAF} 65m \n 66m order mode {mode} \n 1d"));
        assert!(timeline.has("=> escalate"));
        assert_eq!(timeline.count("=> stop"), 0, "no termination in mode {mode}:\n{}", timeline.so_far());
    }
}

#[test]
fn l05_failing_ends_by_itself_only_with_two_independent_findings() {
    let streak = recovering(
        "0s beat \n 0s beating 5m busy for=6m \n 1s call a -> r \n 2s..5s/1s call b$N -> boom failed \n 3h",
    );
    assert_eq!(streak.count("=> stop"), 0, "one family:\n{}", streak.so_far());
    let two =
        recovering("0s beat \n 1s call a -> r \n 2s status degraded \n 3s..68s/1s call b$N -> boom failed");
    assert_eq!(two.view("a").state, Failing);
    assert_eq!(two.count("=> stop"), 1, "what it says and what it does agree:\n{}", two.so_far());
}

#[test]
fn l05_a_reminder_that_just_arrived_is_no_second_finding() {
    let timeline = recovering(
        "0s checkpoint c1 \n 0s beating 5m \n 30m10s outcome delivered \n 30m11s checkpoint c2 \n \
         30m12s..30m15s/1s call b$N -> boom failed \n 30m20s",
    );
    assert_eq!(timeline.view("a").state, Failing);
    assert_eq!(timeline.count("=> stop"), 0, "{}", timeline.so_far());
}

#[test]
fn r10_no_single_family_ends_anybody_in_mode_full() {
    for (what, script) in [
        ("repeats", "0s beat \n 0s..6h/10s call ls -> nothing"),
        ("failures", "0s beat \n 0s..6h/10s call ls$N -> boom failed"),
        ("an unrecoverable error", "0s channel \n 0s activity \n 1s error disk unrecoverable \n 1d"),
        ("silence", "0s beat \n 1d"),
        ("a blocker", "0s channel \n 0s activity \n 1s blocker \n 1d"),
        ("consumption", "0s channel \n 0s beat context=99/100 \n 1d"),
    ] {
        let timeline = Timeline::in_mode(Mode::Full).play(script);
        assert_eq!(timeline.count("=> stop"), 0, "{what}:\n{}", timeline.so_far());
    }
}

#[test]
fn x12_unverified_signals_lead_to_no_termination() {
    for script in [
        "0s unverified \n 0s..1h/10s call ls -> nothing failed \n 1h verified \n 1d",
        "0s unverified \n 0s beat context=99/100 tokens=5 \n 1s..4s/1s call b$N -> boom failed \n 5s verified \n 5s beating 5m \n 1d",
    ] {
        let timeline = recovering(script);
        let log = timeline.so_far();
        assert!(log.contains("-> STUCK") || log.contains("-> FAILING"), "{log}");
        assert_eq!(timeline.count("to be stopped"), 0, "{}", timeline.so_far());
        assert!(timeline.has("=> escalate"), "people hear of it");
    }
}

#[test]
fn x12_an_unverified_sender_may_not_speak_of_life_and_death() {
    for word in
        ["exit code=0", "spawn", "checkpoint c1", "assign t", "status busy for=1h", "hang-up", "blocker"]
    {
        let timeline = Timeline::default().play(&format!("0s beat \n 1s unverified \n 1s {word}"));
        assert!(timeline.has("refused: only a verified sender may say this"), "{word}");
    }
}

#[test]
fn x12_an_unverified_sender_changes_no_role_and_fences_nobody_off() {
    let role = Timeline::default()
        .play("0s spawn role=critical \n 1s beat \n 2s unverified \n 2s beat role=standby");
    assert_eq!(role.view("a").role.as_str(), "critical");
    let fenced = Timeline::default().play("0s spawn \n 1s beat \n 2s unverified \n 2s life 9 \n 2s beat");
    assert_eq!(fenced.view("a").incarnation.0, 1);
}

#[test]
fn x12_what_is_refused_registers_nobody() {
    let timeline = Timeline::default().play("0s unverified \n 0s exit code=0 \n 1s @b spawn");
    assert_eq!(timeline.fleet.len(), 0, "{}", timeline.so_far());
}

fn many(count: usize, words: &str) -> String {
    (0..count).map(|n| format!("{words} \n").replace('@', &format!("@a{n:03} "))).collect()
}

#[test]
fn l23_when_many_fail_there_is_one_storm_and_no_mass_termination() {
    let mut script = many(40, "0s @activity");
    script += &many(40, "1s @status degraded");
    for second in 2..6 {
        script += &many(40, &format!("{second}s @call b{second} -> boom failed"));
    }
    let policies = policies(Mode::Full, RestartPolicy::Recover);
    let timeline = Timeline::apart(policies).play(&script).play("9m");
    let stopped = timeline.effects.iter().filter(|effect| matches!(effect.action, Action::Stop { .. }));
    let stopped: BTreeSet<_> = stopped.map(|effect| effect.key.agent.as_str()).collect();
    assert_eq!(stopped.len(), 5, "{stopped:?}");
    assert_eq!(timeline.count("fleet incident Storm"), 1, "one alert for all of them");
    let kinds: Vec<_> =
        timeline.events.iter().filter(|event| event.agent.is_none()).map(|event| &event.fact).collect();
    assert!(matches!(kinds[0], Fact::BudgetExhausted { .. }));
}

#[test]
fn l23_a_storm_ends_and_is_said_to() {
    let mut script = many(35, "0s @activity");
    script += &many(35, "1s @error disk unrecoverable");
    let storm = Timeline::apart(Policies::default()).play(&script).play("5m");
    assert_eq!(storm.effects.len(), 30, "thirty questions in ten minutes are enough");
    let over = storm.play("1h");
    assert_eq!(over.effects.len(), 35, "nobody is forgotten");
    assert_eq!(over.count("fleet incident Storm over"), 1, "{}", over.so_far());
}

#[test]
fn l23_one_agent_is_not_nudged_without_end() {
    let mut policies = Policies::default();
    policies.each(|role| {
        role.mode = Mode::Nudge;
        role.intervention.nudge_interval = Span::secs(10);
        role.intervention.nudges_max = 200;
    });
    let timeline = Timeline::new(policies).play(&format!("{DEAF_OR_NOT} 5h"));
    let times: Vec<_> = timeline
        .events
        .iter()
        .filter(|event| matches!(event.fact, Fact::NudgeSent { .. }))
        .map(|event| event.at)
        .collect();
    for (first, seventh) in times.iter().zip(times.iter().skip(6)) {
        assert!(seventh.since(*first) >= Span::hours(1), "seven within an hour, from {first}");
    }
    assert!(times.len() > 12, "and it goes on when there is room");
    assert!(timeline.has("limit reached: 6 in 1h"), "the limit that held them back is told");
}

#[test]
fn l23_peoples_own_terminations_do_not_use_up_the_fleets_limit() {
    let mut script = many(6, "0s @beat") + &many(6, "1s @order terminate");
    script += "2s @z beat \n 3s @z status degraded \n 4s..70s/1s @z call b$N -> boom failed";
    let timeline = recovering(&script);
    assert_eq!(timeline.count("=> stop z"), 1, "{}", timeline.so_far());
}

#[test]
fn x12_a_log_of_a_whole_case_in_mode_nudge() {
    assert_snapshot!(crate::timeline::run_in(Mode::Nudge, &format!("{DEAF} 2h \n 2h1m checkpoint c2 \n 2h20m checkpoint c3")), @"
    0s registered
    0s UNKNOWN -> HEALTHY
    10m HEALTHY -> DEGRADED: nothing saved, changed or learned for 10m of work (limit 10m)
    30m DEGRADED -> STUCK: nothing saved, changed or learned for 30m of work (limit 30m)
    30m incident Stuck
    30m nudge 1 queued
    30m => nudge 1
    30m10s nudge delivered
    40m10s nudge 2 queued
    40m10s => nudge 2
    40m20s nudge delivered
    50m20s nudge 3 queued
    50m20s => nudge 3
    50m30s nudge delivered
    2h1m nudge answered after 1h10m
    2h1m STUCK -> HEALTHY
    2h1m incident Stuck over after 1h30m
    2h11m HEALTHY -> DEGRADED: nothing saved, changed or learned for 10m of work (limit 10m)
    2h20m DEGRADED -> HEALTHY
    ");
}
