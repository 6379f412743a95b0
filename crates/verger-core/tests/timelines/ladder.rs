//! When each step of the ladder is due, to the moment, and what moves it: L20–L22.

use verger_core::effect::Action;
use verger_core::event::{Event, Fact};
use verger_core::evidence::Sign;
use verger_core::health::HealthState::{Degraded, Failing, Healthy, Stuck, Terminated};
use verger_core::intervention::Limit;
use verger_core::policy::{Mode, Policies, RestartPolicy, Role};
use verger_core::{Intervention, Span, Timestamp};

use crate::timeline::{Timeline, lines};

fn after(script: &str) -> Timeline {
    Timeline::default().play(script)
}

fn full(script: &str) -> Timeline {
    Timeline::in_mode(Mode::Full).play(script)
}

fn with(change: impl Fn(&mut Role)) -> Timeline {
    let mut policies = Policies::default();
    policies.each(|role| change(role));
    Timeline::new(policies)
}

/// When facts like these were recorded, in milliseconds.
fn moments(timeline: &Timeline, is_one: impl Fn(&Fact) -> bool) -> Vec<u64> {
    let found = timeline.events.iter().filter(|event: &&Event| is_one(&event.fact));
    found.map(|event| event.at.since(Timestamp::ZERO).as_millis()).collect()
}

fn nudges(timeline: &Timeline) -> Vec<u64> {
    moments(timeline, |fact| matches!(fact, Fact::NudgeSent { .. }))
}

/// When the log has this line, in its own words.
fn times<'a>(timeline: &'a Timeline, what: &str) -> Vec<&'a str> {
    let lines = timeline.so_far().lines().filter_map(|line| line.split_once(' '));
    lines.filter(|(_, text)| text.starts_with(what)).map(|(time, _)| time).collect()
}

/// Stuck from 30 minutes on: it saved something once and only beats since.
const STALE: &str = "0s checkpoint c1 \n 0s beating 5m \n";
/// Idle from the first second on, with work: worth a reminder after ten minutes.
const IDLE: &str = "0s beat \n 0s beating 1m \n 0s assign t1 \n 0s call a \n 0s status idle \n";

#[test]
fn l20_a_nudge_by_hand_to_a_healthy_agent_is_followed_to_its_answer() {
    let timeline =
        after("0s beat \n 0s beating 1m \n 1s order nudge \n 2m outcome delivered \n 5m says fine");
    assert!(timeline.has("nudge delivered"), "{}", timeline.so_far());
    assert!(timeline.has("nudge answered after 4m59s"), "{}", timeline.so_far());
    assert_eq!(timeline.view("a").intervention, Some(Intervention::Nudging { attempt: 1 }));
    let over = timeline.play("11m59s");
    assert!(over.view("a").intervention.is_some(), "ten minutes from its delivery");
    assert_eq!(over.play("12m").view("a").intervention, None);
}

#[test]
fn l20_idle_with_work_is_reminded_three_times_and_people_are_asked_once() {
    let timeline = after(&format!("{IDLE} 6h"));
    assert_eq!(nudges(&timeline), [600_000, 1_200_000, 1_800_000], "{}", timeline.so_far());
    let asked = moments(&timeline, |fact| matches!(fact, Fact::EscalationTriggered { .. }));
    assert_eq!(asked, [2_400_000], "{}", timeline.so_far());
}

#[test]
fn l20_a_delivered_reminder_of_idle_work_has_its_ten_minutes_from_then() {
    let timeline = after(&format!("{IDLE} 14m outcome delivered \n 25m"));
    assert_eq!(nudges(&timeline), [600_000, 1_440_000], "{}", timeline.so_far());
}

#[test]
fn l20_idle_work_stays_with_the_agent_where_people_are_not_asked() {
    let timeline = Timeline::in_mode(Mode::Nudge).play(&format!("{IDLE} 6h"));
    assert_eq!((timeline.count("=> nudge"), timeline.count("=> escalate")), (3, 0), "{}", timeline.so_far());
}

