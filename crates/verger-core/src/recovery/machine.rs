//! All recoveries, by task.
//!
//! The fleet tells what it hears of tasks and lives, and is told what to start and what to tell people. What
//! is known of one recovery is in `task.rs`, what is heard of lives in `turns.rs`, what people order in
//! `orders.rs`.
//!
//! A task has at most one recovery. One that is over (done, cancelled, failed for good) has none, whatever is
//! heard of it afterwards, until it is opened again. Inputs that are due at the same moment as a deadline
//! come first: what was heard in time counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::rows::Changed;
use super::task::{Elsewhere, Held, Phase, Recovery, Scope, Shared};
use super::turns::{Fate, Started};
use super::{
    Chain, Change, Collector, Condition, Counts, Decision, Doubted, Life, Neglect, Notes, Policy, Word,
    backoff,
};
use crate::health::HealthState;
use crate::id::{AgentId, TaskId};
use crate::time::{Span, Timestamp};

/// Nobody may hold a recovery back for longer than this at once.
const HOLD_MAX: Span = Span::hours(1);

/// One step: the time, the rules, a random number, and where to put what comes of it.
#[derive(Debug)]
pub struct Step<'a> {
    /// Observed time.
    pub now: Timestamp,
    /// The thresholds.
    pub policy: &'a Policy,
    /// Any number; it spreads what would happen at the same moment.
    pub random: u64,
    /// What comes of it.
    pub out: &'a mut Collector,
}

/// An agent's life ended, and its task is to be recovered.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The task.
    pub task: TaskId,
    /// The life.
    pub life: Life,
    /// Why it ended.
    pub reason: Arc<str>,
    /// Whether it is certain that it does not run any more. It is not after a termination that nobody
    /// confirmed, and not when the agent is merely lost or cut off.
    pub confirmed: bool,
    /// The task's checkpoints ([`walk`](super::walk)), if they are known; they are asked for if not.
    pub chain: Option<Chain>,
}

/// All recoveries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recoveries {
    pub(crate) tasks: BTreeMap<TaskId, Recovery>,
    pub(crate) notes: Notes,
    pub(crate) counts: Counts,
    pub(crate) shared: Shared,
    /// What people were told of the fleet and has not cleared.
    pub(crate) raised: Vec<Condition>,
    pub(crate) changed: Changed,
}

impl Recoveries {
    /// A life ended whose task is to be recovered. Told again, or late, it changes nothing; told again as
    /// confirmed, it settles that the life is gone.
    pub fn on_ended(&mut self, step: &mut Step<'_>, ended: Ended) {
        let task = ended.task.clone();
        if self.tasks.contains_key(&task) {
            self.with(step, &task, |recovery, scope| recovery.on_ended(scope, ended));
            return;
        }
        if let Some(why) = self.neglect(step.now, &ended, step.policy) {
            if why == Neglect::TooMany && !self.raised.contains(&Condition::TooMany) {
                self.raised.push(Condition::TooMany);
                let condition = Condition::TooMany;
                step.out.decisions.push(Decision::Alert { task: None, condition });
            }
            step.out.changes.push(Change::NotRecovered { task, why });
            return;
        }
        self.notes.forget(&task);
        let is_surveyed = ended.chain.is_some();
        self.tasks.insert(task.clone(), Recovery::new(step.now, ended));
        self.forget_counts(step);
        let counted = self.counts.tasks.remove(&task);
        self.with(step, &task, |recovery, scope| {
            if let Some(counted) = counted {
                recovery.go_on_counting(counted);
            }
            if !is_surveyed {
                recovery.survey(scope);
            }
            recovery.schedule(scope);
            Fate::Keep
        });
    }

    /// Why this end is not followed by a recovery, if it is not.
    fn neglect(&mut self, now: Timestamp, ended: &Ended, policy: &Policy) -> Option<Neglect> {
        if let Some(closing) = self.notes.closing(&ended.task) {
            return Some(Neglect::Closed(closing));
        }
        if self.notes.is_stale(&ended.task, &ended.life) {
            return Some(Neglect::Superseded);
        }
        if self.is_full(policy) {
            let Some(oldest) = self.makes_room(now) else { return Some(Neglect::TooMany) };
            if let Some((task, recovery)) = self.tasks.remove_entry(&oldest) {
                self.note(recovery.since, task, recovery.last_word(), policy);
            }
        }
        None
    }

    /// Whether there is room for one more recovery, if need be in the place of one that is over.
    pub(crate) fn has_room(&self, now: Timestamp, policy: &Policy) -> bool {
        !self.is_full(policy) || self.makes_room(now).is_some()
    }

    fn is_full(&self, policy: &Policy) -> bool {
        self.tasks.len() >= policy.tasks_max.max(1)
    }

