//! One recovery: where it stands, and how it goes on.
//!
//! Waiting --due, allowed, no old life may run--> Running --shows life--> Watching
//! Watching --15 min, and well--> Succeeded
//! Running, Watching --failed--> Waiting, or `HumanReview` when the limits are used up
//! `HumanReview` --a person--> Waiting or Failed; --the agent comes back--> Watching
//! Succeeded --stable--> forgotten; any --the task is over--> forgotten, but for what was counted (`counts.rs`)
//!
//! A start is counted when it is decided on, so no order of words and no restart gives an attempt back. The
//! next checkpoint is chosen when an attempt begins: the best one that is not poisoned.

use std::sync::Arc;

use super::limits::{Allowance, Budgets};
use super::machine::Step;
use super::{
    Candidate, Chain, Change, Closing, Condition, ContentHash, Context, Counts, Decision, Doubt, Failure,
    Life, Lost, Policy, Review, Spawn, backoff,
};
use crate::id::{Actor, CheckpointId, TaskId};
use crate::time::{Span, Timestamp};

/// Lives that had the task before; older ones are forgotten.
const FORMER_MAX: usize = 8;
/// Checkpoints whose failures are counted.
const BLAMED_MAX: usize = 16;
/// How long a start waits for another one of the same agent before it looks again.
const AGENT_TAKEN: Span = Span::minutes(1);

/// Where a recovery stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Phase {
    /// The next attempt is made at this time, if nothing holds it.
    Waiting { at: Timestamp, held: Option<Hold>, by: Option<Actor> },
    /// The start is out; the new life has until then to show itself.
    Running { deadline: Timestamp },
    /// The new life lives, and is watched closely.
    Watching { until: Timestamp, well: bool },
    /// It passed the watch; the counters are kept until it is stable.
    Succeeded { stable_at: Timestamp },
    /// A person called it off.
    Failed { forget_at: Timestamp },
    /// People must look.
    HumanReview { why: Review },
}

/// What holds a due attempt back, and until when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hold {
    pub(crate) until: Timestamp,
    pub(crate) why: Held,
}

/// Why an attempt is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// The fleet's hour is used up.
    Hour,
    /// Too many starts in quick succession.
    Burst,
    /// The same agent is being started for another task.
    Agent,
    /// Somebody asked for it: a breaker is open.
    Asked,
    /// The task's checkpoints are not known yet.
    Survey,
}

/// Attempts from one checkpoint that failed within the watch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Blame {
    pub(crate) id: CheckpointId,
    pub(crate) hash: ContentHash,
    pub(crate) times: u8,
}

/// What all recoveries share.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shared {
    pub(crate) budgets: Budgets,
    /// Many agents failed together: nothing is started.
    pub(crate) frozen: bool,
    /// Starts so far.
    pub(crate) starts: u64,
}

/// What an agent does for other tasks than this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Elsewhere {
    /// Nothing that is known.
    Nothing,
    /// It is being started for one.
    Started,
    /// It lives and works on one, or may.
    Lives,
}

/// What one recovery works with.
pub(crate) struct Scope<'a, 'b> {
    pub(crate) task: &'a TaskId,
    pub(crate) step: &'a mut Step<'b>,
    pub(crate) shared: &'a mut Shared,
    /// What was counted of tasks whose recovery is over.
    pub(crate) counts: &'a mut Counts,
    /// What the agent does for other tasks.
    pub(crate) agent: Elsewhere,
}

impl Scope<'_, '_> {
    pub(crate) fn tell(&mut self, change: impl FnOnce(TaskId) -> Change) {
        self.step.out.changes.push(change(self.task.clone()));
    }

    pub(crate) fn decide(&mut self, decision: impl FnOnce(TaskId) -> Decision) {
        self.step.out.decisions.push(decision(self.task.clone()));
    }
}

