//! What is heard of lives, and what it means for a recovery.
//!
//! Words come late, twice and in any order. A life is the present one, or newer, or one whose word is stale;
//! only the first two change anything. A newer life that no start of ours began was begun by somebody else,
//! and counts as a start all the same: limits that another path could get around would be none.

use std::sync::Arc;

use super::machine::Ended;
use super::task::{Phase, Recovery, Scope};
use super::{CallOff, Change, Doubted, Failure, Life, Neglect, Review, Word};
use crate::time::Timestamp;

/// What became of a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Started {
    /// It was done; the new life, if it is known already.
    Done(Option<Life>),
    /// It could not be done, and nothing runs. Trying again may help.
    Failed,
    /// Nobody will do it: no command is known, or it is not allowed. Trying again would change nothing.
    Refused,
    /// The checkpoint could not be read, and nothing runs.
    CheckpointUnreadable,
}

/// Whether a recovery is kept.
#[derive(Debug)]
pub(crate) enum Fate {
    /// It is.
    Keep,
    /// It is over; this is remembered of the task.
    Forget(Word),
}

/// How a life stands to the present one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rank {
    Present,
    Newer,
    Stale,
}

impl Recovery {
    /// A recovery of a task whose agent has just ended.
    pub(crate) fn new(now: Timestamp, ended: Ended) -> Self {
        let mut recovery = Self {
            phase: Phase::Waiting { at: now, held: None, by: None },
            since: now,
            life: ended.life.clone(),
            former: Vec::new(),
            attempt: 0,
            start: 0,
            started: None,
            from: None,
            wanted: None,
            surveyed: ended.chain.is_some(),
            chain: ended.chain.unwrap_or_default(),
            blamed: Vec::new(),
            blamed_start: 0,
            progressed: false,
            reason: clipped(&ended.reason),
            ended_at: now,
            doubts: Vec::new(),
            raised: Vec::new(),
            closed: None,
        };
        if !ended.confirmed {
            recovery.doubt(now, Doubted::Life(ended.life));
        }
        recovery
    }

    fn rank(&self, life: &Life) -> Rank {
        if *life == self.life {
            return Rank::Present;
        }
        let known = self.former.iter().chain([&self.life]).filter(|known| known.agent == life.agent);
        match known.map(|known| known.incarnation).max() {
            Some(known) if life.incarnation <= known => Rank::Stale,
            Some(_) | None => Rank::Newer,
        }
    }

    /// Whether a newer life of which something is heard is what the last start began: by the start's own
    /// word, else because it bears the agent's name and such a one is expected.
    fn is_ours(&self, life: &Life) -> bool {
        let is_awaited = matches!(self.phase, Phase::Running { .. }) && life.agent == self.life.agent;
        let is_taken_back = self.was_started_for(&life.agent);
        self.started.as_ref().map_or(is_awaited || is_taken_back, |started| started == life)
    }

    /// Whether a newer life that shows itself is. Whoever started it may have given it another name; then it
    /// is the one that shows itself on the task while a start is out.
    fn is_ours_alive(&self, life: &Life) -> bool {
        let is_awaited = matches!(self.phase, Phase::Running { .. }) && self.started.is_none();
        is_awaited || self.is_ours(life)
    }

    /// A life ended.
    pub(crate) fn on_ended(&mut self, scope: &mut Scope<'_, '_>, ended: Ended) -> Fate {
        if let Some(why) = self.closed {
            self.on_ended_after_all(scope, ended.life, ended.confirmed);
            scope.tell(|task| Change::NotRecovered { task, why: Neglect::Closed(why) });
            return Fate::Keep;
        }
        self.pass_time(scope);
        match self.rank(&ended.life) {
            Rank::Present if self.lives() => {
                let in_watch = matches!(self.phase, Phase::Watching { .. });
                let why = if in_watch { Failure::EndedInWatch } else { Failure::EndedLater };
                self.take_end(scope, ended);
                self.fail(scope, why);
            }
            Rank::Newer if self.is_ours(&ended.life) => self.on_start_ended(scope, ended),
            Rank::Newer if ended.life.agent == self.life.agent => self.on_unseen_ended(scope, ended),
            // An agent that the task was never said to have gone to.
            Rank::Newer if !ended.confirmed => {
                self.doubt(scope.step.now, Doubted::Life(ended.life));
            }
            Rank::Present | Rank::Newer | Rank::Stale if ended.confirmed => {
                self.settle_doubts(scope, |doubted| *doubted == Doubted::Life(ended.life.clone()));
            }
            Rank::Present | Rank::Newer | Rank::Stale => {}
        }
        Fate::Keep
    }

    /// What our start began has ended before it was heard of.
    fn on_start_ended(&mut self, scope: &mut Scope<'_, '_>, ended: Ended) {
        let was_awaited = matches!(self.phase, Phase::Running { .. });
        self.claim(scope, ended.life.clone());
        self.take_end(scope, ended);
        // A start that was taken back has failed already.
        if was_awaited {
            self.fail(scope, Failure::EndedInWatch);
        }
    }

