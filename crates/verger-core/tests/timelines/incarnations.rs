//! Lives: X10, L52, and that a command or a stale word of one life never reaches the next.

use insta::assert_snapshot;
use verger_core::Incarnation;
use verger_core::event::Fact;
use verger_core::health::HealthState::{Healthy, Terminated, Unknown};
use verger_core::id::{CheckpointId, TaskId};
use verger_core::policy::{Mode, RestartPolicy};

use crate::timeline::{Timeline, run};

fn after(script: &str) -> Timeline {
    Timeline::default().play(script)
}

#[test]
fn l52_watching_begins_at_first_sight_or_at_a_spawn_and_ends_with_the_life() {
    assert_snapshot!(run("
        0s    @seen beat
        1s    @spawned spawn task=t1
        2s    @seen exit code=0
        1d
    "), @"
    0s seen registered
    0s seen UNKNOWN -> HEALTHY
    1s spawned registered
    2s seen HEALTHY -> TERMINATED: its process ended (0)
    2s seen ended: exited with code 0
    15m1s spawned UNKNOWN -> DEGRADED: idle for 10m with work assigned (limit 10m)
    15m1s spawned nudge 1 queued
    15m1s => nudge spawned 1
    25m1s spawned nudge 2 queued
    25m1s => nudge spawned 2
    35m1s spawned nudge 3 queued
    35m1s => nudge spawned 3
    45m1s spawned escalated: idle for 40m with work assigned (limit 10m); after 3 nudges
    45m1s => escalate spawned
    ");
}

#[test]
fn l52_an_ended_agent_costs_no_deadline_but_that_it_is_forgotten() {
    let timeline = after("0s beat \n 1s exit code=0 \n 23h");
    let forgotten = verger_core::Timestamp::ZERO + verger_core::Span::secs(1 + 86_400);
    assert!(timeline.fleet.next_wake().is_some_and(|wake| wake <= forgotten));
    assert_eq!(timeline.play("2d").fleet.next_wake(), None);
}

#[test]
fn x10_what_an_earlier_life_sends_is_turned_away_and_its_sender_told() {
    assert_snapshot!(run("
        0s    spawn
        0s    life 1
        1s    beat
        1m    life any
        1m    spawn
        61s   life 1
        61s   beat
        62s   exit code=1
        63s   call x
        64s   life 2
        64s   beat
    "), @"
    0s registered
    1s UNKNOWN -> HEALTHY
    1m #2 registered
    1m1s #2 an earlier life was turned away
    1m1s refused: that incarnation of this agent is over; the present one is #2
    1m2s refused: that incarnation of this agent is over; the present one is #2
    1m3s refused: that incarnation of this agent is over; the present one is #2
    1m3s refused: that incarnation of this agent is over; the present one is #2
    1m4s #2 UNKNOWN -> HEALTHY
    ");
}

#[test]
fn x10_a_stale_exit_does_not_end_the_new_life() {
    let numbered = after("0s spawn \n 1s beat \n 1m spawn \n 61s beat \n 62s life 1 \n 62s exit signal=9");
    let view = numbered.view("a");
    assert_eq!((view.incarnation, view.state), (Incarnation(2), Healthy));
}

#[test]
fn x10_an_exit_sent_before_the_new_life_was_announced_does_not_end_it() {
    let script =
        "0s clock 0s \n 0s spawn \n 1s beat \n 1m spawn \n 61s beat \n 62s clock -10s \n 62s exit signal=9";
    let timeline = after(script);
    let view = timeline.view("a");
    assert_eq!((view.incarnation, view.state), (Incarnation(2), Healthy), "{}", timeline.so_far());
}

#[test]
fn x10_a_command_for_one_life_never_reaches_the_next() {
    let timeline = after("0s spawn \n 1s beat \n 1m spawn \n 61s beat \n 62s life 1 \n 62s order terminate");
    assert!(timeline.has("refused: incarnation #1 of this agent is over; the present one is #2"));
    assert_eq!(timeline.count("=> stop"), 0);
}

#[test]
fn x10_an_outcome_of_the_old_lifes_stop_does_not_end_the_new_one() {
    let timeline =
        after("0s spawn \n 1s beat \n 2s order terminate \n 3s spawn \n 4s beat \n 5s outcome stopped");
    let view = timeline.view("a");
    assert_eq!((view.incarnation, view.state), (Incarnation(2), Healthy), "{}", timeline.so_far());
}

#[test]
fn x10_recovery_never_starts_while_the_old_life_may_still_run() {
    let timeline = Timeline::in_mode(Mode::Full);
    let timeline = timeline
        .play("0s beat task=t1 \n 0s checkpoint c1 \n 0s beating 5m \n 1h1m \n 1h1m order recover \n 1h10m");
    assert_eq!(timeline.count("ended"), 0, "it was told to stop and has not:\n{}", timeline.so_far());
    let timeline = timeline.play("1h11m outcome failed \n 2h");
    assert_eq!(timeline.count("ended"), 0);
    let timeline = timeline.play("2h1m exit signal=9");
    assert_eq!(timeline.count("ended: ended by signal 9 as it was asked to, to be recovered from c1"), 1);
}

#[test]
fn x10_late_words_after_the_end_open_no_new_life_and_later_ones_do() {
    let late = after("0s beat \n 1s exit code=0 \n 20s beat");
    assert_eq!((late.view("a").state, late.view("a").incarnation), (Terminated, Incarnation(1)));
    let back = after("0s beat \n 1s exit code=0 \n 1m beat");
    assert_eq!((back.view("a").state, back.view("a").incarnation), (Healthy, Incarnation(2)));
    let announced = after("0s beat \n 1s exit code=0 \n 2s spawn");
    assert_eq!((announced.view("a").state, announced.view("a").incarnation), (Unknown, Incarnation(2)));
}

#[test]
fn x10_a_copy_of_the_announcement_opens_no_second_life() {
    assert_eq!(after("0s spawn \n 1s spawn").view("a").incarnation, Incarnation(1), "at once");
    let by_clock = "0s clock 0s \n 0s spawn \n 10s beat \n 20s clock -20s \n 20s spawn";
    assert_eq!(after(by_clock).view("a").incarnation, Incarnation(1), "by its time");
    let numbered = "0s life 1 \n 0s spawn \n 10s beat \n 20s spawn";
    assert_eq!(after(numbered).view("a").incarnation, Incarnation(1), "by its number");
}

#[test]
fn x10_first_words_that_overtake_the_announcement_belong_to_it() {
    let view = after("0s beat \n 2s spawn task=t1").view("a");
    assert_eq!((view.incarnation, view.state), (Incarnation(1), Healthy));
    assert_eq!(view.task.as_ref().map(TaskId::as_str), Some("t1"));
}

#[test]
fn x10_a_new_life_begins_with_a_clean_slate_and_keeps_its_work() {
    let timeline = after(
        "
        0s          spawn task=t1
        1s          checkpoint c1
        2s..50s/10s call ls -> nothing
        60s         exit signal=9
        70s         spawn
        71s         beat
    ",
    );
    let view = timeline.view("a");
    assert_eq!((view.state, view.incarnation), (Healthy, Incarnation(2)));
    assert_eq!(view.task.as_ref().map(TaskId::as_str), Some("t1"));
    assert_eq!(view.checkpoint.as_ref().map(CheckpointId::as_str), Some("c1"));
    assert_eq!((view.metrics.tool_calls, view.intervention), (0, None));
}

#[test]
fn x10_a_stale_life_changes_neither_role_nor_task() {
    let view = after(
        "0s spawn role=critical task=t1 \n 1m spawn task=t2 \n 61s life 1 \n 61s beat role=standby task=t0",
    )
    .view("a");
    assert_eq!(view.role.as_str(), "critical");
    assert_eq!(view.task.as_ref().map(TaskId::as_str), Some("t2"));
}

#[test]
fn l15_a_process_exit_is_terminated_and_then_recovered() {
    let mut policies = verger_core::policy::Policies::default();
    policies.each(|role| role.restart = RestartPolicy::Recover);
    assert_snapshot!(Timeline::new(policies).play("
        0s    spawn task=t1
        1s    checkpoint c1
        1m    exit signal=9
    ").log(), @"
    0s registered
    1s UNKNOWN -> HEALTHY
    1m HEALTHY -> TERMINATED: its process ended (9)
    1m ended: ended by signal 9, to be recovered from c1
    1m incident Died
    1m attempt 1 to recover t1 is planned for 2m8s
    1m => survey the checkpoints of t1
    ");
}

#[test]
fn l15_a_clean_exit_after_the_work_is_no_incident() {
    assert_snapshot!(run("
        0s    spawn task=t1
        1s    checkpoint c1
        50s   end-task t1
        1m    exit code=0
    "), @"
    0s registered
    1s UNKNOWN -> HEALTHY
    50s task t1: done
    1m HEALTHY -> TERMINATED: its process ended (0)
    1m ended: exited with code 0
    ");
}

#[test]
fn l05_the_roles_restart_policy_says_whether_a_dead_agent_is_recovered() {
    let recovered = |restart, mode| {
        let mut policies = verger_core::policy::Policies::default();
        policies.each(|role| {
            role.restart = restart;
            role.mode = mode;
        });
        let timeline = Timeline::new(policies).play("0s spawn task=t1 \n 1s beat \n 1m exit signal=9");
        timeline.has("ended: ended by signal 9, to be recovered")
    };
    assert!(recovered(RestartPolicy::Recover, Mode::Full));
    assert!(!recovered(RestartPolicy::None, Mode::Full), "nothing beyond the record");
    assert!(!recovered(RestartPolicy::Recover, Mode::Observe), "only look");
}

#[test]
fn x10_an_exit_ends_the_life_of_an_agent_whose_clock_was_set_back_in_it() {
    let life = "0s clock 0s \n 0s spawn \n 1s beat \n 1m clock -6m \n 1m beat \n 2m ";
    let ended = after(&format!("{life} exit signal=9"));
    assert_eq!(ended.view("a").state, Terminated, "{}", ended.so_far());
    assert!(ended.has("ended: ended by signal 9"), "{}", ended.so_far());
    let second =
        after(&format!("{life} clock 0s \n 2m spawn \n 121s beat \n 5m clock -190s \n 5m exit signal=9"));
    let view = second.view("a");
    assert_eq!(
        (view.incarnation, view.state),
        (Incarnation(2), Healthy),
        "sent before:\n{}",
        second.so_far()
    );
    assert!(second.has("#2 an earlier life was turned away"), "{}", second.so_far());
}

#[test]
fn x10_a_life_that_is_announced_for_other_work_is_registered_with_that() {
    for life in ["life any", "life 2"] {
        let timeline = Timeline::default()
            .play(&format!("0s spawn task=t1 \n 1s beat \n 1m exit code=1 \n 2m {life} \n 2m spawn task=t2"));
        let mut tasks = timeline.events.iter().filter_map(|event| match &event.fact {
            Fact::Registered { task } => Some(task.as_ref().map(ToString::to_string)),
            _ => None,
        });
        assert_eq!(tasks.next_back(), Some(Some("t2".to_owned())), "{life}: {}", timeline.so_far());
    }
}
