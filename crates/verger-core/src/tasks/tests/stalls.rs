//! 001 §1.5.1 and §1.5.2: a task is stalled only if all three parts hold, and each of them ends it.

use insta::assert_snapshot;

use super::super::*;
use super::board::{Board, assignment, update};
use crate::signal::Awaited;
use crate::time::{Span, Timestamp};

fn given(minutes: u64) -> Board {
    let mut board = Board::default();
    board.give(minutes);
    board
}

#[test]
fn r06_the_example_of_the_tracking_file() {
    let mut board = Board::default();
    board.until(Span::hours(2));
    let new = Assignment {
        description: Some("Implement bounding box calculation".into()),
        ago: Span::hours(2),
        due_in: Some(Span::hours(1)),
        ..assignment("task-20250115-001", "a", None)
    };
    board.assign(new).expect("given");
    let report = Update {
        percent: Some(60),
        status: Some(TaskStatus::InProgress),
        ago: Span::minutes(30),
        ..update(Some("a"), None, None)
    };
    board.update("task-20250115-001", &report).expect("theirs");
    let view = board.view("task-20250115-001");
    let at = |hours, minutes| Some(Timestamp::ZERO + Span::hours(hours) + Span::minutes(minutes));
    assert_eq!((view.assigned_at, view.due, view.updated_at), (at(0, 0), at(3, 0), at(1, 30)));
    assert_eq!((view.percent, view.status), (Some(60), TaskStatus::InProgress));
    assert_snapshot!(view, @"task task-20250115-001 of a: in_progress, 60 % (no update for 30m (limit 30m); not overdue; no message explains it)");
}

#[test]
fn r06_row_1_no_progress_update_for_more_than_30_minutes() {
    let mut board = given(10);
    board.minutes(30);
    assert!(!board.is_stalled(), "30 minutes are not more than 30 minutes");
    board.until(Span::minutes(30) + Span::millis(1));
    assert!(board.is_stalled());

    let mut board = given(10);
    board.minutes(29).report(10).expect("theirs");
    board.minutes(59);
    assert!(!board.is_stalled(), "overdue and unexplained, but there was an update");
}

#[test]
fn r06_row_2_expected_completion_time_has_passed() {
    let mut board = given(90);
    board.minutes(90);
    assert!(!board.is_stalled(), "no update and no word for 90 minutes, but not overdue");
    board.until(Span::minutes(90) + Span::millis(1));
    assert!(board.is_stalled());

    let mut board = Board::default();
    board.assign(assignment("t", "a", None)).expect("given");
    board.until(Span::hours(24 * 7));
    assert!(!board.is_stalled(), "nobody said when it is due");
}

#[test]
fn r06_row_3_agent_has_not_sent_any_messages_explaining_the_delay() {
    let mut board = given(10);
    board.minutes(20);
    assert_eq!(board.explain(None), Explained::For(Span::minutes(30)));
    board.until(Span::minutes(50).less(Span::millis(1)));
    assert!(!board.is_stalled(), "no update, overdue, but explained");
    board.minutes(50);
    assert!(board.is_stalled(), "an explanation does not hold for ever");
}

#[test]
fn r06_no_part_is_enough_and_no_two_are() {
    for parts in 0_u8..8 {
        let (quiet, overdue, unexplained) = (parts & 1 != 0, parts & 2 != 0, parts & 4 != 0);
        let mut board = given(if overdue { 10 } else { 600 });
        board.minutes(59);
        if !quiet {
            board.report(10).expect("theirs");
        }
        if !unexplained {
            board.explain(None);
        }
        board.minutes(60);
        let evidence = board.view("t").evidence.expect("it is open");
        let held = (evidence.is_quiet(), evidence.is_overdue(), evidence.is_unexplained());
        assert_eq!(held, (quiet, overdue, unexplained), "the evidence shows each part");
        assert_eq!(board.is_stalled(), parts == 7, "{parts:03b}: {evidence}");
    }
}

#[test]
fn r06_the_evidence_says_all_three() {
    let mut board = given(10);
    board.minutes(31);
    let stalled = board.decided.iter().find(|(_, it)| it.decision == Decision::Stalled);
    let (_, stalled) = stalled.expect("it stalled");
    assert_snapshot!(stalled.evidence, @"no update for 30m (limit 30m); overdue for 20m; no message explains it; of its agent: it shows life");
}