#[test]
fn l20_repeats_that_are_no_loop_yet_are_worth_a_word_where_the_mode_allows_it() {
    let four = "0s..30s/10s call ls -> nothing \n 1m";
    for (mode, expected) in [(Mode::Observe, 0), (Mode::Nudge, 1), (Mode::Escalate, 1), (Mode::Full, 1)] {
        assert_eq!(Timeline::in_mode(mode).play(four).count("=> nudge"), expected, "in mode {mode:?}");
    }
}

#[test]
fn l20_repeats_that_are_no_loop_yet_are_no_question_to_people() {
    let timeline = with(|role| role.intervention.nudges_max = 0).play("0s..30s/10s call ls -> nothing \n 1h");
    assert!(timeline.effects.is_empty(), "{}", timeline.so_far());
}

#[test]
fn l20_where_reminders_are_off_people_are_asked_at_once() {
    let timeline = with(|role| role.intervention.nudge_enabled = false).play(&format!("{STALE} 31m"));
    assert_eq!((timeline.count("=> nudge"), timeline.count("=> escalate")), (0, 1), "{}", timeline.so_far());
}

#[test]
fn l20_who_was_well_for_a_moment_is_not_reminded_more_often_for_it() {
    let looping = "0s..30s/10s call ls -> nothing \n 40s call b -> new";
    let again = "50s..80s/10s call pwd -> nothing";
    let timeline = after(&format!("{looping} \n {again} \n 10m29s"));
    assert_eq!(nudges(&timeline), [30_000], "{}", timeline.so_far());
    assert_eq!(nudges(&timeline.play("20m")), [30_000, 630_000], "and in time when the ten minutes are over");
}

#[test]
fn l20_who_gets_stuck_again_soon_is_reminded_when_the_ten_minutes_are_over() {
    let quick = with(|role| {
        role.progress.degraded_after = Span::minutes(1);
        role.progress.stuck_after = Span::minutes(4);
    });
    let timeline = quick.play("0s checkpoint c1 \n 1s beating 1m \n 5m checkpoint c2 \n 20m");
    assert_eq!(nudges(&timeline)[..2], [240_100, 840_100], "{}", timeline.so_far());
}

#[test]
fn l20_nobody_is_reminded_who_cannot_hear_it() {
    let timeline = Timeline::in_mode(Mode::Nudge).play("0s beat \n 3h");
    assert_eq!((timeline.view("a").state, timeline.count("=> nudge")), (Stuck, 0), "{}", timeline.so_far());
}

#[test]
fn l20_an_answer_without_progress_keeps_the_count_for_an_hour() {
    let helped = "0s..30s/10s call ls -> nothing \n 40s person-says stop \n 40s beating 5m";
    let again = |minute: u64| format!("{minute}m..{}s/10s call ls -> nothing", minute * 60 + 30);
    let soon = after(&format!("{helped} \n {}", again(50)));
    assert!(soon.has("nudge 2 queued"), "{}", soon.so_far());
    let late = after(&format!("{helped} \n {}", again(65)));
    assert!(!late.has("nudge 2 queued"), "an hour of health is lasting:\n{}", late.so_far());
    assert_eq!(late.count("nudge 1 queued"), 2);
}

#[test]
fn l20_a_case_is_closed_in_time_though_nothing_is_heard() {
    let well = "0s..30s/10s call ls -> nothing \n 40s call b -> new \n 50s status idle";
    let failed = |minute: u64| after(&format!("{well} \n {minute}m error disk unrecoverable"));
    assert!(failed(10).so_far().contains("after 1 nudge"), "{}", failed(10).so_far());
    assert!(!failed(11).so_far().contains("after 1 nudge"), "{}", failed(11).so_far());
}

