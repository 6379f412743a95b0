//! How often, how fast, and what happens beyond (L29, X14).

use super::world::{World, at, life};
use crate::intervention::Limit;
use crate::recovery::*;
use crate::time::{Span, Timestamp};

/// Every life ends as soon as it shows itself.
fn crash_on(world: &mut World, task: &str, agent: &str, secs: u64) {
    let step = 10;
    let from = world.now.as_millis() / 1_000;
    for now in (from..=secs).step_by(step) {
        world.until(now);
        let Some(view) = world.view(task).filter(|view| view.status == Status::Running) else { continue };
        let next = Life { agent: agent.into(), incarnation: view.incarnation.next() };
        world.alive(task, &next);
        world.ended(task, next);
    }
}

#[test]
fn l29_three_attempts_after_60_120_and_240_s_then_people_must_look() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    crash_on(&mut world, "t", "a", 20_000);
    assert_eq!(
        world.log(),
        [
            "60s spawn a for t, attempt 1, from c3",
            "60s attempt 1 of t: EndedInWatch",
            "60s alert t: FailedAgain",
            "180s spawn a for t, attempt 2, from c3",
            "180s attempt 2 of t: EndedInWatch",
            "420s spawn a for t, attempt 3, from c2",
            "420s attempt 3 of t: EndedInWatch",
            "420s review t: AttemptsUsedUp",
        ]
    );
    let failed = world.out.changes.iter().filter(|change| matches!(change, Change::Failed { .. })).count();
    assert_eq!(failed, 1);
    assert_eq!(
        world.recoveries.deadline(world.now, &world.policy),
        None,
        "only a person, or the agent itself"
    );
}

#[test]
fn l29_waits_are_prolonged_at_random_within_bounds_and_never_shortened() {
    let policy = Policy::default();
    let mut seen = Vec::new();
    for random in 0..500_u64 {
        for (attempt, base) in [(1, 60), (2, 120), (3, 240), (4, 240), (255, 240), (0, 60)] {
            let wait = backoff::delay(attempt, &"t".into(), random * 7_919, &policy);
            assert!(Span::secs(base) <= wait && wait <= Span::millis(base * 1_250), "{attempt}: {wait}");
            seen.push(wait);
        }
    }
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() > 1_000, "they are spread");
    let same_step = ["t", "u"].map(|task| backoff::delay(1, &task.into(), 5, &policy));
    assert_ne!(same_step[0], same_step[1], "also when they fail in the same step");
    let hostile = Policy { backoff: vec![Span::FOREVER], jitter_percent: 255, ..Policy::default() };
    assert_eq!(backoff::delay(1, &"t".into(), u64::MAX, &hostile), Span::FOREVER);
    let none = Policy { backoff: Vec::new(), ..Policy::default() };
    assert_eq!(backoff::delay(1, &"t".into(), 9, &none), Span::ZERO);
}

#[test]
fn l29_an_agent_that_was_started_five_times_within_the_hour_is_left_to_people() {
    let mut world = World::new();
    world.policy.agent_limit = Policy::default().agent_limit;
    for (number, task) in (1_u32..).zip(["t1", "t2", "t3", "t4", "t5", "t6"]) {
        world.until(u64::from(number) * 200);
        world.ended(task, life("a", number * 10));
        world.until(u64::from(number) * 200 + 60);
        world.closed(task, Closing::Cancelled);
    }
    let log = world.log();
    assert_eq!(log.iter().filter(|line| line.contains("spawn")).count(), 5);
    assert!(log.contains(&"1260s review t6: AgentLimit".to_owned()), "{log:?}");
}

#[test]
fn l29_the_fleets_hour_makes_recoveries_wait_and_people_are_told_once() {
    let mut world = World::new();
    world.policy.fleet_limit = Policy::default().fleet_limit;
    for number in 0..7 {
        world.ended(&format!("t{number}"), life(&format!("a{number}"), 1));
    }
    world.until(3_700);
    assert_eq!(world.spawns().len(), 7);
    let log = world.log();
    let of_spawns = |line: &&String| line.contains("spawn") || line.contains("FleetLimit");
    let times: Vec<_> = log.iter().filter(of_spawns).map(|line| &line[..line.len().min(15)]).collect();
    assert_eq!(
        times[..5],
        ["60s spawn a0 fo", "60s spawn a1 fo", "60s spawn a2 fo", "60s spawn a3 fo", "60s spawn a4 fo"]
    );
    assert_eq!(times[5..], ["60s alert fleet", "3660s spawn a5 ", "3660s spawn a6 ", "3660s clear fle"]);
}

#[test]
fn l29_who_has_waited_longest_is_first_when_there_is_room_again() {
    let mut world = World::new();
    world.policy.fleet_limit = Limit { count: 1, window: Span::hours(1) };
    for (secs, task) in [(0, "z"), (10, "y"), (20, "x")] {
        world.until(secs);
        world.ended(task, life(task, 1));
    }
    world.until(9_000);
    let order: Vec<_> = world.spawns().iter().map(|spawn| spawn.task.as_str().to_owned()).collect();
    assert_eq!(order, ["z", "y", "x"]);
}