    /// The oldest that may go; never one whose count still matters: the limits would be forgotten with it.
    fn makes_room(&self, now: Timestamp) -> Option<TaskId> {
        let may_go = self.tasks.iter().filter(|(_, recovery)| recovery.may_make_room(now));
        may_go.min_by_key(|(_, recovery)| recovery.since).map(|(task, _)| task.clone())
    }

    /// It is certain that this life does not run any more.
    pub fn on_gone(&mut self, step: &mut Step<'_>, task: &TaskId, life: &Life) {
        self.with(step, task, |recovery, scope| {
            recovery.settle_doubts(scope, |doubted| *doubted == Doubted::Life(life.clone()));
            Fate::Keep
        });
    }

    /// It turned out that this life may still run: nothing is started before that is settled.
    pub fn on_doubted(&mut self, step: &mut Step<'_>, task: &TaskId, life: &Life) {
        self.with(step, task, |recovery, scope| {
            // Of the one that lives it will be told when it ends.
            if !(recovery.lives() && recovery.life == *life) {
                recovery.doubt(scope.step.now, Doubted::Life(life.clone()));
            }
            Fate::Keep
        });
    }

    /// A start was taken back: nothing of it runs.
    pub fn on_withdrawn(&mut self, step: &mut Step<'_>, task: &TaskId, start: u64) {
        self.with(step, task, |recovery, scope| {
            let started = recovery.started.clone().filter(|_| recovery.start == start).map(Doubted::Life);
            recovery.settle_doubts(scope, |doubted| {
                *doubted == Doubted::Start(start) || Some(doubted) == started.as_ref()
            });
            Fate::Keep
        });
    }

    /// What became of a start. One that comes late, for a task that is over, is taken back.
    pub fn on_started(&mut self, step: &mut Step<'_>, task: &TaskId, start: u64, outcome: &Started) {
        if let (Started::Done(Some(life)), Some(_)) = (outcome, self.notes.closing(task)) {
            let Life { agent, incarnation } = life.clone();
            let (task, incarnation) = (task.clone(), Some(incarnation));
            step.out.decisions.push(Decision::Withdraw { task, start, agent, incarnation });
            return;
        }
        self.with(step, task, |recovery, scope| recovery.on_started(scope, start, outcome));
    }

    /// A life that was born then shows itself: it registered, beats or works on this task.
    pub fn on_alive(&mut self, step: &mut Step<'_>, task: &TaskId, life: &Life, born_at: Timestamp) {
        self.with(step, task, |recovery, scope| recovery.on_alive(scope, life, born_at));
        self.keep_busy(step, task, life);
    }

    /// An agent is back that is recovered for its own sake, whatever it works on.
    pub(crate) fn on_back(&mut self, step: &mut Step<'_>, itself: &TaskId, life: &Life) {
        self.with(step, itself, |recovery, scope| recovery.on_alive(scope, life, scope.step.now));
    }

    /// Another agent has the task now. A recovery for the one before it is called off; its late words change
    /// nothing. To be told whenever a task changes hands.
    pub fn on_taken_over(&mut self, step: &mut Step<'_>, task: &TaskId, life: &Life, born_at: Timestamp) {
        if self.tasks.contains_key(task) {
            self.with(step, task, |recovery, scope| recovery.on_taken_over(scope, life, born_at));
        } else if self.notes.closing(task).is_none() {
            self.note(step.now, task.clone(), Word::TakenOver(life.clone()), step.policy);
        }
    }

    /// The composite state of a life that works on this task.
    pub fn on_health(&mut self, step: &mut Step<'_>, task: &TaskId, life: &Life, state: HealthState) {
        let is_well = state == HealthState::Healthy;
        if is_well {
            self.on_alive(step, task, life, step.now);
        }
        self.with(step, task, |recovery, scope| recovery.on_health(scope, life, is_well));
    }

    /// A life did something new.
    pub fn on_progress(&mut self, life: &Life) {
        for (task, recovery) in &mut self.tasks {
            if recovery.on_progress(life) {
                self.changed.tasks.insert(task.clone());
            }
        }
    }

    /// The task's checkpoints, walked again: one that was queued has arrived, or one was found damaged.
    pub fn on_checkpoints(&mut self, step: &mut Step<'_>, task: &TaskId, chain: Chain) {
        self.with(step, task, |recovery, scope| {
            recovery.on_checkpoints(scope, chain);
            Fate::Keep
        });
    }

    /// Whether anything is known of a task that has no recovery.
    pub fn remembers(&self, task: &TaskId) -> bool {
        self.notes.tasks.contains_key(task)
    }

