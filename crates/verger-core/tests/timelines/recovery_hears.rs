//! What recovery hears of agents and tasks, and what it must not take it for: L24, L27, L28, X02, X14.

use verger_core::RowKey;
use verger_core::notice::Notice;
use verger_core::policy::RestartPolicy;
use verger_core::recovery::Order;

use crate::timeline::{Timeline, lines};

/// It works on a task, saves and crashes.
const CRASHED: &str =
    "0s spawn task=t \n 1s beat \n 10s checkpoint c1 \n 30s exit signal=11 \n 31s surveyed c1 \n";

/// Its successor is started, is there and well.
const BACK: &str = "91s outcome delivered \n 100s spawn task=t \n 101s beat \n 101s beating 1m \n";

fn crashed(script: &str) -> Timeline {
    Timeline::unattended().play(CRASHED).play(script)
}

fn back(script: &str) -> Timeline {
    crashed(BACK).play(script)
}

fn recover(task: &str) -> Notice {
    Notice::Recovery { task: task.into(), by: "ada".into(), order: Order::Recover { from: None } }
}

#[track_caller]
fn starts(timeline: &Timeline, expected: usize) {
    assert_eq!(timeline.count("=> start"), expected, "{}", timeline.so_far());
}

#[test]
fn l28_who_was_brought_back_and_leaves_in_peace_is_done() {
    let timeline = back("3m exit code=0 \n 3m still \n 1h");
    starts(&timeline, 1);
    assert!(!timeline.has("#2 attempt 2 to recover t"), "{}", timeline.so_far());
}

#[test]
fn l28_who_was_brought_back_and_is_stopped_to_be_recovered_is_brought_back_again() {
    let stopped =
        "5m order escalate \n 5m order recover \n 5m outcome stopped \n 5m still \n 5m surveyed c1 \n 15m";
    starts(&back(stopped), 2);
}

#[test]
fn l28_what_people_had_recovered_is_tried_again_though_the_role_brings_nobody_back() {
    let begun = "0s spawn task=t \n 1s beat \n 5s order escalate \n 6s order recover \n 7s outcome stopped \n \
                 8s surveyed c1 \n 100s spawn task=t \n 101s beat \n 110s exit signal=11 \n 111s surveyed c1 \n 6m";
    let timeline =
        Timeline::unattended_with(|policies| policies.each(|role| role.restart = RestartPolicy::None));
    starts(&timeline.play(begun), 2);
}

#[test]
fn x14_that_a_stranger_is_ended_for_good_ends_no_work_that_it_only_said_it_had() {
    let timeline = Timeline::unattended().play(CRASHED).play(
        "40s unverified \n 40s @b beat task=t \n 41s verified \n 42s @b order terminate \n 43s @b outcome stopped \n 5m",
    );
    starts(&timeline, 1);
}

#[test]
fn x14_the_work_of_an_agent_that_is_forgotten_is_not_even_tried() {
    let timeline = crashed("40s order unregister \n 1h");
    assert!(!timeline.so_far().contains("to recover t begins"), "{}", timeline.so_far());
    assert!(!timeline.so_far().contains("people must look"), "{}", timeline.so_far());
}

#[test]
fn l29_attempts_count_from_one_again_only_after_work_that_lasts() {
    let stable = "fleet t has been stable";
    assert!(!back("3h").has(stable), "it beat, and did nothing");
    assert!(back("10m checkpoint c2 \n 3h").has(stable));
    assert!(back("10m output files=1 passed=3 \n 3h").has(stable));
}

#[test]
fn l29_who_leaves_in_peace_and_is_begun_again_has_no_more_attempts_for_it() {
    let left = "10m checkpoint c2 \n 20m exit code=0 \n 20m still \n 30m spawn task=t \n 30m beat \n \
                31m exit signal=11 \n 31m surveyed c1 c2 \n 36m";
    let soon = back(left);
    assert!(soon.so_far().contains("attempt 2 to recover t begins"), "{}", soon.so_far());
    assert!(!soon.so_far().contains("t has been stable"), "{}", soon.so_far());

    let later = "10m checkpoint c2 \n 20m exit code=0 \n 20m still \n 2h spawn task=t \n 2h beat \n \
                 121m exit signal=11 \n 121m surveyed c1 c2 \n 125m";
    let later = back(later);
    assert!(later.so_far().contains("t has been stable"), "{}", later.so_far());
    assert!(later.count("=> start") == 2 && !later.so_far().contains("attempt 2"), "{}", later.so_far());
}

#[test]
fn x14_work_that_ended_with_its_agent_for_good_is_recovered_for_whom_it_is_given_next() {
    let given = "3m order terminate \n 3m outcome stopped \n 3m still \n 4m @b beat \n 5m @b assign t \n \
                 6m @b exit signal=11 \n 6m @b surveyed c1 \n 10m";
    let timeline = back(given);
    assert!(timeline.has("=> start b for t from c1"), "{}", timeline.so_far());
}

#[test]
fn x14_work_that_ended_with_its_agent_for_good_is_not_opened_by_a_heartbeat() {
    let said = "3m order terminate \n 3m outcome stopped \n 3m still \n 4m @b beat task=t \n \
                6m @b exit signal=11 \n 10m";
    let timeline = back(said);
    assert!(timeline.has("b t is not recovered: it was cancelled"), "{}", timeline.so_far());
}

#[test]
fn x14_a_copy_of_an_announcement_takes_no_work_from_whom_it_went_to() {
    let copied = "0s spawn task=t \n 200ms assign u \n 400ms @b beat \n 500ms @b assign t \n 1s spawn task=t \n \
                  30s @b exit signal=11 \n 31s @b surveyed c1 \n 5m";
    let timeline = Timeline::unattended().play(copied);
    assert!(timeline.has("=> start b for t from c1"), "{}", timeline.so_far());
}