    /// A life that somebody else had begun ended before it was heard of.
    fn on_unseen_ended(&mut self, scope: &mut Scope<'_, '_>, ended: Ended) {
        self.take_over(scope, ended.life.clone(), scope.step.now);
        self.take_end(scope, ended);
        match self.phase {
            Phase::HumanReview { .. } => {}
            Phase::Failed { .. } => {
                self.attempt = 0;
                self.schedule(scope);
            }
            Phase::Waiting { .. }
            | Phase::Running { .. }
            | Phase::Watching { .. }
            | Phase::Succeeded { .. } => self.fail(scope, Failure::EndedUnseen),
        }
    }

    fn take_end(&mut self, scope: &mut Scope<'_, '_>, ended: Ended) {
        let now = scope.step.now;
        self.reason = clipped(&ended.reason);
        self.ended_at = now;
        match ended.chain {
            Some(chain) => self.chain = chain,
            None => self.survey(scope),
        }
        let of = Doubted::Life(ended.life);
        if ended.confirmed {
            self.settle_doubts(scope, |doubted| *doubted == of);
        } else {
            self.doubt(now, of);
        }
    }

    /// The life that our start began has the task: it was counted when it was started.
    fn claim(&mut self, scope: &mut Scope<'_, '_>, life: Life) {
        let start = Doubted::Start(self.start);
        self.drop_doubts(scope, |doubted| *doubted == start);
        self.started = Some(life.clone());
        self.succeeded_by(life);
    }

    /// A life that somebody else began has the task. A start of ours is one too many then.
    fn take_over(&mut self, scope: &mut Scope<'_, '_>, life: Life, born_at: Timestamp) {
        if matches!(self.phase, Phase::Running { .. }) {
            self.withdraw(scope);
        }
        let was_started = life.agent == self.life.agent || self.ended_at <= born_at;
        self.succeeded_by(life);
        // With what it began nobody said, and what becomes of it is no fault of a checkpoint.
        self.from = None;
        if was_started {
            self.count_start(scope);
        } else {
            self.count_attempt();
        }
    }

    /// A life shows itself: it registered, beats, works.
    pub(crate) fn on_alive(&mut self, scope: &mut Scope<'_, '_>, life: &Life, born_at: Timestamp) -> Fate {
        match self.rank(life) {
            _ if self.closed.is_some() => Fate::Keep,
            Rank::Stale => Fate::Keep,
            Rank::Present => self.on_came_back(scope),
            Rank::Newer if self.is_ours_alive(life) => self.on_start_alive(scope, life),
            Rank::Newer if self.is_one_too_many(life) => self.on_start_doubled(scope, life),
            Rank::Newer => self.on_other_alive(scope, life, born_at),
        }
    }

    /// Whether this is what our start began, after another agent that has the task now was taken for it.
    fn is_one_too_many(&self, life: &Life) -> bool {
        let started_as = self.former.last().map(|former| &former.agent);
        let is_anothers = self.life.agent != life.agent && self.started.as_ref() == Some(&self.life);
        self.lives() && is_anothers && started_as == Some(&life.agent)
    }

    fn on_start_doubled(&mut self, scope: &mut Scope<'_, '_>, life: &Life) -> Fate {
        self.former.retain(|former| former.agent != life.agent);
        self.former.push(life.clone());
        self.take_back(scope, self.start, &Doubted::Life(life.clone()));
        Fate::Keep
    }

    fn on_start_alive(&mut self, scope: &mut Scope<'_, '_>, life: &Life) -> Fate {
        self.claim(scope, life.clone());
        if matches!(self.phase, Phase::Failed { .. }) {
            // A person had called it off. It is being ended, and has a name now.
            self.take_back(scope, self.start, &Doubted::Life(life.clone()));
            return Fate::Keep;
        }
        self.drop_doubts(scope, |doubted| *doubted == Doubted::Life(life.clone()));
        self.watch(scope, false);
        Fate::Keep
    }

    fn on_other_alive(&mut self, scope: &mut Scope<'_, '_>, life: &Life, born_at: Timestamp) -> Fate {
        self.drop_doubts(scope, |doubted| *doubted == Doubted::Life(life.clone()));
        if matches!(self.phase, Phase::Failed { .. }) && self.doubts.is_empty() {
            return Fate::Forget(Word::Last(life.clone()));
        }
        let other_agent = life.agent != self.life.agent;
        let was_planned = matches!(self.phase, Phase::Waiting { .. } | Phase::Running { .. });
        self.take_over(scope, life.clone(), born_at);
        if other_agent && was_planned {
            let why = CallOff::TakenOver(life.clone());
            scope.tell(|task| Change::CalledOff { task, why });
        }
        self.watch(scope, true);
        Fate::Keep
    }

