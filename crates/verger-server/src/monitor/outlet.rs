//! The way out of the loop: what is for an agent waits for it, everything else goes to whoever carries it out.

use std::sync::Arc;

use tokio::sync::mpsc;
use verger_core::effect::{Action, Effect, EffectKey, Outcome};
use verger_core::signal::{Body, Content, Signal, Trust};
use verger_engine::{Message, Outbox};

use super::clock::wall_now;
use super::counters::Counters;
use super::pending::{Item, Kind, Pending};
use super::queue::Queue;
use crate::trace::Tracer;

/// What an agent is told that repeats itself.
const INTERRUPTED: &str = "You repeat the same call. Stop, and take another way.";
/// What an agent is told that is to stop.
const HAND_OFF: &str = "Save your work and what the next one must know, then stop.";
/// What goes with a ping.
const PING: &str = "Answer with a pong of the same number.";

/// The loop's way out.
pub(crate) struct Outlet {
    pub(crate) pending: Arc<Pending>,
    pub(crate) queue: Arc<Queue>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) tracer: Arc<Tracer>,
    pub(crate) carried: mpsc::UnboundedSender<Effect>,
}

impl Outlet {
    fn wait(&self, effect: &Effect, again: bool) {
        let (kind, text, attempt): (Kind, Arc<str>, u8) = match &effect.action {
            Action::Nudge { attempt, text } => (Kind::Nudge, Arc::clone(text), *attempt),
            Action::Inquire { text, .. } => (Kind::Nudge, Arc::clone(text), 1),
            Action::Interrupt { .. } => (Kind::Cancel, INTERRUPTED.into(), 1),
            Action::RequestHandoff { .. } => (Kind::Handoff, HAND_OFF.into(), 1),
            _ => (Kind::Ping, PING.into(), 1),
        };
        let (key, since) = (effect.key.clone(), wall_now());
        if let Some(dropped) = self.pending.put(Item { key, kind, text, attempt, since, again }) {
            report(&self.queue, dropped.key, Outcome::Failed);
        }
    }
}

impl Outbox for Outlet {
    fn release(&mut self, effect: &Effect) {
        self.counters.on_effect(&effect.action);
        self.tracer.on_release(effect);
        match &effect.action {
            // Nobody listens: that is an answer too, and a quick one.
            Action::Ping if !self.pending.is_heard(&effect.key.agent) => {
                report(&self.queue, effect.key.clone(), Outcome::Refused);
            }
            Action::Ping
            | Action::Nudge { .. }
            | Action::Inquire { .. }
            | Action::Interrupt { .. }
            | Action::RequestHandoff { .. } => self.wait(effect, false),
            Action::Escalate(_)
            | Action::Stop { .. }
            | Action::Survey { .. }
            | Action::Spawn(_)
            | Action::Withdraw { .. }
            | Action::Deliver { .. }
            | Action::RemindOfMessage { .. }
            | Action::TellSender { .. }
            | Action::WriteCheckpoint { .. }
            | Action::Probe(_)
            | Action::AskAdvice(_) => {
                if self.carried.send(effect.clone()).is_err() {
                    report(&self.queue, effect.key.clone(), Outcome::Failed);
                }
            }
        }
    }

    fn release_again(&mut self, effect: &Effect) {
        if self.holds(&effect.action) {
            self.counters.on_effect(&effect.action);
            self.tracer.on_release(effect);
            self.wait(effect, true);
        } else {
            self.release(effect);
        }
    }

    /// Reminders and questions wait until their agent asks.
    fn holds(&self, action: &Action) -> bool {
        matches!(
            action,
            Action::Nudge { .. }
                | Action::Inquire { .. }
                | Action::Interrupt { .. }
                | Action::RequestHandoff { .. }
        )
    }

    fn withdraw(&mut self, key: &EffectKey) {
        self.tracer.on_withdrawn(key);
        self.pending.withdraw(key);
    }
}

/// Tells the loop what became of an effect.
pub(crate) fn report(queue: &Queue, key: EffectKey, outcome: Outcome) {
    tell_own(queue, &key.clone(), Body::Outcome { key, outcome });
}

/// Tells the loop what the monitor itself saw of an effect's agent.
pub(crate) fn tell_own(queue: &Queue, key: &EffectKey, body: Body) {
    let content = Content {
        incarnation: Some(key.incarnation),
        sent_at: None,
        received_at: wall_now(),
        trust: Trust::Verified,
        body,
    };
    queue.push_own(Message::Signal(Signal { agent: key.agent.clone(), content }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use verger_core::id::Incarnation;

    fn outlet() -> (Outlet, mpsc::UnboundedReceiver<Effect>) {
        let (carried, effects) = mpsc::unbounded_channel();
        let outlet = Outlet {
            pending: Arc::default(),
            queue: Arc::default(),
            counters: Arc::default(),
            tracer: Arc::default(),
            carried,
        };
        (outlet, effects)
    }

    fn effect(seq: u32, action: Action) -> Effect {
        Effect { key: EffectKey { agent: "a".into(), incarnation: Incarnation::FIRST, seq }, action }
    }

    /// What the loop is told.
    fn outcomes(outlet: &Outlet) -> Vec<(u32, Outcome)> {
        let messages = outlet.queue.drain().into_iter().flat_map(|delivery| delivery.messages);
        let told = messages.filter_map(|message| match message {
            Message::Signal(Signal {
                content: Content { body: Body::Outcome { key, outcome }, .. }, ..
            }) => Some((key.seq, outcome)),
            _ => None,
        });
        told.collect()
    }

    #[test]
    fn h01_a_ping_reaches_only_who_listens_and_is_refused_at_once_where_nobody_does() {
        let (mut outlet, _effects) = outlet();
        outlet.release(&effect(1, Action::Ping));
        assert_eq!(outcomes(&outlet), [(1, Outcome::Refused)]);
        let _listener = outlet.pending.listen(&"a".into());
        outlet.release(&effect(2, Action::Ping));
        assert_eq!(outcomes(&outlet), [], "it waits for the listener");
        assert_eq!(outlet.pending.take(&"a".into(), Incarnation::FIRST).items()[0].kind, Kind::Ping);
    }

    #[test]
    fn l20_a_reminder_that_has_to_make_room_is_known_not_to_have_arrived() {
        let (mut outlet, _effects) = outlet();
        for seq in 0..40 {
            outlet.release(&effect(seq, Action::Nudge { attempt: 1, text: "go on".into() }));
        }
        let failed: Vec<(u32, Outcome)> = (0..8).map(|seq| (seq, Outcome::Failed)).collect();
        assert_eq!(outcomes(&outlet), failed);
    }

    #[test]
    fn x10_what_was_meant_for_somebody_who_is_no_longer_watched_waits_for_nobody() {
        let (mut outlet, _effects) = outlet();
        let nudge = effect(1, Action::Nudge { attempt: 1, text: "go on".into() });
        outlet.release(&nudge);
        outlet.withdraw(&nudge.key);
        assert!(!outlet.pending.has(&"a".into()), "who comes under this name later is somebody else");
        assert_eq!(outcomes(&outlet), [], "the core knows");
    }

    #[test]
    fn what_nobody_carries_out_has_failed() {
        let (mut outlet, effects) = outlet();
        drop(effects);
        outlet.release(&effect(1, Action::Survey { task: "t".into() }));
        assert_eq!(outcomes(&outlet), [(1, Outcome::Failed)]);
    }
}
