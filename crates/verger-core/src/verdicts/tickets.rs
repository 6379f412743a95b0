//! The book of tickets: each is triaged once, people are told of a condition once, and their word is kept.
//!
//! ```text
//!          ┌─ the condition is known ──► Joined
//! raised ──┤
//!          └─► (Triaging, while a model is asked) ──► Dismissed
//!                         │                      └──► Open ── recovered, session or life over, time ──► Over
//!                         └── recovered, session or life over ──────────────────────────────────────────► Over
//! ```
//!
//! A condition is one session of one worker in one life. Further tickets about it join the one that people
//! know of. What was dismissed is no such ticket: the next one is judged anew. A person may decide about any
//! ticket that is not over, dismissed ones included, and the first word counts. Nobody has to: a ticket that
//! nobody decides and nothing confirms ends by itself.

use std::collections::VecDeque;

use super::Policy;
use super::entry::{Answer, Ending, Entry, Stage};
use super::queen::{self, Advice, Sight};
use super::ticket::{self, Draft, Refusal, Report, Severity, TEXT_MAX, Ticket};
use crate::id::{Actor, AgentId, Incarnation, TicketId};
use crate::text;
use crate::time::{Span, Timestamp};

/// Tickets in the book.
pub(super) const TICKETS_MAX: usize = 256;
/// Tickets of one worker, so that no worker crowds out the others.
pub(super) const OF_ONE_MAX: usize = 8;

/// The tickets of a fleet, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tickets {
    pub(crate) entries: VecDeque<Entry>,
    /// Counts the tickets that were taken in.
    pub(crate) raised: u64,
}

/// What happened to a ticket: facts for the fleet to record and to carry out.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It was taken in (`WORKER_ESCALATION_TICKET`).
    Raised {
        /// Which.
        ticket: TicketId,
    },
    /// A language model is to be asked.
    AdviceWanted {
        /// About which.
        ticket: TicketId,
        /// When it is decided without.
        until: Timestamp,
    },
    /// It joined the one that people know of, or that is being triaged.
    Joined {
        /// Which.
        ticket: TicketId,
        /// The other.
        to: TicketId,
    },
    /// Nobody is disturbed.
    Dismissed {
        /// Which.
        ticket: TicketId,
        /// Why.
        analysis: String,
    },
    /// A person is to be told, now and once (`QUEEN_INTERVENTION_REQUESTED`).
    InterventionRequested {
        /// About which.
        ticket: TicketId,
        /// How grave it is.
        severity: Severity,
        /// Why.
        analysis: String,
    },
    /// A person decided. The fleet carries it out for this life of the worker and no other.
    Answered {
        /// About which.
        ticket: TicketId,
        /// Whom it concerns.
        worker: AgentId,
        /// The life it is meant for, where that is known.
        life: Option<Incarnation>,
        /// What was decided.
        answer: Answer,
    },
    /// It is closed. If people were told of it, they are told of this too, unless it was only renewed.
    Closed {
        /// Which.
        ticket: TicketId,
        /// Why.
        ending: Ending,
        /// Whether people were told of it.
        told: bool,
    },
}

/// Why a ticket was not taken in. It changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RaiseError {
    /// It is not complete.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Another ticket has its name.
    #[error("ticket `{0}` exists and says something else")]
    Taken(TicketId),
    /// People have been told of as many as there is room for; no more can be added.
    #[error("{TICKETS_MAX} tickets are open; decide some of them first")]
    Full,
}

/// Why a person's word was not taken. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecideError {
    /// There is no such ticket.
    #[error("no ticket `{0}` is known")]
    Unknown(TicketId),
    /// There is nothing to decide any more.
    #[error("ticket `{0}` is closed")]
    Over(TicketId),
    /// Somebody was first.
    #[error("ticket `{ticket}` was decided by {by}")]
    Decided {
        /// Which.
        ticket: TicketId,
        /// By whom.
        by: Actor,
    },
}

