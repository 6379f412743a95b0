//! Whatever happens, in whatever order.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::*;
use super::board::Board;
use crate::id::{AgentId, TaskId};
use crate::liveness::LivenessStatus;
use crate::signal::{Awaited, Trust};
use crate::standing::{Reading, Standing};
use crate::time::{Span, Timestamp};
use crate::waiting::Wait;

const AGENTS: [&str; 3] = ["a", "b", "c"];

/// Liveness, and a wait of so many minutes.
type Stance = (Option<LivenessStatus>, Option<(Awaited, u64)>);

/// One thing that happens.
#[derive(Clone, Debug)]
enum Happening {
    Assigned { task: u8, agent: Option<u8>, due_in: Option<u64>, start: Start },
    Updated { task: u8, by: Option<u8>, percent: Option<u8>, status: Option<TaskStatus> },
    Due { task: u8, minutes: u64 },
    Explained { task: u8, by: u8, minutes: Option<u64> },
    Answered(u8),
    CannotGoOn { task: u8, by: u8, trust: Trust },
    Stands { agent: u8, standing: Option<Stance>, told: bool },
    Passes(u64),
}

fn standing() -> impl Strategy<Value = Option<Stance>> {
    use LivenessStatus::{Busy, Idle, Offline, Online, Unresponsive};
    let status = vec![None, Some(Online), Some(Idle), Some(Busy), Some(Unresponsive), Some(Offline)];
    let awaited = prop::sample::select(vec![Awaited::Tool, Awaited::Person, Awaited::Timer]);
    let wait = prop::option::of((awaited, 0_u64..90));
    prop::option::weighted(0.95, (prop::sample::select(status), wait))
}

fn happening() -> impl Strategy<Value = Happening> {
    let start = prop::sample::select(vec![Start::Same, Start::Same, Start::Anew, Start::Again]);
    let status = prop::sample::select(vec![
        TaskStatus::Assigned,
        TaskStatus::InProgress,
        TaskStatus::Done,
        TaskStatus::Failed,
        TaskStatus::Cancelled,
    ]);
    let trust = prop::sample::select(vec![Trust::Verified, Trust::Unverified]);
    prop_oneof![
        4 => (0_u8..6, prop::option::weighted(0.9, 0_u8..3), prop::option::weighted(0.8, 0_u64..90), start)
            .prop_map(|(task, agent, due_in, start)| Happening::Assigned { task, agent, due_in, start }),
        2 => (0_u8..6, prop::option::of(0_u8..3), prop::option::of(0_u8..120), prop::option::weighted(0.3, status))
            .prop_map(|(task, by, percent, status)| Happening::Updated { task, by, percent, status }),
        1 => (0_u8..6, 0_u64..90).prop_map(|(task, minutes)| Happening::Due { task, minutes }),
        1 => (0_u8..6, 0_u8..3, prop::option::of(0_u64..300))
            .prop_map(|(task, by, minutes)| Happening::Explained { task, by, minutes }),
        1 => (0_u8..3).prop_map(Happening::Answered),
        1 => (0_u8..6, 0_u8..3, trust).prop_map(|(task, by, trust)| Happening::CannotGoOn { task, by, trust }),
        2 => (0_u8..3, standing(), any::<bool>())
            .prop_map(|(agent, standing, told)| Happening::Stands { agent, standing, told }),
        5 => prop_oneof![0_u64..400_000, 0_u64..4_000_000, 0_u64..90_000_000].prop_map(Happening::Passes),
    ]
}

fn agent(number: u8) -> AgentId {
    AGENTS[usize::from(number) % AGENTS.len()].into()
}

fn name(number: u8) -> TaskId {
    format!("t{number}").into()
}

fn happen(board: &mut Board, happening: &Happening) {
    match happening.clone() {
        Happening::Assigned { task, agent: who, due_in, start } => {
            let due_in = due_in.map(Span::minutes);
            let new = Assignment {
                start,
                due_in,
                ago: Span::ZERO,
                description: None,
                task: name(task),
                agent: who.map(agent),
            };
            let _ = board.assign(new);
        }
        Happening::Updated { task, by, percent, status } => {
            let update = Update { by: by.map(agent), percent, status, ago: Span::ZERO };
            let _ = board.with(|tasks, step| tasks.on_update(step, &name(task), &update));
        }
        Happening::Due { task, minutes } => {
            let _ = board.with(|tasks, step| tasks.on_due(step, &name(task), Span::minutes(minutes)));
        }
        Happening::Explained { task, by, minutes } => {
            let (by, lasting) = (agent(by), minutes.map(Span::minutes));
            let _ = board.with(|tasks, step| tasks.on_explained(step, &name(task), Some(&by), None, lasting));
        }
        Happening::Answered(by) => board.with(|tasks, step| tasks.on_answered(step, &agent(by))),
        Happening::CannotGoOn { task, by, trust } => {
            let by = agent(by);
            let _ = board.with(|tasks, step| tasks.on_cannot_go_on(step, &name(task), Some(&by), trust));
        }
        Happening::Stands { agent: who, standing, told } => stand(board, &agent(who), standing, told),
        Happening::Passes(millis) => {
            let then = board.now.since(Timestamp::ZERO) + Span::millis(millis);
            board.until(then);
        }
    }
}