#[test]
fn r06_each_part_ends_the_stall_and_it_is_told_once_each_time() {
    type Act = fn(&mut Board);
    let acts: [(&str, Act); 5] = [
        ("an update", |board| drop(board.report(10))),
        ("more time", |board| {
            board.with(|tasks, step| tasks.on_due(step, &"t".into(), Span::hours(1))).expect("open");
        }),
        ("an explanation", |board| assert_ne!(board.explain(None), Explained::NotBelieved)),
        ("its end", |board| drop(board.end(TaskStatus::Done))),
        ("another agent", |board| drop(board.assign(assignment("t", "b", None)))),
    ];
    for (what, act) in acts {
        let mut board = given(10);
        board.minutes(32);
        assert!(board.is_stalled());
        act(&mut board);
        assert!(!board.is_stalled(), "{what}");
        let told = (
            board.count(|it| *it == Decision::Stalled),
            board.count(|it| matches!(it, Decision::Unstalled { .. })),
        );
        assert_eq!(told, (1, 1), "{what}: {}", board.log());
    }
}

#[test]
fn r06_a_stall_comes_back_when_the_update_was_the_last() {
    let mut board = given(10);
    board.minutes(31).report(20).expect("theirs");
    board.minutes(61);
    assert!(!board.is_stalled());
    board.minutes(62);
    assert!(board.is_stalled());
}

#[test]
fn r06_explanations_without_progress_are_believed_eight_times() {
    let mut board = given(10);
    for turn in 1..=8 {
        board.minutes(31 * turn);
        assert!(matches!(board.explain(None), Explained::For(_)), "{turn}");
        assert!(!board.is_stalled());
    }
    board.minutes(31 * 9);
    assert_eq!(board.explain(None), Explained::NotBelieved);
    assert!(board.is_stalled());
    let told = |board: &Board| board.count(|it| matches!(it, Decision::Escalate { why: WhyTold::OnlyWords }));
    assert_eq!(told(&board), 1);
    board.report(0).expect("theirs");
    assert_eq!(
        board.explain(None),
        Explained::NotBelieved,
        "an update that tells of nothing new is no progress"
    );
    board.report(5).expect("theirs");
    board.minutes(31 * 11);
    assert!(board.is_stalled());
    assert!(matches!(board.explain(None), Explained::For(_)), "progress makes it believed again");
}

#[test]
fn r06_an_explanation_holds_for_as_long_as_it_says_within_limits() {
    let mut board = given(10);
    assert_eq!(board.explain(Some(Span::hours(2))), Explained::For(Span::hours(2)));
    assert_eq!(board.explain(Some(Span::FOREVER)), Explained::For(Span::hours(4)));
    board.until(Span::hours(4).less(Span::millis(1)));
    assert!(!board.is_stalled());
    board.until(Span::hours(4));
    assert!(board.is_stalled());
}

#[test]
fn r06_an_announced_wait_explains_a_delay_and_a_call_does_not() {
    for (awaited, explains) in [
        (Awaited::Person, true),
        (Awaited::Provider, true),
        (Awaited::Timer, true),
        (Awaited::Tool, false),
        (Awaited::Model, false),
        (Awaited::Subagent, false),
    ] {
        let mut board = given(10);
        board.waits(awaited, Span::hours(3));
        board.until(Span::hours(2));
        assert_eq!(board.is_stalled(), !explains, "{awaited}");
        board.until(Span::hours(3) + Span::minutes(1));
        assert!(board.is_stalled(), "{awaited}: it is over");
    }
}

#[test]
fn r06_a_wait_that_ends_early_explains_nothing_any_more() {
    let mut board = given(10);
    board.waits(Awaited::Person, Span::hours(24));
    board.minutes(40).stands(crate::liveness::LivenessStatus::Online);
    board.minutes(62);
    assert!(board.is_stalled(), "found within the half hour");

    let mut board = given(10);
    board.waits(Awaited::Person, Span::hours(24));
    board.minutes(40).becomes(crate::liveness::LivenessStatus::Online);
    board.minutes(41);
    assert!(board.is_stalled(), "found at once, if somebody says so");
}

#[test]
fn r06_a_wait_that_begins_ends_a_stall() {
    let mut board = given(10);
    board.minutes(32).waits(Awaited::Person, Span::hours(1));
    board.changed();
    assert!(!board.is_stalled());
}

#[test]
fn r06_what_nobody_works_at_stalls_nobody() {
    let mut board = Board::default();
    let to_nobody = Assignment { agent: None, ..assignment("t", "a", Some(Span::minutes(10))) };
    board.assign(to_nobody.clone()).expect("known");
    board.until(Span::hours(24));
    assert_eq!(board.log(), "");
    board.give(10);
    assert_eq!(board.assign(to_nobody), Ok(Assigned::Again), "who has it keeps it");
    board.until(Span::hours(25));
    assert_eq!(board.decided[0].1.agent, Some("a".into()), "a stall names whose it is");
}

#[test]
fn r06_a_task_that_was_never_begun_stalls_as_well() {
    let mut board = given(10);
    board.update("t", &update(None, None, Some(TaskStatus::Assigned))).expect("open");
    board.minutes(31);
    assert!(board.is_stalled());
    assert_eq!(board.tasks.status(&"t".into()), Some(TaskStatus::Assigned));
}
