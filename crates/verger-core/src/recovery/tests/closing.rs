//! What a task leaves behind that is over, given away, or whose agent is elsewhere (X10, X14).

use super::world::{World, life};
use crate::recovery::*;

/// A start is out, and what it began has a name.
fn started() -> World {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(60);
    world.started("t", 1, &Started::Done(Some(life("a", 2))));
    world.log();
    world
}

#[test]
fn x10_what_was_started_for_a_task_that_is_over_is_asked_once_to_end_if_it_has_a_name() {
    let mut world = started();
    world.closed("t", Closing::Finished);
    world.until(4_000);
    let asked = |world: &mut World| world.log().iter().filter(|line| line.contains("withdraw")).count();
    assert_eq!(asked(&mut world), 1, "it may have other work by now");
}

#[test]
fn x10_that_it_ended_after_all_settles_it_and_the_task_is_forgotten_at_once() {
    let mut world = started();
    world.closed("t", Closing::Finished);
    world.ended("t", life("b", 1));
    world.until(70);
    assert!(world.recoveries.has(&"t".into()), "another one ended");
    world.ended("t", life("a", 2));
    world.until(71);
    assert!(!world.recoveries.has(&"t".into()));
    assert_eq!(world.recoveries.closing(&"t".into()), Some(Closing::Finished));
}

#[test]
fn x10_a_life_that_is_lost_after_its_task_was_closed_is_in_doubt() {
    let mut world = started();
    world.closed("t", Closing::Finished);
    world.lost("t", life("a", 3));
    world.ended("t", life("a", 2));
    world.until(1_000);
    assert!(world.recoveries.has(&"t".into()), "it may still run");
    world.ended("t", life("a", 3));
    world.until(1_001);
    assert!(!world.recoveries.has(&"t".into()));
}

#[test]
fn x10_what_a_person_called_off_is_not_forgotten_while_it_may_still_run() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(60);
    world.order("t", &Order::Cancel).expect("it is under way");
    world.until(100 * 3_600);
    assert!(world.recoveries.has(&"t".into()));
    world.order("t", &Order::ConfirmEnded).expect("its end is in doubt");
    world.until(101 * 3_600);
    assert!(!world.recoveries.has(&"t".into()));
}

#[test]
fn l28_who_was_started_and_works_on_something_else_is_for_people_to_look_at() {
    let mut world = started();
    world.step(|recoveries, step| recoveries.keep_busy(step, &"u".into(), &life("a", 2)));
    assert_eq!(world.status("t"), Some(Status::HumanReview));
}

#[test]
fn l28_another_life_than_was_started_says_nothing_of_the_start() {
    let mut world = started();
    world.step(|recoveries, step| recoveries.keep_busy(step, &"u".into(), &life("a", 3)));
    assert_eq!(world.status("t"), Some(Status::Running));
}

#[test]
fn l29_what_was_given_away_counts_until_it_has_been_stable_for_an_hour() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(60);
    world.step(|recoveries, step| recoveries.on_given_away(step, &"t".into(), &life("b", 1)));
    world.step(|recoveries, step| recoveries.on_withdrawn(step, &"t".into(), 1));
    world.recoveries.on_progress(&life("b", 1));
    world.until(60 + 3_599);
    assert!(world.recoveries.has(&"t".into()));
    world.until(60 + 3_600);
    assert!(!world.recoveries.has(&"t".into()));
}

#[test]
fn x10_late_words_of_a_life_before_the_last_one_change_nothing() {
    let mut world = World::new();
    world.ended("t", life("a", 3));
    world.alive("t", &life("b", 1));
    world.alive("t", &life("c", 1));
    world.alive("t", &life("a", 3));
    let present = world.recoveries.life(&"t".into());
    assert_eq!(present, Some(&life("c", 1)));
}

#[test]
fn x14_that_a_stranger_ended_is_no_end_of_the_tasks_own_life() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.ended("t", life("b", 1));
    world.until(60);
    assert_eq!(world.log(), ["60s spawn a for t, attempt 1, from c3"]);
}

#[test]
fn x13_room_is_made_by_what_no_longer_counts_and_by_nothing_else() {
    let full = |begin: &dyn Fn(&mut World)| {
        let mut world = World::new();
        world.policy.tasks_max = 1;
        world.ended("t", life("a", 1));
        world.until(60);
        begin(&mut world);
        world.ended("u", life("b", 1));
        !world.recoveries.has(&"u".into())
    };
    let recovered = |world: &mut World| {
        world.healthy("t", &life("a", 2));
        world.until(60 + 900);
        assert_eq!(world.status("t"), Some(Status::Succeeded));
    };
    assert!(full(&|_| ()), "a start is out");
    assert!(full(&recovered), "its attempts still count");
    assert!(!full(&|world| {
        recovered(world);
        world.until(60 + 900 + 3_600);
    }));
    assert!(!full(&|world| world.closed("t", Closing::Finished)));
    assert!(
        full(&|world| world.order("t", &Order::Cancel).expect("it is under way")),
        "what was started may run"
    );
    assert!(!full(&|world| {
        world.order("t", &Order::Cancel).expect("it is under way");
        world.order("t", &Order::ConfirmEnded).expect("its end is in doubt");
    }));
}

#[test]
fn x13_room_is_made_by_the_oldest_of_those_that_may_go() {
    let mut world = World::new();
    world.policy.tasks_max = 2;
    for (task, at) in [("t", 60), ("u", 120)] {
        world.ended(task, life(task, 1));
        world.until(at);
        world.closed(task, Closing::Finished);
    }
    world.ended("v", life("v", 1));
    let known = ["t", "u", "v"].map(|task| world.recoveries.has(&task.into()));
    assert_eq!(known, [false, true, true]);
}