#[test]
fn l21_a_request_to_hand_over_is_reminded_of_once_before_people_are_asked() {
    let timeline = after(&format!("{STALE} 25m handoff \n 45m"));
    assert_eq!((timeline.count("=> nudge"), timeline.count("=> escalate")), (1, 1), "{}", timeline.so_far());
    let after_a_nudge = after(&format!("{STALE} 31m \n 32m handoff \n 33m"));
    assert_eq!(after_a_nudge.count("=> escalate"), 1, "{}", after_a_nudge.so_far());
}

#[test]
fn l21_failing_asks_people_only_where_the_mode_allows_it() {
    let broken = "0s beat \n 0s beating 5m \n 1s error disk unrecoverable \n 1h";
    for (mode, expected) in [(Mode::Observe, 0), (Mode::Nudge, 0), (Mode::Escalate, 1), (Mode::Full, 1)] {
        let timeline = Timeline::in_mode(mode).play(broken);
        assert_eq!(
            (timeline.view("a").state, timeline.count("=> escalate")),
            (Failing, expected),
            "{mode:?}"
        );
    }
    let left_alone = with(|role| role.restart = RestartPolicy::None).play(broken);
    assert_eq!(left_alone.count("=> escalate"), 0, "a role whose agents are left alone");
}

#[test]
fn l21_the_turn_is_interrupted_at_every_tenth_repeat_and_counted_anew_after_another_trouble() {
    let loops = after("0s..290s/10s call ls -> nothing");
    assert_eq!(times(&loops, "=> interrupt at 10").len(), 1);
    assert_eq!(loops.count("=> interrupt"), 3, "{}", loops.so_far());
    let again = after(
        "0s..110s/10s call ls -> nothing \n 2m person-says stop \n 121s error disk unrecoverable \n \
         130s..240s/10s call pwd -> nothing",
    );
    assert_eq!(again.count("=> interrupt at 10"), 2, "{}", again.so_far());
    let got_on = after(
        "0s..110s/10s call ls -> nothing \n 2m..170s/10s call x$N -> r$N \n 3m..290s/10s call ls -> nothing",
    );
    assert_eq!(got_on.count("=> interrupt at 10"), 2, "it got on between:\n{}", got_on.so_far());
}

#[test]
fn l21_the_turn_is_interrupted_only_where_people_may_be_asked_and_the_role_wants_it() {
    let script = "0s..150s/10s call ls -> nothing";
    for (mode, expected) in [(Mode::Observe, 0), (Mode::Nudge, 0), (Mode::Escalate, 1), (Mode::Full, 1)] {
        assert_eq!(Timeline::in_mode(mode).play(script).count("=> interrupt"), expected, "in mode {mode:?}");
    }
    let never = with(|role| role.intervention.repeats_stop = 0).play(script);
    assert_eq!(never.count("=> interrupt"), 0, "{}", never.so_far());
}

#[test]
fn l21_an_escalation_that_reached_nobody_is_tried_ever_more_rarely() {
    let mut timeline = after("0s activity \n 1s error disk unrecoverable");
    let mut expected = Vec::new();
    let mut second = 1;
    for wait in [60, 120, 240, 480, 960, 1_800, 1_800] {
        timeline = timeline.play(&format!("{}s outcome failed", second + 1));
        second += 1 + wait;
        timeline = timeline.play(&format!("{}s activity", second - 1));
        expected.push(second);
    }
    let timeline = timeline.play(&format!("{second}s"));
    assert_eq!(timeline.count("=> escalate"), expected.len() + 1, "{}", timeline.so_far());
    let mut probe = after("0s activity \n 1s error disk unrecoverable");
    for (tried, due) in expected.iter().enumerate() {
        let last = if tried == 0 { 1 } else { expected[tried - 1] };
        probe = probe.play(&format!("{}s outcome failed \n {}s activity", last + 1, due - 1));
        assert_eq!(probe.count("=> escalate"), tried + 1, "not before {due}s:\n{}", probe.so_far());
        probe = probe.play(&format!("{due}s"));
        assert_eq!(probe.count("=> escalate"), tried + 2, "at {due}s:\n{}", probe.so_far());
    }
}

