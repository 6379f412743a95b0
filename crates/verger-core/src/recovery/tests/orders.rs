//! What people order, and that they always can (L29, promise 4).

use super::world::{World, life};
use crate::id::CheckpointId;
use crate::recovery::*;

const RECOVER: Order = Order::Recover { from: None };

/// A task whose attempts were all used up.
fn in_review() -> World {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    for incarnation in 2..=4 {
        world.alive("t", &life("a", incarnation));
        world.ended("t", life("a", incarnation));
    }
    assert_eq!(world.status("t"), Some(Status::HumanReview));
    world.until(100);
    world.log();
    world
}

#[test]
fn l29_a_person_may_start_anew_out_of_a_review_and_is_recorded() {
    let mut world = in_review();
    world.order("t", &RECOVER).expect("it is in review");
    assert_eq!(
        world.log(),
        [
            "100s ann ordered Recover { from: None } for t",
            "100s review of t over",
            "100s spawn a for t, attempt 1, from c3",
        ]
    );
    let by = world.out.changes.iter().find_map(|change| match change {
        Change::Initiated { by, .. } => by.clone(),
        _ => None,
    });
    assert_eq!(by, Some("ann".into()));
    world.alive("t", &life("a", 5));
    world.ended("t", life("a", 5));
    world.until(9_000);
    assert_eq!(world.spawns().len(), 2, "what follows is automatic again, and counted");
}

#[test]
fn l29_a_person_need_not_wait_for_limits_nor_backoff_nor_the_fleet() {
    let mut world = World::new();
    world.policy.fleet_limit.count = 1;
    world.policy.agent_limit.count = 1;
    world.ended("u", life("a", 1));
    world.until(60);
    world.closed("u", Closing::Cancelled);
    world.ended("t", life("a", 7));
    world.step(|recoveries, step| recoveries.on_frozen(step, true));
    world.order("t", &RECOVER).expect("it waits");
    assert_eq!(world.status("t"), Some(Status::Running));
    assert_eq!(world.view("t").map(|view| view.attempt), Some(1), "but it is counted");
}

#[test]
fn x10_not_even_a_person_starts_beside_an_old_life_that_may_run_unless_they_say_it_is_gone() {
    let mut world = World::new();
    world.lost("t", life("a", 1));
    world.order("t", &RECOVER).expect("it waits");
    world.until(5_000);
    assert!(world.spawns().is_empty());
    world.order("t", &Order::ConfirmEnded).expect("it is in doubt");
    world.until(5_001);
    assert_eq!(world.spawns().len(), 1);
    assert_eq!(world.order("t", &Order::ConfirmEnded), Err(OrderError::NothingInDoubt));
}

#[test]
fn l27_a_person_may_name_the_checkpoint_also_a_poisoned_one() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    for incarnation in 2..=4 {
        world.until(u64::from(incarnation) * 300);
        world.ended("t", life("a", incarnation));
    }
    let named = |id: &str| Order::Recover { from: Some(id.into()) };
    assert_eq!(world.order("t", &named("c9")), Err(OrderError::UnknownCheckpoint(CheckpointId::from("c9"))));
    world.order("t", &named("c3")).expect("it is valid");
    let from = world.froms();
    assert_eq!(from, [Some("c3"), Some("c3"), Some("c2"), Some("c3")]);
}

#[test]
fn l28_a_person_may_call_it_off_at_every_stage() {
    let mut waiting = World::new();
    waiting.ended("t", life("a", 1));
    waiting.order("t", &Order::Cancel).expect("it waits");
    waiting.until(9_000);
    waiting.ended("t", life("a", 1));
    assert!(waiting.spawns().is_empty());
    assert_eq!(waiting.order("t", &Order::Cancel), Err(OrderError::CalledOff));
    waiting.until(90_000);
    assert_eq!(waiting.status("t"), None, "it is forgotten after a day");

    let mut running = World::new();
    running.ended("t", life("a", 1));
    running.until(60);
    running.order("t", &Order::Cancel).expect("it runs");
    running.alive("t", &life("a", 2));
    assert!(running.log().contains(&"60s withdraw start 1 of t: a#2".to_owned()));
    running.ended("t", life("a", 2));
    running.until(9_000);
    assert_eq!((running.status("t"), running.spawns().len()), (Some(Status::Failed), 1));
    running.order("t", &RECOVER).expect("a person may change their mind");
    assert_eq!(running.spawns().len(), 2);
}

#[test]
fn l29_a_review_that_is_done_is_over_and_the_next_failure_is_counted_from_one() {
    let mut world = in_review();
    world.order("t", &Order::ReviewDone).expect("it is in review");
    assert_eq!(
        world.log(),
        ["100s ann ordered ReviewDone for t", "100s clear t: FailedAgain", "100s review of t over"]
    );
    assert_eq!(world.order("t", &Order::ReviewDone), Err(OrderError::NothingToReview));
    world.ended("t", life("a", 4));
    assert_eq!(world.status("t"), Some(Status::Failed), "a late copy");
    world.ended("t", life("a", 5));
    world.until(300);
    assert_eq!(world.spawns().last().map(|spawn| spawn.attempt), Some(1));
}

#[test]
fn orders_that_make_no_sense_change_nothing() {
    let mut world = World::new();
    assert_eq!(world.order("t", &RECOVER), Err(OrderError::NothingToRecover("t".into())));
    world.ended("t", life("a", 1));
    world.until(60);
    assert_eq!(world.order("t", &RECOVER), Err(OrderError::Running));
    world.alive("t", &life("a", 2));
    let before = world.recoveries.clone();
    assert_eq!(world.order("t", &RECOVER), Err(OrderError::Alive(life("a", 2))));
    assert_eq!(world.order("t", &Order::Cancel), Err(OrderError::Alive(life("a", 2))));
    assert_eq!(world.recoveries, before);
}

#[test]
fn l28_not_even_a_person_starts_an_agent_again_that_works_on_another_task() {
    let mut world = World::new();
    world.ended("u", life("a", 1));
    world.until(60);
    world.alive("u", &life("a", 2));
    world.ended("t", life("a", 1));
    assert_eq!(world.order("t", &RECOVER), Err(OrderError::AgentElsewhere("a".into())));
    world.closed("u", Closing::Finished);
    world.order("t", &RECOVER).expect("now it is free");
}

#[test]
fn l29_what_a_person_starts_anew_does_not_begin_with_what_is_poisoned() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    for incarnation in 2..=4 {
        world.until(u64::from(incarnation) * 1_000);
        world.alive("t", &life("a", incarnation));
        world.ended("t", life("a", incarnation));
    }
    assert_eq!(world.froms(), [Some("c3"), Some("c3"), Some("c2")]);
    world.order("t", &RECOVER).expect("it is in review");
    assert_eq!(world.froms().last(), Some(&Some("c2")), "c3 is not tried again unless it is named");
}
