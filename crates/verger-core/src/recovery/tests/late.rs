//! Words that come late, from strangers, or of lives that nobody expected (X10, X14).

use super::world::{World, at, life};
use crate::recovery::*;

/// A task whose life ended, at nought.
fn ended() -> World {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world
}

/// The first start is out, at 60 s.
fn running() -> World {
    let mut world = ended();
    world.until(60);
    assert_eq!(world.status("t"), Some(Status::Running));
    world.log();
    world
}

#[test]
fn x10_a_stranger_that_is_lost_with_the_task_holds_it_back_until_that_is_settled() {
    let mut world = ended();
    world.lost("t", life("b", 1));
    world.until(600);
    assert_eq!(world.spawns().len(), 0);
    world.ended("t", life("b", 1));
    world.until(601);
    assert_eq!(world.spawns().len(), 1);
}

#[test]
fn l29_a_life_that_others_began_for_the_task_uses_up_a_start_of_the_fleet() {
    let mut world = ended();
    world.policy.fleet_limit.count = 1;
    world.until(10);
    world.alive("t", &life("b", 1));
    world.ended("u", life("c", 1));
    world.until(3_600);
    assert_eq!(world.spawns().len(), 0, "{:?}", world.log());
    world.until(3_700);
    assert_eq!(world.spawns().len(), 1);
}

#[test]
fn x10_what_was_lost_and_shows_itself_is_believed_also_after_its_task_was_closed_and_opened() {
    let mut world = World::new();
    world.lost("t", life("a", 1));
    world.closed("t", Closing::Finished);
    world.recoveries.on_reopened(&"t".into());
    world.alive("t", &life("a", 1));
    world.ended("t", life("a", 1));
    world.until(60);
    assert_eq!(world.spawns().len(), 1, "nothing is in doubt any more: {:?}", world.log());
}

#[test]
fn x10_of_a_life_that_was_seen_to_end_a_late_word_changes_nothing() {
    let mut world = ended();
    world.alive("t", &life("a", 1));
    assert_eq!(world.status("t"), Some(Status::Waiting));
}

#[test]
fn x10_while_a_start_is_out_the_life_before_it_is_not_taken_for_it() {
    let mut world = running();
    world.step(|recoveries, step| recoveries.on_doubted(step, &"t".into(), &life("a", 1)));
    world.alive("t", &life("a", 1));
    assert_eq!(world.status("t"), Some(Status::Running));
}

#[test]
fn l29_what_a_person_called_off_does_not_go_on_because_it_shows_itself_twice() {
    let mut world = running();
    world.order("t", &Order::Cancel).expect("it is under way");
    world.alive("t", &life("a", 2));
    world.alive("t", &life("a", 2));
    assert_eq!(world.status("t"), Some(Status::Failed));
}

#[test]
fn l29_a_life_that_was_lost_and_comes_back_keeps_its_count() {
    let mut world = running();
    world.healthy("t", &life("a", 2));
    world.lost("t", life("a", 2));
    world.alive("t", &life("a", 2));
    assert_eq!(world.status("t"), Some(Status::Watching));
    assert_eq!(world.view("t").map(|view| view.attempt), Some(1));
}

#[test]
fn x10_a_life_that_was_lost_and_comes_back_settles_only_its_own_end() {
    let mut world = World::new();
    world.lost("t", life("a", 1));
    world.lost("t", life("b", 1));
    world.alive("t", &life("a", 1));
    assert!(world.recoveries.has(&"t".into()), "the other may still run");
}

#[test]
fn x14_a_recovery_is_called_off_only_where_one_was_planned_and_another_agent_came() {
    let mut world = ended();
    world.alive("t", &life("a", 2));
    world.alive("t", &life("b", 1));
    assert_eq!(world.log(), [""; 0], "it began by itself, and then another had it");
    let mut world = ended();
    world.alive("t", &life("b", 1));
    assert_eq!(world.log().len(), 1);
}

#[test]
fn x10_one_start_too_many_makes_nobody_forget_who_had_the_task_before() {
    let mut world = World::new();
    world.ended("t", life("c", 5));
    world.alive("t", &life("a", 1));
    world.ended("t", life("a", 1));
    world.until(200);
    world.alive("t", &life("b", 1));
    world.alive("t", &life("a", 2));
    world.alive("t", &life("c", 5));
    assert_eq!(world.recoveries.life(&"t".into()), Some(&life("b", 1)));
}

#[test]
fn x10_what_was_lost_called_off_and_comes_back_lives_and_is_no_recovery() {
    let mut world = World::new();
    world.lost("t", life("a", 1));
    world.order("t", &Order::Cancel).expect("it waits");
    world.alive("t", &life("a", 1));
    assert!(!world.recoveries.has(&"t".into()), "{:?}", world.log());
}

#[test]
fn l29_that_a_life_is_given_the_task_it_has_counts_nothing() {
    let takes = |world: &mut World, life: &Life| {
        world.step(|recoveries, step| recoveries.on_taken_over(step, &"t".into(), life, step.now));
    };
    let mut world = running();
    world.started("t", 1, &Started::Done(Some(life("a", 2))));
    takes(&mut world, &life("a", 2));
    assert_eq!(world.status("t"), Some(Status::Watching));
    takes(&mut world, &life("a", 2));
    assert_eq!(world.view("t").map(|view| view.attempt), Some(1));
    assert_eq!(world.log(), [""; 0], "nothing was taken back");
}

#[test]
fn l29_that_another_life_got_on_is_no_progress_of_this_one() {
    let mut world = running();
    world.healthy("t", &life("a", 2));
    world.recoveries.on_progress(&life("a", 1));
    world.until(100_000);
    assert!(world.recoveries.has(&"t".into()), "its attempts still count");
    world.recoveries.on_progress(&life("a", 2));
    world.until(100_001);
    assert!(!world.recoveries.has(&"t".into()));
}

#[test]
fn l29_an_end_at_the_very_moment_of_stability_is_a_new_failure() {
    let mut world = running();
    world.healthy("t", &life("a", 2));
    world.recoveries.on_progress(&life("a", 2));
    world.until(60 + 900);
    world.now = at(60 + 900 + 3_600);
    world.ended("t", life("a", 2));
    world.until(10_000);
    let attempts: Vec<u8> = world.spawns().iter().map(|spawn| spawn.attempt).collect();
    assert_eq!(attempts, [1, 1]);
    assert!(!world.log().iter().any(|line| line.contains("attempt 0")), "it is no attempt that failed");
}

#[test]
fn l29_who_was_never_counted_is_not_said_to_count_from_one_again() {
    let mut world = running();
    world.step(|recoveries, step| recoveries.on_given_away(step, &"t".into(), &life("b", 1)));
    world.step(|recoveries, step| recoveries.on_withdrawn(step, &"t".into(), 1));
    world.recoveries.on_progress(&life("b", 1));
    world.now = at(60 + 3_600);
    world.healthy("t", &life("b", 1));
    let told = |change: &&Change| matches!(change, Change::Forgotten { .. });
    assert_eq!(world.out.changes.iter().filter(told).count(), 0);
}

#[test]
fn l29_that_a_life_got_on_is_to_be_written_by_itself() {
    let mut world = running();
    world.healthy("t", &life("a", 2));
    world.recoveries.take_changed_rows(&mut |_, _| ());
    assert!(!world.recoveries.has_changes());
    world.recoveries.on_progress(&life("a", 2));
    assert!(world.recoveries.has_changes());
}
