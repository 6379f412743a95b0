//! Nothing is started before it is known which checkpoints there are.

use super::world::{World, life, line};
use crate::recovery::*;

/// A life of `t` ended, and nobody knows yet what was saved.
fn unknown() -> World {
    let mut world = World::new();
    let (task, life, reason) = ("t".into(), life("a", 1), "it crashed".into());
    let ended = Ended { task, life, reason, confirmed: true, chain: None };
    world.step(|recoveries, step| recoveries.on_ended(step, ended));
    world
}

fn answer(world: &mut World, ids: &[&str]) {
    let chain = walk(&"t".into(), &line("t", ids), 100);
    world.step(|recoveries, step| recoveries.on_checkpoints(step, &"t".into(), chain));
}

#[test]
fn l27_the_checkpoints_are_asked_for_when_a_life_ends_and_used_when_it_is_started() {
    let mut world = unknown();
    assert_eq!(world.log, ["0s survey t"]);
    answer(&mut world, &["c1", "c2"]);
    world.until(75);
    assert_eq!(world.spawns()[0].from, Some("c2".into()));
}

#[test]
fn l27_nothing_is_started_while_nobody_knows_what_was_saved() {
    let mut world = unknown();
    world.until(890);
    assert!(world.spawns().is_empty());
    assert!(!world.log.iter().any(|line| line.contains("alert")), "{:?}", world.log);
    assert!(world.log.len() > 10, "it is asked again and again: {:?}", world.log);
    world.until(1_000);
    assert!(world.log.iter().any(|line| line.ends_with("alert t: ChainUnknown")), "{:?}", world.log);
    answer(&mut world, &["c1"]);
    world.until(1_010);
    assert_eq!(world.spawns()[0].from, Some("c1".into()), "{:?}", world.log);
    assert!(world.log.iter().any(|line| line.ends_with("clear t: ChainUnknown")), "{:?}", world.log);
}

#[test]
fn l27_that_there_is_none_is_an_answer() {
    let mut world = unknown();
    answer(&mut world, &[]);
    world.until(75);
    assert_eq!(world.spawns()[0].from, None);
    assert!(world.log.iter().any(|line| line.ends_with("alert t: StartedOver")), "{:?}", world.log);
}

#[test]
fn l27_they_are_asked_for_again_after_the_next_life() {
    let mut world = unknown();
    answer(&mut world, &["c1"]);
    world.until(75);
    world.alive("t", &life("a", 2));
    let (task, life, reason) = ("t".into(), life("a", 2), "it crashed".into());
    let ended = Ended { task, life, reason, confirmed: true, chain: None };
    world.step(|recoveries, step| recoveries.on_ended(step, ended));
    answer(&mut world, &["c1", "c2"]);
    world.until(300);
    assert_eq!(world.spawns()[1].from, Some("c2".into()));
}
