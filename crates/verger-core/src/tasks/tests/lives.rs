//! Tasks that change hands, go backwards, end twice, and are remembered.

use insta::assert_snapshot;

use super::super::*;
use super::board::{Board, assignment, update};
use crate::id::TaskId;
use crate::time::Span;

fn given() -> Board {
    let mut board = Board::default();
    board.give(60);
    board
}

fn ended(status: TaskStatus) -> Refusal {
    Refusal::Ended { task: "t".into(), status }
}

#[test]
fn r06_a_task_given_to_another_agent_is_no_longer_the_first_ones() {
    let mut board = given();
    board.minutes(20).report(40).expect("theirs");
    board.assign(assignment("t", "b", None)).expect("given");
    assert_snapshot!(board.log(), @r#"20m t: Superseded { from: AgentId("a") }"#);
    let not_theirs = Refusal::NotTheirs { task: "t".into(), worker: Some("b".into()) };
    assert_eq!(board.report(50), Err(not_theirs.clone()));
    assert_eq!(board.end(TaskStatus::Done), Err(not_theirs), "nor does it end what it has no longer");
    assert_eq!(board.tasks.of(&"a".into()).count(), 0);
    board.minutes(80);
    assert_eq!(board.tasks.counts().stalled, 0, "the second has as long as the first had");
    board.minutes(81);
    assert_eq!(board.tasks.counts().stalled, 1);
    assert_eq!(board.decided.last().expect("asked").1.agent, Some("b".into()));
}

#[test]
fn r06_the_same_assignment_again_begins_nothing_anew() {
    let mut board = given();
    board.minutes(50);
    let again = Assignment { description: Some("new words".into()), ..assignment("t", "a", None) };
    assert_eq!(board.assign(again), Ok(Assigned::Again));
    board.minutes(61);
    assert!(board.is_stalled());
    let anew = Assignment { start: Start::Anew, ..assignment("t", "a", None) };
    assert_eq!(board.assign(anew), Ok(Assigned::Begun));
    assert!(!board.is_stalled(), "a recovery does");
    let view = board.view("t");
    assert_eq!(view.description.as_deref(), Some("new words"));
}

#[test]
fn r06_progress_that_goes_backwards_is_recorded_and_an_update_all_the_same() {
    let mut board = given();
    board.report(60).expect("theirs");
    board.minutes(50).report(40).expect("theirs");
    assert_snapshot!(board.log(), @"50m t: WentBack { from: 60, to: 40 }");
    board.minutes(80);
    assert!(!board.is_stalled());
    let view = board.view("t");
    assert_eq!(view.percent, Some(40));
}

#[test]
fn r06_more_than_all_is_all() {
    let mut board = given();
    board.report(255).expect("theirs");
    let view = board.view("t");
    assert_eq!(view.percent, Some(100));
}

#[test]
fn r06_a_task_is_finished_once() {
    let mut board = given();
    assert_eq!(board.end(TaskStatus::Done), Ok(Updated::Ended));
    assert_eq!(board.end(TaskStatus::Done), Ok(Updated::Again));
    assert_eq!(board.end(TaskStatus::Failed), Err(ended(TaskStatus::Done)));
    assert_eq!(board.end(TaskStatus::Cancelled), Err(ended(TaskStatus::Done)));
    assert_eq!(board.report(70), Err(ended(TaskStatus::Done)), "a late update changes nothing");
    assert_snapshot!(board.log(), @"0s t: Ended { status: Done }");
    board.until(Span::hours(24));
    assert_eq!(board.decided.len(), 1, "what is over does not stall");
}

#[test]
fn r06_what_was_given_up_may_turn_out_to_be_done() {
    let mut board = given();
    board.end(TaskStatus::Failed).expect("theirs");
    let by_a_stranger = board.update("t", &update(Some("b"), None, Some(TaskStatus::Done)));
    assert_eq!(by_a_stranger, Err(ended(TaskStatus::Failed)));
    assert_eq!(board.end(TaskStatus::Done), Ok(Updated::Ended));
    assert!(board.tasks.is_finished(&"t".into()));
}

#[test]
fn l29_a_finished_task_is_never_done_again_for_as_long_as_it_is_remembered() {
    for status in [TaskStatus::Done, TaskStatus::Cancelled] {
        let mut board = given();
        board.end(status).expect("theirs");
        for start in [Start::Same, Start::Anew] {
            let again = Assignment { start, ..assignment("t", "b", None) };
            assert_eq!(board.assign(again), Err(ended(status)));
        }
        board.until(Span::hours(30 * 24).less(Span::millis(1)));
        assert!(board.tasks.is_finished(&"t".into()));
        board.until(Span::hours(30 * 24));
        assert!(!board.tasks.is_finished(&"t".into()), "it is not remembered for ever");
        assert!(board.tasks.slots.is_empty() && board.rows.is_empty());
    }
    assert!(Span::hours(7 * 24) <= Policy::default().remember_ended);
}

#[test]
fn l29_a_person_may_have_it_done_again() {
    let mut board = given();
    board.end(TaskStatus::Done).expect("theirs");
    let again = Assignment { start: Start::Again, ..assignment("t", "b", None) };
    assert_eq!(board.assign(again), Ok(Assigned::Begun));
    assert!(!board.tasks.is_finished(&"t".into()));
    assert_eq!(board.tasks.counts(), Counts { open: 1, stalled: 0, ended: 0 });
}

#[test]
fn l29_a_failed_task_may_be_given_to_somebody_again() {
    let mut board = given();
    board.end(TaskStatus::Failed).expect("theirs");
    assert!(!board.tasks.is_finished(&"t".into()));
    assert_eq!(board.assign(assignment("t", "b", None)), Ok(Assigned::Begun));
}

#[test]
fn r06_nothing_is_known_of_an_unknown_task() {
    let unknown = Refusal::Unknown("t".into());
    assert_eq!(Board::default().report(5), Err(unknown.clone()));
    assert_eq!(Board::default().end(TaskStatus::Done), Err(unknown.clone()));
    let due = Board::default().with(|tasks, step| tasks.on_due(step, &"t".into(), Span::ZERO));
    assert_eq!(due, Err(unknown));
}

#[test]
fn x13_open_tasks_are_limited_for_each_agent_and_in_all() {
    let policy = Policy { per_agent_max: 2, open_max: 3, ..Policy::default() };
    let mut board = Board { policy, ..Board::default() };
    for (task, agent, taken) in [
        ("t1", "a", Ok(Assigned::Begun)),
        ("t2", "a", Ok(Assigned::Begun)),
        ("t3", "a", Err(Refusal::Full(2))),
        ("t3", "b", Ok(Assigned::Begun)),
        ("t4", "b", Err(Refusal::Full(3))),
        ("t3", "a", Err(Refusal::Full(2))),
        ("t1", "b", Ok(Assigned::Begun)),
    ] {
        assert_eq!(board.assign(assignment(task, agent, None)), taken, "{task} to {agent}");
    }
}

#[test]
fn x13_ended_tasks_are_limited_and_forgetting_one_early_is_said() {
    let mut board = Board { policy: Policy { ended_max: 2, ..Policy::default() }, ..Board::default() };
    let ends = [TaskStatus::Done, TaskStatus::Failed, TaskStatus::Done, TaskStatus::Cancelled];
    for (number, status) in ends.into_iter().enumerate() {
        let task = format!("t{number}");
        board.minutes(number as u64);
        board.assign(assignment(&task, "a", None)).expect("given");
        board.update(&task, &update(None, None, Some(status))).expect("open");
    }
    let forgotten = board.decided.iter().filter(|(_, it)| matches!(it.decision, Decision::Forgotten { .. }));
    let forgotten: Vec<_> = forgotten.map(|(_, it)| it.task.clone()).collect();
    assert_eq!(
        forgotten,
        ["t1", "t0"].map(TaskId::from),
        "what failed may be done again anyway: it goes first"
    );
    assert_eq!(board.tasks.counts().ended, 2);
}

#[test]
fn x13_a_task_of_which_nothing_is_heard_is_forgotten_at_last() {
    let mut board = Board::default();
    board.assign(assignment("t", "a", None)).expect("given");
    board.until(Span::hours(31 * 24));
    assert_snapshot!(board.log(), @"30d t: Abandoned");
    assert!(board.tasks.slots.is_empty() && board.rows.is_empty());
    assert_eq!(board.tasks.deadline(board.now), None);
}

#[test]
fn x13_names_and_words_without_end_are_bounded() {
    let mut board = Board::default();
    let long = "ü".repeat(400);
    assert_eq!(board.assign(assignment(&long, "a", None)), Err(Refusal::NameTooLong(256)));
    assert_eq!(board.assign(assignment("t", &long, None)), Err(Refusal::NameTooLong(256)));
    let words = Assignment { description: Some((long.clone() + "x").into()), ..assignment("t", "a", None) };
    board.assign(words).expect("given");
    let view = board.view("t");
    assert_eq!(view.description.as_deref(), Some(&*"ü".repeat(250)));
}

#[test]
fn r06_changed_limits_hold_at_once() {
    let mut board = Board::default();
    board.give(5);
    board.minutes(10);
    board.policy.quiet = Span::minutes(12);
    let policy = board.policy.clone();
    board.tasks.on_policy(&policy);
    board.minutes(13);
    assert!(board.is_stalled());
}

#[test]
fn r06_tasks_are_listed_page_by_page() {
    let mut board = Board::default();
    for (task, agent) in [("1", "a"), ("2", "b"), ("3", "a"), ("4", "a")] {
        board.assign(assignment(task, agent, None)).expect("given");
    }
    board.update("3", &update(None, None, Some(TaskStatus::Cancelled))).expect("open");
    let ids = |agent: Option<&str>, after: Option<&str>, limit| {
        let (agent, after) = (agent.map(Into::into), after.map(TaskId::from));
        let page = board.tasks.page(board.now, &board.policy, agent.as_ref(), after.as_ref(), limit);
        page.into_iter().map(|view| format!("{} {}", view.id, view.status)).collect::<Vec<_>>()
    };
    assert_eq!(ids(Some("a"), None, 9), ["1 assigned", "3 cancelled", "4 assigned"]);
    assert_eq!(ids(None, None, 2), ["1 assigned", "2 assigned"]);
    assert_eq!(ids(None, Some("2"), 1), ["3 cancelled"]);
}
