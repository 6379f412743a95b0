//! The queen (J03, J04): tickets come in, people hear of a condition once, and their word is carried out.

use std::collections::BTreeMap;

use super::rows::{read, row};
use super::{Collector, Fleet, RestoreError, Row, RowKey};
use crate::effect::{Action, Question};
use crate::event::{Event, Fact};
use crate::id::{AgentId, Incarnation, SessionId, TicketId};
use crate::notice::{NoticeError, Reply};
use crate::time::Timestamp;
use crate::verdicts::{
    Advice, Answer, Change, DecideError, Draft, Entry, Policy, RaiseError, Tickets, Worker,
};

/// The tickets, and which of them are stored as they are.
#[derive(Debug, Default)]
pub(crate) struct TicketBook {
    tickets: Tickets,
    due: Option<Timestamp>,
    changed: bool,
    /// What the store holds. Most of an entry is shared with the one in the book.
    stored: BTreeMap<TicketId, Entry>,
}

impl TicketBook {
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.due
    }

    pub(super) fn has_changes(&self) -> bool {
        self.changed
    }

    pub(super) fn arm(&mut self, policy: &Policy) {
        self.due = self.tickets.deadline(Timestamp::ZERO, policy);
    }

    fn take_changed_rows(&mut self, push: &mut dyn FnMut(Row)) {
        if !std::mem::take(&mut self.changed) {
            return;
        }
        let tickets = &self.tickets;
        self.stored.retain(|id, _| {
            let kept = tickets.get(id).is_some();
            if !kept {
                push(Row { key: RowKey::Ticket(id.clone()), bytes: None });
            }
            kept
        });
        for entry in tickets.all() {
            let id = &entry.ticket.id;
            if self.stored.get(id) != Some(entry) {
                push(row(RowKey::Ticket(id.clone()), entry));
                self.stored.insert(id.clone(), entry.clone());
            }
        }
    }

    fn mark_all(&mut self) {
        self.changed = true;
        let tickets = &self.tickets;
        self.stored.retain(|id, _| tickets.get(id).is_none());
    }
}

impl Fleet {
    /// The tickets about workers.
    pub fn tickets(&self) -> &Tickets {
        &self.machines.tickets.tickets
    }

    /// Takes in a ticket of the judge or of somebody else.
    pub(super) fn raise(
        &mut self,
        now: Timestamp,
        draft: Draft,
        out: &mut Collector,
    ) -> Result<TicketId, RaiseError> {
        let (_, report) = draft.clone().check()?;
        let slot = self.index.get(&report.worker, &self.table);
        let life = slot.and_then(|slot| self.table.agent(slot)).map(|agent| agent.incarnation);
        let sight = slot.map(|slot| self.sight(now, slot, &report)).unwrap_or_default();
        self.on_tickets(now, out, |tickets, policy, changes| {
            let mut policy = policy.clone();
            // Whoever is asked is asked on behalf of a life.
            policy.queen.advice_within = policy.queen.advice_within.filter(|_| life.is_some());
            tickets.raise(now, draft, life, sight, &policy, changes)
        })
    }

    /// A language model said what it thinks. The first word about a ticket is kept; another changes nothing.
    pub(super) fn on_advice(
        &mut self,
        now: Timestamp,
        ticket: &TicketId,
        advice: &Advice,
        out: &mut Collector,
    ) -> Result<Reply, NoticeError> {
        if self.tickets().get(ticket).is_none() {
            return Err(DecideError::Unknown(ticket.clone()).into());
        }
        let advice = Advice::new(&advice.by, advice.opinion, &advice.reasoning);
        self.on_tickets(now, out, |tickets, _, changes| tickets.on_advice(now, ticket, advice, changes));
        Ok(Reply::Ticket(ticket.clone()))
    }

    /// A person decided.
    pub(super) fn on_answer(
        &mut self,
        now: Timestamp,
        ticket: &TicketId,
        answer: &Answer,
        out: &mut Collector,
    ) -> Result<Reply, NoticeError> {
        let answer = answer.clone();
        let decided = self.on_tickets(now, out, |tickets, policy, changes| {
            tickets.decide(now, ticket, answer, policy, changes)
        })?;
        Ok(Reply::Ticket(decided))
    }

    pub(super) fn on_recovered(
        &mut self,
        now: Timestamp,
        id: &AgentId,
        session: &SessionId,
        out: &mut Collector,
    ) {
        self.on_open_tickets(now, out, |tickets, changes| {
            tickets.on_recovered(now, id, session.as_str(), changes);
        });
    }

    pub(super) fn on_session_over(
        &mut self,
        now: Timestamp,
        id: &AgentId,
        session: &SessionId,
        out: &mut Collector,
    ) {
        self.on_open_tickets(now, out, |tickets, changes| {
            tickets.on_session_over(now, id, session.as_str(), changes);
        });
    }

    pub(super) fn on_life_over(&mut self, now: Timestamp, id: &AgentId, out: &mut Collector) {
        self.on_open_tickets(now, out, |tickets, changes| tickets.on_life_over(now, id, changes));
    }