#[test]
fn l22_a_stop_is_tried_again_ten_seconds_after_the_cleanup_limit() {
    let timeline = after("0s beat \n 0s beating 1s \n 1m order terminate \n 10m");
    assert_eq!(times(&timeline, "=> stop"), ["1m", "1m40s", "2m20s"], "{}", timeline.so_far());
    assert_eq!(times(&timeline, "does not stop after 3 attempts"), ["3m"]);
}

#[test]
fn l22_a_stop_that_failed_is_tried_again_after_ten_moments() {
    let timeline = after("0s beat \n 0s beating 1s \n 1m order terminate \n 65s outcome failed \n 80s");
    assert_eq!(times(&timeline, "=> stop"), ["1m", "1m15s"], "{}", timeline.so_far());
}

#[test]
fn l22_reminders_that_never_arrived_were_not_in_vain() {
    let timeline = full("0s call a \n 0s checkpoint c1 \n 0s beating 5m \n 1d");
    assert_eq!((timeline.count("=> escalate"), timeline.count("=> stop")), (1, 0), "{}", timeline.so_far());
}

#[test]
fn l22_two_independent_findings_need_no_reminder_that_arrived() {
    let timeline = full("0s call a \n 0s checkpoint c1 \n 0s beating 5m \n 29m blocker \n 3h");
    let asked = moments(&timeline, |fact| matches!(fact, Fact::EscalationTriggered { .. }));
    let ended = moments(&timeline, |fact| matches!(fact, Fact::TerminationOrdered { .. }));
    assert_eq!((asked.len(), ended.len()), (1, 1), "{}", timeline.so_far());
    assert_eq!(ended[0] - asked[0], 900_000, "people have fifteen minutes:\n{}", timeline.so_far());
}

#[test]
fn l22_who_says_itself_that_it_is_in_trouble_is_not_ended_for_its_word() {
    let timeline =
        full("0s call a \n 0s checkpoint c1 \n 0s beating 5m degraded \n 1s status degraded \n 1d");
    assert_eq!((timeline.count("=> escalate"), timeline.count("=> stop")), (1, 0), "{}", timeline.so_far());
}

#[test]
fn l22_who_answers_is_not_ended_for_what_is_merely_not_seen() {
    let timeline = full(
        "0s call a \n 0s checkpoint c1 \n 0s beating 5m \n 30m10s outcome delivered \n 31m says on-it \n \
         40m20s outcome delivered \n 41m says on-it \n 50m30s outcome delivered \n 51m says on-it \n 1d",
    );
    assert_eq!((timeline.count("=> escalate"), timeline.count("=> stop")), (1, 0), "{}", timeline.so_far());
}

/// In mode full, a full window from the start: what is found at an hour is exhaustion, and nothing else.
fn exhausted(script: &str) -> Timeline {
    let timeline = with(|role| {
        role.mode = Mode::Full;
        (role.context.standstill, role.context.steps) = (Span::hours(1), 30);
    });
    timeline.play("0s call a \n 0s beat context=97/100 \n 0s beating 5m context=97/100").play(script)
}

#[test]
fn l22_who_answers_and_only_talks_with_a_full_window_may_be_ended() {
    let talk = |minutes: std::ops::Range<usize>| {
        lines(minutes, |minute| format!("{minute}m says h{}", "m".repeat(minute)))
    };
    let timeline = exhausted(&format!("{} 30m10s outcome delivered \n {} 2h", talk(1..30), talk(31..90)));
    assert!(timeline.has("nudge answered"), "{}", timeline.so_far());
    assert_eq!(timeline.count("to be stopped: nobody decided in time"), 1, "{}", timeline.so_far());
}

