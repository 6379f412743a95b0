//! One task, one life: who has it when words come late, twice, from strangers or in the wrong order (L28, X10, X14).

use verger_core::effect::{Action, Outcome};
use verger_core::id::CheckpointId;
use verger_core::notice::Notice;
use verger_core::recovery::{Checkpoint, Content, ContentHash, Order};
use verger_core::resources::Limits;
use verger_core::signal::Body;
use verger_core::time::Timestamp;

use crate::timeline::{Timeline, lines};

mod random;

/// It works on a task, saves twice and crashes.
const CRASHED: &str =
    "0s spawn task=t \n 1s beat \n 10s checkpoint c1 \n 20s checkpoint c2 \n 30s exit signal=11 \n";

/// Its successor is started.
const STARTED: &str = "31s surveyed c1 \n 91s outcome delivered \n";

fn crashed(script: &str) -> Timeline {
    Timeline::unattended().play(CRASHED).play(script)
}

fn started(script: &str) -> Timeline {
    crashed(STARTED).play(script)
}

#[track_caller]
fn starts(timeline: &Timeline, expected: usize) {
    assert_eq!(timeline.count("=> start"), expected, "{}", timeline.so_far());
}

#[test]
fn x14_a_late_copy_of_an_assignment_does_not_open_what_is_done() {
    let late = "0s beat \n 1s assign t \n 10s checkpoint c1 \n 20s end-task t \n 25s assign t \n 30s exit signal=11 \n 10m";
    let timeline = Timeline::unattended().play(late);
    starts(&timeline, 0);
    assert!(timeline.has("t is not recovered: it is done"), "{}", timeline.so_far());
}

#[test]
fn x14_what_is_done_stays_done_among_thousands() {
    let done = "0s spawn task=t \n 1s beat \n 1s beating 1m \n 10s checkpoint c1 \n 20s end-task t \n 21s @b beat \n";
    let others = lines(0..4_100, |n| format!("30s @b end-task x{n}"));
    let timeline =
        Timeline::unattended().play(done).play(&others).play("40s exit signal=11 \n 40s still \n 10m");
    starts(&timeline, 0);
    assert_eq!(timeline.count("=> survey"), 0, "nobody even asks what was saved");
}

#[test]
fn x14_what_was_called_off_stays_called_off_among_thousands() {
    let cancelled = "0s spawn task=t \n 1s beat \n 1s beating 1m \n 20s close t cancelled \n 21s @b beat \n";
    let others = lines(0..4_100, |n| format!("30s @b end-task x{n}"));
    let timeline =
        Timeline::unattended().play(cancelled).play(&others).play("40s exit signal=11 \n 40s still \n 10m");
    assert!(timeline.has("t is not recovered: it was cancelled"), "it may still be asked for");
}

#[test]
fn x14_what_was_called_off_is_not_told_to_be_done() {
    let timeline = Timeline::unattended().play(
        "0s spawn task=t \n 1s beat \n 10s checkpoint c1 \n 20s close t cancelled \n 30s exit signal=11 \n 10m",
    );
    starts(&timeline, 0);
    assert!(timeline.has("t is not recovered: it was cancelled"), "{}", timeline.so_far());
}

#[test]
fn l28_who_is_well_already_when_it_takes_a_task_over_completes_its_recovery() {
    let timeline = Timeline::unattended()
        .play("0s @b beat \n 0s @b beating 1m \n")
        .play(CRASHED)
        .play("31s surveyed c1 \n 50s @b assign t \n 2m..5h/2m @b checkpoint c$N");
    assert_eq!(timeline.count("b t is recovered"), 1, "{}", timeline.so_far());
}

#[test]
fn l12_who_is_ended_for_its_limit_is_not_brought_back_though_it_was_before() {
    let used_up = "100s spawn task=t \n 101s beat \n 101s beating 1m \n 110s tokens 2000 \n 4m \n \
                   4m outcome stopped \n 4m still \n 20m";
    let tokens = Some(1_000);
    let timeline = Timeline::unattended_with(|policies| {
        policies.resources.task = Limits { tokens, ..Limits::default() }
    });
    let timeline = timeline.play(CRASHED).play(STARTED).play(used_up);
    assert!(timeline.has("#2 to be stopped: 2000 tokens"), "{}", timeline.so_far());
    assert!(!timeline.has("#2 attempt 2 to recover"), "{}", timeline.so_far());
}

