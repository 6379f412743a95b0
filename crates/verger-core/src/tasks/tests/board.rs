//! A board on which tasks are given and reported, and time passes; what is decided is written down.
//!
//! The machine is restored from its rows after every single thing that happens, so each test shows that a restart
//! changes nothing.

use std::collections::BTreeMap;

use super::super::*;
use crate::id::{AgentId, TaskId};
use crate::liveness::LivenessStatus;
use crate::signal::{Awaited, Trust};
use crate::standing::Standing;
use crate::time::{Span, Timestamp};
use crate::waiting::Wait;

pub(super) struct Board {
    pub(super) now: Timestamp,
    pub(super) tasks: Tasks,
    pub(super) policy: Policy,
    pub(super) standings: BTreeMap<AgentId, Standing>,
    pub(super) rows: BTreeMap<TaskId, Vec<u8>>,
    pub(super) decided: Vec<(Timestamp, Decided)>,
    pub(super) restarts: bool,
}

impl Default for Board {
    fn default() -> Self {
        let online = Standing { status: Some(LivenessStatus::Online), wait: None };
        Self {
            now: Timestamp::ZERO,
            tasks: Tasks::default(),
            policy: Policy::default(),
            standings: ["a", "b", "c"].into_iter().map(|name| (name.into(), online)).collect(),
            rows: BTreeMap::new(),
            decided: Vec::new(),
            restarts: true,
        }
    }
}

pub(super) fn assignment(task: &str, agent: &str, due_in: Option<Span>) -> Assignment {
    Assignment {
        task: task.into(),
        agent: Some(agent.into()),
        description: None,
        ago: Span::ZERO,
        due_in,
        start: Start::Same,
    }
}

pub(super) fn update(by: Option<&str>, percent: Option<u8>, status: Option<TaskStatus>) -> Update {
    Update { by: by.map(AgentId::from), percent, status, ago: Span::ZERO }
}

impl Board {
    /// Does one thing, then restarts.
    pub(super) fn with<R>(&mut self, act: impl FnOnce(&mut Tasks, &mut Step<'_>) -> R) -> R {
        let mut out = Vec::new();
        let standings = &self.standings;
        let standing = |agent: &AgentId| standings.get(agent).copied();
        let mut step = Step { now: self.now, policy: &self.policy, standing: &standing, out: &mut out };
        let result = act(&mut self.tasks, &mut step);
        self.decided.extend(out.into_iter().map(|decided| (self.now, decided)));
        self.restart();
        result
    }

    /// Writes what changed, and reads it back.
    fn restart(&mut self) {
        let rows = &mut self.rows;
        self.tasks.take_changed_rows(&mut |key, row| {
            match row {
                Some(row) => rows.insert(key, row),
                None => rows.remove(&key),
            };
        });
        if self.restarts {
            let rows = self.rows.iter().map(|(key, row)| (key.clone(), row.clone()));
            self.tasks = Tasks::restore(rows, &self.policy).expect("rows just written");
        }
    }

    /// Gives task `t` to `a`, to be complete within so many minutes.
    pub(super) fn give(&mut self, minutes: u64) {
        let new = assignment("t", "a", Some(Span::minutes(minutes)));
        self.with(|tasks, step| tasks.on_assigned(step, new)).expect("given");
    }

    pub(super) fn assign(&mut self, new: Assignment) -> Result<Assigned, Refusal> {
        self.with(|tasks, step| tasks.on_assigned(step, new))
    }

    /// Agent `a` says how far `t` is.
    pub(super) fn report(&mut self, percent: u8) -> Result<Updated, Refusal> {
        self.update("t", &update(Some("a"), Some(percent), None))
    }

    pub(super) fn update(&mut self, id: &str, update: &Update) -> Result<Updated, Refusal> {
        self.with(|tasks, step| tasks.on_update(step, &id.into(), update))
    }

    pub(super) fn end(&mut self, status: TaskStatus) -> Result<Updated, Refusal> {
        self.update("t", &update(Some("a"), None, Some(status)))
    }

    pub(super) fn explain(&mut self, lasting: Option<Span>) -> Explained {
        let because = Some("the tests are slow".into());
        self.with(|tasks, step| tasks.on_explained(step, &"t".into(), Some(&"a".into()), because, lasting))
            .expect("open, and theirs")
    }

    pub(super) fn answer(&mut self) {
        self.with(|tasks, step| tasks.on_answered(step, &"a".into()));
    }

    pub(super) fn cannot_go_on(&mut self, trust: Trust) {
        let by = Some(AgentId::from("a"));
        self.with(|tasks, step| tasks.on_cannot_go_on(step, &"t".into(), by.as_ref(), trust))
            .expect("theirs");
    }

    /// The agent's standing changes, and the machine is told.
    pub(super) fn becomes(&mut self, status: LivenessStatus) {
        self.stands(status);
        self.changed();
    }

    /// The agent's standing changes, and nobody says so.
    pub(super) fn stands(&mut self, status: LivenessStatus) {
        self.standings.insert("a".into(), Standing { status: Some(status), wait: None });
    }

    pub(super) fn waits(&mut self, awaited: Awaited, span: Span) {
        let wait = Wait { awaited, since: self.now, until: self.now + span };
        let standing = Standing { status: Some(LivenessStatus::Online), wait: Some(wait) };
        self.standings.insert("a".into(), standing);
    }

    pub(super) fn changed(&mut self) {
        self.with(|tasks, step| tasks.on_worker_changed(step, &"a".into()));
    }

    pub(super) fn verdict(&mut self) -> Verdict {
        self.with(|tasks, step| tasks.verdict(step, &"t".into()))
    }

    /// Time passes until then; what is due is done when it is due.
    pub(super) fn until(&mut self, then: Span) -> &mut Self {
        let then = Timestamp::ZERO + then;
        while let Some(due) = self.tasks.deadline(self.now).filter(|due| *due <= then) {
            assert!(self.now < due, "a deadline lies ahead");
            self.now = due;
            let before = (self.rows.clone(), self.decided.len());
            self.with(Tasks::wake);
            assert!(before != (self.rows.clone(), self.decided.len()), "a deadline changes something");
        }
        self.now = then;
        self
    }

    pub(super) fn minutes(&mut self, minutes: u64) -> &mut Self {
        self.until(Span::minutes(minutes))
    }

    /// What was decided so far, one line each, at the full second.
    pub(super) fn log(&self) -> String {
        let at = |at: &Timestamp| Span::secs(at.as_millis() / 1_000);
        let line = |(when, it): &(Timestamp, Decided)| format!("{} {}: {:?}", at(when), it.task, it.decision);
        self.decided.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    pub(super) fn count(&self, wanted: impl Fn(&Decision) -> bool) -> usize {
        self.decided.iter().filter(|(_, it)| wanted(&it.decision)).count()
    }

    pub(super) fn view(&self, id: &str) -> TaskView {
        self.tasks.view(self.now, &self.policy, &id.into()).expect("it is known")
    }

    pub(super) fn is_stalled(&self) -> bool {
        self.tasks.counts().stalled == 1
    }
}
