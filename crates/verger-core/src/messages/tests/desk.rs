//! A desk at which messages are sent, and time passes; what is decided is written down.
//!
//! The machine is restored from its rows after every single thing that happens, so each test shows that a restart
//! changes nothing.

use std::collections::BTreeMap;

use super::super::*;
use crate::id::{AgentId, MessageId};
use crate::liveness::LivenessStatus;
use crate::signal::Awaited;
use crate::standing::Standing;
use crate::time::{Span, Timestamp};
use crate::waiting::Wait;

pub(super) struct Desk {
    pub(super) now: Timestamp,
    pub(super) messages: Messages,
    pub(super) policy: Policy,
    pub(super) standings: BTreeMap<AgentId, Standing>,
    pub(super) rows: BTreeMap<RowKey, Vec<u8>>,
    pub(super) decided: Vec<(Timestamp, Decided)>,
    pub(super) restarts: bool,
}

impl Default for Desk {
    fn default() -> Self {
        let online = Standing { status: Some(LivenessStatus::Online), wait: None };
        let standings = ["a", "b", "c", "d"].into_iter().map(|name| (name.into(), online)).collect();
        Self {
            now: Timestamp::ZERO,
            messages: Messages::default(),
            policy: Policy::default(),
            standings,
            rows: BTreeMap::new(),
            decided: Vec::new(),
            restarts: true,
        }
    }
}

impl Desk {
    /// Does one thing, then restarts.
    pub(super) fn with<R>(&mut self, act: impl FnOnce(&mut Messages, &mut Step<'_>) -> R) -> R {
        let mut out = Vec::new();
        let standings = &self.standings;
        let standing = |agent: &AgentId| standings.get(agent).copied();
        let mut step = Step { now: self.now, policy: &self.policy, standing: &standing, out: &mut out };
        let result = act(&mut self.messages, &mut step);
        self.decided.extend(out.into_iter().map(|decided| (self.now, decided)));
        self.restart();
        result
    }

    /// Writes what changed, and reads it back.
    fn restart(&mut self) {
        let rows = &mut self.rows;
        self.messages.take_changed_rows(&mut |key, row| {
            match row {
                Some(row) => rows.insert(key, row),
                None => rows.remove(&key),
            };
        });
        if !self.restarts {
            return;
        }
        let rows = self.rows.iter().map(|(key, row)| (key.clone(), row.clone()));
        self.messages = Messages::restore(rows, &self.policy).expect("rows just written");
    }

    /// Sends `id` from `a` to `b`.
    pub(super) fn send(&mut self, id: &str, priority: Priority) -> Result<Receipt, Refusal> {
        self.send_between(id, "a", "b", priority, None)
    }

    pub(super) fn send_between(
        &mut self,
        id: &str,
        from: &str,
        to: &str,
        priority: Priority,
        reply_to: Option<&str>,
    ) -> Result<Receipt, Refusal> {
        let new = NewMessage {
            id: id.into(),
            from: from.into(),
            to: to.into(),
            priority,
            reply_to: reply_to.map(MessageId::from),
            task: None,
        };
        self.with(|messages, step| messages.on_sent(step, new))
    }

    pub(super) fn acknowledge(&mut self, id: &str) -> Acknowledgement {
        self.with(|messages, step| messages.on_acknowledged(step, &id.into(), Some(&"b".into())))
    }

    /// The receiver's standing changes, and the machine is told.
    pub(super) fn becomes(&mut self, agent: &str, status: LivenessStatus) {
        self.stands(agent, status);
        self.with(|messages, step| messages.on_receiver_changed(step, &agent.into()));
    }

    /// The receiver's standing changes, and nobody says so.
    pub(super) fn stands(&mut self, agent: &str, status: LivenessStatus) {
        self.standings.insert(agent.into(), Standing { status: Some(status), wait: None });
    }

    pub(super) fn waits(&mut self, agent: &str, awaited: Awaited, span: Span) {
        let wait = Wait { awaited, since: self.now, until: self.now + span };
        let standing = Standing { status: Some(LivenessStatus::Online), wait: Some(wait) };
        self.standings.insert(agent.into(), standing);
    }

    /// Time passes until then; what is due is done when it is due.
    pub(super) fn until(&mut self, then: Span) -> &mut Self {
        let then = Timestamp::ZERO + then;
        while let Some(due) = self.messages.deadline(self.now).filter(|due| *due <= then) {
            assert!(self.now < due, "a deadline lies ahead");
            self.now = due;
            let before = (self.rows.clone(), self.decided.len());
            self.with(Messages::wake);
            assert!(before != (self.rows.clone(), self.decided.len()), "a deadline changes something");
        }
        self.now = then;
        self
    }

    pub(super) fn minutes(&mut self, minutes: u64) -> &mut Self {
        self.until(Span::minutes(minutes))
    }

    /// What was decided so far, one line each; deliveries left out.
    pub(super) fn log(&self) -> String {
        let told = self.decided.iter().filter(|(_, it)| !matches!(it.decision, Decision::Deliver { .. }));
        let line = |(at, it): &(Timestamp, Decided)| format!("{at} {}: {:?}", it.message, it.decision);
        told.map(line).collect::<Vec<_>>().join("\n")
    }

    /// The evidence of the last decision, as people read it.
    pub(super) fn last_words(&self) -> String {
        self.decided.last().map(|(_, it)| it.evidence.to_string()).unwrap_or_default()
    }

    pub(super) fn count(&self, wanted: impl Fn(&Decision) -> bool) -> usize {
        self.decided.iter().filter(|(_, it)| wanted(&it.decision)).count()
    }
}
