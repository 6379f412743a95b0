//! The graduated sequence of 000 §2.3: L20–L22, and what counts as an answer.

use insta::assert_snapshot;
use verger_core::effect::Action;
use verger_core::event::Fact;
use verger_core::health::HealthState::{Degraded, Healthy, Stuck, Terminated};
use verger_core::id::{CheckpointId, TaskId};
use verger_core::policy::Mode;
use verger_core::{Intervention, Span};

use crate::timeline::{Timeline, run, run_in};

fn after(script: &str) -> Timeline {
    Timeline::default().play(script)
}

fn full(script: &str) -> Timeline {
    Timeline::in_mode(Mode::Full).play(script)
}

/// Stuck from 30 minutes on: it saved something once and only beats since.
const STALE: &str = "0s checkpoint c1 \n 0s beating 5m \n";
/// The same, with the reminders reaching it: the first one is delivered at 30m10s.
const REMINDED: &str = "0s checkpoint c1 \n 0s beating 5m \n 30m10s outcome delivered \n";

#[test]
fn l20_three_nudges_ten_minutes_apart_then_people_are_asked() {
    assert_snapshot!(run("
        0s     checkpoint c1
        0s     beating 5m
        30m10s outcome delivered
        40m20s outcome delivered
        50m30s outcome delivered
        2h
    "), @"
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
    1h escalated: nothing saved, changed or learned for 1h of work (limit 30m); after 3 nudges
    1h => escalate
    ");
}

#[test]
fn l20_the_nudge_holds_the_documents_words() {
    let timeline = after(&format!("{STALE} 31m"));
    let text = timeline.effects.iter().find_map(|effect| match &effect.action {
        Action::Nudge { text, .. } => Some(text.to_string()),
        _ => None,
    });
    assert_snapshot!(text.expect("it was nudged"), @"
    REMINDER: You have been working for 30 minutes without checkpoint update. Please either:
    - Update your progress
    - Request handoff if stuck
    - Report blockers
    ");
}

#[test]
fn l20_a_role_may_have_its_own_words_and_numbers() {
    let mut policies = verger_core::policy::Policies::default();
    policies.each(|role| {
        role.intervention.nudges_max = 1;
        role.intervention.nudge_interval = Span::minutes(2);
        role.intervention.nudge_template = Some("still there after {duration}?".into());
    });
    let timeline = Timeline::new(policies).play(&format!("{STALE} 33m"));
    let sent = timeline.events.iter().find_map(|event| match &event.fact {
        Fact::NudgeSent { text, .. } => Some(text.to_string()),
        _ => None,
    });
    assert_eq!(sent.as_deref(), Some("still there after 30 minutes?"));
    assert_eq!((timeline.count("=> nudge"), timeline.count("=> escalate")), (1, 1));
}

#[test]
fn l20_a_nudge_is_queued_then_delivered_then_answered() {
    assert_snapshot!(run("
        0s     checkpoint c1
        0s     beating 5m
        30m10s outcome delivered
        30m20s outcome delivered
        31m    says working-on-it
        31m    says still
    "), @"
    0s registered
    0s UNKNOWN -> HEALTHY
    10m HEALTHY -> DEGRADED: nothing saved, changed or learned for 10m of work (limit 10m)
    30m DEGRADED -> STUCK: nothing saved, changed or learned for 30m of work (limit 30m)
    30m incident Stuck
    30m nudge 1 queued
    30m => nudge 1
    30m10s nudge delivered
    31m nudge answered after 59s900ms
    ");
}

#[test]
fn l20_an_undelivered_nudge_is_known_and_tried_again() {
    assert_snapshot!(run("
        0s     checkpoint c1
        0s     beating 5m
        30m10s outcome refused
        32m
    "), @"
    0s registered
    0s UNKNOWN -> HEALTHY
    10m HEALTHY -> DEGRADED: nothing saved, changed or learned for 10m of work (limit 10m)
    30m DEGRADED -> STUCK: nothing saved, changed or learned for 30m of work (limit 30m)
    30m incident Stuck
    30m nudge 1 queued
    30m => nudge 1
    30m10s nudge not delivered
    31m10s nudge 2 queued
    31m10s => nudge 2
    ");
}

#[test]
fn l20_a_nudge_that_was_never_confirmed_is_not_called_answered() {
    let timeline = after(&format!("{STALE} 31m says hello"));
    assert_eq!(timeline.count("nudge answered"), 0);
}

#[test]
fn l20_the_reply_to_a_nudge_is_not_progress() {
    let timeline =
        after(&format!("{REMINDED} 31m model-starts \n 31m5s says sorry \n 31m6s model-ends \n 39m"));
    assert_eq!(timeline.view("a").state, Stuck, "{}", timeline.so_far());
}

#[test]
fn l20_replies_refill_no_nudges_when_no_tool_is_called() {
    let mut timeline = after(
        "0s assign t \n 0s model-starts \n 0s model-ends \n 0s call a \n 0s beating 5m \n 15m10s outcome delivered",
    );
    for turn in 0..12 {
        let at = 16 * 60 + turn * 960;
        timeline = timeline.play(&format!("{at}s says on-it"));
        timeline = timeline.play(&format!("{}s", at + 950));
        if timeline.has("=> escalate") {
            break;
        }
        timeline = timeline.play(&format!("{}s outcome delivered", at + 955));
    }
    assert!(timeline.has("=> escalate"), "it talks and does nothing:\n{}", timeline.so_far());
    assert!(timeline.count("=> nudge") <= 3, "{}", timeline.so_far());
}

#[test]
fn l20_replies_refill_no_nudges_when_work_lies_idle() {
    let mut timeline = after(
        "0s beat \n 0s beating 5m \n 0s assign t1 \n 0s call a \n 1s status idle \n 10m10s outcome delivered",
    );
    for turn in 0..6 {
        let at = 11 * 60 + turn * 700;
        timeline = timeline.play(&format!(
            "{at}s model-starts \n {}s says later \n {}s status idle",
            at + 3,
            at + 5
        ));
        timeline = timeline.play(&format!("{}s", at + 620));
        if timeline.has("=> escalate") {
            break;
        }
        timeline = timeline.play(&format!("{}s outcome delivered", at + 625));
    }
    assert!(timeline.has("=> escalate"), "it answers and does nothing:\n{}", timeline.so_far());
}

#[test]
fn l20_progress_ends_the_sequence_and_lasting_health_closes_the_case() {
    let worked = "31m checkpoint c2 \n 36m checkpoint c3 \n 41m checkpoint c4 \n 46m";
    let timeline = after(&format!("{REMINDED} {worked}"));
    assert_eq!((timeline.view("a").state, timeline.view("a").intervention), (Healthy, None));
    let again = timeline.play("1h12m");
    assert!(again.has("nudge 1 queued"), "a later trouble begins anew");
    assert_eq!(again.count("nudge 2 queued"), 0, "{}", again.so_far());
}

#[test]
fn l20_a_short_recovery_refills_nothing() {
    let mut policies = verger_core::policy::Policies::default();
    policies.each(|role| role.progress.stuck_after = Span::minutes(5));
    policies.each(|role| role.progress.degraded_after = Span::minutes(4));
    let timeline = Timeline::new(policies)
        .play("0s checkpoint c1 \n 0s beating 5m \n 5m10s outcome delivered \n 6m checkpoint c2 \n 16m");
    assert!(timeline.has("nudge 2 queued"), "five minutes of health are not lasting:\n{}", timeline.so_far());
}

#[test]
fn l20_people_may_nudge_by_hand_and_a_script_in_a_loop_may_not() {
    let timeline = after("0s beat \n 1s order nudge");
    assert!(timeline.has("nudge 1 queued (by ada)"));
    let loops = after("0s beat \n 1s..100s/1s order nudge");
    assert!(loops.count("=> nudge") <= 60);
    assert!(loops.has("refused: the limit of 60 per 1h for this agent is used up"));
}

#[test]
fn l20_a_nudge_by_hand_ends_by_itself() {
    let timeline = after(
        "0s activity \n 1s order nudge \n 1s outcome delivered \n 15m order nudge \n 15m outcome delivered \n 26m",
    );
    assert_eq!(timeline.view("a").intervention, None, "ten minutes are over");
}

#[test]
fn l21_an_escalation_carries_the_full_context() {
    let timeline = after("0s beat task=t9 \n 0s checkpoint c1 \n 0s beating 5m \n 1h1m");
    let escalation = timeline.effects.iter().find_map(|effect| match &effect.action {
        Action::Escalate(escalation) => Some(escalation.clone()),
        _ => None,
    });
    let escalation = escalation.expect("people were asked");
    assert_eq!(escalation.task.as_ref().map(TaskId::as_str), Some("t9"));
    assert_eq!(escalation.checkpoint.as_ref().map(CheckpointId::as_str), Some("c1"));
    assert_eq!((escalation.nudges, escalation.timeout), (3, Span::minutes(15)));
    assert!(!escalation.evidence.is_empty());
    assert_snapshot!(escalation.reason, @"nothing saved, changed or learned for 1h of work (limit 30m); after 3 nudges");
}

#[test]
fn l21_more_time_is_granted_and_then_looked_at_again() {
    let asked = format!("{STALE} 1h1m");
    let granted = after(&asked).play("1h2m order more-time for=20m");
    let until = granted.now + Span::minutes(20);
    assert_eq!(granted.view("a").intervention, Some(Intervention::MoreTime { until }));
    let later = granted.play("1h21m59s");
    assert_eq!(later.count("=>"), 4, "nothing happens meanwhile:\n{}", later.so_far());
    let over = later.play("1h23m");
    assert_eq!(over.count("=> escalate"), 2, "still stuck: people are asked again");
    let well = after(&asked).play("1h2m order more-time for=20m \n 1h10m checkpoint c2 \n 1h15m");
    assert_eq!(well.view("a").intervention, None);
    let usual = after(&asked).play("1h2m order more-time \n 1h16m59s");
    assert_eq!(usual.count("=> escalate"), 1, "the role's timeout if no time is given");
}

#[test]
fn l21_force_handoff_saves_and_stops_within_the_cleanup_limit() {
    assert_snapshot!(Timeline::default().play(&format!("{STALE} 1h1m")).play("
        1h2m     order force-handoff
        1h2m10s  checkpoint c9
        1h2m15s  exit code=0
    ").tail("decided"), @"
    1h2m decided: ForceHandoff
    1h2m => request handoff within 30s
    1h2m STUCK -> HEALTHY
    1h2m incident Stuck over after 32m9s
    1h2m HEALTHY -> TERMINATED: its process ended (0)
    1h2m ended: exited with code 0 as it was asked to, to be recovered from c9
    1h2m attempt 1 to recover agent:a is planned for 1h3m
    1h2m => survey the checkpoints of agent:a
    ");
}

#[test]
fn l21_a_handoff_that_takes_too_long_becomes_a_termination() {
    assert_snapshot!(Timeline::default().play(&format!("{STALE} 1h1m")).play("
        1h2m     order force-handoff
        1h2m40s  outcome stopped
    ").tail("decided"), @"
    1h2m decided: ForceHandoff
    1h2m => request handoff within 30s
    1h2m => stop within 30s
    1h2m incident Stuck over after 32m39s
    1h2m STUCK -> TERMINATED: nothing saved, changed or learned for 1h2m of work (limit 30m)
    1h2m ended: decided, to be recovered from c1
    1h2m attempt 1 to recover agent:a is planned for 1h3m
    1h2m => survey the checkpoints of agent:a
    ");
}

#[test]
fn l21_a_handoff_of_a_healthy_agent_is_forced_in_time_too() {
    let timeline = after("0s activity \n 1s order escalate \n 12m order force-handoff \n 12m31s");
    assert_eq!(timeline.count("=> stop"), 1, "thirty seconds are over:\n{}", timeline.so_far());
}

#[test]
fn l21_five_repeats_ask_people_at_once() {
    assert_snapshot!(run("
        0s..50s/10s call ls -> nothing
    "), @"
    0s registered
    0s UNKNOWN -> HEALTHY
    30s HEALTHY -> DEGRADED: the same call with the same result 4 times (limit 4)
    30s nudge 1 queued
    30s => nudge 1
    40s DEGRADED -> STUCK: the same call with the same result 5 times (limit 4)
    40s incident Stuck
    40s escalated: the same call with the same result 5 times (limit 4); after 1 nudge
    40s => escalate
    ");
}

#[test]
fn l21_ten_repeats_interrupt_the_turn_and_never_kill() {
    let timeline = full("0s..200s/10s call ls -> nothing \n 210s");
    assert_eq!(timeline.count("=> interrupt at 10"), 1);
    assert_eq!(timeline.count("=> stop"), 0);
    let for_a_day = timeline.play("220s..1d/1m call ls -> nothing");
    assert_eq!(for_a_day.count("=> stop"), 0, "one family of evidence ends nobody");
    assert!(for_a_day.view("a").state == Stuck);
}

#[test]
fn l21_an_escalation_is_withdrawn_when_the_agent_gets_on() {
    let timeline = after("0s..40s/10s call ls -> nothing \n 50s call a -> x \n 60s call b -> y");
    assert!(timeline.has("escalation withdrawn"));
    assert_eq!(timeline.view("a").intervention, None);
}

#[test]
fn l21_an_escalation_stays_with_people_when_the_agent_falls_silent() {
    let timeline = after(&format!("{STALE} 65m still \n 76m"));
    assert_eq!(timeline.view("a").state, Degraded, "{}", timeline.so_far());
    let timeline = timeline.play("100m");
    assert!(!timeline.has("escalation withdrawn"), "{}", timeline.so_far());
    assert_eq!(timeline.count("=> escalate"), 1, "{}", timeline.so_far());
    assert!(matches!(timeline.view("a").intervention, Some(Intervention::Escalated { .. })));
    let back = timeline.play("101m checkpoint c2 \n 102m");
    assert!(back.has("escalation withdrawn"), "{}", back.so_far());
}

#[test]
fn l21_an_agent_that_cannot_go_on_reaches_people_and_its_turns_end_changes_nothing() {
    let timeline = after(
        "0s beat \n 0s beating 5m \n 0s assign t1 \n 1s call a \n 1m blocker \n 1m1s status idle \n 2m",
    );
    assert_eq!(timeline.count("=> escalate"), 1);
    assert!(
        matches!(timeline.view("a").intervention, Some(Intervention::Escalated { .. })),
        "{}",
        timeline.so_far()
    );
    let helped = timeline.play("3m person-says here-is-the-key \n 4m call b");
    assert_eq!(helped.view("a").intervention, None, "a person's word ends it");
}

#[test]
fn l21_an_escalation_that_reached_nobody_is_sent_again_later() {
    let timeline = after("0s activity \n 1s error disk unrecoverable \n 5s outcome failed");
    let timeline = timeline.play("2m outcome failed \n 10m outcome failed \n 1h");
    assert_eq!(timeline.count("escalated"), 1, "one condition, one escalation");
    assert!(timeline.count("=> escalate") >= 3, "{}", timeline.so_far());
    let times: Vec<&str> = timeline.so_far().lines().filter(|line| line.ends_with("=> escalate")).collect();
    assert!(times.windows(2).all(|pair| pair[0] != pair[1]), "not all at once: {times:?}");
}

#[test]
fn l21_what_cannot_be_decided_is_refused() {
    assert!(after("0s beat \n 1s order more-time").has("refused: no escalation of this agent is open"));
    assert!(after("0s beat \n 1s @b order nudge").has("refused: no agent `b` is registered"));
    assert!(after("0s beat \n 1s order role nobody").has("refused: no role `nobody` is configured"));
}

#[test]
fn l22_terminate_and_recover_goes_on_from_the_last_checkpoint() {
    assert_snapshot!(Timeline::default().play(&format!("{STALE} 1h1m")).play("
        1h2m     order recover
        1h2m20s  outcome stopped
    ").tail("decided"), @"
    1h2m decided: TerminateAndRecover
    1h2m to be stopped: decided (by ada)
    1h2m => stop within 30s
    1h2m incident Stuck over after 32m19s
    1h2m STUCK -> TERMINATED: nothing saved, changed or learned for 1h2m of work (limit 30m)
    1h2m ended: decided, to be recovered from c1
    1h2m attempt 1 to recover agent:a is planned for 1h3m
    1h2m => survey the checkpoints of agent:a
    ");
}

#[test]
fn l22_in_mode_full_an_escalation_nobody_answers_ends_in_a_termination() {
    let log = run_in(
        Mode::Full,
        "
        0s     call a
        0s     checkpoint c1
        0s     beating 5m
        30m10s outcome delivered
        40m20s outcome delivered
        50m30s outcome delivered
        61m    outcome delivered
        76m    outcome stopped
    ",
    );
    assert_snapshot!(log, @"
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
    1h escalated: nothing saved, changed or learned for 1h of work (limit 30m); after 3 nudges
    1h => escalate
    1h15m to be stopped: nobody decided in time
    1h15m => stop within 30s
    1h16m incident Stuck over after 45m59s
    1h16m STUCK -> TERMINATED: nothing saved, changed or learned for 1h16m of work (limit 30m)
    1h16m ended: nobody decided in time, to be recovered from c1
    1h16m attempt 1 to recover agent:a is planned for 1h17m
    1h16m => survey the checkpoints of agent:a
    ");
}

#[test]
fn l22_an_agent_that_does_not_stop_is_tried_again_and_then_people_are_told() {
    let timeline = after("0s beat \n 0s beating 5m \n 1m order terminate \n 10m");
    assert_eq!(timeline.count("=> stop"), 3, "{}", timeline.so_far());
    assert_eq!(timeline.count("does not stop after 3 attempts"), 1);
    assert_ne!(timeline.view("a").state, Terminated, "it may still run");
    let again = timeline.play("11m order terminate \n 11m5s outcome stopped");
    assert_eq!(again.view("a").state, Terminated, "a person may try again");
}

#[test]
fn l22_a_termination_that_was_ordered_long_after_a_recovery_is_retried_in_time() {
    let timeline =
        after("0s activity \n 1s order nudge \n 1s outcome delivered \n 20m order terminate \n 20m45s");
    assert_eq!(timeline.count("=> stop"), 2, "{}", timeline.so_far());
}

#[test]
fn l22_a_termination_by_a_person_recovers_nothing_by_itself() {
    let timeline = after("0s beat task=t1 \n 0s checkpoint c1 \n 1m order terminate \n 61s outcome stopped");
    assert!(timeline.has("ended: told to"));
    assert!(!timeline.has("ended: told to, to be recovered"));
}

#[test]
fn l22_a_stop_that_nothing_can_carry_out_is_said_at_once_and_remembered_for_an_hour() {
    let told = after(&format!("{STALE} 31m order terminate \n 31m1s outcome rejected"));
    assert!(told.has("does not stop after 1 attempt"), "{}", told.so_far());
    let well = told.play("32m checkpoint c2 \n 59m checkpoint c3 \n 80m");
    assert_eq!(well.count("=> stop"), 1, "trying again would not help:\n{}", well.so_far());
    assert!(well.view("a").intervention.is_some(), "it may still end:\n{}", well.so_far());
    let later = well.play("85m checkpoint c4 \n 95m");
    assert_eq!(later.view("a").intervention, None, "it did not end:\n{}", later.so_far());
}