#[test]
fn l22_who_got_on_after_the_reminder_was_not_reminded_in_vain() {
    let timeline = exhausted(
        "1m..60m/1m call look$N -> r$N \n 60m10s outcome delivered \n 61m..70m/1m call look$N -> r$N \n \
         70m20s outcome delivered \n 71m..80m/1m call look$N -> r$N \n 80m30s outcome delivered \n \
         81m..4h/1m call look$N -> r$N",
    );
    assert_eq!((timeline.count("=> escalate"), timeline.count("=> stop")), (1, 0), "{}", timeline.so_far());
}

#[test]
fn l22_in_mode_escalate_two_findings_end_nobody() {
    let timeline = with(|role| role.restart = RestartPolicy::Recover)
        .play("0s beat \n 1s call a -> r \n 2s status degraded \n 3s..6s/1s call b$N -> boom failed \n 1h");
    let stops = timeline.effects.iter().filter(|effect| matches!(effect.action, Action::Stop { .. }));
    assert_eq!((stops.count(), timeline.count("=> escalate")), (0, 1), "{}", timeline.so_far());
}

#[test]
fn l21_orders_are_refused_where_they_come_too_late() {
    let stopping =
        after("0s beat \n 1s order terminate \n 2s order nudge \n 2s order escalate \n 2s order recover");
    assert_eq!(stopping.count("refused"), 3, "{}", stopping.so_far());
    let leaving = after("0s beat \n 1s order escalate \n 2s order force-handoff \n 3s order nudge");
    assert_eq!((leaving.count("refused"), leaving.count("=> nudge")), (1, 0), "{}", leaving.so_far());
    let ended =
        after("0s beat \n 1s exit code=0 \n 2s order terminate \n 2s order nudge \n 2s order escalate");
    assert_eq!((ended.count("refused"), ended.count("=>")), (3, 0), "{}", ended.so_far());
    let another_life = after("0s beat \n 1s life 7 \n 1s order nudge \n 1s life 1 \n 1s order nudge");
    assert_eq!((another_life.count("refused"), another_life.count("=> nudge")), (1, 1));
    assert_eq!(another_life.view("a").state, Healthy);
}

#[test]
fn x12_a_raised_mode_is_used_when_the_next_step_is_due() {
    let done = Timeline::in_mode(Mode::Nudge).play(&format!("{STALE} 62m \n 63m order mode escalate \n 69m"));
    assert_eq!((done.count("=> nudge"), done.count("=> escalate")), (3, 0), "{}", done.so_far());
    let due = done.play("70m5s");
    assert_eq!(due.count("=> escalate"), 1, "{}", due.so_far());
}

#[test]
fn l20_nudges_by_hand_are_counted_anew_after_lasting_health() {
    let timeline =
        after("0s activity \n 0s beating 5m \n 0s order nudge \n 3h order nudge \n 200m order nudge \n 201m");
    let attempts = timeline.events.iter().filter_map(|event| match event.fact {
        Fact::NudgeSent { attempt, .. } => Some(attempt),
        _ => None,
    });
    assert_eq!(
        attempts.collect::<Vec<_>>(),
        [1, 1, 2],
        "the third follows the second too soon:\n{}",
        timeline.so_far()
    );
}

#[test]
fn l22_a_stop_in_vain_is_forgotten_when_the_agent_is_well_again() {
    let vain = after(&format!("{STALE} 31m order terminate \n 50m"));
    assert!(vain.has("does not stop after 3 attempts"), "{}", vain.so_far());
    assert_eq!((nudges(&vain).len(), vain.count("=> stop")), (1, 3), "people know:\n{}", vain.so_far());
    let well = vain.play("50m checkpoint c2 \n 95m checkpoint c3 \n 100m");
    assert_eq!((nudges(&well).len(), well.view("a").intervention), (1, None), "{}", well.so_far());
    let again = well.play("126m");
    assert_eq!(again.count("nudge 1 queued"), 2, "a new trouble is a new case:\n{}", again.so_far());
}

