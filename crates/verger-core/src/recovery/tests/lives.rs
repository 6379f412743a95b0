//! From the end of one life to the next that passes its watch (L28, X10).

use super::world::{World, at, life, line};
use crate::health::HealthState;
use crate::recovery::*;
use crate::time::Span;

#[test]
fn l28_an_ended_life_is_succeeded_from_its_newest_checkpoint_and_watched_for_15_min() {
    let mut world = World::new();
    world.until(100);
    world.ended("t", life("a", 1));
    assert_eq!(world.status("t"), Some(Status::Waiting));
    world.until(200);
    assert_eq!(world.status("t"), Some(Status::Running));
    world.started("t", 1, &Started::Done(Some(life("a", 2))));
    world.alive("t", &life("a", 2));
    world.healthy("t", &life("a", 2));
    assert_eq!(world.status("t"), Some(Status::Watching));
    world.until(1_200);
    assert_eq!(world.log(), ["160s spawn a for t, attempt 1, from c3", "1100s completed t by a#2 after 1"]);
    assert_eq!(world.status("t"), Some(Status::Succeeded));
}

#[test]
fn l28_the_new_life_is_told_why_which_attempt_and_what_was_lost() {
    let mut world = World::new();
    world.checkpoints[2].content = Content::Damaged;
    world.until(62);
    world.ended("t", life("a", 1));
    world.until(200);
    let context = &world.spawns()[0].context;
    assert_eq!(context.lost, Lost { checkpoints: 1, work: Some(Span::minutes(1)) });
    assert_eq!(
        context.to_string(),
        "This task was begun before; the last life ended: it crashed. This is attempt 1 of 3. \
         It goes on from checkpoint c2; 1m of work was lost, with one newer checkpoint that could not be used. \
         See what is there before you repeat any of it."
    );
}

#[test]
fn l28_words_of_an_agent_reach_the_next_one_as_one_short_line() {
    let mut world = World::new();
    let (task, life) = ("t".into(), life("a", 1));
    let reason = format!("line\nline\u{1b}[31m{}", "x".repeat(1_000)).into();
    let chain = Some(Chain::default());
    let ended = Ended { task, life, reason, confirmed: true, chain };
    world.step(|recoveries, step| recoveries.on_ended(step, ended));
    world.until(100);
    let told = &world.spawns()[0].context.reason;
    assert!(!told.chars().any(char::is_control) && told.chars().count() <= 300);
}

#[test]
fn l27_without_a_valid_checkpoint_the_task_begins_anew_and_people_are_told_once() {
    let mut world = World::new();
    world.checkpoints.clear();
    world.ended("t", life("a", 1));
    world.until(60);
    world.alive("t", &life("a", 2));
    world.ended("t", life("a", 2));
    world.until(200);
    world.healthy("t", &life("a", 3));
    world.until(1_200);
    assert_eq!(
        world.log(),
        [
            "60s alert t: StartedOver",
            "60s spawn a for t, attempt 1, from the start",
            "60s attempt 1 of t: EndedInWatch",
            "60s alert t: FailedAgain",
            "180s spawn a for t, attempt 2, from the start",
            "1100s completed t by a#3 after 2",
            "1100s clear t: StartedOver",
            "1100s clear t: FailedAgain",
        ]
    );
}

#[test]
fn l27_a_broken_chain_is_told_to_people() {
    let mut world = World::new();
    world.checkpoints[2].content = Content::Damaged;
    world.checkpoints[2].parent = Some("gone".into());
    world.ended("t", life("a", 1));
    world.until(60);
    assert_eq!(world.log(), ["60s alert t: ChainBroken", "60s spawn a for t, attempt 1, from c2"]);
    let breaks = world.out.changes.iter().find_map(|change| match change {
        Change::Initiated { breaks, .. } => Some(breaks.len()),
        _ => None,
    });
    assert_eq!(breaks, Some(1));
}