impl Tickets {
    /// Takes in a ticket and judges it, at once or when a model was asked. Handing in the same one again under
    /// its name changes nothing and tells that name.
    pub fn raise(
        &mut self,
        now: Timestamp,
        draft: Draft,
        life: Option<Incarnation>,
        sight: Sight,
        policy: &Policy,
        out: &mut Vec<Change>,
    ) -> Result<TicketId, RaiseError> {
        let (given, report) = draft.check()?;
        if let Some(known) = given.as_ref().and_then(|id| self.get(id)) {
            let same = known.ticket.report == report && known.ticket.life == life;
            let id = known.ticket.id.clone();
            return if same { Ok(id) } else { Err(RaiseError::Taken(id)) };
        }
        // What ended meanwhile must not take the new one in.
        self.wake(now, policy, out);
        self.make_room(now, &report.worker, out)?;
        self.raised = self.raised.wrapping_add(1);
        let id = given.unwrap_or_else(|| self.name(&report, now));
        out.push(Change::Raised { ticket: id.clone() });
        let triage = queen::triage(&report, sight, &policy.queen);
        let known = self.entries.iter_mut().find(|entry| entry.is_live() && entry.is_about(&report, life));
        let stage = match known.and_then(|known| known.unless_outlasted(now, &policy.queen, out)) {
            Some(known) => {
                known.confirmed_at = now;
                known.worst = known.worst.max(report.severity);
                known.join(&triage);
                let to = known.ticket.id.clone();
                out.push(Change::Joined { ticket: id.clone(), to: to.clone() });
                Stage::Joined { to }
            }
            // Without a model, this moment is the latest.
            None => Stage::Triaging { until: now + policy.queen.advice_within.unwrap_or(Span::ZERO) },
        };
        let mut entry = Entry {
            number: self.raised,
            worst: report.severity,
            ticket: Ticket { id: id.clone(), created_at: now, life, report },
            triage,
            stage,
            confirmed_at: now,
            told_at: None,
            answered: None,
        };
        match entry.stage {
            Stage::Triaging { until } if now < until => {
                out.push(Change::AdviceWanted { ticket: id.clone(), until });
            }
            Stage::Triaging { .. } => entry.settle(now, out),
            Stage::Dismissed | Stage::Open | Stage::Joined { .. } | Stage::Over { .. } => {}
        }
        self.entries.push_back(entry);
        Ok(id)
    }

    /// A language model's advice about a ticket. It may tip a triage that waits for it; later it is only kept.
    /// Tells whether there is such a ticket without advice.
    pub fn on_advice(
        &mut self,
        now: Timestamp,
        id: &TicketId,
        advice: Advice,
        out: &mut Vec<Change>,
    ) -> bool {
        let Some(entry) = self.get_mut(id).filter(|entry| entry.triage.advice.is_none()) else {
            return false;
        };
        if matches!(entry.stage, Stage::Triaging { .. }) {
            entry.triage.advise(advice);
            entry.settle(now, out);
        } else {
            entry.triage.advice = Some(advice);
        }
        true
    }

    /// A person's word about a ticket, or about the one that it joined. The first counts until its time is up;
    /// the same word of the same person once more changes nothing. Tells the ticket that was decided.
    pub fn decide(
        &mut self,
        now: Timestamp,
        id: &TicketId,
        answer: Answer,
        policy: &Policy,
        out: &mut Vec<Change>,
    ) -> Result<TicketId, DecideError> {
        let target = self.spokesman(id).unwrap_or_else(|| id.clone());
        let Some(entry) = self.get_mut(&target) else { return Err(DecideError::Unknown(target)) };
        if matches!(entry.stage, Stage::Over { .. }) {
            return Err(DecideError::Over(target));
        }
        if let (Some((before, _)), false) = (&entry.answered, entry.is_outlasted(now, &policy.queen)) {
            let same = before.by == answer.by && before.decision == answer.decision;
            let decided = DecideError::Decided { ticket: target.clone(), by: before.by.clone() };
            return if same { Ok(target) } else { Err(decided) };
        }
        let answer = Answer { reason: text::first(&answer.reason, TEXT_MAX).into(), ..answer };
        // Whoever decides knows of it, whatever the queen thought.
        entry.stage = Stage::Open;
        entry.confirmed_at = now;
        entry.answered = Some((answer.clone(), now));
        let Ticket { id: ticket, life, report, .. } = &entry.ticket;
        let (ticket, worker, life) = (ticket.clone(), report.worker.clone(), *life);
        out.push(Change::Answered { ticket, worker, life, answer });
        Ok(target)
    }

    /// A worker does well again in this session: what is open about it there is over.
    pub fn on_recovered(&mut self, now: Timestamp, worker: &AgentId, session: &str, out: &mut Vec<Change>) {
        self.close_session(now, worker, session, Ending::Recovered, out);
    }

    /// A session of a worker is over: nothing is left to decide about it.
    pub fn on_session_over(
        &mut self,
        now: Timestamp,
        worker: &AgentId,
        session: &str,
        out: &mut Vec<Change>,
    ) {
        self.close_session(now, worker, session, Ending::SessionOver, out);
    }