#[test]
fn l22_what_was_told_to_stop_in_vain_may_still_end_as_it_was_told() {
    let told = || {
        with(|role| role.restart = RestartPolicy::Recover)
            .play("0s beat \n 0s beating 1m \n 1m order terminate")
    };
    let late = told().play("3m1s beat \n 3m2s outcome stopped");
    assert!(late.has("ended: told to"), "{}", late.so_far());
    let killed = told().play("4m exit signal=9");
    assert!(killed.has("ended: ended by signal 9 as it was asked to"), "{}", killed.so_far());
    assert_eq!(
        (killed.count("to be recovered"), killed.count("incident Died")),
        (0, 0),
        "{}",
        killed.so_far()
    );
}

#[test]
fn l22_a_reminder_that_arrived_in_vain_while_the_agent_was_merely_degraded_counts() {
    let talk = |minutes: std::ops::Range<usize>| {
        lines(minutes, |minute| format!("{minute}m says h{}", "m".repeat(minute)))
    };
    let reminded = |outcome: &str| {
        let degraded = exhausted(&format!("{} 30m10s outcome {outcome} \n {}", talk(1..30), talk(31..59)));
        assert_eq!(degraded.view("a").state, Degraded, "{}", degraded.so_far());
        assert_eq!(nudges(&degraded).len(), 3, "{}", degraded.so_far());
        degraded.play(&format!("{} 2h", talk(59..90)))
    };
    let arrived = reminded("delivered");
    assert_eq!((arrived.count("=> escalate"), arrived.count("=> stop")), (1, 3), "{}", arrived.so_far());
    let lost = reminded("failed");
    assert_eq!((lost.count("=> escalate"), lost.count("=> stop")), (1, 0), "{}", lost.so_far());
}

#[test]
fn l09_a_full_window_in_which_nothing_lasting_happens_for_half_an_hour_is_worth_a_reminder() {
    let full = "0s beat context=97/100 \n 1m beating 5m context=97/100 \n";
    let timeline = after(&format!("{full} 1m..110m/2m call look$N -> r$N"));
    assert_eq!(nudges(&timeline)[..1], [1_800_000], "{}", timeline.so_far());
    assert_eq!((timeline.view("a").state, timeline.count("incident")), (Degraded, 0));
    assert_eq!(timeline.count("=> escalate"), 0, "it is no question to people:\n{}", timeline.so_far());
    let saved = after(&format!("{full} 20m checkpoint c1 \n 21m..59m/2m call look$N -> r$N"));
    assert_eq!(nudges(&saved)[..1], [3_000_000], "half an hour from what was saved:\n{}", saved.so_far());
}

/// In mode full, an agent that beats and fails with the same call again and again until this moment.
fn looping_until(moment: &str) -> Timeline {
    full(&format!("0s beat \n 0s beating 1m \n 1s..{moment}/10s call b -> boom failed"))
}

#[test]
fn l22_a_fast_loop_that_no_interruption_ends_is_ended() {
    let timeline = looping_until("15m50s");
    assert_eq!(timeline.count("=> interrupt"), 9, "{}", timeline.so_far());
    assert_eq!(times(&timeline, "=> stop"), ["15m41s"], "people had their time:\n{}", timeline.so_far());
}

#[test]
fn l22_who_was_just_interrupted_has_time_to_take_another_course() {
    // At this pace the ninth interruption comes three seconds before people's time is over.
    let until = |end| format!("0s beat \n 0s beating 1m \n 1s..{end}/10550ms call b -> boom failed");
    let stopped = full(&until("15m40s")).play("16m");
    assert_eq!(stopped.count("=> interrupt"), 9, "{}", stopped.so_far());
    assert_eq!(stopped.count("=> stop"), 0, "{}", stopped.so_far());
    let went_on = full(&until("17m"));
    assert_eq!(went_on.count("=> stop"), 1, "{}", went_on.so_far());
}