#[test]
fn x14_agents_that_died_together_do_not_come_back_together() {
    let mut world = World::new();
    world.policy.burst_limit = Policy::default().burst_limit;
    for number in 0..6 {
        world.ended(&format!("t{number}"), life(&format!("a{number}"), 1));
    }
    world.until(1_000);
    let log = world.log();
    let times = log.iter().filter(|line| line.contains("spawn")).filter_map(|line| line.split('s').next());
    assert_eq!(times.collect::<Vec<_>>(), ["60", "60", "120", "120", "180", "180"]);
    assert!(!log.iter().any(|line| line.contains("FleetLimit")), "a minute's wait is no news");
}

#[test]
fn l29_starts_by_others_count_against_the_limits() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    for incarnation in 2..=4 {
        world.alive("t", &life("a", incarnation));
        world.ended("t", life("a", incarnation));
    }
    world.until(9_000);
    assert_eq!(world.status("t"), Some(Status::HumanReview));
    assert!(world.spawns().is_empty(), "somebody else used them up");

    let mut unseen = World::new();
    unseen.ended("t", life("a", 1));
    for incarnation in 2..=4 {
        unseen.ended("t", life("a", incarnation));
    }
    assert_eq!(unseen.status("t"), Some(Status::HumanReview), "also those of which only the end was heard");

    let mut fleet = World::new();
    fleet.policy.fleet_limit = Limit { count: 1, window: Span::hours(1) };
    fleet.ended("t", life("a", 1));
    fleet.alive("t", &life("a", 2));
    fleet.ended("u", life("b", 1));
    fleet.until(3_599);
    assert!(fleet.spawns().is_empty());
    fleet.until(3_600);
    assert_eq!(fleet.spawns().len(), 1);
}

#[test]
fn l29_a_task_in_review_whose_agent_comes_back_and_stays_well_needs_no_review_any_more() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    crash_on(&mut world, "t", "a", 500);
    assert_eq!(world.status("t"), Some(Status::HumanReview));
    world.log();
    world.healthy("t", &life("a", 9));
    world.until(2_000);
    assert_eq!(
        world.log(),
        ["1400s completed t by a#9 after 4", "1400s clear t: FailedAgain", "1400s review of t over"]
    );

    world.ended("t", life("a", 9));
    assert_eq!(world.log(), ["2000s attempt 4 of t: EndedLater", "2000s review t: AttemptsUsedUp"]);
}

#[test]
fn x14_a_stable_run_with_progress_resets_the_count() {
    for (progress, after, attempt) in [(true, 3_600, 1), (true, 3_599, 2), (false, 3_600, 2)] {
        let mut world = World::new();
        world.ended("t", life("a", 1));
        world.until(60);
        world.healthy("t", &life("a", 2));
        if progress {
            world.recoveries.on_progress(&life("a", 2));
        }
        world.until(60 + 900 + after);
        world.ended("t", life("a", 2));
        world.until(60 + 900 + after + 300);
        assert_eq!(world.spawns().last().map(|spawn| spawn.attempt), Some(attempt), "{progress} {after}");
    }
}

#[test]
fn x14_a_late_copy_of_an_end_does_not_recover_what_is_stable() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(60);
    world.healthy("t", &life("a", 2));
    world.recoveries.on_progress(&life("a", 2));
    world.until(9_000);
    assert_eq!(world.status("t"), None);
    world.ended("t", life("a", 1));
    assert_eq!(world.status("t"), None);
}

#[test]
fn l29_while_many_fail_together_recoveries_wait_without_using_up_attempts() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(30);
    world.step(|recoveries, step| recoveries.on_frozen(step, true));
    world.until(50_000);
    assert_eq!(world.log(), Vec::<String>::new());
    let view = world.view("t").expect("it waits");
    assert_eq!((view.attempt, view.next_attempt_at), (0, None));
    assert!(view.reason.starts_with("many agents failed together"));
    world.step(|recoveries, step| recoveries.on_frozen(step, false));
    world.until(50_001);
    assert_eq!(world.log(), ["50000s spawn a for t, attempt 1, from c3"]);
}

#[test]
fn x14_those_that_waited_while_many_failed_together_do_not_come_back_together() {
    let mut world = World::new();
    world.policy.jitter_percent = 100;
    for agent in ["a", "b", "c"] {
        world.ended(&format!("t-{agent}"), life(agent, 1));
    }
    world.step(|recoveries, step| recoveries.on_frozen(step, true));
    world.until(1_000);
    world.step(|recoveries, step| recoveries.on_frozen(step, false));
    let planned = |world: &World| {
        let tasks = ["t-a", "t-b", "t-c"].map(|task| world.view(task).and_then(|view| view.next_attempt_at));
        tasks.map(|at| at.expect("it is planned"))
    };
    let after = planned(&world);
    assert!(after.iter().all(|at| world.now < *at), "{after:?}");
    assert_ne!(after[0], after[1], "they were planned for the same moment");
    world.until(1_001);
    world.random = 99;
    for frozen in [false, true, true] {
        world.step(|recoveries, step| recoveries.on_frozen(step, frozen));
    }
    world.recoveries.shared.frozen = false;
    assert_eq!(planned(&world), after, "what is told again puts nothing off");
}

