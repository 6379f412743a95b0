//! Asking before judging: an agent that only calls tools is asked before its silence is held against it (L01, L13, L21, R09).

use insta::assert_snapshot;
use verger_core::effect::Action;
use verger_core::event::Fact;
use verger_core::health::HealthState::{Degraded, Healthy, Stuck};
use verger_core::liveness::Cause;
use verger_core::{Span, Timestamp};

use crate::timeline::Timeline;

/// It was given work and calls tools; nothing else is ever heard of it. Silent beyond the limit at 15m.
const SILENT: &str = "0s assign t \n 0s call a \n";

fn after(script: &str) -> Timeline {
    Timeline::default().play(script)
}

fn asked(timeline: &Timeline) -> usize {
    timeline.effects.iter().filter(|effect| matches!(effect.action, Action::Inquire { .. })).count()
}

fn stuck_at(timeline: &Timeline) -> Option<Timestamp> {
    let is_stuck = |fact: &Fact| matches!(fact, Fact::StateChanged { to: Stuck, .. });
    timeline.events.iter().find(|event| is_stuck(&event.fact)).map(|event| event.at)
}

fn at(minutes: u64) -> Timestamp {
    Timestamp::ZERO + Span::minutes(minutes)
}

#[test]
fn l21_a_silent_agent_is_asked_twice_and_stuck_when_the_answers_time_is_over() {
    let before = after(&format!("{SILENT} 14m59s"));
    assert_eq!(asked(&before), 0, "nothing is wrong yet");
    let asked_at_once = before.play("15m");
    assert_eq!(asked(&asked_at_once), 1);
    let waiting = asked_at_once.play("16m activity \n 17m29s");
    assert_eq!((asked(&waiting), waiting.view("a").state), (1, Healthy), "{}", waiting.so_far());
    let again = waiting.play("18m activity \n 19m59s");
    assert_eq!((asked(&again), again.view("a").state), (2, Healthy), "a question may be lost");
    let over = again.play("1h");
    assert_eq!((asked(&over), stuck_at(&over)), (2, Some(at(20))), "{}", over.so_far());
}

#[test]
fn l21_an_answer_explains_silence_for_as_long_as_silence_is_borne() {
    let answered = after(&format!("{SILENT} 16m says still-here \n 17m activity \n 30m59s"));
    assert_eq!((asked(&answered), answered.view("a").state), (1, Healthy), "{}", answered.so_far());
    let again = answered.play("31m");
    assert_eq!((asked(&again), again.view("a").state), (2, Healthy), "then it is asked again");
    let heard = again.play("32m says still-here \n 46m59s");
    assert_eq!((asked(&heard), heard.view("a").state), (2, Healthy), "{}", heard.so_far());
}

#[test]
fn l21_what_others_say_is_no_answer() {
    let timeline = after(&format!("{SILENT} 16m activity \n 17m tokens 5 \n 1h"));
    assert_eq!(stuck_at(&timeline), Some(at(20)), "{}", timeline.so_far());
}

#[test]
fn l21_words_without_work_are_believed_eight_times() {
    let mut timeline = after(SILENT);
    for turn in 0..8 {
        timeline = timeline.play(&format!("{}m says still-here", 16 * (turn + 1)));
        assert_eq!((asked(&timeline), stuck_at(&timeline)), (turn + 1, None), "{}", timeline.so_far());
    }
    let timeline = timeline.play("142m59s");
    assert_eq!(stuck_at(&timeline), None);
    let timeline = timeline.play("6h");
    assert_eq!((asked(&timeline), stuck_at(&timeline)), (8, Some(at(143))), "{}", timeline.so_far());
}

#[test]
fn l21_work_ends_the_questions_and_they_are_counted_anew() {
    let mut timeline = after(SILENT);
    for turn in 0..12 {
        let minute = 16 * (turn + 1);
        timeline = timeline.play(&format!("{minute}m call b{turn}"));
    }
    assert_eq!((asked(&timeline), stuck_at(&timeline)), (12, None), "{}", timeline.so_far());
}

#[test]
fn l21_an_orchestrator_that_is_not_reached_says_nothing_about_the_agent() {
    let timeline = after("0s beat \n 15m1s \n 15m1s");
    assert!(timeline.has("=> escalate"), "{}", timeline.so_far());
    let timeline = timeline.play("15m2s outcome refused");
    assert_eq!(timeline.view("a").liveness.cause, None::<Cause>, "it is the message that was refused");
}

#[test]
fn r09_l21_who_cannot_be_asked_twice_in_a_row_is_cut_off() {
    let once = after(&format!("{SILENT} 15m1s outcome unreachable \n 17m30s"));
    assert_eq!((once.view("a").state, asked(&once)), (Healthy, 1), "networks hiccup:\n{}", once.so_far());
    let twice = once.play("17m31s \n 17m32s outcome unreachable");
    assert_eq!((asked(&twice), twice.view("a").state), (2, Degraded));
    assert_eq!(twice.view("a").liveness.cause, Some(Cause::NetworkPartition));
    assert_snapshot!(twice.play("20m call b").tail("17m32s"), @"
    17m32s disconnected: offline, network-partition
    17m32s HEALTHY -> DEGRADED: unreachable for 17m32s (limit 30m)
    17m32s incident Silent
    17m32s classified transient
    20m reconnected after 20m
    20m DEGRADED -> HEALTHY
    20m incident Silent over after 2m28s
    ");
}

#[test]
fn r09_l21_who_was_heard_between_two_questions_that_found_no_way_is_not_cut_off() {
    let heard = after(&format!("{SILENT} 15m1s outcome unreachable \n 16m says here"));
    let again = heard.play("31m1s outcome unreachable \n 32m");
    assert_eq!((asked(&again), again.view("a").state), (2, Healthy), "{}", again.so_far());
    assert_eq!(again.count("disconnected"), 0);
}

#[test]
fn l01_a_call_without_an_end_is_held_against_nobody_of_whom_only_unproven_calls_are_known() {
    let unproven = after("0s unverified \n 0s call a \n 1m start build \n 1d");
    assert_eq!(unproven.view("a").state, Healthy, "{}", unproven.so_far());
    assert_eq!(unproven.effects.len(), 0, "it is not even asked");
    let beating = after("0s unverified \n 0s beat \n 0s beating 5m \n 1m start build \n 1h32m");
    assert_eq!(beating.view("a").state, Stuck, "who beats is heard:\n{}", beating.so_far());
    let proven = after("0s call a \n 1m start build \n 1h37m");
    assert_eq!((asked(&proven), proven.view("a").state), (2, Stuck), "{}", proven.so_far());
}