/// The recovery of one task.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recovery {
    pub(crate) phase: Phase,
    pub(crate) since: Timestamp,
    /// The present life, or the last one.
    pub(crate) life: Life,
    /// Lives before it: what is heard of them is late.
    pub(crate) former: Vec<Life>,
    /// Starts since a person or a stable run set the count to nought, by whoever did them.
    pub(crate) attempt: u8,
    /// The last start; nought if there was none.
    pub(crate) start: u64,
    /// What that start began, by its own word.
    pub(crate) started: Option<Life>,
    /// The state that it began with.
    pub(crate) from: Option<CheckpointId>,
    /// The checkpoint that a person asked for.
    pub(crate) wanted: Option<CheckpointId>,
    pub(crate) chain: Chain,
    /// Whether that is all there is since the last life ended.
    pub(crate) surveyed: bool,
    pub(crate) blamed: Vec<Blame>,
    /// The last start that was held against its checkpoint: each is only once.
    pub(crate) blamed_start: u64,
    /// Whether the present life made progress.
    pub(crate) progressed: bool,
    /// Why the last life ended, and when.
    pub(crate) reason: Arc<str>,
    pub(crate) ended_at: Timestamp,
    /// What may still run. Nothing is started before it is certain that nothing does.
    pub(crate) doubts: Vec<Doubt>,
    /// What people were told and has not cleared.
    pub(crate) raised: Vec<Condition>,
    /// How the task came to its end. Only what may still run keeps it from being forgotten.
    pub(crate) closed: Option<Closing>,
}

impl Recovery {
    /// When it must be looked at.
    pub(crate) fn deadline(&self, frozen: bool, policy: &Policy) -> Option<Timestamp> {
        [self.phase_deadline(frozen, policy), self.ask_again_at()].into_iter().flatten().min()
    }

    /// When it goes on by itself.
    pub(crate) fn phase_deadline(&self, frozen: bool, policy: &Policy) -> Option<Timestamp> {
        match &self.phase {
            Phase::Waiting { .. } if !self.doubts.is_empty() => {
                let since = self.doubts.iter().map(|doubt| doubt.since).min()?;
                (!self.raised.contains(&Condition::MayStillRun)).then(|| since + policy.doubt_patience)
            }
            Phase::Waiting { by: None, .. } if frozen => None,
            Phase::Waiting { at, held, .. } => Some(held.map_or(*at, |hold| hold.until.max(*at))),
            Phase::Running { deadline } => (!frozen).then_some(*deadline),
            Phase::Watching { until, well } => well.then_some(*until),
            Phase::Succeeded { stable_at } => self.may_be_forgotten().then_some(*stable_at),
            Phase::Failed { .. } if self.closed.is_some() && self.doubts.is_empty() => Some(self.since),
            Phase::Failed { forget_at } if self.closed.is_some() => Some(*forget_at),
            Phase::Failed { forget_at } => self.may_be_forgotten().then_some(*forget_at),
            Phase::HumanReview { .. } => None,
        }
    }

    /// Whether nothing is lost with it: no count that still matters, and no end in doubt.
    fn may_be_forgotten(&self) -> bool {
        self.is_called_off() || (self.progressed && self.doubts.is_empty())
    }

    /// Whether a person called it off, and nothing of it is in doubt.
    pub(crate) fn is_called_off(&self) -> bool {
        matches!(self.phase, Phase::Failed { .. }) && self.doubts.is_empty()
    }

    /// Whether it may be forgotten for one that is needed more: no count of it matters any more.
    pub(crate) fn may_make_room(&self, now: Timestamp) -> bool {
        let is_stable = matches!(self.phase, Phase::Succeeded { stable_at } if stable_at <= now);
        self.is_called_off() || self.closed.is_some() || (is_stable && self.doubts.is_empty())
    }

    pub(crate) fn enter(&mut self, now: Timestamp, phase: Phase) {
        self.phase = phase;
        self.since = now;
    }

    /// Plans the next attempt, or asks people when there is none left.
    pub(crate) fn schedule(&mut self, scope: &mut Scope<'_, '_>) {
        let Step { now, policy, random, .. } = *scope.step;
        if self.attempt >= policy.attempts_max {
            self.review(scope, Review::AttemptsUsedUp);
            return;
        }
        if self.attempt > 0 {
            self.raise(scope, Condition::FailedAgain);
        }
        let attempt = self.attempt + 1;
        let at = now + backoff::delay(attempt, scope.task, random, policy);
        self.enter(now, Phase::Waiting { at, held: None, by: None });
        scope.tell(|task| Change::Scheduled { task, attempt, at });
    }

