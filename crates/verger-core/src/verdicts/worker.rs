//! A worker whose log is read: its trend, and what a ticket about it would say.

use std::sync::Arc;

use super::ticket::{EVIDENCE_MAX, ID_MAX};
use super::trend::SESSION_MAX;
use super::{Assessment, Draft, JudgePolicy, Report, Seen, Standing, Trend, Verdict, judge};
use crate::id::{AgentId, SessionId};
use crate::text;
use crate::time::{Span, Timestamp};

/// One step as a log tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Its number in the session.
    pub number: u64,
    /// What was said of it; nothing while it is under way.
    pub verdict: Option<Verdict>,
    /// Where in its graph the worker is: the node, or the call that is under way.
    pub node: Option<Arc<str>>,
    /// What the worker said in it.
    pub output: Option<Arc<str>>,
}

/// A worker whose log is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Worker {
    pub(crate) trend: Trend,
    pub(crate) graph: Option<Arc<str>>,
    /// Where the latest step is.
    pub(crate) node: Option<Arc<str>>,
    /// The end of what it said last.
    pub(crate) output: Arc<str>,
    pub(crate) began_at: Timestamp,
    /// When a step was last accepted.
    pub(crate) accepted_at: Option<Timestamp>,
    /// When something was last seen to come of its work: a file, a test, a checkpoint.
    pub(crate) progress_at: Option<Timestamp>,
    /// The standing that was last recorded.
    pub(crate) told: Option<Standing>,
}

impl Worker {
    /// This session is under way. The one that is known already changes nothing.
    pub fn begin(&mut self, now: Timestamp, session: &str, graph: Option<&str>, policy: &JudgePolicy) {
        if self.is_in(session) {
            return;
        }
        let graph = graph.map(|graph| text::first(graph, ID_MAX).into());
        *self = Self { graph, began_at: now, ..Self::default() };
        self.trend.begin(now, session, policy);
    }

    /// The session that is followed.
    pub fn session(&self) -> Option<&SessionId> {
        self.trend.session.as_ref()
    }

    /// Whether this is the session that is followed.
    pub fn is_in(&self, session: &str) -> bool {
        self.session().is_some_and(|own| own.as_str() == text::first(session, SESSION_MAX))
    }

    /// A step of the session. Tells what to do at once.
    pub fn on_step(
        &mut self,
        now: Timestamp,
        session: &str,
        step: &Step,
        seen: Seen,
        policy: &JudgePolicy,
    ) -> Option<Assessment> {
        if !self.is_in(session) {
            return None;
        }
        let accepted = |trend: &Trend| trend.steps.get(&step.number) == Some(&Some(Verdict::Accept));
        let before = accepted(&self.trend);
        let found = self.trend.on_step(now, session, step.number, step.verdict, seen, policy);
        if !before && accepted(&self.trend) {
            self.accepted_at = Some(now);
        }
        // Steps come late and twice; where the worker is, the latest tells.
        if self.trend.latest() == Some(step.number) {
            self.node =
                step.node.as_deref().map(|node| text::first(node, ID_MAX).into()).or(self.node.take());
            if let Some(said) = step.output.as_deref().filter(|said| !said.trim().is_empty()) {
                self.output = text::last(said, EVIDENCE_MAX).into();
            }
        }
        found
    }

    /// Something came of its work.
    pub fn on_progress(&mut self, now: Timestamp) {
        self.progress_at = Some(now);
    }

    /// Looks at the worker if that is due.
    pub fn wake(&mut self, now: Timestamp, seen: Seen, policy: &JudgePolicy) -> Option<Assessment> {
        self.trend.wake(now, seen, policy)
    }

    /// When it must be looked at.
    pub fn deadline(&self, policy: &JudgePolicy) -> Option<Timestamp> {
        self.trend.deadline(Timestamp::ZERO, policy)
    }

    /// How it stands now, for whoever asks.
    pub fn assess(&self, now: Timestamp, seen: Seen, policy: &JudgePolicy) -> Option<Assessment> {
        self.trend.assess(now, seen, policy)
    }

    /// Whether what was found is worth recording: it is another standing than before, or something follows.
    pub fn is_news(&mut self, found: &Assessment) -> bool {
        let other = self.told.replace(found.standing) != Some(found.standing);
        other || found.ticket.is_some() || found.recovered
    }

    /// The ticket about what was found, if one is due. `graph` stands in where the log names none.
    pub fn draft(&self, worker: &AgentId, graph: &str, found: &Assessment) -> Option<Draft> {
        let graph = self.graph.as_deref().unwrap_or(graph);
        let place = judge::Place { graph, node: self.node.as_deref() };
        judge::draft(worker, place, found, &self.output)
    }

    /// Whether something came of the steps that a ticket complains of, and within this time: what came before them
    /// excuses nothing, nor for ever.
    pub fn has_progressed(
        &self,
        now: Timestamp,
        report: &Report,
        within: Span,
        policy: &JudgePolicy,
    ) -> bool {
        let accepted_at = self.accepted_at.unwrap_or(self.began_at);
        // Who has stood still for as long as two looks may have saved its last work at the first of them.
        let within = report.stall.map_or(within, |_| within.min(policy.check_span()));
        self.progress_at.is_some_and(|at| accepted_at <= at && now.since(at) < within)
    }
}
