//! What recovery never does, whatever comes in whatever order, and however often the monitor restarts.

mod checker;

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::world::{life, line};
use crate::health::HealthState;
use crate::id::{Actor, Incarnation, TaskId};
use crate::intervention::Limit;
use crate::recovery::*;
use crate::time::{Span, Timestamp};
use checker::Checker;

const TASKS: [&str; 3] = ["t", "u", "v"];
const AGENTS: [&str; 2] = ["a", "b"];

/// Something that is heard, ordered or waited for.
#[derive(Clone, Debug)]
pub(super) enum Input {
    Wait(u64),
    Ended(bool),
    Gone,
    Doubted,
    Alive,
    TakenOver,
    Health(HealthState),
    Progress,
    Closed(Closing),
    Reopened,
    Hold(u64),
    Frozen(bool),
    Started(u64, u8),
    Withdrawn(u64),
    Order(Order),
    Checkpoints(u8),
}

/// An input about a task, and a life of it: the present one, an earlier or a later.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) task: usize,
    pub(super) agent: Option<usize>,
    pub(super) offset: i64,
    pub(super) input: Input,
}

fn inputs() -> impl Strategy<Value = Input> {
    let state = prop_oneof![3 => Just(HealthState::Healthy), 1 => Just(HealthState::Stuck)];
    let closing = prop_oneof![Just(Closing::Finished), Just(Closing::Cancelled), Just(Closing::Failed)];
    let from = prop_oneof![Just(None), Just(Some("c1".into())), Just(Some("nowhere".into()))];
    let order = prop_oneof![
        3 => from.prop_map(|from| Order::Recover { from }),
        1 => Just(Order::Cancel),
        1 => Just(Order::ReviewDone),
        2 => Just(Order::ConfirmEnded),
    ];
    prop_oneof![
        10 => prop_oneof![0..100_u64, 100..1_500_u64, 1_000..9_000_u64].prop_map(Input::Wait),
        10 => prop::bool::weighted(0.8).prop_map(Input::Ended),
        2 => Just(Input::Gone),
        1 => Just(Input::Doubted),
        6 => Just(Input::Alive),
        1 => Just(Input::TakenOver),
        4 => state.prop_map(Input::Health),
        2 => Just(Input::Progress),
        1 => closing.prop_map(Input::Closed),
        1 => Just(Input::Reopened),
        1 => (0..9_000_u64).prop_map(Input::Hold),
        1 => any::<bool>().prop_map(Input::Frozen),
        4 => (0..3_u64, 0..5_u8).prop_map(|(back, outcome)| Input::Started(back, outcome)),
        2 => (0..3_u64).prop_map(Input::Withdrawn),
        3 => order.prop_map(Input::Order),
        1 => (0..4_u8).prop_map(Input::Checkpoints),
    ]
}

fn givens() -> impl Strategy<Value = Vec<Given>> {
    let agent = prop_oneof![4 => Just(None), 1 => (0..AGENTS.len()).prop_map(Some)];
    let offset = prop_oneof![5 => Just(0_i64), 5 => Just(1), 1 => Just(2), 1 => Just(-1)];
    let given = (0..TASKS.len(), agent, offset, inputs()).prop_map(|(task, agent, offset, input)| Given {
        task,
        agent,
        offset,
        input,
    });
    prop::collection::vec(given, 1..70)
}

fn policies() -> impl Strategy<Value = Policy> {
    let limit = |window| (1..6_u16).prop_map(move |count| Limit { count, window });
    let (hour, minute) = (Span::hours(1), Span::minutes(1));
    (1..4_u8, limit(hour), limit(hour), limit(minute), 0..30_u8).prop_map(
        |(attempts_max, agent_limit, fleet_limit, burst_limit, jitter_percent)| Policy {
            attempts_max,
            agent_limit,
            fleet_limit,
            burst_limit,
            jitter_percent,
            ..Policy::default()
        },
    )
}

/// A fleet that is given inputs, restarted after each of them, and held against the checker.
pub(super) struct Run {
    recoveries: Recoveries,
    policy: Policy,
    now: Timestamp,
    random: u64,
    checker: Checker,
    /// What is on disk.
    rows: BTreeMap<RowKey, Vec<u8>>,
}

