//! One ticket in the book: where it stands, what a person decided about it, and when it is due.

use std::sync::Arc;

use super::QueenPolicy;
use super::queen::{Ruling, Triage};
use super::ticket::{Report, Severity, Ticket};
use super::tickets::Change;
use crate::command::Decision;
use crate::id::{Actor, Incarnation, TicketId};
use crate::time::{Span, Timestamp};

/// A ticket and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its place among all tickets that were ever taken in.
    pub number: u64,
    /// The ticket.
    pub ticket: Ticket,
    /// How it was judged.
    pub triage: Triage,
    /// Where it stands.
    pub stage: Stage,
    /// The gravest severity of it and of those that joined it.
    pub worst: Severity,
    /// When the last ticket about this condition came.
    pub confirmed_at: Timestamp,
    /// When people were told.
    pub told_at: Option<Timestamp>,
    /// What a person decided, and when.
    pub answered: Option<(Answer, Timestamp)>,
}

/// Where a ticket stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A language model is asked what it thinks; at `until` it is decided without.
    Triaging {
        /// The latest moment.
        until: Timestamp,
    },
    /// Nobody was disturbed.
    Dismissed,
    /// People know of it.
    Open,
    /// People know of the condition through another ticket.
    Joined {
        /// That one.
        to: TicketId,
    },
    /// It is closed.
    Over {
        /// Since when.
        at: Timestamp,
        /// Why.
        ending: Ending,
    },
}

/// Why a ticket is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The worker does well again.
    Recovered,
    /// That life of the worker, or the worker, is gone.
    LifeOver,
    /// The session that it is about has ended.
    SessionOver,
    /// The condition outlasted the time that a person gave, or that a decision takes; a new ticket tells of it.
    Renewed,
    /// Nobody decided and nothing confirmed it for long.
    Expired,
    /// The worker had too many tickets open; this was the oldest.
    Displaced,
}

/// What a person decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Who.
    pub by: Actor,
    /// What.
    pub decision: Decision,
    /// Why.
    pub reason: Arc<str>,
}

impl Answer {
    fn patience(&self, policy: &QueenPolicy) -> Span {
        match self.decision {
            Decision::AllowMoreTime(span) => span.unwrap_or(policy.more_time),
            Decision::ForceHandoff | Decision::TerminateAndRecover => policy.more_time,
        }
    }
}

impl Entry {
    /// Whether it is about something that may still go on and that people know of, or may soon.
    pub fn is_live(&self) -> bool {
        matches!(self.stage, Stage::Triaging { .. } | Stage::Open)
    }

    /// Whether it waits for a person.
    pub fn awaits_person(&self) -> bool {
        self.stage == Stage::Open && self.answered.is_none()
    }

    pub(super) fn is_about(&self, report: &Report, life: Option<Incarnation>) -> bool {
        let own = &self.ticket.report;
        own.worker == report.worker && own.session == report.session && self.ticket.life == life
    }

    /// Whatever a person decided has until then to show. If the condition outlasts it, it is news again.
    fn quiet_until(&self, policy: &QueenPolicy) -> Option<Timestamp> {
        self.answered.as_ref().map(|(answer, at)| *at + answer.patience(policy))
    }

    pub(super) fn is_outlasted(&self, now: Timestamp, policy: &QueenPolicy) -> bool {
        self.quiet_until(policy).is_some_and(|until| until <= now)
    }

    /// When something must happen to it by itself.
    pub(super) fn due(&self, policy: &QueenPolicy) -> Option<(Timestamp, Option<Ending>)> {
        match &self.stage {
            Stage::Triaging { until } => Some((*until, None)),
            Stage::Open => {
                let end = self.confirmed_at + policy.open_for;
                Some((self.quiet_until(policy).map_or(end, |quiet| quiet.max(end)), Some(Ending::Expired)))
            }
            Stage::Dismissed | Stage::Joined { .. } | Stage::Over { .. } => None,
        }
    }

    /// Carries out what the triage says.
    pub(super) fn settle(&mut self, now: Timestamp, out: &mut Vec<Change>) {
        let (ticket, analysis) = (self.ticket.id.clone(), self.triage.analysis());
        match self.triage.ruling {
            Ruling::Dismiss => {
                self.stage = Stage::Dismissed;
                out.push(Change::Dismissed { ticket, analysis });
            }
            Ruling::Intervene => {
                self.stage = Stage::Open;
                self.told_at = Some(now);
                out.push(Change::InterventionRequested { ticket, severity: self.worst, analysis });
            }
        }
    }

    /// Itself, if another ticket about its condition is no news; else it is closed in favour of that one.
    pub(super) fn unless_outlasted(
        &mut self,
        now: Timestamp,
        policy: &QueenPolicy,
        out: &mut Vec<Change>,
    ) -> Option<&mut Self> {
        if self.is_outlasted(now, policy) {
            self.close(now, Ending::Renewed, out);
            return None;
        }
        Some(self)
    }

    pub(super) fn close(&mut self, now: Timestamp, ending: Ending, out: &mut Vec<Change>) {
        self.stage = Stage::Over { at: now, ending };
        let told = self.told_at.is_some();
        out.push(Change::Closed { ticket: self.ticket.id.clone(), ending, told });
    }

    /// Another ticket about the same: a triage that is not done yet takes the graver of both views.
    pub(super) fn join(&mut self, triage: &Triage) {
        let waits = matches!(self.stage, Stage::Triaging { .. });
        if waits && self.triage.ruling == Ruling::Dismiss && triage.ruling == Ruling::Intervene {
            self.triage = triage.clone();
        }
    }
}