    /// A breaker, or whoever starts agents, asks to wait; for an hour at most, then it may ask again.
    pub fn on_hold(&mut self, step: &mut Step<'_>, task: &TaskId, until: Timestamp) {
        self.with(step, task, |recovery, scope| {
            recovery.hold(until.min(scope.step.now + HOLD_MAX), Held::Asked);
            Fate::Keep
        });
    }

    /// Many agents failed together, or that is over. Meanwhile nothing is started and no attempt is used up;
    /// afterwards those that waited do not all come at once.
    pub fn on_frozen(&mut self, step: &mut Step<'_>, frozen: bool) {
        let thaws = self.shared.frozen && !frozen;
        self.changed.books |= self.shared.frozen != frozen;
        self.shared.frozen = frozen;
        if !thaws {
            return;
        }
        self.changed.tasks.extend(self.tasks.keys().cloned());
        for (task, recovery) in &mut self.tasks {
            match &mut recovery.phase {
                Phase::Waiting { at, .. } => {
                    *at = (*at).max(step.now + backoff::spread(task, step.random, step.policy));
                }
                Phase::Running { deadline } => *deadline = (*deadline).max(step.now + step.policy.come_up),
                Phase::Watching { .. }
                | Phase::Succeeded { .. }
                | Phase::Failed { .. }
                | Phase::HumanReview { .. } => {}
            }
        }
    }

    /// When something is due, after now.
    pub fn deadline(&self, now: Timestamp, policy: &Policy) -> Option<Timestamp> {
        let due = self.tasks.values().filter_map(|recovery| recovery.deadline(self.shared.frozen, policy));
        let due = due.chain(self.counts.deadline()).min()?;
        Some(due.max(now + Span::millis(1))).filter(|due| *due < Timestamp::NEVER)
    }

    /// Does what is due. Calling early is harmless.
    pub fn wake(&mut self, step: &mut Step<'_>) {
        self.forget_counts(step);
        let frozen = self.shared.frozen;
        let due = self.tasks.iter().filter_map(|(task, recovery)| {
            let due = recovery.deadline(frozen, step.policy).filter(|due| *due <= step.now)?;
            let planned = if let Phase::Waiting { at, .. } = recovery.phase { at } else { due };
            Some((planned, task.clone()))
        });
        let mut due: Vec<(Timestamp, TaskId)> = due.collect();
        // Who has waited longest comes first, also after all were held back.
        due.sort_unstable();
        for (_, task) in due {
            self.with(step, &task, Recovery::on_due);
        }
    }

    /// Works on one recovery, if there is one, and then sees what changed for the fleet.
    pub(crate) fn with(
        &mut self,
        step: &mut Step<'_>,
        task: &TaskId,
        act: impl FnOnce(&mut Recovery, &mut Scope<'_, '_>) -> Fate,
    ) {
        let Some((task, mut recovery)) = self.tasks.remove_entry(task) else { return };
        self.changed.books = true;
        self.changed.tasks.insert(task.clone());
        let agent = self.elsewhere(&recovery.life);
        let (shared, counts) = (&mut self.shared, &mut self.counts);
        let mut scope = Scope { task: &task, step: &mut *step, shared, counts, agent };
        let fate = act(&mut recovery, &mut scope);
        match fate {
            Fate::Keep => {
                self.tasks.insert(task, recovery);
            }
            Fate::Forget(word) => {
                recovery.clear_all(&mut scope);
                self.note(step.now, task, word, step.policy);
            }
        }
        self.forget_counts(step);
        self.tell_of_fleet(step);
    }

    /// Tells of tasks that are counted from one again, though no recovery of them is left.
    fn forget_counts(&mut self, step: &mut Step<'_>) {
        for task in self.counts.take_passed(step.now, step.policy.tasks_max) {
            self.changed.tasks.insert(task.clone());
            step.out.changes.push(Change::Forgotten { task });
        }
    }

    /// Remembers this of a task that has no recovery.
    pub(crate) fn note(&mut self, now: Timestamp, task: TaskId, word: Word, policy: &Policy) {
        self.changed.tasks.insert(task.clone());
        self.changed.tasks.extend(self.notes.put(now, task, word, policy.notes_max));
    }