impl Run {
    fn new(policy: Policy) -> Self {
        let now = Timestamp::ZERO;
        Self {
            recoveries: Recoveries::default(),
            checker: Checker::new(policy.clone()),
            policy,
            now,
            random: 1,
            rows: BTreeMap::new(),
        }
    }

    fn step<R>(&mut self, act: impl FnOnce(&mut Recoveries, &mut Step<'_>) -> R) -> R {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut out = Collector::default();
        let mut step = Step { now: self.now, policy: &self.policy, random: self.random, out: &mut out };
        let result = act(&mut self.recoveries, &mut step);
        self.checker.check(self.now, &out);
        self.restart();
        for decision in &out.decisions {
            if let Decision::Survey { task } = decision {
                self.survey(task);
            }
        }
        result
    }

    /// Whoever keeps the checkpoints says which there are.
    fn survey(&mut self, task: &TaskId) {
        let chain = walk(task, &line(task.as_str(), &["c1", "c2", "c3"]), 100);
        self.step(|recoveries, step| recoveries.on_checkpoints(step, task, chain));
    }

    /// What is read back is what was written, so its future is the same.
    fn restart(&mut self) {
        let rows = &mut self.rows;
        self.recoveries.take_changed_rows(&mut |key, bytes| match bytes {
            Some(bytes) => drop(rows.insert(key, bytes)),
            None => drop(rows.remove(&key)),
        });
        let mut read = Recoveries::default();
        for (key, bytes) in &self.rows {
            read.restore(key.clone(), bytes).expect("it was written whole");
        }
        assert_eq!(read, self.recoveries);
        self.recoveries = read;
    }

    /// Lets time pass, waking when something is due, and a moment early too.
    fn pass(&mut self, span: Span) {
        let then = self.now + span;
        while let Some(due) = self.recoveries.deadline(self.now, &self.policy).filter(|due| *due <= then) {
            assert!(self.now < due, "a deadline is after now");
            // What was due before already is late by a millisecond at most.
            if due - Span::millis(1) > self.now {
                self.now = due - Span::millis(1);
                self.wake_in_vain();
            }
            self.now = due;
            let before = self.recoveries.clone();
            self.step(Recoveries::wake);
            assert_ne!(self.recoveries, before, "a deadline changes something");
            self.wake_in_vain();
        }
        self.now = then;
    }

    fn wake_in_vain(&mut self) {
        let before = self.recoveries.clone();
        self.step(Recoveries::wake);
        assert_eq!(self.recoveries, before, "calling early is harmless");
    }

    fn status(&self, task: &TaskId) -> Option<Status> {
        self.recoveries.view(task, &self.policy).map(|view| view.status)
    }

    /// The life that is meant: relative to the one that is known.
    fn meant(&self, given: &Given) -> Life {
        let view = self.recoveries.view(&TASKS[given.task].into(), &self.policy);
        let known = view.map_or(life(AGENTS[given.task % 2], 3), |view| Life {
            agent: view.agent,
            incarnation: view.incarnation,
        });
        let agent = given.agent.map_or(known.agent, |agent| AGENTS[agent].into());
        let incarnation = i64::from(known.incarnation.0).saturating_add(given.offset).max(1);
        Life { agent, incarnation: Incarnation(u32::try_from(incarnation).unwrap_or(u32::MAX)) }
    }

    fn give(&mut self, given: &Given) {
        let task = TaskId::from(TASKS[given.task]);
        let life = self.meant(given);
        let status = self.status(&task);
        match &given.input {
            Input::Wait(secs) => self.pass(Span::secs(*secs)),
            Input::Ended(confirmed) => self.end(&task, &life, *confirmed),
            Input::Gone => {
                self.checker.on_gone(&task, &life);
                self.step(|recoveries, step| recoveries.on_gone(step, &task, &life));
            }
            Input::Doubted => {
                self.step(|recoveries, step| recoveries.on_doubted(step, &task, &life));
                let lives = matches!(status, None | Some(Status::Watching | Status::Succeeded));
                if !lives {
                    self.checker.on_doubted(&task, &life);
                }
            }
            Input::Alive => {
                self.checker.on_alive(&task, &life);
                self.step(|recoveries, step| recoveries.on_alive(step, &task, &life, step.now));
            }
            Input::TakenOver => {
                self.checker.on_alive(&task, &life);
                self.step(|recoveries, step| recoveries.on_taken_over(step, &task, &life, step.now));
            }
            Input::Health(state) => {
                if *state == HealthState::Healthy {
                    self.checker.on_alive(&task, &life);
                }
                self.step(|recoveries, step| recoveries.on_health(step, &task, &life, *state));
            }
            Input::Progress => self.recoveries.on_progress(&life),
            Input::Closed(why) => {
                self.checker.on_closed(&task);
                self.step(|recoveries, step| recoveries.on_closed(step, &task, *why));
                self.checker.on_over(&task);
            }
            Input::Reopened => {
                self.checker.on_reopened(&task);
                self.recoveries.on_reopened(&task);
            }
            Input::Hold(secs) => {
                let until = self.now + Span::secs(*secs);
                self.step(|recoveries, step| recoveries.on_hold(step, &task, until));
            }
            Input::Frozen(frozen) => {
                self.checker.frozen = *frozen;
                self.step(|recoveries, step| recoveries.on_frozen(step, *frozen));
            }
            Input::Started(back, outcome) => self.start_told(&task, *back, *outcome, life),
            Input::Withdrawn(back) => {
                let start = self.recoveries.shared.starts.saturating_sub(*back);
                self.checker.on_start_settled(&task, start);
                let recovery = self.recoveries.tasks.get(&task).filter(|recovery| recovery.start == start);
                if let Some(life) = recovery.and_then(|recovery| recovery.started.clone()) {
                    self.checker.on_gone(&task, &life);
                }
                self.step(|recoveries, step| recoveries.on_withdrawn(step, &task, start));
            }
            Input::Order(order) => self.order(&task, order),
            Input::Checkpoints(count) => {
                let ids = &["c1", "c2", "c3", "c4"][..usize::from(*count)];
                let chain = walk(&task, &line(task.as_str(), ids), 100);
                self.step(|recoveries, step| recoveries.on_checkpoints(step, &task, chain));
            }
        }
        if self.status(&task).is_none() {
            self.checker.on_over(&task);
        }
    }

    fn end(&mut self, task: &TaskId, life: &Life, confirmed: bool) {
        if confirmed {
            self.checker.on_gone(task, life);
        }
        let view = self.recoveries.view(task, &self.policy);
        if view.as_ref().is_some_and(|view| view.agent == life.agent && view.incarnation < life.incarnation) {
            // It bears the name of what was started: that is what it is.
            self.checker.on_start_named(task);
        }
        let is_news = view.is_none_or(|view| {
            let lives = matches!(view.status, Status::Watching | Status::Succeeded);
            view.agent == life.agent
                && (view.incarnation < life.incarnation || (lives && view.incarnation == life.incarnation))
        });
        let known = || walk(task, &line(task.as_str(), &["c1", "c2", "c3"]), 100);
        let chain = confirmed.then(known);
        let (reason, ended) = ("crash".into(), life.clone());
        self.step(|recoveries, step| {
            recoveries.on_ended(step, Ended { task: task.clone(), life: ended, reason, confirmed, chain });
        });
        let view = self.recoveries.view(task, &self.policy);
        let is_taken =
            view.is_some_and(|view| view.agent == life.agent && view.incarnation == life.incarnation);
        if is_news && is_taken && !confirmed {
            self.checker.on_doubted(task, life);
        }
    }

    fn start_told(&mut self, task: &TaskId, back: u64, outcome: u8, life: Life) {
        let start = self.recoveries.shared.starts.saturating_sub(back);
        let outcome = match outcome {
            0 => Started::Failed,
            1 => Started::Refused,
            2 => Started::CheckpointUnreadable,
            3 => Started::Done(None),
            _ => Started::Done(Some(life)),
        };
        if !matches!(outcome, Started::Done(_)) {
            self.checker.on_start_settled(task, start);
        }
        self.step(|recoveries, step| recoveries.on_started(step, task, start, &outcome));
        let Started::Done(Some(life)) = outcome else { return };
        let doubted = Doubted::Life(life.clone());
        if self.recoveries.tasks.get(task).is_some_and(|recovery| recovery.is_in_doubt(&doubted)) {
            // What may still run has a name now.
            self.checker.on_start_settled(task, start);
            self.checker.on_doubted(task, &life);
        }
    }

    fn order(&mut self, task: &TaskId, order: &Order) {
        let status = self.status(task);
        let anew = matches!(status, Some(Status::HumanReview | Status::Failed));
        let by = Actor::from("ann");
        // The checker must know before it sees what comes of it.
        let mut tried = self.recoveries.clone();
        let mut out = Collector::default();
        let mut step = Step { now: self.now, policy: &self.policy, random: 0, out: &mut out };
        if tried.order(&mut step, task, &by, order).is_ok() {
            self.checker.on_order(task, order, anew);
        }
        let _refused = self.step(|recoveries, step| recoveries.order(step, task, &by, order));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// The checker holds after every input: limits, closed tasks, lives that may run, one start at a time,
    /// one alert for each condition; with a restart after each of them.
    #[test]
    fn l29_nothing_that_is_forbidden_happens_in_any_order(policy in policies(), givens in givens()) {
        let mut run = Run::new(policy);
        for given in &givens {
            run.give(given);
        }
    }

    /// Whatever happened, time, evidence or a person leads on.
    #[test]
    fn l29_nothing_latches(policy in policies(), givens in givens()) {
        let mut run = Run::new(policy);
        for given in &givens {
            run.give(given);
        }
        run.give(&Given { task: 0, agent: None, offset: 0, input: Input::Frozen(false) });
        for _ in 0..12 {
            for task in TASKS.map(TaskId::from) {
                run.order(&task, &Order::ConfirmEnded);
            }
            run.pass(Span::hours(2));
        }
        for (index, task) in TASKS.map(TaskId::from).into_iter().enumerate() {
            let status = run.status(&task);
            prop_assert!(!matches!(status, Some(Status::Waiting | Status::Running)), "{status:?} ends by itself");
            if status == Some(Status::HumanReview) {
                run.order(&task, &Order::ReviewDone);
                prop_assert_eq!(run.status(&task), Some(Status::Failed));
                run.order(&task, &Order::Recover { from: None });
                run.order(&task, &Order::ConfirmEnded);
                run.pass(Span::minutes(5));
                let lives = run.recoveries.tasks.values().any(Recovery::lives);
                prop_assert!(run.status(&task) == Some(Status::Running) || lives);
                let closed = Input::Closed(Closing::Cancelled);
                run.give(&Given { task: index, agent: None, offset: 0, input: closed });
            }
        }
    }

    /// A row that was damaged or forged is refused, or read; it never panics, neither then nor later.
    #[test]
    fn a_damaged_row_does_no_harm(
        policy in policies(),
        before in givens(),
        after in givens(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut run = Run::new(policy);
        for given in &before {
            run.give(given);
        }
        run.recoveries.touch_all();
        run.restart();
        for (at, byte) in damage {
            let which = at.index(run.rows.len().max(1));
            if let Some(row) = run.rows.values_mut().nth(which) {
                let at = at.index(row.len());
                row[at] = byte;
            }
        }
        let mut read = Recoveries::default();
        if run.rows.iter().all(|(key, bytes)| read.restore(key.clone(), bytes).is_ok()) {
            run.recoveries = read;
            run.checker.is_off = true;
            for given in after.iter().filter(|given| !matches!(given.input, Input::Wait(_))) {
                run.give(given);
                let _due = run.recoveries.deadline(run.now, &run.policy);
                run.now += Span::minutes(1);
                run.step(Recoveries::wake);
            }
        }
    }
}

/// Where a valid checkpoint exists and one of the attempts would succeed, recovery does.
#[test]
fn l14_no_recovery_is_given_up_before_its_limits() {
    let policy = Policy { attempts_max: 3, ..Policy::default() };
    for works_at in 1..=3_u8 {
        let mut run = Run::new(policy.clone());
        let task = TaskId::from("t");
        run.end(&task, &life("a", 1), true);
        while run.status(&task) != Some(Status::Succeeded) {
            let due = run.recoveries.deadline(run.now, &run.policy).expect("it goes on by itself");
            run.now = due;
            run.step(Recoveries::wake);
            let Some(view) = run.recoveries.view(&task, &run.policy) else { panic!("it is kept") };
            assert_ne!(view.status, Status::HumanReview, "given up at attempt {}", view.attempt);
            if view.status == Status::Running {
                let next = Life { agent: "a".into(), incarnation: view.incarnation.next() };
                let works = view.attempt == works_at;
                run.step(|recoveries, step| recoveries.on_health(step, &task, &next, HealthState::Healthy));
                if !works {
                    run.end(&task, &next, true);
                }
            }
        }
    }
}