#[test]
fn x02_a_start_that_is_out_while_many_fail_together_is_not_held_to_its_time() {
    let others = lines(0..12, |n| format!("0s @o{n} spawn"))
        + &lines(0..12, |n| format!("0s @o{n} beating 1m"))
        + CRASHED
        + "91s outcome delivered \n"
        + &lines(0..12, |n| format!("100s @o{n} still"))
        + &lines(0..12, |n| format!("100s @o{n} exit signal=9"));
    let timeline = Timeline::unattended().play(&others).play("12m");
    assert!(timeline.so_far().contains("turned dead together"), "{}", timeline.so_far());
    assert!(!timeline.so_far().contains("it never came up"), "{}", timeline.so_far());
}

#[test]
fn l24_a_start_that_went_well_ends_a_row_of_bad_ones() {
    let dies = |at: u64| {
        format!(
            "{at}m spawn task=t \n {at}m beat \n {}m exit signal=11 \n {}m surveyed c1 \n",
            at + 1,
            at + 1
        )
    };
    let lasts = "20m spawn task=t \n 20m beat \n 20m beating 1m \n 30m checkpoint c2 \n 3h exit signal=11 \n 3h still \n \
                 181m surveyed c1 c2 \n";
    let timeline =
        Timeline::unattended().play(CRASHED).play(&(dies(3) + &dies(10) + lasts + &dies(190))).play("192m");
    assert_eq!(
        timeline.so_far().matches("failed: it ended while it was watched").count(),
        3,
        "{}",
        timeline.so_far()
    );
    assert!(!timeline.so_far().contains("a/recovery/start CLOSED -> OPEN"), "{}", timeline.so_far());
    assert!(
        !timeline.so_far().contains("attempt 0"),
        "after a stable run it is a new failure, of no attempt"
    );
}

#[test]
fn l28_whose_other_life_is_over_may_be_recovered_by_order() {
    let mut timeline = crashed("40s spawn task=u \n 41s beat \n 50s exit code=0 \n 60s");
    assert!(timeline.notice(&recover("t")).is_ok(), "{}", timeline.so_far());
    starts(&timeline.play("2m"), 1);
}

#[test]
fn l28_who_lives_for_this_very_task_is_not_said_to_be_elsewhere() {
    let refused = back("5m").notice(&recover("t")).expect_err("it lives");
    assert_eq!(refused.code(), "VG0313", "{refused}");
}

#[test]
fn l28_who_does_not_say_what_it_works_on_has_what_it_was_started_for() {
    let given = "0s beat \n 0s @b beat \n 1s give t \n 1s @b give s \n 30s exit signal=11 \n 30s @b exit signal=11 \n \
                 31s surveyed c1 \n 31s @b surveyed d1 \n 40s give u \n 40s @b give v \n \
                 3m beat \n 3m beating 1m \n 20m";
    let timeline = Timeline::unattended().play(given);
    assert!(timeline.has("#2 a#2 came up with t"), "{}", timeline.so_far());
    assert!(timeline.has("#2 t is recovered"), "{}", timeline.so_far());
}

#[test]
fn l28_work_of_the_same_life_that_was_recovered_before_stands_against_no_start() {
    let moved = "20m assign u \n 30m exit signal=11 \n 30m still \n 30m surveyed d1 \n 35m";
    let timeline = back(moved);
    assert!(timeline.has("=> start #2 for u from d1"), "{}", timeline.so_far());
}

#[test]
fn x12_that_a_start_was_held_when_another_was_due_does_not_put_it_off() {
    let both = "0s @b spawn task=s \n 0s @b beat \n 1s @b exit signal=11 \n 2s @b surveyed d1 \n 10s spawn task=t \n \
                10s beat \n 30s exit signal=11 \n 31s surveyed c1 \n 50s order mode observe \n 70s order mode full \n 2m";
    let timeline = Timeline::unattended().play(both);
    assert!(timeline.so_far().contains("1m1s => start b for s"), "{}", timeline.so_far());
    assert!(timeline.so_far().contains("1m30s => start for t"), "{}", timeline.so_far());
}

#[test]
fn l29_what_is_known_of_recoveries_is_written_when_it_changed_and_with_everything() {
    let mut timeline = crashed("40s");
    timeline.fleet.take_all_rows(&mut |_| ());
    assert!(!timeline.fleet.has_changes());
    let cancel = Notice::Recovery { task: "t".into(), by: "ada".into(), order: Order::Cancel };
    assert!(timeline.notice(&cancel).is_ok());
    assert!(timeline.fleet.has_changes());
    let mut rows = Vec::new();
    timeline.fleet.take_all_rows(&mut |_| ());
    timeline.fleet.take_all_rows(&mut |row| rows.push(row.key));
    let of_recovery = rows.iter().filter(|key| matches!(key, RowKey::Recovery(_))).count();
    assert_eq!(of_recovery, 2, "the task's and the books': {rows:?}");
}

#[test]
fn x14_that_an_agent_left_in_peace_does_not_say_that_its_task_is_over() {
    let left = "0s spawn task=t \n 1s beat \n 10s exit code=0 \n 60s @b beat task=t \n 70s @b exit signal=11 \n \
                71s @b surveyed c1 \n 5m";
    let timeline = Timeline::unattended().play(left);
    assert!(timeline.has("=> start b for t from c1"), "{}", timeline.so_far());
}