#[test]
fn x14_that_a_task_is_done_is_not_for_strangers_to_say() {
    let timeline = Timeline::unattended().play(
        "0s spawn task=t \n 1s beat \n 2s @b beat \n 10s checkpoint c1 \n 15s @b end-task t \n 30s exit signal=11 \n 10m",
    );
    assert!(timeline.has("=> survey"), "{}", timeline.so_far());
}

#[test]
fn x10_nothing_is_started_while_a_start_for_the_task_that_was_closed_meanwhile_may_run() {
    let reopened = "95s close t cancelled \n 96s outcome unreachable \n 100s @b give t again \n \
                    101s @b beat task=t \n 200s @b exit signal=11 \n 201s @b surveyed c1 \n 20m";
    let timeline = Timeline::unattended().play("0s @b beat \n").play(CRASHED).play(STARTED).play(reopened);
    starts(&timeline, 1);
    assert!(timeline.count("=> withdraw") > 1, "{}", timeline.so_far());
    let key = timeline.effects.iter().rev().find(|effect| matches!(effect.action, Action::Withdraw { .. }));
    let key = key.expect("it is asked to end").key.clone();
    assert_eq!(key.agent, "a".into(), "whom it was started for");
    let mut timeline = timeline;
    timeline.tell_outcome(key, Outcome::Stopped);
    starts(&timeline.play("30m"), 2);
}

#[test]
fn x10_what_may_run_of_a_task_that_is_over_is_not_asked_to_end_for_ever() {
    let timeline = started("95s close t done \n 96s outcome unreachable \n 24h");
    let asked = timeline.count("=> withdraw");
    assert!(asked > 1, "{}", timeline.so_far());
    let timeline = timeline.play("240h");
    assert_eq!(timeline.count("=> withdraw"), asked, "{}", timeline.so_far());
}

#[test]
fn x10_a_start_that_is_being_taken_back_and_then_is_lets_the_next_begin() {
    let timeline = started("12m outcome delivered \n 721s outcome stopped \n 3h");
    assert_eq!(timeline.count("attempt 2 to recover t begins"), 1, "{}", timeline.so_far());
}

#[test]
fn l27_what_an_earlier_life_had_saved_is_not_taken_for_all_there_is() {
    let mut timeline =
        crashed("40s spawn task=t \n 41s beat \n 50s checkpoint c3 \n 60s exit signal=11 \n 61s");
    let first = timeline.effects.iter().find(|effect| matches!(effect.action, Action::Survey { .. }));
    let key = first.expect("it was asked").key.clone();
    let checkpoint = Checkpoint {
        id: CheckpointId::from("c2"),
        task: "t".into(),
        parent: None,
        hash: ContentHash::default(),
        content: Content::Intact,
        order: 1,
        made_at: Timestamp::ZERO,
    };
    timeline.tell("a", Body::Surveyed { key, checkpoints: vec![checkpoint].into() });
    starts(&timeline.play("10m"), 0);
}

#[test]
fn x14_a_recovered_task_that_its_agent_left_takes_up_no_room() {
    let left = "100s spawn task=t \n 101s beat \n 101s beating 1m \n 30m assign u \n 31m checkpoint d1 \n \
                10h @b spawn task=v \n 10h @b beat \n 601m @b exit signal=11 \n 602m";
    let timeline = Timeline::unattended_with(|policies| policies.recovery.tasks_max = 1);
    let timeline = timeline.play(CRASHED).play(STARTED).play(left);
    assert!(!timeline.has("b v is not recovered"), "{}", timeline.so_far());
}

#[test]
fn x14_a_task_that_was_given_to_an_agent_which_is_still_to_come_is_not_recovered() {
    starts(&crashed("31s surveyed c1 \n 40s @b give t \n 5m"), 0);
}

