//! What may still run though it should have ended. Nothing is started before that is settled.
//!
//! What somebody else let go of is waited for. What a start of ours began is asked to end, again and again and ever
//! more rarely: the way there may be broken for a while, and the answer may be lost.

use super::task::{Recovery, Scope};
use super::{Change, Condition, Decision, Life};
use crate::id::AgentId;
use crate::time::{Span, Timestamp};

/// Ends in doubt that are named; more make one that only a person can settle.
const DOUBTS_MAX: usize = 8;
/// What was asked to end and is not known to have is asked again after this.
const ASK_AGAIN: Span = Span::minutes(5);

/// An end that is not certain.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Doubt {
    pub(crate) since: Timestamp,
    pub(crate) of: Doubted,
    /// It was asked to end, if a start of ours began it.
    pub(crate) asked: Option<AskedToEnd>,
}

/// What may still run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Doubted {
    /// This life.
    Life(Life),
    /// Whatever this start began.
    Start(u64),
    /// More than are named.
    Others,
}

/// A start that was taken back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AskedToEnd {
    pub(crate) start: u64,
    /// Whom it started; another may have the task by now.
    pub(crate) agent: AgentId,
    /// When it is asked again.
    pub(crate) again_at: Timestamp,
}

impl AskedToEnd {
    fn ask(&self, scope: &mut Scope<'_, '_>, of: &Doubted) {
        let (start, agent) = (self.start, self.agent.clone());
        let incarnation = if let Doubted::Life(life) = of { Some(life.incarnation) } else { None };
        scope.decide(|task| Decision::Withdraw { task, start, agent, incarnation });
    }
}

impl Recovery {
    /// Takes the last start back. It is not certain what becomes of it until it is told.
    pub(crate) fn withdraw(&mut self, scope: &mut Scope<'_, '_>) {
        let doubted = self.started.clone().map_or(Doubted::Start(self.start), Doubted::Life);
        self.take_back(scope, self.start, &doubted);
    }

    /// Asks what a start of ours began to end.
    pub(crate) fn take_back(&mut self, scope: &mut Scope<'_, '_>, start: u64, of: &Doubted) {
        let now = scope.step.now;
        self.doubt(now, of.clone());
        let agent = match of {
            Doubted::Life(life) => life.agent.clone(),
            Doubted::Start(_) | Doubted::Others => self.life.agent.clone(),
        };
        let asked = AskedToEnd { start, agent, again_at: now + ASK_AGAIN };
        asked.ask(scope, of);
        if let Some(doubt) = self.doubts.iter_mut().find(|doubt| doubt.of == *of) {
            doubt.asked = Some(asked);
        }
    }

    /// Who has a name and was asked to end is not asked again: it may have other work by now.
    pub(crate) fn let_lives_be(&mut self) {
        for doubt in self.doubts.iter_mut().filter(|doubt| matches!(doubt.of, Doubted::Life(_))) {
            doubt.asked = None;
        }
    }

    /// When something is asked again to end.
    pub(crate) fn ask_again_at(&self) -> Option<Timestamp> {
        self.doubts.iter().filter_map(|doubt| doubt.asked.as_ref()).map(|asked| asked.again_at).min()
    }

    /// Asks those again whose time has come.
    pub(crate) fn ask_again(&mut self, scope: &mut Scope<'_, '_>) {
        let now = scope.step.now;
        for doubt in &mut self.doubts {
            if let Some(asked) = doubt.asked.as_mut().filter(|asked| asked.again_at <= now) {
                asked.again_at = now + now.since(doubt.since).max(ASK_AGAIN);
                asked.ask(scope, &doubt.of);
            }
        }
    }

    /// This may still run.
    pub(crate) fn doubt(&mut self, since: Timestamp, of: Doubted) {
        if self.is_in_doubt(&of) {
            return;
        }
        if self.doubts.len() < DOUBTS_MAX {
            self.doubts.push(Doubt { since, of, asked: None });
        } else if let Some(last) = self.doubts.last_mut() {
            last.of = Doubted::Others;
        }
    }

    pub(crate) fn is_in_doubt(&self, of: &Doubted) -> bool {
        self.doubts.iter().any(|doubt| doubt.of == *of)
    }

    /// Whether the last start was for this agent, was taken back, and may run all the same.
    pub(crate) fn was_started_for(&self, agent: &AgentId) -> bool {
        let mut of_start = self.doubts.iter().filter(|doubt| doubt.of == Doubted::Start(self.start));
        of_start.any(|doubt| doubt.asked.as_ref().is_some_and(|asked| asked.agent == *agent))
    }

    /// It is certain that these do not run any more.
    pub(crate) fn settle_doubts(&mut self, scope: &mut Scope<'_, '_>, gone: impl Fn(&Doubted) -> bool) {
        let was_in_doubt = !self.doubts.is_empty();
        self.drop_doubts(scope, gone);
        if was_in_doubt && self.doubts.is_empty() {
            scope.tell(|task| Change::EndConfirmed { task });
        }
    }

    /// These are no question any more, for whatever reason.
    pub(crate) fn drop_doubts(&mut self, scope: &mut Scope<'_, '_>, settled: impl Fn(&Doubted) -> bool) {
        self.doubts.retain(|doubt| !settled(&doubt.of));
        if self.doubts.is_empty() {
            self.clear(scope, Condition::MayStillRun);
        }
    }
}