#[test]
fn l22_who_left_its_loop_is_not_ended_for_it() {
    let silent = looping_until("12m").play("29m");
    assert_eq!((silent.count("=> escalate"), silent.count("=> stop")), (1, 0), "{}", silent.so_far());
    let elsewhere =
        looping_until("15m30s").play("15m36s call other -> new \n 15m46s..30m/10s call x$N -> r$N");
    assert_eq!(
        (elsewhere.count("=> escalate"), elsewhere.count("=> stop")),
        (1, 0),
        "{}",
        elsewhere.so_far()
    );
}

#[test]
fn l21_who_asked_to_hand_over_before_it_was_reminded_has_its_time_to_answer() {
    let timeline = after(&format!("{STALE} 25m handoff \n 31m \n 32m beat \n 33m beat"));
    assert_eq!((timeline.count("=> nudge"), timeline.count("=> escalate")), (1, 0), "{}", timeline.so_far());
}

#[test]
fn l22_who_cannot_be_reached_is_not_ended_for_what_was_before() {
    let reminded = "0s channel \n 0s answers \n 0s call a \n 0s checkpoint c1 \n 30m1s outcome delivered";
    let cut_off = full(&format!("{reminded} \n 41m unreachable \n 12h"));
    assert_eq!((cut_off.count("=> escalate"), cut_off.count("=> stop")), (1, 0), "{}", cut_off.so_far());
}

#[test]
fn l22_who_only_answers_reminders_is_not_ended_for_a_note_beside_its_silence() {
    let timeline = full(
        "0s beat \n 0s beating 5m \n 0s..3h/1m tokens 100 \n 3h call b -> s \n \
         3h checkpoint c1 \n 210m10s outcome delivered \n 211m says on-it \n 220m20s outcome delivered \n \
         221m says on-it \n 230m30s outcome delivered \n 231m says on-it \n 1d",
    );
    assert_eq!((timeline.count("=> escalate"), timeline.count("=> stop")), (1, 0), "{}", timeline.so_far());
    let evidence = timeline.view("a").evidence;
    assert!(evidence.iter().any(|found| found.sign == Sign::TokenStop), "{evidence:?}");
}

#[test]
fn l13_who_idles_with_work_that_people_do_not_mind_is_left_alone() {
    let asked = format!("{IDLE} 41m");
    let decided = after(&format!("{asked} \n 42m order more-time \n 43m"));
    assert_eq!(decided.view("a").state, Healthy, "{}", decided.so_far());
    let later = decided.play("12h");
    assert_eq!(later.count("=> escalate"), 1, "they were asked once:\n{}", later.so_far());
    let undecided = full(&asked).play("1h30m");
    assert_eq!(undecided.view("a").state, Healthy, "{}", undecided.so_far());
    let decided = moments(&undecided, |fact| matches!(fact, Fact::EscalationDecided { .. }));
    assert_eq!(decided, [3_300_000], "when people's quarter of an hour is over:\n{}", undecided.so_far());
    let again = undecided.play("2h assign t2 \n 2h1s call b \n 2h2s status idle \n 2h13m");
    assert_eq!(again.view("a").state, Degraded, "new work is a new duty:\n{}", again.so_far());
}

#[test]
fn l22_that_its_state_keeps_changing_is_no_second_finding() {
    let timeline = with(|role| {
        role.mode = Mode::Full;
        role.flapping.window = Span::hours(24);
        role.intervention.nudge_enabled = false;
    });
    let flaps = lines(0..4, |n| format!("{}m checkpoint c{n} \n", n * 40));
    let timeline = timeline.play(&format!("0s call a \n 0s beating 5m \n {flaps} 150m \n 12h"));
    assert!(timeline.has("incident Flapping"), "{}", timeline.so_far());
    assert_eq!(timeline.count("=> stop"), 0, "{}", timeline.so_far());
}