    /// Makes the attempt that is due, if nothing stands against it. While many agents fail together, nothing
    /// is due (`deadline`).
    pub(crate) fn begin(&mut self, scope: &mut Scope<'_, '_>) {
        let Phase::Waiting { by, .. } = &self.phase else { return };
        let by = by.clone();
        if !self.doubts.is_empty() {
            return;
        }
        if !self.surveyed {
            return self.survey_again(scope);
        }
        let Step { now, policy, .. } = *scope.step;
        match scope.agent {
            Elsewhere::Nothing => {}
            Elsewhere::Started => return self.hold(now + AGENT_TAKEN, Held::Agent),
            // Not even by order: starting it again would end its other work.
            Elsewhere::Lives => return self.review(scope, Review::AgentElsewhere),
        }
        // What a person orders is counted, but not held back: a person has looked.
        if by.is_none() {
            if self.attempt >= policy.attempts_max {
                return self.review(scope, Review::AttemptsUsedUp);
            }
            match scope.shared.budgets.allowance(now, &self.life.agent, policy) {
                Allowance::Now => {}
                Allowance::HourFull(until) => return self.hold(until, Held::Hour),
                Allowance::Burst(until) => return self.hold(until, Held::Burst),
                Allowance::AgentUsedUp => return self.review(scope, Review::AgentLimit),
            }
        }
        self.spawn(scope, by);
    }

    pub(crate) fn hold(&mut self, until: Timestamp, why: Held) {
        if let Phase::Waiting { held, .. } = &mut self.phase {
            *held = Some(Hold { until, why });
        }
    }

    fn spawn(&mut self, scope: &mut Scope<'_, '_>, by: Option<Actor>) {
        let Step { now, policy, .. } = *scope.step;
        self.count_start(scope);
        scope.shared.starts = scope.shared.starts.saturating_add(1);
        self.start = scope.shared.starts;
        self.started = None;
        self.progressed = false;
        let chosen = self.choose(policy).cloned();
        let lost = self.lost(chosen.as_ref());
        self.from = chosen.map(|candidate| candidate.id);
        self.wanted = None;
        self.set_raised(scope, Condition::StartedOver, self.from.is_none());
        self.set_raised(scope, Condition::ChainBroken, !self.chain.breaks.is_empty());
        self.enter(now, Phase::Running { deadline: now + policy.come_up });
        let (attempt, start, from) = (self.attempt, self.start, self.from.clone());
        let Chain { skipped, breaks, unseen, .. } = self.chain.clone();
        scope.tell(|task| Change::Initiated {
            task,
            attempt,
            start,
            from: from.clone(),
            lost,
            skipped,
            breaks,
            unseen,
            by,
        });
        let reason = Arc::clone(&self.reason);
        let context =
            Context { reason, attempt, attempts_max: policy.attempts_max, from: from.clone(), lost };
        let agent = self.life.agent.clone();
        scope.decide(|task| Decision::Spawn(Spawn { task, agent, start, attempt, from, context }));
    }

    /// One start more, by whoever did it.
    pub(crate) fn count_start(&mut self, scope: &mut Scope<'_, '_>) {
        self.count_attempt();
        scope.shared.budgets.spend(scope.step.now, &self.life.agent, scope.step.policy);
    }

    pub(crate) fn count_attempt(&mut self) {
        self.attempt = self.attempt.saturating_add(1);
    }

    /// What a person asked for, else the best checkpoint that is not poisoned.
    fn choose(&self, policy: &Policy) -> Option<&Candidate> {
        let wanted = self.wanted.as_ref();
        let candidates = &self.chain.candidates;
        candidates
            .iter()
            .find(|candidate| Some(&candidate.id) == wanted)
            .or_else(|| candidates.iter().find(|candidate| !self.is_poisoned(candidate, policy)))
    }

    fn is_poisoned(&self, candidate: &Candidate, policy: &Policy) -> bool {
        let same = |blame: &&Blame| blame.id == candidate.id || blame.hash == candidate.hash;
        let times: u32 = self.blamed.iter().filter(same).map(|blame| u32::from(blame.times)).sum();
        times >= u32::from(policy.poisoned_after.max(1))
    }

    fn lost(&self, chosen: Option<&Candidate>) -> Lost {
        let poisoned = u32::try_from(self.chain.candidates.len()).unwrap_or(u32::MAX);
        let none = Lost { checkpoints: self.chain.skipped_count.saturating_add(poisoned), work: None };
        chosen.map_or(none, |candidate| Lost {
            checkpoints: candidate.ahead,
            work: Some(self.ended_at.since(candidate.made_at)),
        })
    }

