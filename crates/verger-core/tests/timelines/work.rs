//! Who has a task, and whether it is over, recovery hears from everybody who may say it (L28, X14).

use crate::timeline::Timeline;

const CRASHED: &str =
    "0s spawn task=t \n 1s beat \n 10s checkpoint c1 \n 30s exit signal=11 \n 31s surveyed c1 \n";

/// It was started again and is well.
const BACK: &str = "91s outcome delivered \n 100s spawn task=t \n 101s beat \n 101s beating 1m \n";

#[test]
fn x14_who_is_registered_again_for_the_same_task_is_recovered_again() {
    let again = "40s order unregister \n 50s spawn task=t \n 51s beat \n 5m exit signal=11 \n 301s surveyed c1 \n 10m";
    let timeline = Timeline::unattended().play(CRASHED).play(again);
    assert_eq!(timeline.count("=> start"), 1, "{}", timeline.so_far());
}

#[test]
fn x14_what_a_person_ended_and_started_again_is_recovered_again() {
    let again = "299s still \n 5m order terminate \n 301s outcome stopped \n 6m spawn task=t \n 361s beat \n 10m exit signal=11 \n \
                 601s surveyed c1 \n 20m";
    let timeline = Timeline::unattended().play(CRASHED).play(BACK).play(again);
    assert_eq!(timeline.count("=> start"), 2, "{}", timeline.so_far());
}

#[test]
fn x14_a_task_that_another_agent_announces_late_is_not_recovered() {
    let timeline = Timeline::unattended()
        .play(CRASHED)
        .play("40s @b beat \n 45s @b spawn task=t \n 46s @b beating 1m \n 20m");
    assert_eq!(timeline.count("=> start"), 0, "{}", timeline.so_far());
}

#[test]
fn x14_a_task_that_another_agent_was_spawned_for_is_not_recovered_for_the_one_before() {
    let timeline = Timeline::unattended().play(
        "0s spawn task=t \n 1s beat \n 10s @b spawn task=t \n 11s @b beating 1m \n 30s exit signal=11 \n 20m",
    );
    assert_eq!(timeline.count("=> survey") + timeline.count("=> start"), 0, "{}", timeline.so_far());
}

#[test]
fn x14_a_task_that_another_agent_beats_for_is_not_recovered() {
    let timeline = Timeline::unattended()
        .play(CRASHED)
        .play("40s @b beat \n 45s @b beat task=t \n 46s @b beating 1m \n 20m");
    assert_eq!(timeline.count("=> start"), 0, "{}", timeline.so_far());
}

#[test]
fn x14_a_task_that_people_close_while_it_waits_is_not_recovered() {
    for how in ["done", "cancelled"] {
        let timeline = Timeline::unattended().play(CRASHED).play(&format!("40s close t {how} \n 20m"));
        assert_eq!(timeline.count("=> start"), 0, "{}", timeline.so_far());
    }
}

#[test]
fn x14_a_task_that_people_closed_before_its_agent_died_is_not_recovered() {
    let timeline = Timeline::unattended()
        .play("0s spawn task=t \n 1s beat \n 10s close t cancelled \n 30s exit signal=11 \n 20m");
    assert_eq!(timeline.count("=> survey"), 0, "{}", timeline.so_far());
}

#[test]
fn x14_a_task_that_people_give_to_another_agent_is_not_recovered() {
    let timeline =
        Timeline::unattended().play(CRASHED).play("40s @b beat \n 45s @b give t \n 46s @b beating 1m \n 20m");
    assert_eq!(timeline.count("=> start"), 0, "{}", timeline.so_far());
}

#[test]
fn x14_who_proved_nothing_does_not_keep_a_task_from_being_recovered() {
    let claims = "40s unverified \n 41s @z beat task=t \n 42s verified \n 10m";
    let timeline = Timeline::unattended().play(CRASHED).play(claims);
    assert_eq!(timeline.count("=> start"), 1, "{}", timeline.so_far());
    let claims = "110s unverified \n 111s @z beat task=t \n 112s verified \n 299s still \n 5m exit signal=11 \n 301s surveyed c1 \n 20m";
    let timeline = Timeline::unattended().play(CRASHED).play(BACK).play(claims);
    assert_eq!(timeline.count("=> start"), 2, "{}", timeline.so_far());
}

#[test]
fn l28_a_start_of_which_nobody_knows_whether_it_was_done_is_not_done_twice() {
    let timeline = Timeline::unattended().play(CRASHED).play("91s outcome unreachable \n 8m");
    assert_eq!(timeline.count("=> start"), 1, "{}", timeline.so_far());
}

#[test]
fn l28_who_is_only_to_be_looked_at_is_not_started_again() {
    let observed = "110s order mode observe \n 299s still \n 5m exit signal=11 \n 30m";
    let timeline = Timeline::unattended().play(CRASHED).play(BACK).play(observed);
    assert_eq!(timeline.count("=> survey") + timeline.count("=> start"), 2, "{}", timeline.so_far());
}

#[test]
fn l28_another_agents_own_work_is_not_over_because_somebody_says_so() {
    let timeline = Timeline::unattended()
        .play("0s beat \n 1s @b beat \n 2s @b end-task agent:a \n 30s exit signal=11 \n 31s surveyed \n 3m");
    assert_eq!(timeline.count("=> start for agent:a"), 1, "{}", timeline.so_far());
}

#[test]
fn l28_another_agents_own_work_is_not_taken_over() {
    let timeline = Timeline::unattended()
        .play("0s beat \n 1s @b beat \n 2s @b assign agent:a \n 30s exit signal=11 \n 31s surveyed \n 3m");
    assert_eq!(timeline.count("=> start for agent:a"), 1, "{}", timeline.so_far());
}
