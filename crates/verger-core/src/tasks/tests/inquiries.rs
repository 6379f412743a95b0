//! 001 §1.5.3: a stalled task does not mean a failed agent.

use insta::{allow_duplicates, assert_snapshot};

use super::super::*;
use super::board::{Board, assignment};
use crate::id::{AgentId, TaskId};
use crate::liveness::LivenessStatus::{Busy, Idle, Offline, Online, Unresponsive};
use crate::signal::{Awaited, Trust};
use crate::standing::Standing;
use crate::time::Span;

/// Given at 0s, due at 10m, nothing heard: stalled a moment after 30m.
fn stalled() -> Board {
    let mut board = Board::default();
    board.give(10);
    board.until(Span::minutes(30) + Span::millis(1));
    assert!(board.is_stalled());
    board
}

fn failures(board: &Board) -> usize {
    board.count(|it| matches!(it, Decision::DeclareFailed { .. }))
}

#[test]
fn r07_row_1_send_a_status_inquiry_message() {
    let board = stalled();
    assert_snapshot!(board.log(), @r"
    30m t: Stalled
    30m t: Inquire { again: false, joined: false }
    ");
}

#[test]
fn r07_row_2_wait_for_response_5_minutes_for_high_priority() {
    let mut board = stalled();
    board.stands(Unresponsive);
    assert!(matches!(board.verdict(), Verdict::NotYet { .. }));
    board.until(Span::minutes(35));
    assert_eq!(failures(&board), 0, "not a moment before");
    assert_eq!(
        board.count(|it| matches!(it, Decision::Inquire { again: true, .. })),
        1,
        "a question may be lost"
    );
    board.until(Span::minutes(35) + Span::millis(1));
    assert_eq!(failures(&board), 1);
}

#[test]
fn r07_row_3_heartbeats_still_responding_alive_but_task_may_be_blocked() {
    for status in [Online, Idle] {
        let mut board = stalled();
        board.becomes(status);
        board.until(Span::hours(24));
        assert_eq!(failures(&board), 0, "{status}");
        assert_eq!(board.verdict(), Verdict::No { why: Spared::Alive });
        allow_duplicates!(assert_snapshot!(board.log(), @r"
        30m t: Stalled
        30m t: Inquire { again: false, joined: false }
        32m30s t: Inquire { again: true, joined: false }
        35m t: Escalate { why: Spared(Alive) }
        "));
    }
}

#[test]
fn r07_row_4_declare_failure_if_no_response_and_heartbeats_have_stopped() {
    for status in [Unresponsive, Offline] {
        let mut board = stalled();
        board.becomes(status);
        board.until(Span::hours(24));
        assert_eq!(failures(&board), 1, "{status}: {}", board.log());
        let declared = board.decided.last().expect("declared").1.decision.clone();
        let Decision::DeclareFailed { why } = declared else { panic!("{declared:?}") };
        assert_eq!(why.to_string(), "a status inquiry went unanswered for 5m and heartbeats have stopped");
        assert_eq!(board.tasks.status(&"t".into()), Some(TaskStatus::Assigned), "it stays open");
    }
}

#[test]
fn r07_row_4_neither_of_the_two_is_enough() {
    let mut silent_but_answers = stalled();
    silent_but_answers.stands(Unresponsive);
    silent_but_answers.minutes(34).answer();
    silent_but_answers.minutes(60);
    assert_eq!(failures(&silent_but_answers), 0, "it answered");
    assert!(!silent_but_answers.is_stalled(), "and that explains it, for a while");

    let mut unanswered_but_alive = stalled();
    unanswered_but_alive.until(Span::hours(24));
    assert_eq!(failures(&unanswered_but_alive), 0);
}

#[test]
fn r07_row_5_declare_failure_if_the_agent_explicitly_reports_it_cannot_continue() {
    let mut board = Board::default();
    board.give(600);
    board.minutes(5).cannot_go_on(Trust::Verified);
    board.cannot_go_on(Trust::Verified);
    assert_snapshot!(board.log(), @"5m t: DeclareFailed { why: CannotGoOn }");
    assert_eq!(board.verdict(), Verdict::MayDeclareFailure { why: Failure::CannotGoOn });
    board.explain(None);
    board.becomes(Online);
    board.until(Span::hours(48));
    assert_eq!(
        board.decided.len(),
        1,
        "words take nothing back, and nobody asks who said it: {}",
        board.log()
    );
    board.report(10).expect("theirs");
    assert_eq!(board.count(|it| matches!(it, Decision::FailureOver { .. })), 1, "progress does");
}

#[test]
fn r07_an_explanation_does_not_take_back_that_it_cannot_go_on() {
    let mut board = stalled();
    board.cannot_go_on(Trust::Verified);
    board.explain(None);
    assert!(!board.is_stalled());
    assert_eq!(board.count(|it| matches!(it, Decision::FailureOver { .. })), 0);
    assert_eq!(board.verdict(), Verdict::MayDeclareFailure { why: Failure::CannotGoOn });
}

#[test]
fn r07_nobody_speaks_for_the_agent_that_has_the_task() {
    let mut board = stalled();
    let (id, stranger) = (TaskId::from("t"), AgentId::from("b"));
    let not_theirs = Refusal::NotTheirs { task: id.clone(), worker: Some("a".into()) };
    let explained = board.with(|tasks, step| tasks.on_explained(step, &id, Some(&stranger), None, None));
    assert_eq!(explained, Err(not_theirs.clone()));
    let failed = board.with(|tasks, step| tasks.on_cannot_go_on(step, &id, Some(&stranger), Trust::Verified));
    assert_eq!(failed, Err(not_theirs));
    board.with(|tasks, step| tasks.on_answered(step, &stranger));
    assert!(board.is_stalled());
    assert_eq!(failures(&board), 0);
}

#[test]
fn r07_an_unproven_word_that_it_cannot_go_on_is_for_people_to_judge() {
    let mut board = Board::default();
    board.give(600);
    board.cannot_go_on(Trust::Unverified);
    assert_snapshot!(board.log(), @"0s t: Escalate { why: UnverifiedWord }");
    assert_eq!(board.verdict(), Verdict::No { why: Spared::NotStalled });
    board.minutes(5).report(10).expect("theirs");
    assert_eq!(board.count(|it| matches!(it, Decision::EscalationOver { .. })), 1);
}

#[test]
fn r07_an_unproven_word_is_not_settled_by_the_end_of_a_stall() {
    let mut board = stalled();
    board.cannot_go_on(Trust::Unverified);
    board.explain(None);
    assert!(!board.is_stalled());
    assert_eq!(board.count(|it| matches!(it, Decision::EscalationOver { .. })), 0, "words explain no words");
}

#[test]
fn r07_the_end_of_a_stall_is_the_end_of_what_people_were_told_of_it() {
    let mut board = stalled();
    board.minutes(40).explain(None);
    assert_eq!(board.count(|it| matches!(it, Decision::EscalationOver { .. })), 1);
}

#[test]
fn r07_what_was_never_heard_cannot_have_stopped() {
    for standing in [Some(Standing::default()), None] {
        let mut board = stalled();
        match standing {
            Some(standing) => drop(board.standings.insert("a".into(), standing)),
            None => drop(board.standings.remove("a")),
        }
        board.until(Span::hours(24));
        assert_eq!(failures(&board), 0);
        assert_eq!(board.verdict(), Verdict::No { why: Spared::NothingKnown });
    }
}

#[test]
fn r07_a_busy_agent_has_longer_to_answer() {
    let mut board = stalled();
    board.becomes(Busy);
    board.minutes(45);
    assert_eq!(board.count(|it| matches!(it, Decision::Escalate { .. })), 0);
    board.minutes(46);
    assert_eq!(
        board.count(|it| matches!(it, Decision::Escalate { .. })),
        1,
        "three times as long, no longer"
    );

    let mut board = stalled();
    board.waits(Awaited::Tool, Span::minutes(8));
    board.minutes(39);
    assert_eq!(
        board.count(|it| matches!(it, Decision::Escalate { .. })),
        1,
        "or until its call must be over"
    );
}

#[test]
fn r07_who_is_alive_and_falls_silent_later_is_asked_anew() {
    let mut board = stalled();
    board.until(Span::hours(5));
    board.becomes(Unresponsive);
    board.until(Span::hours(5) + Span::minutes(4));
    assert_eq!(failures(&board), 0, "a question of hours ago is no proof");
    board.until(Span::hours(5) + Span::minutes(5));
    assert_eq!(failures(&board), 1);
    assert_eq!(board.count(|it| matches!(it, Decision::Inquire { again: false, .. })), 2);
}

#[test]
fn r07_a_failure_is_taken_back_when_its_agent_is_back() {
    let mut board = stalled();
    board.stands(Offline);
    board.minutes(40);
    assert_eq!(failures(&board), 1);
    board.becomes(Online);
    assert_eq!(board.count(|it| matches!(it, Decision::FailureOver { .. })), 1);
    assert!(board.is_stalled(), "that it is alive does not bring the task on");
    assert!(
        matches!(board.decided.last(), Some((_, it)) if it.decision == Decision::Inquire { again: false, joined: false })
    );
}

#[test]
fn r07_an_answer_takes_a_failure_back() {
    let mut board = stalled();
    board.stands(Unresponsive);
    board.minutes(40).answer();
    assert_eq!(board.count(|it| matches!(it, Decision::FailureOver { .. })), 1);
    assert!(!board.is_stalled());
}

#[test]
fn r07_an_agent_with_many_stalled_tasks_is_asked_once() {
    let mut board = Board::default();
    for task in ["t1", "t2", "t3"] {
        board.assign(assignment(task, "a", Some(Span::minutes(10)))).expect("given");
    }
    board.minutes(34);
    assert_eq!(board.count(|it| matches!(it, Decision::Inquire { joined: false, .. })), 2, "{}", board.log());
    assert_eq!(board.count(|it| matches!(it, Decision::Inquire { joined: true, .. })), 4);
    board.answer();
    assert_eq!(board.tasks.counts().stalled, 0, "and its answer is about all of them");
}

#[test]
fn r07_a_task_that_is_not_stalled_is_no_reason_for_a_failure() {
    let mut board = Board::default();
    assert_eq!(board.verdict(), Verdict::No { why: Spared::NotOpen });
    board.give(600);
    board.becomes(Offline);
    board.minutes(500);
    assert_eq!(board.verdict(), Verdict::No { why: Spared::NotStalled });
    assert_eq!(board.log(), "");
}