    /// The life that was believed to have ended shows itself. That is believed only if its end was in doubt.
    fn on_came_back(&mut self, scope: &mut Scope<'_, '_>) -> Fate {
        let in_doubt = Doubted::Life(self.life.clone());
        if matches!(self.phase, Phase::Running { .. }) || !self.is_in_doubt(&in_doubt) || self.is_taken_back()
        {
            return Fate::Keep;
        }
        self.drop_doubts(scope, |doubted| *doubted == in_doubt);
        if !matches!(self.phase, Phase::Failed { .. }) {
            scope.tell(|task| Change::CalledOff { task, why: CallOff::CameBack });
        }
        if self.attempt == 0 && self.doubts.is_empty() {
            return Fate::Forget(Word::Last(self.life.clone()));
        }
        self.watch(scope, true);
        Fate::Keep
    }

    /// A person called it off, and its last life is one that a start of ours began: it is being ended.
    fn is_taken_back(&self) -> bool {
        matches!(self.phase, Phase::Failed { .. }) && self.started.as_ref() == Some(&self.life)
    }

    /// Another life has the task by somebody's decision: what we began for it is taken back.
    pub(crate) fn on_taken_over(
        &mut self,
        scope: &mut Scope<'_, '_>,
        life: &Life,
        born_at: Timestamp,
    ) -> Fate {
        if *life == self.life || self.started.as_ref() == Some(life) || self.closed.is_some() {
            return self.on_alive(scope, life, born_at);
        }
        self.on_other_alive(scope, life, born_at)
    }

    /// The composite state of the present life changed.
    pub(crate) fn on_health(&mut self, scope: &mut Scope<'_, '_>, life: &Life, is_well: bool) -> Fate {
        // What was passed while it was well is passed, whatever it is now.
        self.pass_time(scope);
        if *life == self.life
            && let Phase::Watching { well, .. } = &mut self.phase
        {
            *well = is_well;
        }
        self.pass_time(scope);
        Fate::Keep
    }

    /// A life made progress. Tells whether that is news.
    pub(crate) fn on_progress(&mut self, life: &Life) -> bool {
        let is_news = !self.progressed && self.lives() && *life == self.life;
        self.progressed |= is_news;
        is_news
    }

    /// Counts what time alone has brought about, before something else is heard: a watch that was passed, and
    /// a run that was stable.
    fn pass_time(&mut self, scope: &mut Scope<'_, '_>) {
        let now = scope.step.now;
        if let Phase::Watching { until, well: true } = self.phase
            && until <= now
        {
            self.succeed(scope);
        }
        if let Phase::Succeeded { stable_at } = self.phase
            && stable_at <= now
            && self.progressed
            && self.attempt > 0
        {
            self.attempt = 0;
            self.blamed.clear();
            scope.tell(|task| Change::Forgotten { task });
        }
    }

    /// What became of a start.
    pub(crate) fn on_started(&mut self, scope: &mut Scope<'_, '_>, start: u64, outcome: &Started) -> Fate {
        let failure = match outcome {
            Started::Done(life) => {
                if let Some(life) = life {
                    self.on_start_named(scope, start, life);
                }
                return Fate::Keep;
            }
            Started::Failed => Some(Failure::NotStarted),
            Started::CheckpointUnreadable => Some(Failure::CheckpointUnreadable),
            Started::Refused => None,
        };
        self.settle_doubts(scope, |doubted| *doubted == Doubted::Start(start));
        if start != self.start || !matches!(self.phase, Phase::Running { .. }) {
            return Fate::Keep;
        }
        if failure == Some(Failure::CheckpointUnreadable) {
            let unreadable = self.from.clone();
            self.chain.candidates.retain(|candidate| Some(&candidate.id) != unreadable.as_ref());
        }
        match failure {
            Some(failure) => self.fail(scope, failure),
            None => self.review(scope, Review::Refused),
        }
        Fate::Keep
    }

    /// A start was done, and what it began has a name.
    fn on_start_named(&mut self, scope: &mut Scope<'_, '_>, start: u64, life: &Life) {
        if self.rank(life) != Rank::Newer {
            return;
        }
        let is_last = start == self.start;
        if is_last && matches!(self.phase, Phase::Running { .. }) {
            self.started = Some(life.clone());
            return;
        }
        // It was taken back, or somebody else was faster: two of them are one too many.
        if is_last {
            self.started = Some(life.clone());
        }
        self.drop_doubts(scope, |doubted| *doubted == Doubted::Start(start));
        self.take_back(scope, start, &Doubted::Life(life.clone()));
    }

    /// It did not show itself in time.
    pub(crate) fn on_never_came_up(&mut self, scope: &mut Scope<'_, '_>) {
        self.withdraw(scope);
        self.fail(scope, Failure::NeverCameUp);
    }
}

/// A reason as one short line: it may come from an agent, and goes into another one's context.
fn clipped(reason: &str) -> Arc<str> {
    const LENGTH_MAX: usize = 300;
    reason.chars().filter(|character| !character.is_control()).take(LENGTH_MAX).collect::<String>().into()
}