#[test]
fn l21_other_trouble_than_idleness_is_not_let_be_when_nobody_decides() {
    let repeats = "0s beat \n 0s beating 1m \n 0s..30s/10s call ls -> nothing \n 40s order escalate \n 16m";
    let timeline = full(repeats);
    assert_eq!(timeline.view("a").state, Degraded, "{}", timeline.so_far());
    assert_eq!(timeline.count("decided"), 0, "{}", timeline.so_far());
}

#[test]
fn l20_who_works_unseen_and_gets_nowhere_is_worth_a_word() {
    let timeline = after("0s beat \n 0s beating 1m \n 0s checkpoint c1 \n 0s..2h/1m tokens 100");
    assert_eq!(timeline.view("a").state, Degraded, "{}", timeline.so_far());
    assert!(timeline.count("=> nudge") > 0, "{}", timeline.so_far());
}

#[test]
fn l20_a_limit_on_reminders_holds_them_back_until_its_time_is_over() {
    let hourly = |role: &mut Role| role.intervention.nudge_limit = Limit { count: 1, window: Span::hours(1) };
    let timeline = with(hourly).play(&format!("{IDLE} 3h"));
    assert_eq!(nudges(&timeline), [600_000, 4_200_000, 7_800_000], "{}", timeline.so_far());
}

#[test]
fn l22_who_was_reminded_has_five_minutes_to_take_another_course() {
    let hasty = with(|role| {
        role.mode = Mode::Full;
        let policy = &mut role.intervention;
        (policy.repeats_stop, policy.repeats_escalate, policy.nudges_max) = (0, u32::MAX, 1);
        (policy.nudge_interval, policy.escalation_timeout) = (Span::minutes(1), Span::minutes(1));
    });
    let script = "0s beat \n 0s beating 1m \n 0s..30s/10s call ls -> nothing \n 31s outcome delivered \n \
                  40s..9m/10s call ls -> nothing";
    let timeline = hasty.play(script);
    assert_eq!(times(&timeline, "=> escalate"), ["1m31s"], "{}", timeline.so_far());
    assert_eq!(times(&timeline, "to be stopped"), ["5m31s"], "{}", timeline.so_far());
}

#[test]
fn l22_who_took_another_course_before_it_could_be_stopped_is_let_live() {
    // It is to be stopped at 15m41s, which fails; it would be tried again ten seconds later.
    let failed = || looping_until("15m42s").play("15m43s outcome failed");
    let again = failed().play("17m");
    assert!(again.count("=> stop") > 1, "it still does nothing else:\n{}", again.so_far());
    for waits in ["status waiting on=subagent", "sub-starts 7", "status idle", "checkpoint c9"] {
        let timeline = failed().play(&format!("15m45s {waits} \n 17m"));
        assert_eq!(timeline.count("=> stop"), 1, "{}", timeline.so_far());
        assert!(timeline.has("is not stopped: it took another course"), "{}", timeline.so_far());
    }
    let got_on = failed().play("15m45s..17m/2s call x$N -> r$N");
    assert_eq!(got_on.count("=> stop"), 1, "{}", got_on.so_far());
    let under_way =
        looping_until("15m42s").play("15m43s status waiting on=subagent \n 15m45s outcome stopped");
    assert_eq!(under_way.view("a").state, Terminated, "it ended before it was due again");
    let ordered = looping_until("5m")
        .play("5m1s order terminate \n 5m2s outcome failed")
        .play("5m3s..7m/2s call x$N -> r$N");
    assert!(ordered.count("=> stop") > 1, "what a person ordered is done:\n{}", ordered.so_far());
}

#[test]
fn l21_who_is_being_stopped_is_not_interrupted_as_well() {
    let timeline = looping_until("17m30s");
    assert_eq!(times(&timeline, "to be stopped"), ["15m41s"], "{}", timeline.so_far());
    let before = timeline.so_far().find("to be stopped").expect("it is to be");
    assert!(!timeline.so_far()[before..].contains("=> interrupt"), "{}", timeline.so_far());
}