    fn close_session(
        &mut self,
        now: Timestamp,
        worker: &AgentId,
        session: &str,
        ending: Ending,
        out: &mut Vec<Change>,
    ) {
        for entry in self.entries.iter_mut().filter(|entry| entry.is_live()) {
            let report = &entry.ticket.report;
            if report.worker == *worker && report.session.as_str() == session {
                entry.close(now, ending, out);
            }
        }
    }

    /// A life of a worker is over, or the worker is no longer watched: nothing is left to decide about it.
    pub fn on_life_over(&mut self, now: Timestamp, worker: &AgentId, out: &mut Vec<Change>) {
        for entry in self.entries.iter_mut().filter(|entry| entry.is_live()) {
            if entry.ticket.report.worker == *worker {
                entry.close(now, Ending::LifeOver, out);
            }
        }
    }

    /// Does what is due: decides without the model, and ends what nobody decides. Calling early is harmless.
    pub fn wake(&mut self, now: Timestamp, policy: &Policy, out: &mut Vec<Change>) {
        for entry in &mut self.entries {
            match entry.due(&policy.queen).filter(|(due, _)| *due <= now) {
                Some((_, Some(ending))) => entry.close(now, ending, out),
                Some((_, None)) => entry.settle(now, out),
                None => {}
            }
        }
    }

    /// When something is due.
    pub fn deadline(&self, now: Timestamp, policy: &Policy) -> Option<Timestamp> {
        let due = self.entries.iter().filter_map(|entry| entry.due(&policy.queen)).map(|(due, _)| due).min();
        due.map(|due| due.max(now + Span::millis(1)))
    }

    /// Puts back a ticket as it was written down, in whatever order they are read.
    pub(crate) fn recall(&mut self, entry: Entry) {
        self.raised = self.raised.max(entry.number);
        let at = self.entries.partition_point(|other| other.number < entry.number);
        self.entries.insert(at, entry);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// One ticket.
    pub fn get(&self, id: &TicketId) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.ticket.id == *id)
    }

    /// All tickets, newest first.
    pub fn all(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().rev()
    }

    /// The tickets that wait for a person, newest first.
    pub fn open(&self) -> impl Iterator<Item = &Entry> {
        self.all().filter(|entry| entry.awaits_person())
    }

    fn get_mut(&mut self, id: &TicketId) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.ticket.id == *id)
    }

    /// The ticket that a word about this one is meant for: the one that people know its condition by.
    fn spokesman(&self, id: &TicketId) -> Option<TicketId> {
        let entry = self.get(id)?;
        let Ticket { report, life, .. } = &entry.ticket;
        let mut same = self.entries.iter().filter(|other| other.is_about(report, *life));
        let found = match &entry.stage {
            Stage::Triaging { .. } | Stage::Open | Stage::Over { .. } => None,
            Stage::Dismissed => same.find(|other| other.is_live()),
            // Names of forgotten tickets may be given again: it must be about the same.
            Stage::Joined { to } => same
                .clone()
                .find(|other| other.is_live())
                .or_else(|| same.find(|other| other.ticket.id == *to)),
        };
        Some(found.unwrap_or(entry).ticket.id.clone())
    }

    /// A name that no ticket in the book has.
    fn name(&mut self, report: &Report, now: Timestamp) -> TicketId {
        loop {
            let id = ticket::ticket_id(report, now, self.raised);
            if self.get(&id).is_none() {
                return id;
            }
            self.raised = self.raised.wrapping_add(1);
        }
    }

    /// Makes room for one more ticket of this worker; what people wait for is given up last.
    fn make_room(
        &mut self,
        now: Timestamp,
        worker: &AgentId,
        out: &mut Vec<Change>,
    ) -> Result<(), RaiseError> {
        let own = |entry: &Entry| entry.ticket.report.worker == *worker;
        if self.entries.iter().filter(|entry| own(entry)).count() >= OF_ONE_MAX {
            let done = self.entries.iter().position(|entry| own(entry) && !entry.is_live());
            let oldest = done.or_else(|| self.entries.iter().position(own));
            if let Some(mut entry) = oldest.and_then(|at| self.entries.remove(at)).filter(Entry::is_live) {
                entry.close(now, Ending::Displaced, out);
            }
        } else if self.entries.len() >= TICKETS_MAX {
            let done = self.entries.iter().position(|entry| !entry.is_live()).ok_or(RaiseError::Full)?;
            self.entries.remove(done);
        }
        Ok(())
    }
}