#[test]
fn l28_a_life_that_is_not_well_at_the_end_of_its_watch_has_not_passed_it() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(60);
    world.healthy("t", &life("a", 2));
    world.until(900);
    world.health("t", &life("a", 2), HealthState::Stuck);
    world.until(5_000);
    assert_eq!(world.status("t"), Some(Status::Watching));
    world.healthy("t", &life("a", 2));
    assert_eq!(world.status("t"), Some(Status::Succeeded));
}

#[test]
fn l28_a_life_that_does_not_show_itself_is_taken_back_before_the_next_is_begun() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(3_000);
    world.step(|recoveries, step| recoveries.on_withdrawn(step, &"t".into(), 1));
    world.until(3_001);
    assert_eq!(
        world.log(),
        [
            "60s spawn a for t, attempt 1, from c3",
            "660s attempt 1 of t: NeverCameUp",
            "660s withdraw start 1 of t",
            "660s alert t: FailedAgain",
            "960s withdraw start 1 of t",
            "1260s withdraw start 1 of t",
            "1560s alert t: MayStillRun",
            "1860s withdraw start 1 of t",
            "3000s clear t: MayStillRun",
            "3000s spawn a for t, attempt 2, from c3",
        ]
    );
}

#[test]
fn l28_a_start_that_shows_itself_late_is_not_doubled() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(700);
    world.healthy("t", &life("a", 2));
    world.until(3_000);
    assert_eq!(world.spawns().len(), 1);
    assert_eq!(
        (world.status("t"), world.view("t").map(|view| view.attempt)),
        (Some(Status::Succeeded), Some(1))
    );
}

#[test]
fn x10_nothing_is_started_while_the_old_life_may_still_run() {
    let mut world = World::new();
    world.lost("t", life("a", 1));
    world.until(10_000);
    assert_eq!(world.log(), ["900s alert t: MayStillRun"]);
    assert!(world.view("t").is_some_and(|view| view.reason.starts_with("the old life may still run")));
    world.step(|recoveries, step| recoveries.on_gone(step, &"t".into(), &life("a", 1)));
    world.until(10_001);
    assert_eq!(
        world.log(),
        ["10000s clear t: MayStillRun", "10000s spawn a for t, attempt 1, from c3"],
        "at once: it waited long enough"
    );
}

#[test]
fn x10_an_end_that_is_told_again_as_certain_settles_it() {
    let mut world = World::new();
    world.lost("t", life("a", 1));
    world.until(30);
    world.ended("t", life("a", 1));
    world.until(100);
    assert_eq!(world.log(), ["60s spawn a for t, attempt 1, from c3"]);
}

#[test]
fn x10_an_end_that_is_doubted_afterwards_holds_the_start() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.step(|recoveries, step| recoveries.on_doubted(step, &"t".into(), &life("a", 1)));
    world.until(800);
    assert_eq!(world.log(), Vec::<String>::new());
}

#[test]
fn x10_many_ends_in_doubt_are_kept_in_bounds_and_need_a_person() {
    let mut world = World::new();
    world.policy.attempts_max = 200;
    for incarnation in 1..40 {
        world.lost("t", life("a", incarnation));
    }
    for incarnation in 1..40 {
        world.step(|recoveries, step| recoveries.on_gone(step, &"t".into(), &life("a", incarnation)));
    }
    world.until(20_000);
    assert!(world.spawns().is_empty(), "not all were told to be gone by name");
    world.order("t", &Order::ConfirmEnded).expect("something is in doubt");
    world.until(20_001);
    assert_eq!(world.spawns().len(), 1);
}

#[test]
fn l28_an_agent_that_was_merely_lost_and_comes_back_is_left_alone() {
    let mut world = World::new();
    world.lost("t", life("a", 1));
    world.until(1_000);
    world.alive("t", &life("a", 1));
    world.until(9_000);
    assert_eq!(
        world.log(),
        ["900s alert t: MayStillRun", "1000s called off t: CameBack", "1000s clear t: MayStillRun"]
    );
    assert_eq!(world.status("t"), None);
    world.ended("t", life("a", 1));
    assert_eq!(world.status("t"), Some(Status::Waiting), "its real end is another matter");
}