fn stand(board: &mut Board, who: &AgentId, standing: Option<Stance>, told: bool) {
    let now = board.now;
    let wait = |(awaited, minutes)| Wait { awaited, since: now, until: now + Span::minutes(minutes) };
    match standing {
        Some((status, it)) => {
            board.standings.insert(who.clone(), Standing { status, wait: it.map(wait) });
        }
        None => drop(board.standings.remove(who)),
    }
    if told {
        board.with(|tasks, step| tasks.on_worker_changed(step, who));
    }
}

fn small() -> Board {
    let policy = Policy { per_agent_max: 2, open_max: 4, ended_max: 2, ..Policy::default() };
    Board { policy, ..Board::default() }
}

fn limits_hold(board: &Board) {
    let counts = board.tasks.counts();
    assert!(counts.open <= 4 && counts.ended <= 2, "{counts:?}");
    for agent in AGENTS {
        assert!(board.tasks.of(&agent.into()).count() <= 2);
    }
    assert!(board.tasks.deadline(board.now).is_none_or(|due| board.now < due));
}

/// No task is called stalled while one of the three parts is false, neither when it is said nor at any time after.
fn stalled_only_if_all_three(board: &Board) {
    for (_, it) in board.decided.iter().filter(|(_, it)| it.decision == Decision::Stalled) {
        assert!(it.evidence.is_stalled(), "{}", it.evidence);
    }
    for view in board.tasks.page(board.now, &board.policy, None, None, 100) {
        let evidence = view.evidence.filter(|_| view.stalled_since.is_some());
        assert!(evidence.is_none_or(|evidence| evidence.is_stalled()), "{view}");
    }
}

/// A failure is declared only if its agent was asked 5 minutes ago and has stopped, or says that it cannot go on.
fn failed_only_for_a_reason(board: &Board) {
    for (_, it) in &board.decided {
        let Decision::DeclareFailed { why } = &it.decision else { continue };
        match why {
            Failure::CannotGoOn => {}
            Failure::Unanswered { lasting } => {
                assert!(board.policy.inquiry_timeout <= *lasting);
                assert!(it.evidence.worker.is_some_and(Reading::has_stopped), "{}", it.evidence);
            }
        }
    }
}

/// Each condition is told once when it begins and once when it ends.
fn conditions_open_and_close(decided: &[(Timestamp, Decided)]) {
    let mut open: BTreeMap<(&TaskId, u8), bool> = BTreeMap::new();
    for (_, it) in decided {
        let (kind, begins) = match it.decision {
            Decision::Stalled => (0, true),
            Decision::Unstalled { .. } => (0, false),
            Decision::Escalate { .. } => (1, true),
            Decision::EscalationOver { .. } => (1, false),
            Decision::DeclareFailed { .. } => (2, true),
            Decision::FailureOver { .. } => (2, false),
            Decision::Inquire { .. }
            | Decision::Superseded { .. }
            | Decision::WentBack { .. }
            | Decision::Ended { .. }
            | Decision::Abandoned
            | Decision::Forgotten { .. } => continue,
        };
        let is_open = open.entry((&it.task, kind)).or_default();
        assert_ne!(*is_open, begins, "{}: {:?}", it.task, it.decision);
        *is_open = begins;
    }
    assert!(open.values().all(|is_open| !is_open), "never over: {open:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r06_no_task_is_called_stalled_while_a_part_is_false_and_nothing_latches(
        happenings in prop::collection::vec(happening(), 1..60)
    ) {
        let mut board = small();
        for happening in &happenings {
            happen(&mut board, happening);
            limits_hold(&board);
            stalled_only_if_all_three(&board);
        }
        failed_only_for_a_reason(&board);
        let end = board.now.since(Timestamp::ZERO) + Span::hours(24 * 61);
        board.until(end);
        prop_assert!(board.tasks.slots.is_empty(), "{:?}", board.tasks.slots);
        prop_assert!(board.rows.is_empty(), "rows are deleted with what they hold");
        prop_assert_eq!(board.tasks.deadline(board.now), None);
        conditions_open_and_close(&board.decided);
    }

    /// The board restarts after every step; one that never does decides the same.
    #[test]
    fn r06_a_restart_at_any_point_changes_nothing(happenings in prop::collection::vec(happening(), 1..60)) {
        let (mut restarted, mut steady) = (small(), small());
        steady.restarts = false;
        for happening in &happenings {
            happen(&mut restarted, happening);
            happen(&mut steady, happening);
        }
        prop_assert_eq!(restarted.decided, steady.decided);
        prop_assert_eq!(restarted.rows, steady.rows);
        prop_assert_eq!(restarted.tasks.index, steady.tasks.index);
    }

    #[test]
    fn r06_waking_early_changes_nothing(happenings in prop::collection::vec(happening(), 1..60)) {
        let mut board = small();
        for happening in &happenings {
            happen(&mut board, happening);
            let before = (board.rows.clone(), board.decided.len());
            if board.tasks.index.next_due().is_none_or(|due| board.now < due) {
                board.with(Tasks::wake);
            }
            prop_assert_eq!(before, (board.rows.clone(), board.decided.len()));
        }
    }

    /// A finished task is given to nobody, whatever happens, unless a person wants it or it is long forgotten.
    #[test]
    fn l29_no_finished_task_is_given_to_anybody(happenings in prop::collection::vec(happening(), 1..80)) {
        let mut board = Board::default();
        for happening in &happenings {
            let Happening::Assigned { task, start: Start::Same | Start::Anew, .. } = happening else {
                happen(&mut board, happening);
                continue;
            };
            let was_finished = board.tasks.is_finished(&name(*task));
            happen(&mut board, happening);
            prop_assert_eq!(board.tasks.is_finished(&name(*task)), was_finished);
        }
    }
}