#[test]
fn x10_when_another_agent_took_the_task_what_was_started_for_it_is_taken_back() {
    let both = "95s @b spawn task=t \n 96s @b beat \n 96s @b beating 1m \n 100s spawn task=t \n 101s beat \n \
                101s beating 1m \n 3m";
    let timeline = started(both);
    assert_eq!(timeline.count("=> withdraw"), 1, "{}", timeline.so_far());
    let timeline = timeline.play("3m outcome stopped \n 3m still \n 30m");
    assert!(timeline.has("b t is recovered"), "{}", timeline.so_far());
    starts(&timeline, 1);
}

#[test]
fn x14_an_unproven_word_sends_nobody_to_work_that_another_has() {
    let timeline = Timeline::unattended().play(
        "0s @b spawn task=v \n 0s @b beat \n 0s @b beating 1m \n 0s spawn task=t \n 1s beat \n 10s checkpoint c1
        20s unverified \n 20s beat task=v \n 21s verified \n 30s exit signal=11 \n 31s surveyed c1 \n 3m",
    );
    assert!(timeline.has("=> start for t from c1"), "{}", timeline.so_far());
    starts(&timeline, 1);
}

#[test]
fn x14_an_unproven_word_of_one_that_said_nothing_sends_it_nowhere_either() {
    let timeline = Timeline::unattended().play(
        "0s @b spawn task=v \n 0s @b beat \n 0s @b beating 1m \n 0s spawn \n 1s unverified \n 1s beat task=v
        21s verified \n 30s exit signal=11 \n 31s surveyed c1 \n 3m",
    );
    assert!(timeline.has("=> start for agent:a"), "{}", timeline.so_far());
    starts(&timeline, 1);
}

#[test]
fn l28_not_even_by_order_is_an_agent_started_that_lives_for_other_work() {
    let mut timeline = crashed("31s surveyed c1 \n 40s spawn task=u \n 41s beat \n 41s beating 1m \n 5m");
    let order = Notice::Recovery { task: "t".into(), by: "ada".into(), order: Order::Recover { from: None } };
    let answer = timeline.notice(&order);
    assert!(answer.is_err(), "{answer:?}\n{}", timeline.so_far());
    starts(&timeline.play("1h"), 0);
}

#[test]
fn l29_tasks_that_go_to_agents_which_live_use_up_no_starts() {
    let script = lines(0..6, |n| {
        format!("0s @h{n} beat \n 0s @h{n} beating 1m \n 0s @a{n} spawn task=t{n} \n 0s @a{n} beat")
    }) + &lines(0..5, |n| {
        format!("{}m @a{n} exit signal=11 \n {}m @h{n} assign t{n}", n + 1, n + 1)
    }) + "10m @a5 exit signal=11 \n 10m @a5 surveyed c1 \n 15m";
    let timeline =
        Timeline::unattended_with(|policies| policies.correlation.agents_min = u32::MAX).play(&script);
    assert!(timeline.has("=> start a5 for t5"), "{}", timeline.so_far());
}

#[test]
fn l28_a_life_that_is_over_recovers_nothing() {
    let timeline =
        started("100s spawn task=t \n 101s beat \n 5m spawn task=u \n 301s beat \n 301s beating 1m \n 30m");
    assert!(!timeline.has("#2 t is recovered"), "{}", timeline.so_far());
    assert!(
        timeline.has("fleet people must look at t: its agent works on another task"),
        "{}",
        timeline.so_far()
    );
}

#[test]
fn l28_an_agent_that_is_back_may_say_what_it_works_on() {
    let timeline = Timeline::unattended().play(
        "0s beat \n 30s exit signal=11 \n 31s surveyed \n 91s outcome delivered \n 100s spawn task=t \n 101s beat
        101s beating 1m \n 2m..20m/1m checkpoint c$N",
    );
    assert!(!timeline.has("=> withdraw"), "{}", timeline.so_far());
    assert!(timeline.has("#2 agent:a is recovered, attempts: 1"), "{}", timeline.so_far());
}

#[test]
fn l28_a_start_that_came_up_with_other_work_is_left_alone_and_people_are_told() {
    let timeline = started("100s spawn task=u \n 101s beat \n 101s beating 1m \n 2m..20m/1m checkpoint d$N");
    assert!(!timeline.has("=> withdraw"), "{}", timeline.so_far());
    assert!(
        timeline.has("fleet people must look at t: its agent works on another task"),
        "{}",
        timeline.so_far()
    );
}