#[test]
fn l28_a_task_that_is_over_is_never_recovered_in_whatever_order_it_is_heard() {
    for why in [Closing::Finished, Closing::Cancelled, Closing::Failed] {
        let mut early = World::new();
        early.closed("t", why);
        early.ended("t", life("a", 1));
        early.until(9_000);
        assert_eq!(early.log(), [format!("0s not recovered t: Closed({why:?})")]);

        let mut late = World::new();
        late.ended("t", life("a", 1));
        late.until(59);
        late.closed("t", why);
        late.ended("t", life("a", 1));
        late.until(9_000);
        let (off, not) =
            (format!("59s called off t: Closed({why:?})"), format!("59s not recovered t: Closed({why:?})"));
        assert_eq!(late.log(), [off, not]);
        assert!(matches!(
            late.order("t", &Order::Recover { from: None }),
            Err(OrderError::TaskClosed { .. })
        ));
    }
}

#[test]
fn l28_a_start_is_taken_back_when_the_task_turns_out_to_be_done() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(70);
    world.closed("t", Closing::Finished);
    world.started("t", 1, &Started::Done(Some(life("a", 2))));
    assert_eq!(
        world.log(),
        [
            "60s spawn a for t, attempt 1, from c3",
            "70s called off t: Closed(Finished)",
            "70s withdraw start 1 of t",
            "70s withdraw start 1 of t: a#2",
        ]
    );
}

#[test]
fn l28_a_task_that_is_done_within_the_watch_was_recovered() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(60);
    world.alive("t", &life("a", 2));
    world.closed("t", Closing::Finished);
    assert_eq!(world.log(), ["60s spawn a for t, attempt 1, from c3", "60s completed t by a#2 after 1"]);
}

#[test]
fn l28_a_task_that_is_cancelled_within_the_watch_was_not_recovered() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(60);
    world.alive("t", &life("a", 2));
    world.closed("t", Closing::Cancelled);
    assert_eq!(world.log(), ["60s spawn a for t, attempt 1, from c3", "60s called off t: Closed(Cancelled)"]);
}

#[test]
fn l28_a_task_that_is_opened_again_is_recovered_again() {
    let mut world = World::new();
    world.closed("t", Closing::Finished);
    world.recoveries.on_reopened(&"t".into());
    world.ended("t", life("a", 2));
    assert_eq!(world.status("t"), Some(Status::Waiting));
}

#[test]
fn l28_a_task_that_another_agent_took_over_is_not_recovered_for_the_first() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(30);
    world.step(|recoveries, step| recoveries.on_taken_over(step, &"t".into(), &life("b", 1), step.now));
    world.ended("t", life("a", 1));
    world.healthy("t", &life("b", 1));
    world.until(2_000);
    let off = format!("30s called off t: TakenOver({:?})", life("b", 1));
    assert_eq!(world.log(), [off, "930s completed t by b#1 after 1".to_owned()]);

    let mut late = World::new();
    late.step(|recoveries, step| recoveries.on_taken_over(step, &"t".into(), &life("b", 1), step.now));
    late.ended("t", life("a", 1));
    assert_eq!(late.log(), ["0s not recovered t: Superseded"]);
    late.ended("t", life("b", 1));
    assert_eq!(late.status("t"), Some(Status::Waiting), "its present agent's end counts");
}

#[test]
fn l28_a_task_that_goes_back_to_its_first_agent_is_that_agents_again() {
    let mut world = World::new();
    world.ended("t", life("b", 1));
    for holder in [life("a", 3), life("b", 2), life("a", 3)] {
        world.step(|recoveries, step| recoveries.on_taken_over(step, &"t".into(), &holder, step.now));
    }
    world.ended("t", life("b", 2));
    assert_eq!(world.status("t"), Some(Status::Watching), "a word of one that gave it away");
    world.policy.attempts_max = 9;
    world.ended("t", life("a", 3));
    assert_eq!(world.status("t"), Some(Status::Waiting));
}