    /// Whether nothing is known of any task.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.notes.tasks.is_empty() && self.counts.tasks.is_empty()
    }

    /// Whether a task has a recovery.
    pub fn has(&self, task: &TaskId) -> bool {
        self.tasks.contains_key(task)
    }

    /// The life that this task's recovery is about, present or last.
    pub fn life(&self, task: &TaskId) -> Option<&Life> {
        self.tasks.get(task).map(|recovery| &recovery.life)
    }

    /// What this agent is expected to work on when it does not say: what it was started for, else what it has or had.
    pub fn expected_of(&self, agent: &AgentId) -> Option<&TaskId> {
        let own = |recovery: &Recovery| recovery.life.agent == *agent && recovery.closed.is_none();
        let own = self.tasks.iter().filter(|(_, recovery)| own(recovery));
        let rank = |recovery: &Recovery| match recovery.phase {
            Phase::Running { .. } => 0,
            Phase::Watching { .. } | Phase::Succeeded { .. } => 1,
            Phase::Waiting { .. } | Phase::Failed { .. } | Phase::HumanReview { .. } => 2,
        };
        own.min_by_key(|(_, recovery)| rank(recovery)).map(|(task, _)| task)
    }

    /// The tasks that this very life has, of those that have a recovery.
    pub fn tasks_of_life<'a>(&'a self, life: &'a Life) -> impl Iterator<Item = &'a TaskId> + 'a {
        self.tasks.iter().filter(move |(_, recovery)| recovery.life == *life).map(|(task, _)| task)
    }

    /// The tasks of this agent that have a recovery.
    pub fn tasks_of<'a>(&'a self, agent: &'a AgentId) -> impl Iterator<Item = &'a TaskId> + 'a {
        let own = |recovery: &Recovery| recovery.life.agent == *agent;
        self.tasks.iter().filter(move |(_, recovery)| own(recovery)).map(|(task, _)| task)
    }

    /// The starts that nobody ordered and that are due now, with whose they are: to be asked whether they may be.
    pub fn starts_due(&self, now: Timestamp, policy: &Policy) -> Vec<(TaskId, AgentId)> {
        let is_due = |recovery: &Recovery| {
            matches!(recovery.phase, Phase::Waiting { by: None, .. })
                && recovery.doubts.is_empty()
                && recovery.deadline(self.shared.frozen, policy).is_some_and(|due| due <= now)
        };
        let due = self.tasks.iter().filter(|(_, recovery)| is_due(recovery));
        due.map(|(task, recovery)| (task.clone(), recovery.life.agent.clone())).collect()
    }

    /// What the agent of this life does for other tasks.
    pub(crate) fn elsewhere(&self, life: &Life) -> Elsewhere {
        let others = self.tasks.values().filter(|other| other.life.agent == life.agent);
        let does = others.map(|other| match other.phase {
            Phase::Running { .. } => Elsewhere::Started,
            Phase::Watching { .. } | Phase::Succeeded { .. } if life.incarnation < other.life.incarnation => {
                Elsewhere::Lives
            }
            Phase::Watching { .. }
            | Phase::Succeeded { .. }
            | Phase::Waiting { .. }
            | Phase::Failed { .. }
            | Phase::HumanReview { .. } => Elsewhere::Nothing,
        });
        does.max().unwrap_or(Elsewhere::Nothing)
    }

    /// Tells people once that recoveries are held back, and once that they are not any more.
    fn tell_of_fleet(&mut self, step: &mut Step<'_>) {
        let held = self.tasks.values().any(Recovery::is_held_by_hour);
        let full = self.raised.contains(&Condition::TooMany) && self.is_full(step.policy);
        for (condition, raised) in [(Condition::FleetLimit, held), (Condition::TooMany, full)] {
            if raised == self.raised.contains(&condition) {
                continue;
            }
            self.raised.retain(|known| *known != condition);
            let decision = if raised {
                self.raised.push(condition);
                Decision::Alert { task: None, condition }
            } else {
                Decision::Clear { task: None, condition }
            };
            step.out.decisions.push(decision);
        }
    }
}

impl Recovery {
    /// Its deadline has come.
    fn on_due(&mut self, scope: &mut Scope<'_, '_>) -> Fate {
        self.ask_again(scope);
        let Step { now, policy, .. } = *scope.step;
        if self.phase_deadline(scope.shared.frozen, policy).is_none_or(|due| now < due) {
            return Fate::Keep;
        }
        match self.phase {
            Phase::Waiting { .. } if !self.doubts.is_empty() => self.raise(scope, Condition::MayStillRun),
            Phase::Waiting { .. } => self.begin(scope),
            Phase::Running { .. } => self.on_never_came_up(scope),
            Phase::Watching { .. } => self.succeed(scope),
            Phase::Succeeded { .. } => {
                scope.tell(|task| Change::Forgotten { task });
                return Fate::Forget(self.last_word());
            }
            Phase::Failed { .. } => return Fate::Forget(self.last_word()),
            Phase::HumanReview { .. } => {}
        }
        Fate::Keep
    }

    fn is_held_by_hour(&self) -> bool {
        self.doubts.is_empty()
            && matches!(&self.phase, Phase::Waiting { held: Some(hold), .. } if hold.why == Held::Hour)
    }
}