#[test]
fn l24_only_what_is_due_by_itself_is_asked_whether_it_may_start() {
    let mut world = World::new();
    world.ended("due", life("a", 1));
    world.lost("in doubt", life("b", 1));
    world.ended("ordered", life("c", 1));
    world.lost("ordered in doubt", life("d", 1));
    world.until(59);
    world.ended("later", life("e", 1));
    let order = Order::Recover { from: None };
    world.order("ordered in doubt", &order).expect("it waits");
    // A start of the same agent for other work makes an ordered one wait.
    world.ended("first", life("c", 1));
    world.order("first", &order).expect("it waits");
    world.order("ordered", &order).expect("it waits");
    world.now = at(119);
    assert_eq!(
        world.recoveries.starts_due(at(118), &world.policy),
        [("due".into(), "a".into())],
        "neither what is in doubt, nor what a person ordered, nor what has time"
    );
}

#[test]
fn a_moment_that_never_comes_is_no_deadline() {
    let mut world = World::new();
    world.now = Timestamp::NEVER;
    world.ended("t", life("a", 1));
    assert_eq!(world.recoveries.deadline(world.now, &world.policy), None);
    assert_eq!(world.recoveries.deadline(Timestamp::ZERO, &world.policy), None);
}

#[test]
fn l29_a_life_that_comes_up_late_while_many_fail_together_is_not_taken_back() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(60);
    world.step(|recoveries, step| recoveries.on_frozen(step, true));
    world.until(5_000);
    assert_eq!(world.status("t"), Some(Status::Running));
    world.step(|recoveries, step| recoveries.on_frozen(step, false));
    world.until(5_599);
    assert_eq!(world.status("t"), Some(Status::Running), "it is given its time anew");
    world.until(5_600);
    assert_eq!(world.status("t"), Some(Status::Waiting));
}

#[test]
fn l27_a_failure_among_many_is_not_held_against_the_checkpoint() {
    let mut world = World::new();
    world.policy.attempts_max = 9;
    world.ended("t", life("a", 1));
    for incarnation in 2..=4 {
        world.until(u64::from(incarnation) * 310);
        world.step(|recoveries, step| recoveries.on_frozen(step, true));
        world.ended("t", life("a", incarnation));
        world.step(|recoveries, step| recoveries.on_frozen(step, false));
    }
    world.until(9_000);
    assert!(world.spawns().iter().all(|spawn| spawn.from == Some("c3".into())));
}

#[test]
fn l24_an_open_breaker_makes_it_wait_and_not_for_ever() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.step(|recoveries, step| recoveries.on_hold(step, &"t".into(), at(1_000_000)));
    world.until(3_599);
    assert!(world.spawns().is_empty());
    world.until(3_600);
    assert_eq!(world.spawns().len(), 1);
}

#[test]
fn l29_nobody_who_could_start_it_means_people_must_look_at_once() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(60);
    world.started("t", 1, &Started::Refused);
    world.until(9_000);
    assert_eq!(world.log(), ["60s spawn a for t, attempt 1, from c3", "60s review t: Refused"]);
}

#[test]
fn limits_of_nothing_start_nothing_and_leave_it_to_people() {
    let mut world = World::new();
    world.policy.attempts_max = 0;
    world.ended("t", life("a", 1));
    assert_eq!(world.status("t"), Some(Status::HumanReview));
    world.order("t", &Order::Recover { from: None }).expect("a person may");
    assert_eq!(world.spawns().len(), 1);

    let mut held = World::new();
    held.policy.fleet_limit = Limit { count: 0, window: Span::hours(1) };
    held.ended("t", life("a", 1));
    held.until(100_000);
    assert_eq!(held.log(), ["60s alert fleet: FleetLimit"]);
    held.order("t", &Order::Recover { from: None }).expect("a person may");
    assert_eq!(held.spawns().len(), 1);
}

#[test]
fn more_recoveries_than_are_kept_are_told_to_people_and_cost_no_memory() {
    let mut world = World::new();
    world.policy.tasks_max = 2;
    world.policy.notes_max = 3;
    for number in 0..50 {
        world.ended(&format!("t{number}"), life(&format!("a{number}"), 1));
        world.closed(&format!("u{number}"), Closing::Finished);
    }
    assert_eq!((world.recoveries.tasks.len(), world.recoveries.notes.tasks.len()), (2, 3));
    let alerts = world.log().iter().filter(|line| line.contains("alert fleet: TooMany")).count();
    assert_eq!(alerts, 1);
    world.closed("t0", Closing::Cancelled);
    assert!(world.log().contains(&"0s clear fleet: TooMany".to_owned()));
    world.ended("t9", life("a9", 1));
    assert_eq!(world.status("t9"), Some(Status::Waiting));
}