#[test]
fn l28_a_start_is_taken_back_when_another_agent_takes_the_task() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(60);
    world.step(|recoveries, step| recoveries.on_taken_over(step, &"t".into(), &life("b", 1), step.now));
    world.started("t", 1, &Started::Done(Some(life("a", 2))));
    let log = world.log();
    assert!(log.contains(&"60s withdraw start 1 of t".to_owned()), "{log:?}");
    assert!(log.contains(&"60s withdraw start 1 of t: a#2".to_owned()), "{log:?}");
    world.ended("t", life("b", 1));
    world.until(5_000);
    assert_eq!(world.spawns().len(), 1, "what was started for a may still run");
    world.step(|recoveries, step| recoveries.on_gone(step, &"t".into(), &life("a", 2)));
    world.until(5_001);
    assert_eq!(world.spawns().len(), 2);
}

#[test]
fn l28_an_agent_that_lives_for_another_task_is_not_started_again() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(30);
    world.alive("other", &life("a", 2));
    world.until(9_000);
    assert_eq!(world.log(), ["30s review t: AgentElsewhere"]);

    let mut both = World::new();
    both.ended("t", life("a", 1));
    both.ended("u", life("a", 1));
    both.until(100);
    assert_eq!(both.spawns().len(), 1, "one agent is started once");
    both.healthy("t", &life("a", 2));
    both.until(9_000);
    assert_eq!(both.spawns().len(), 1);
    assert_eq!(both.status("u"), Some(Status::HumanReview));
}

#[test]
fn l27_a_poisoned_checkpoint_makes_way_for_the_one_before_it_and_at_last_for_the_start() {
    let mut world = World::new();
    world.policy.attempts_max = 7;
    world.checkpoints = line("t", &["c1", "c2", "c3"]);
    world.ended("t", life("a", 1));
    for incarnation in 2..=8 {
        let after = world.now.as_millis() / 1_000 + 300;
        world.until(after);
        world.alive("t", &life("a", incarnation));
        world.ended("t", life("a", incarnation));
    }
    let from = world.froms();
    assert_eq!(from, [Some("c3"), Some("c3"), Some("c2"), Some("c2"), Some("c1"), Some("c1"), None]);
    assert!(world.log().iter().any(|line| line.ends_with("alert t: StartedOver")));
}

#[test]
fn l27_the_same_content_under_another_name_is_as_poisoned() {
    let mut world = World::new();
    world.checkpoints[1].hash = world.checkpoints[2].hash;
    world.ended("t", life("a", 1));
    for incarnation in 2..=3 {
        world.until(u64::from(incarnation) * 300);
        world.ended("t", life("a", incarnation));
    }
    world.until(2_000);
    assert_eq!(world.spawns()[2].from, Some("c1".into()));
    assert_eq!(world.spawns()[2].context.lost.checkpoints, 2);
}

#[test]
fn l27_what_is_not_the_checkpoints_fault_does_not_poison_it() {
    let mut world = World::new();
    world.policy.attempts_max = 9;
    world.ended("t", life("a", 1));
    world.until(60);
    world.started("t", 1, &Started::Failed);
    world.until(200);
    world.started("t", 2, &Started::Failed);
    world.until(500);
    world.healthy("t", &life("a", 2));
    world.until(2_000);
    world.ended("t", life("a", 2));
    world.until(3_000);
    let from = world.froms();
    assert_eq!(from, [Some("c3"); 4], "not started twice, and ended after the watch");
}

#[test]
fn l27_one_start_is_held_against_its_checkpoint_once() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(700);
    world.alive("t", &life("a", 2));
    world.ended("t", life("a", 2));
    world.until(1_000);
    let from = world.froms();
    assert_eq!(from, [Some("c3"), Some("c3")], "late to come up, and ended: one failure");
}

#[test]
fn l27_a_checkpoint_that_cannot_be_read_makes_way_at_once() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(60);
    world.started("t", 1, &Started::CheckpointUnreadable);
    world.until(200);
    assert_eq!(world.spawns()[1].from, Some("c2".into()));
}

#[test]
fn l26_a_checkpoint_that_arrives_late_is_used() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    let chain = walk(&"t".into(), &line("t", &["c1", "c2", "c3", "c4"]), 100);
    world.step(|recoveries, step| recoveries.on_checkpoints(step, &"t".into(), chain));
    world.until(60);
    assert_eq!(world.spawns()[0].from, Some("c4".into()));
}