    /// The attempt under way failed.
    pub(crate) fn fail(&mut self, scope: &mut Scope<'_, '_>, why: Failure) {
        if matches!(why, Failure::NeverCameUp | Failure::EndedInWatch) && !scope.shared.frozen {
            self.blame();
        }
        let attempt = self.attempt;
        // After a stable run it is a new failure, not one of an attempt.
        if attempt > 0 {
            scope.tell(|task| Change::AttemptFailed { task, attempt, why });
        }
        self.schedule(scope);
    }

    /// Holds the failure of the last start against the checkpoint it began with.
    fn blame(&mut self) {
        let Some(from) = self.from.clone().filter(|_| self.blamed_start != self.start) else { return };
        self.blamed_start = self.start;
        if let Some(blame) = self.blamed.iter_mut().find(|blame| blame.id == from) {
            blame.times = blame.times.saturating_add(1);
            return;
        }
        let Some(candidate) = self.chain.candidates.iter().find(|candidate| candidate.id == from) else {
            return;
        };
        let hash = candidate.hash;
        if self.blamed.len() >= BLAMED_MAX {
            self.blamed.remove(0);
        }
        self.blamed.push(Blame { id: from, hash, times: 1 });
    }

    /// No further attempt: people must look.
    pub(crate) fn review(&mut self, scope: &mut Scope<'_, '_>, why: Review) {
        self.enter(scope.step.now, Phase::HumanReview { why });
        let attempts = self.attempt;
        scope.tell(|task| Change::Failed { task, why, attempts });
        if !self.raised.contains(&Condition::Review) {
            self.raised.push(Condition::Review);
            scope.decide(|task| Decision::HumanReview { task, why });
        }
    }

    /// A life goes on with the task and is watched closely.
    pub(crate) fn watch(&mut self, scope: &mut Scope<'_, '_>, by_others: bool) {
        let now = scope.step.now;
        self.progressed = false;
        self.enter(now, Phase::Watching { until: now + scope.step.policy.watch, well: false });
        let life = self.life.clone();
        scope.tell(|task| Change::CameUp { task, life, by_others });
    }

    /// The watch was passed.
    pub(crate) fn succeed(&mut self, scope: &mut Scope<'_, '_>) {
        let now = scope.step.now;
        self.enter(now, Phase::Succeeded { stable_at: now + scope.step.policy.stable_after });
        let (life, attempts) = (self.life.clone(), self.attempt);
        scope.tell(|task| Change::Completed { task, life, attempts });
        self.clear_all(scope);
    }

    /// Whether a life of it lives, as far as is known.
    pub(crate) fn lives(&self) -> bool {
        matches!(self.phase, Phase::Watching { .. } | Phase::Succeeded { .. })
    }

    /// Another life is the present one.
    pub(crate) fn succeeded_by(&mut self, life: Life) {
        self.former.retain(|former| former.agent != self.life.agent);
        if self.former.len() >= FORMER_MAX {
            self.former.remove(0);
        }
        self.former.push(std::mem::replace(&mut self.life, life));
    }

    pub(crate) fn raise(&mut self, scope: &mut Scope<'_, '_>, condition: Condition) {
        self.set_raised(scope, condition, true);
    }

    pub(crate) fn clear(&mut self, scope: &mut Scope<'_, '_>, condition: Condition) {
        self.set_raised(scope, condition, false);
    }

    fn set_raised(&mut self, scope: &mut Scope<'_, '_>, condition: Condition, raised: bool) {
        if raised == self.raised.contains(&condition) {
            return;
        }
        self.raised.retain(|known| *known != condition);
        if raised {
            self.raised.push(condition);
            scope.decide(|task| Decision::Alert { task: Some(task), condition });
        } else if condition == Condition::Review {
            scope.decide(|task| Decision::ReviewOver { task });
        } else {
            scope.decide(|task| Decision::Clear { task: Some(task), condition });
        }
    }

    pub(crate) fn clear_all(&mut self, scope: &mut Scope<'_, '_>) {
        for condition in self.raised.clone() {
            self.clear(scope, condition);
        }
    }
}
