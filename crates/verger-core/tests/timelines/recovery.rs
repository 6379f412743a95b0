//! Work whose agent ended goes on: L27–L29, X14, through the whole core.

use insta::assert_snapshot;
use verger_core::breaker;
use verger_core::effect::{Action, Outcome};
use verger_core::event::Fact;
use verger_core::notice::{BreakerNotice, Notice};
use verger_core::policy::Policies;
use verger_core::recovery::{Change, Order};
use verger_core::signal::Body;

use crate::timeline::{Timeline, lines};

/// It works on a task, saves twice and crashes.
const CRASHED: &str =
    "0s spawn task=t \n 1s beat \n 10s checkpoint c1 \n 20s checkpoint c2 \n 30s exit signal=11 \n";

#[test]
fn l27_a_crashed_agent_goes_on_from_its_newest_checkpoint_and_is_watched() {
    let script = "31s surveyed c1 c2 \n 91s outcome delivered \n 100s spawn task=t \n 101s beat \n 101s beating 1m \n 20m";
    assert_snapshot!(Timeline::unattended().play(CRASHED).play(script).tail("incident Died"), @"
    30s incident Died
    30s attempt 1 to recover t is planned for 1m30s
    30s => survey the checkpoints of t
    1m30s attempt 1 to recover t begins, from c2
    1m30s => start for t from c2
    1m40s incident Died over after 1m10s
    1m40s #2 registered
    1m40s #2 a#2 came up with t
    1m41s #2 UNKNOWN -> HEALTHY
    16m40s #2 t is recovered, attempts: 1
    ");
}

#[test]
fn l27_damaged_checkpoints_are_passed_over() {
    let timeline = Timeline::unattended().play(CRASHED).play("31s surveyed c1 c2 -c3 \n 2m");
    assert!(timeline.has("=> start for t from c2"), "{}", timeline.so_far());
}

#[test]
fn l27_without_a_valid_checkpoint_it_begins_anew_and_people_are_told() {
    let timeline = Timeline::unattended().play(CRASHED).play("31s surveyed -c1 -c2 \n 2m");
    assert!(timeline.has("=> start for t from its start"), "{}", timeline.so_far());
    assert_eq!(timeline.count("fleet alert of t: no valid checkpoint is left"), 1, "{}", timeline.so_far());
}

#[test]
fn l27_nothing_is_started_before_it_is_known_what_was_saved() {
    let timeline = Timeline::unattended().play(CRASHED).play("14m");
    assert_eq!(timeline.count("=> start"), 0, "{}", timeline.so_far());
    let timeline = timeline.play("20m \n 20m surveyed c1 \n 21m");
    assert_eq!(timeline.count("=> start for t from c1"), 1, "{}", timeline.so_far());
}

#[test]
fn l27_a_person_has_work_recovered_that_no_policy_took_up() {
    let mut timeline = Timeline::default().play(CRASHED);
    assert_eq!(timeline.count("=> survey"), 0, "{}", timeline.so_far());
    let order = Notice::Recovery { task: "t".into(), by: "ada".into(), order: Order::Recover { from: None } };
    timeline.notice(&order).expect("its agent ended");
    let script = "31s surveyed c1 c2 \n 32s outcome delivered \n 40s spawn task=t \n 41s beat \n 41s beating 1m \n 20m";
    let timeline = timeline.play(script);
    assert!(timeline.has("=> start for t from c2"), "{}", timeline.so_far());
    assert!(timeline.has("#2 t is recovered, attempts: 1"), "{}", timeline.so_far());
}

#[test]
fn l27_a_person_has_work_recovered_that_was_given_and_never_named_or_that_has_no_name() {
    let recovered = |script: &str, task: &str| {
        let mut timeline = Timeline::default().play(script);
        let order = Order::Recover { from: None };
        timeline
            .notice(&Notice::Recovery { task: task.into(), by: "ada".into(), order })
            .expect("its agent ended");
        let timeline = timeline.play("31s surveyed c1 \n 1m");
        assert!(timeline.has(&format!("=> start for {task} from c1")), "{}", timeline.so_far());
    };
    recovered("0s beat \n 1s give t \n 30s exit signal=11", "t");
    recovered("0s beat \n 30s exit signal=11", "agent:a");
}

#[test]
fn x10_of_several_who_had_a_task_whoever_lives_has_it() {
    let order = Notice::Recovery { task: "t".into(), by: "ada".into(), order: Order::Recover { from: None } };
    for (first, second) in [("a", "b"), ("b", "a")] {
        let script = format!(
            "0s @{first} spawn task=t \n 1s @{first} beat \n 5s @{second} spawn task=t \n 6s @{second} beat \n \
             30s @{second} exit signal=11"
        );
        let mut timeline = Timeline::default().play(&script);
        let refused = timeline.notice(&order).expect_err("one of them lives").to_string();
        assert_eq!(refused, format!("incarnation #1 of agent `{first}` works on this task"));
    }
}

#[test]
fn l28_a_person_is_told_when_no_more_recoveries_are_followed() {
    let mut policies = Policies::default();
    policies.recovery.tasks_max = 1;
    let order = |task: &str, order: Order| Notice::Recovery { task: task.into(), by: "ada".into(), order };
    let recover = |task: &str| order(task, Order::Recover { from: None });
    let mut timeline = Timeline::new(policies).play(CRASHED);
    timeline.notice(&recover("t")).expect("there is room for one");
    let mut timeline = timeline.play("1m spawn task=u \n 61s beat \n 62s exit signal=11");
    let refused = timeline.notice(&recover("u")).expect_err("there is none for another");
    assert_eq!(refused.code(), "VG0317");
    timeline.notice(&order("t", Order::Cancel)).expect("it can be called off");
    timeline.notice(&recover("u")).expect("then there is room");
}

#[test]
fn x10_nobody_has_work_recovered_whose_agent_lives_or_that_is_done() {
    let order = |task: &str| {
        let order = Order::Recover { from: None };
        Notice::Recovery { task: task.into(), by: "ada".into(), order }
    };
    let mut lives = Timeline::default().play("0s spawn task=t \n 1s beat");
    let refused = lives.notice(&order("t")).expect_err("it lives").to_string();
    assert_eq!(refused, "incarnation #1 of agent `a` works on this task");
    assert_eq!(
        lives.notice(&order("another")).expect_err("nobody had it").to_string(),
        "there is nothing to recover of task `another`"
    );
    let mut done =
        Timeline::default().play("0s spawn task=t \n 1s beat \n 10s end-task t \n 30s exit signal=11");
    let refused = done.notice(&order("t")).expect_err("it is done").to_string();
    assert_eq!(refused, "task `t` is over (it is done); reopen it first");
}

#[test]
fn l28_a_task_is_tried_three_times_and_then_people_must_look() {
    let mut timeline = Timeline::unattended().play(CRASHED);
    for at in [5, 10, 20, 40] {
        let lives = format!(
            "{at}m surveyed c1 c2 \n {}m spawn task=t \n {}m beat \n {}m exit signal=11 \n",
            at + 4,
            at + 4,
            at + 4,
        );
        timeline = timeline.play(&lives);
    }
    let started = timeline.count("=> start");
    assert_eq!(started, 3, "{}", timeline.so_far());
    assert_eq!(
        timeline.count("fleet people must look at t: all attempts were used up"),
        1,
        "{}",
        timeline.so_far()
    );
    let order = Notice::Recovery { task: "t".into(), by: "ada".into(), order: Order::Recover { from: None } };
    assert!(timeline.notice(&order).is_ok(), "{}", timeline.so_far());
}

#[test]
fn x14_a_finished_task_is_never_recovered() {
    let done =
        "0s spawn task=t \n 1s beat \n 10s checkpoint c1 \n 20s end-task t \n 30s exit signal=11 \n 1h";
    let timeline = Timeline::unattended().play(done);
    assert_eq!(timeline.count("=> start") + timeline.count("=> survey"), 0, "{}", timeline.so_far());
    assert!(timeline.has("t is not recovered: it is done"), "{}", timeline.so_far());
}

#[test]
fn x14_a_task_that_finishes_while_it_waits_for_its_recovery_is_left_alone() {
    let timeline = Timeline::unattended()
        .play(CRASHED)
        .play("31s surveyed c1 \n 40s @b beat \n 50s @b end-task t \n 1h");
    assert_eq!(timeline.count("=> start"), 0, "{}", timeline.so_far());
}

#[test]
fn x14_a_task_that_another_agent_took_over_is_not_recovered() {
    let timeline =
        Timeline::unattended().play(CRASHED).play("31s surveyed c1 \n 40s @b beat \n 50s @b assign t \n 20m");
    assert_eq!(timeline.count("=> start"), 0, "{}", timeline.so_far());
}

#[test]
fn l29_a_restart_of_the_monitor_gives_no_attempt_back() {
    let script = "31s surveyed c1 c2 \n 40s restart \n 91s outcome delivered \n 95s restart \n 100s spawn task=t \n \
                  101s beat \n 110s exit signal=11 \n 111s surveyed c1 c2 \n 112s restart \n 10m";
    let calm = Timeline::unattended().play(CRASHED).play(&script.replace("restart", "wait"));
    let restarted = Timeline::unattended().play(CRASHED).play(script);
    let attempts = |timeline: &Timeline| {
        let begun = timeline.events.iter().filter_map(|event| match &event.fact {
            Fact::Recovery(change) => match change.as_ref() {
                Change::Initiated { attempt, from, .. } => Some((event.at, *attempt, from.clone())),
                _ => None,
            },
            _ => None,
        });
        begun.collect::<Vec<_>>()
    };
    assert_eq!(attempts(&restarted), attempts(&calm), "{}", restarted.so_far());
    assert_eq!(attempts(&restarted).len(), 2, "{}", restarted.so_far());
}

#[test]
fn l28_an_agent_without_a_task_is_brought_back_too() {
    let timeline = Timeline::unattended().play("0s beat \n 30s exit signal=11 \n 31s surveyed \n 3m");
    assert!(timeline.has("=> start for agent:a from its start"), "{}", timeline.so_far());
}

#[test]
fn l28_what_a_person_ends_is_not_brought_back() {
    let timeline = Timeline::unattended()
        .play("0s spawn task=t \n 1s beat \n 5s order terminate \n 10s outcome stopped \n 1h");
    assert_eq!(timeline.count("=> start") + timeline.count("=> survey"), 0, "{}", timeline.so_far());
}

#[test]
fn x14_an_agent_that_is_forgotten_is_not_brought_back() {
    let timeline = Timeline::unattended().play(CRASHED).play("31s surveyed c1 \n 40s order unregister \n 1h");
    assert_eq!(timeline.count("=> start"), 0, "{}", timeline.so_far());
}

#[test]
fn x02_while_a_host_fails_nobody_is_started_there() {
    let begin = lines(0..6, |n| format!("0s @h{n} spawn host=h task=t{n}"))
        + &lines(0..10, |n| format!("0s @o{n} spawn host=o"))
        + &lines(0..6, |n| format!("1s @h{n} beat"))
        + &lines(0..10, |n| format!("1s @o{n} beating 1m"));
    let dies = lines(0..6, |n| format!("60s @h{n} exit signal=9"));
    let asked = lines(0..6, |n| format!("61s @h{n} surveyed c1"));
    let timeline = Timeline::unattended().play(&(begin + &dies + &asked)).play("30m");
    assert!(timeline.so_far().contains("agents of host h turned dead together"), "{}", timeline.so_far());
    assert_eq!(timeline.count("=> start"), 0, "{}", timeline.so_far());
}

#[test]
fn l28_what_people_had_recovered_is_tried_again_though_the_role_would_only_ask() {
    let mut policies = Policies::default();
    policies.recovery.jitter_percent = 0;
    let begun = "0s spawn task=t \n 1s beat \n 5s order escalate \n 6s order recover \n 7s outcome stopped \n \
                 8s surveyed c1 \n 100s spawn task=t \n 101s beat \n 110s exit signal=11 \n 111s surveyed c1 \n 6m";
    let timeline = Timeline::new(policies).play(begun);
    assert_eq!(timeline.count("=> start"), 2, "{}", timeline.so_far());
}

#[test]
fn l28_a_task_that_was_given_to_an_agent_which_never_named_it_is_what_goes_on() {
    let given =
        "0s beat \n 1s give t \n 30s exit signal=11 \n 31s surveyed c1 \n 3m beat \n 3m beating 1m \n 20m";
    let timeline = Timeline::unattended().play(given);
    assert_eq!(timeline.count("=> start for t from c1"), 1, "{}", timeline.so_far());
    assert!(timeline.has("#2 t is recovered, attempts: 1"), "{}", timeline.so_far());
}

#[test]
fn l28_of_two_tasks_that_were_given_to_it_neither_is_taken_for_its_work() {
    let given = "0s beat \n 1s give t \n 1s give u \n 30s exit signal=11 \n 31s surveyed \n 3m";
    let timeline = Timeline::unattended().play(given);
    assert!(timeline.has("=> start for agent:a from its start"), "{}", timeline.so_far());
}

#[test]
fn x12_a_start_that_waits_is_held_while_the_agent_is_only_to_be_looked_at() {
    let timeline =
        Timeline::unattended().play(CRASHED).play("31s surveyed c1 \n 40s order mode observe \n 2h");
    assert_eq!(timeline.count("=> start"), 0, "{}", timeline.so_far());
    let timeline = timeline.play("2h order mode full \n 2h2m");
    assert_eq!(timeline.count("=> start for t from c1"), 1, "{}", timeline.so_far());
}

#[test]
fn l24_an_agent_whose_starts_keep_failing_has_its_breaker_open() {
    let lives = "31s surveyed c1 \n 3m spawn task=t \n 3m beat \n 4m exit signal=11 \n 4m surveyed c1 \n \
                 10m spawn task=t \n 10m beat \n 11m exit signal=11 \n 11m surveyed c1 \n \
                 20m spawn task=t \n 20m beat \n 21m exit signal=11 \n 22m";
    let timeline = Timeline::unattended().play(CRASHED).play(lives);
    let opened = "#4 breaker a/recovery/start CLOSED -> OPEN: 3 failures in a row";
    assert!(timeline.has(opened), "{}", timeline.so_far());
}

#[test]
fn l24_a_start_waits_while_a_person_holds_its_breaker_open() {
    let breaker = |what| Notice::Breaker { name: "a/recovery/start".parse().expect("it is a name"), what };
    let (by, mode) = ("ada".into(), breaker::Mode::ForcedOpen);
    let mut timeline = Timeline::unattended().play(CRASHED).play("31s surveyed c1 \n 40s");
    assert!(timeline.notice(&breaker(BreakerNotice::SetMode { by, mode })).is_ok());
    let mut timeline = timeline.play("2h");
    assert_eq!(timeline.count("=> start"), 0, "{}", timeline.so_far());
    assert!(timeline.notice(&breaker(BreakerNotice::Reset { by: "ada".into() })).is_ok());
    let timeline = timeline.play("2h2m");
    assert_eq!(timeline.count("=> start for t from c1"), 1, "{}", timeline.so_far());
}

#[test]
fn l28_what_became_of_a_start_is_not_heard_from_another_agent() {
    let mut timeline =
        Timeline::unattended().play("0s @b beat").play(CRASHED).play("31s surveyed c1 \n 1m31s");
    let start = timeline.effects.iter().find(|effect| matches!(effect.action, Action::Spawn(_)));
    let key = start.expect("it was started").key.clone();
    let refused = Body::Outcome { key, outcome: Outcome::Refused };
    timeline.tell("b", refused.clone());
    assert!(!timeline.so_far().contains("people must look"), "{}", timeline.so_far());
    timeline.tell("a", refused);
    assert!(timeline.so_far().contains("people must look"), "{}", timeline.so_far());
}

#[test]
fn x14_of_two_that_say_they_work_on_one_task_each_is_brought_back() {
    let both = "0s beat task=t \n 0s @b beat task=t \n 5s exit signal=11 \n 6s surveyed c1 \n 2m";
    let timeline = Timeline::unattended().play(both);
    assert_eq!(timeline.count("=> start for t from c1"), 1, "{}", timeline.so_far());
}

#[test]
fn x14_a_task_that_was_recovered_before_is_its_who_last_says_so() {
    let mut timeline =
        Timeline::unattended().play("0s beat task=t \n 30s exit signal=11 \n 31s surveyed c1 \n 40s");
    let cancel = Notice::Recovery { task: "t".into(), by: "ada".into(), order: Order::Cancel };
    assert!(timeline.notice(&cancel).is_ok(), "{}", timeline.so_far());
    let later = "40h beat task=t \n 41h @b beat task=t \n 42h exit signal=11 \n 43h";
    let timeline = timeline.play(later);
    assert_eq!(timeline.count("=> start"), 0, "{}", timeline.so_far());
    assert!(timeline.has("t is not recovered"), "{}", timeline.so_far());
}