#[test]
fn l28_what_people_see_has_the_fields_of_the_contract() {
    let mut world = World::new();
    world.until(5);
    world.ended("t", life("a", 4));
    let view = world.view("t").expect("it waits");
    assert_eq!((view.status.as_str(), view.attempt, view.next_attempt_at), ("waiting", 0, Some(at(65))));
    assert_eq!((view.agent.as_str(), view.incarnation.0), ("a", 4));
    assert_eq!(view.reason, "the last life ended: it crashed");
    world.until(65);
    let view = world.view("t").expect("it runs");
    assert_eq!((view.status.as_str(), view.attempt, view.from_checkpoint), ("running", 1, Some("c3".into())));
    assert_eq!(view.next_attempt_at, None);
    world.ended("u", life("b", 1));
    let tasks =
        |after| world.recoveries.views(after, &world.policy).map(|view| view.task).collect::<Vec<_>>();
    assert_eq!((tasks(None), tasks(Some(&"t".into()))), (vec!["t".into(), "u".into()], vec!["u".into()]));
    let names =
        [Status::Watching, Status::Succeeded, Status::Failed, Status::HumanReview].map(Status::as_str);
    assert_eq!(names, ["watching", "succeeded", "failed", "human-review"]);
}

#[test]
fn x10_that_nothing_runs_any_more_is_told_once_and_only_if_it_was_in_doubt() {
    let confirmed = |world: &World| {
        let told = world.out.changes.iter().filter(|change| matches!(change, Change::EndConfirmed { .. }));
        told.count()
    };
    let mut world = World::new();
    world.ended("t", life("a", 1));
    let gone = |world: &mut World, incarnation| {
        world.step(|recoveries, step| recoveries.on_gone(step, &"t".into(), &life("a", incarnation)));
    };
    gone(&mut world, 1);
    assert_eq!(confirmed(&world), 0, "nobody doubted it");
    for agent in ["b", "c"] {
        world.step(|recoveries, step| recoveries.on_doubted(step, &"t".into(), &life(agent, 1)));
    }
    world.step(|recoveries, step| recoveries.on_gone(step, &"t".into(), &life("b", 1)));
    assert_eq!(confirmed(&world), 0, "the other one may still run");
    world.step(|recoveries, step| recoveries.on_gone(step, &"t".into(), &life("c", 1)));
    assert_eq!(confirmed(&world), 1);
}

#[test]
fn x10_only_so_many_ends_in_doubt_are_remembered_by_name() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    for number in 0..20 {
        let doubted = life(&format!("b{number}"), 1);
        world.step(|recoveries, step| recoveries.on_doubted(step, &"t".into(), &doubted));
    }
    assert_eq!(world.recoveries.tasks["t"].doubts.len(), 8);
    world.until(86_400);
    assert_eq!(
        world.log().iter().filter(|line| line.contains("spawn")).count(),
        0,
        "one of them may still run"
    );
}

#[test]
fn x14_only_a_later_life_of_the_same_agent_keeps_its_start_from_being_made() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    for other in [life("b", 2), life("a", 1)] {
        world.alive("x", &other);
        assert_eq!(world.status("t"), Some(Status::Waiting), "{other:?}");
    }
    world.alive("x", &life("a", 2));
    assert_eq!(world.status("t"), Some(Status::HumanReview));
}

#[test]
fn x10_the_life_that_has_the_task_is_not_doubted() {
    let mut world = World::new();
    world.ended("t", life("a", 1));
    world.until(60);
    world.healthy("t", &life("a", 2));
    let doubted = |world: &mut World, life: &Life| {
        world.step(|recoveries, step| recoveries.on_doubted(step, &"t".into(), life));
        world.recoveries.tasks["t"].doubts.len()
    };
    assert_eq!(doubted(&mut world, &life("a", 2)), 0);
    assert_eq!(doubted(&mut world, &life("b", 1)), 1);
}
