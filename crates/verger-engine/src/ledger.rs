//! Which effects are out, and when they are done with.
//!
//! ```text
//! decided ─commit─► out ─outcome, or the life is over─► finished
//!                    │
//!                    └─restart─► out for the second time ─restart─► given up
//! ```
//!
//! What waits to be fetched is out for the second time only when it is fetched after a restart.

use std::collections::BTreeMap;

use verger_core::effect::{Action, Effect, EffectKey, Outcome};
use verger_core::event::{Event, Fact};
use verger_core::id::{AgentId, Incarnation};

/// Effects on disk whose outcome is not known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    out: BTreeMap<EffectKey, Closes>,
}

/// Which outcome is the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closes {
    /// Any.
    AtOnce,
    /// Any but a receipt: an agent that was told to stop has not stopped yet.
    WhenDone,
    /// The same, and a new life closes it least of all: it is what a start that was taken back began.
    WhenDoneToAnyLife,
}

impl Ledger {
    /// An effect is about to leave.
    pub(crate) fn open(&mut self, effect: &Effect) {
        let closes = match effect.action {
            Action::Stop { .. } => Closes::WhenDone,
            Action::Withdraw { .. } => Closes::WhenDoneToAnyLife,
            Action::Ping
            | Action::Inquire { .. }
            | Action::Nudge { .. }
            | Action::Escalate(_)
            | Action::Interrupt { .. }
            | Action::RequestHandoff { .. }
            | Action::Survey { .. }
            | Action::Spawn(_)
            | Action::Deliver { .. }
            | Action::RemindOfMessage { .. }
            | Action::TellSender { .. }
            | Action::WriteCheckpoint { .. }
            | Action::Probe(_)
            | Action::AskAdvice(_) => Closes::AtOnce,
        };
        self.out.insert(effect.key.clone(), closes);
    }

    /// Whether it is still to be done.
    pub(crate) fn is_out(&self, key: &EffectKey) -> bool {
        self.out.contains_key(key)
    }

    /// Its outcome was heard. Answers whether it is done with by that.
    pub(crate) fn on_outcome(&mut self, key: &EffectKey, outcome: Outcome) -> bool {
        match self.out.get(key) {
            None => false,
            Some(Closes::WhenDone | Closes::WhenDoneToAnyLife) if outcome == Outcome::Delivered => false,
            Some(Closes::AtOnce | Closes::WhenDone | Closes::WhenDoneToAnyLife) => {
                self.out.remove(key).is_some()
            }
        }
    }

    /// A new life begins, or nobody watches any more: nothing meant for what was before may leave.
    ///
    /// The end of a life alone closes nothing. Whoever carries an effect out finds the process gone and says
    /// so, and people still want to read why they were asked.
    pub(crate) fn on_event(&mut self, event: &Event, finished: &mut Vec<EffectKey>) {
        let Some((agent, incarnation)) = &event.agent else { return };
        match event.fact {
            Fact::Registered { .. } => self.close(agent, incarnation.0.saturating_sub(1), finished),
            Fact::Unregistered { .. } => self.close(agent, incarnation.0, finished),
            _ => {}
        }
    }

    fn close(&mut self, agent: &AgentId, last: u32, finished: &mut Vec<EffectKey>) {
        let key =
            |incarnation, seq| EffectKey { agent: agent.clone(), incarnation: Incarnation(incarnation), seq };
        let before = finished.len();
        let meant = self.out.range(key(0, 0)..=key(last, u32::MAX));
        let over = meant.filter(|(_, closes)| **closes != Closes::WhenDoneToAnyLife);
        finished.extend(over.map(|(key, _)| key.clone()));
        for key in &finished[before..] {
            self.out.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use verger_core::time::{Span, Timestamp};

    use super::*;

    fn effect(incarnation: u32, seq: u32, action: Action) -> Effect {
        Effect { key: EffectKey { agent: "a".into(), incarnation: Incarnation(incarnation), seq }, action }
    }

    fn nudge() -> Action {
        Action::Nudge { attempt: 1, text: Arc::from("go on") }
    }

    #[test]
    fn an_agent_told_to_stop_has_not_stopped_yet() {
        let mut ledger = Ledger::default();
        let stop = effect(1, 1, Action::Stop { within: Span::secs(10) });
        ledger.open(&stop);
        assert!(!ledger.on_outcome(&stop.key, Outcome::Delivered));
        assert!(ledger.on_outcome(&stop.key, Outcome::Stopped));
        assert!(!ledger.on_outcome(&stop.key, Outcome::Stopped), "it is finished once");
    }

    #[test]
    fn a_new_life_closes_what_was_meant_for_earlier_ones() {
        let mut ledger = Ledger::default();
        for (incarnation, seq) in [(1, 1), (1, 2), (2, 1)] {
            ledger.open(&effect(incarnation, seq, nudge()));
        }
        let mut finished = Vec::new();
        let agent = Some((AgentId::from("a"), Incarnation(2)));
        let born = Event { at: Timestamp::ZERO, agent, fact: Fact::Registered { task: None } };
        ledger.on_event(&born, &mut finished);
        assert_eq!(finished.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a#1/1", "a#1/2"]);
        assert!(
            ledger.on_outcome(&effect(2, 1, nudge()).key, Outcome::Delivered),
            "its own effects stay open"
        );
    }
}
