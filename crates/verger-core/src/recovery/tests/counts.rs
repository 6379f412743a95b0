//! What was counted outlives a recovery whose task is over before its run was stable (L29).

use super::world::{World, life};
use crate::id::TaskId;
use crate::recovery::*;

/// Recovered at the first attempt, and watched without fault; its run would be stable at 60 + 900 + 3,600 s.
fn recovered() -> World {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(60);
    world.healthy("t", &life("a", 2));
    world.until(1_000);
    world
}

fn attempts(world: &World) -> Vec<u8> {
    world.spawns().iter().map(|spawn| spawn.attempt).collect()
}

fn forgotten(world: &World) -> Vec<&TaskId> {
    let forgotten = world.out.changes.iter().filter_map(|change| match change {
        Change::Forgotten { task } => Some(task),
        _ => None,
    });
    forgotten.collect()
}

#[test]
fn l29_a_task_that_leaves_in_peace_and_is_begun_again_is_counted_on() {
    let mut world = recovered();
    world.closed("t", Closing::Finished);
    assert!(!world.recoveries.has(&"t".into()), "nothing is shown of it");
    world.recoveries.on_begun_again(&"t".into());
    world.ended("t", life("a", 3));
    world.until(1_200);
    assert_eq!(attempts(&world), [1, 2]);
    world.ended("t", life("a", 4));
    world.until(2_000);
    world.ended("t", life("a", 5));
    world.until(20_000);
    assert_eq!(attempts(&world), [1, 2, 3]);
    assert_eq!(world.status("t"), Some(Status::HumanReview));
}

#[test]
fn l29_a_task_that_is_done_within_its_watch_is_counted_on_for_an_hour() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(60);
    world.alive("t", &life("a", 2));
    world.until(100);
    world.closed("t", Closing::Finished);
    world.recoveries.on_reopened(&"t".into());
    world.until(100 + 3_599);
    world.ended("t", life("a", 3));
    world.until(10_000);
    assert_eq!(attempts(&world), [1, 2]);
}

#[test]
fn l29_when_the_run_would_have_been_stable_the_count_is_forgotten_and_that_is_told() {
    let mut world = recovered();
    world.closed("t", Closing::Finished);
    world.until(4_559);
    assert!(forgotten(&world).is_empty());
    world.until(4_560);
    assert_eq!(forgotten(&world), [&TaskId::from("t")]);
    world.recoveries.on_reopened(&"t".into());
    world.ended("t", life("a", 3));
    world.until(10_000);
    assert_eq!(attempts(&world), [1, 1]);
    assert_eq!(forgotten(&world).len(), 1);
}

#[test]
fn l29_an_end_at_the_very_moment_at_which_the_count_is_forgotten_is_a_new_failure() {
    let mut world = recovered();
    world.closed("t", Closing::Finished);
    world.recoveries.on_reopened(&"t".into());
    world.now = super::world::at(4_560);
    world.ended("t", life("a", 3));
    assert_eq!(forgotten(&world), [&TaskId::from("t")]);
    world.until(10_000);
    assert_eq!(attempts(&world), [1, 1]);
}

#[test]
fn l29_what_was_called_off_is_counted_from_one() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(60);
    world.alive("t", &life("a", 2));
    world.closed("t", Closing::Cancelled);
    world.recoveries.on_reopened(&"t".into());
    world.ended("t", life("a", 3));
    world.until(1_000);
    assert_eq!(attempts(&world), [1, 1]);
}

#[test]
fn l29_who_is_not_watched_any_more_and_comes_again_is_counted_on() {
    let mut world = recovered();
    world.step(|recoveries, step| recoveries.on_unregistered(step, &"t".into()));
    world.recoveries.on_begun_again(&"t".into());
    world.ended("t", life("a", 3));
    world.until(1_200);
    assert_eq!(attempts(&world), [1, 2]);
}

#[test]
fn l29_the_count_goes_on_also_where_something_may_still_run() {
    let mut world = recovered();
    world.step(|recoveries, step| recoveries.on_doubted(step, &"t".into(), &life("b", 7)));
    world.closed("t", Closing::Finished);
    assert!(world.recoveries.has(&"t".into()), "what may still run keeps it");
    world.recoveries.on_reopened(&"t".into());
    let view = world.view("t").expect("it is open again");
    assert_eq!((view.status, view.attempt), (Status::Succeeded, 1));
    world.recoveries.on_progress(&life("a", 2));
    world.step(|recoveries, step| recoveries.on_gone(step, &"t".into(), &life("b", 7)));
    world.until(4_560);
    assert_eq!(forgotten(&world), [&TaskId::from("t")], "a run is no longer unstable than it was");
}

#[test]
fn l28_a_checkpoint_that_was_poisoned_stays_so() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    for (start, second) in [(2, 60), (3, 180)] {
        world.until(second);
        world.alive("t", &life("a", start));
        world.ended("t", life("a", start));
    }
    world.until(420);
    world.healthy("t", &life("a", 4));
    world.until(1_400);
    world.closed("t", Closing::Finished);
    world.recoveries.on_reopened(&"t".into());
    world.policy.attempts_max = 4;
    world.ended("t", life("a", 5));
    world.until(2_000);
    assert_eq!(world.froms(), [Some("c3"), Some("c3"), Some("c2"), Some("c2")]);
}

#[test]
fn l29_a_restart_of_the_monitor_gives_no_count_back() {
    let noted = recovered();
    let mut kept = recovered();
    kept.step(|recoveries, step| recoveries.on_doubted(step, &"t".into(), &life("b", 7)));
    for mut world in [noted, kept] {
        world.recoveries.take_changed_rows(&mut |_, _| ());
        world.closed("t", Closing::Finished);
        assert_eq!(read_back(&mut world), world.recoveries, "what has changed is written");
        world.recoveries.touch_all();
        assert_eq!(read_back(&mut world), world.recoveries, "all of it is");
    }
}

fn read_back(world: &mut World) -> Recoveries {
    let mut again = Recoveries::default();
    world.recoveries.take_changed_rows(&mut |key, row| {
        again.restore(key, &row.expect("nothing is deleted")).expect("it was just written");
    });
    again
}

#[test]
fn l29_a_count_that_is_forgotten_is_not_written_any_more() {
    let mut world = recovered();
    world.closed("t", Closing::Finished);
    world.recoveries.on_reopened(&"t".into());
    world.recoveries.take_changed_rows(&mut |_, _| ());
    world.until(4_560);
    let mut deleted = Vec::new();
    world.recoveries.take_changed_rows(&mut |key, row| deleted.push((key, row)));
    assert_eq!(deleted, [(RowKey::Task("t".into()), None)]);
    assert!(world.recoveries.is_empty());
}

#[test]
fn l29_no_more_counts_are_kept_than_recoveries() {
    let mut world = World::new();
    world.policy.tasks_max = 2;
    for (second, task) in [(0, "t"), (2_000, "u"), (4_000, "v")] {
        world.until(second);
        world.ended(task, life(task, 1));
        world.until(second + 60);
        world.alive(task, &life(task, 2));
        world.closed(task, Closing::Finished);
    }
    assert_eq!(forgotten(&world), [&TaskId::from("t")], "it matters least long");
    assert!(!world.recoveries.is_empty());
}