    pub(super) fn wake_tickets(&mut self, now: Timestamp, out: &mut Collector) {
        if self.machines.tickets.due.is_some_and(|due| due <= now) {
            self.on_tickets(now, out, |tickets, policy, changes| tickets.wake(now, policy, changes));
        }
    }

    /// Tells the book something that matters only if there is a ticket in it.
    fn on_open_tickets(
        &mut self,
        now: Timestamp,
        out: &mut Collector,
        tell: impl FnOnce(&mut Tickets, &mut Vec<Change>),
    ) {
        if !self.tickets().is_empty() {
            self.on_tickets(now, out, |tickets, _, changes| tell(tickets, changes));
        }
    }

    fn on_tickets<T>(
        &mut self,
        now: Timestamp,
        out: &mut Collector,
        tell: impl FnOnce(&mut Tickets, &Policy, &mut Vec<Change>) -> T,
    ) -> T {
        let (book, policy) = (&mut self.machines.tickets, &self.policies.verdicts);
        let mut changes = Vec::new();
        let result = tell(&mut book.tickets, policy, &mut changes);
        book.changed = true;
        book.arm(policy);
        for change in changes {
            self.on_ticket_change(now, change, out);
        }
        result
    }

    fn on_ticket_change(&mut self, now: Timestamp, change: Change, out: &mut Collector) {
        let id = match &change {
            Change::Raised { ticket }
            | Change::AdviceWanted { ticket, .. }
            | Change::Joined { ticket, .. }
            | Change::Dismissed { ticket, .. }
            | Change::InterventionRequested { ticket, .. }
            | Change::Answered { ticket, .. }
            | Change::Closed { ticket, .. } => ticket,
        };
        let ticket = self.tickets().get(id).map(|entry| entry.ticket.clone());
        let whose = ticket.as_ref().and_then(|ticket| Some((ticket.report.worker.clone(), ticket.life?)));
        let mut record = |fact| out.events.push(Event { at: now, agent: whose.clone(), fact });
        match (&change, ticket) {
            (Change::Raised { .. }, Some(ticket)) => record(Fact::TicketRaised(Box::new(ticket))),
            (Change::AdviceWanted { until, .. }, Some(ticket)) => {
                self.ask_advice(now, whose, Question { ticket, within: until.since(now) }, out);
            }
            (Change::Answered { answer, .. }, _) => {
                record(Fact::TicketChanged(Box::new(change.clone())));
                self.carry_out_answer(now, whose, answer, out);
            }
            _ => record(Fact::TicketChanged(Box::new(change))),
        }
    }

    fn ask_advice(
        &mut self,
        now: Timestamp,
        whose: Option<(AgentId, Incarnation)>,
        question: Question,
        out: &mut Collector,
    ) {
        let Some(slot) = whose.and_then(|whose| self.slot_in_life(&whose)) else { return };
        self.step(now, None, slot, out, |agent, step| {
            agent.act(step, Action::AskAdvice(Box::new(question)));
        });
    }

    /// What a person decided is done to the life that they decided about, and to no other.
    fn carry_out_answer(
        &mut self,
        now: Timestamp,
        whose: Option<(AgentId, Incarnation)>,
        answer: &Answer,
        out: &mut Collector,
    ) {
        let Some(slot) = whose.and_then(|whose| self.slot_in_life(&whose)) else { return };
        self.step(now, None, slot, out, |agent, step| {
            agent.wake(step);
            agent.answer(step, answer);
            agent.wake(step);
        });
    }

    fn slot_in_life(&self, (id, life): &(AgentId, Incarnation)) -> Option<u32> {
        let slot = self.index.get(id, &self.table)?;
        self.table.agent(slot).filter(|agent| agent.incarnation == *life).map(|_| slot)
    }
}

/// The rows of the judge and the queen.
impl Fleet {
    pub(super) fn take_verdict_rows(&mut self, push: &mut dyn FnMut(Row)) {
        for (id, worker) in self.machines.workers.take_changed() {
            let key = RowKey::Worker(id);
            push(match worker {
                Some(worker) => row(key, worker),
                None => Row { key, bytes: None },
            });
        }
        self.machines.tickets.take_changed_rows(push);
    }

    pub(super) fn mark_all_verdicts(&mut self) {
        self.machines.workers.mark_all();
        self.machines.tickets.mark_all();
    }

    pub(super) fn restore_worker(&mut self, id: AgentId, bytes: &[u8]) -> Result<(), RestoreError> {
        let worker: Worker = read(&format!("the judge of `{id}`"), bytes)?;
        self.machines.workers.insert(id, worker, &self.policies.verdicts.judge);
        self.machines.workers.mark_none();
        Ok(())
    }

    pub(super) fn restore_ticket(&mut self, id: &TicketId, bytes: &[u8]) -> Result<(), RestoreError> {
        let what = format!("ticket `{id}`");
        let entry: Entry = read(&what, bytes)?;
        if entry.ticket.id != *id {
            return Err(RestoreError::Damaged(what));
        }
        let book = &mut self.machines.tickets;
        book.stored.insert(id.clone(), entry.clone());
        book.tickets.recall(entry);
        book.arm(&self.policies.verdicts);
        Ok(())
    }
}
