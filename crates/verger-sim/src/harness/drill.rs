//! A restart that does not happen: the fleet is restored beside the running one, and both live on.
//!
//! Right after the restoring, what people see of every agent must be the same. From then on the restored
//! fleet, the shadow, gets every input that the running one gets, and must decide the same, for as long as
//! nothing goes wrong with the monitor.

use std::mem::{Discriminant, discriminant};

use verger_core::effect::{Action, Effect, EffectKey};
use verger_core::event::{Event, Fact};
use verger_core::fleet::{Collector, Fleet};
use verger_core::id::{AgentId, Incarnation};
use verger_core::policy::Policies;
use verger_core::time::{Span, Timestamp};
use verger_engine::Turn;

use super::monitor::Simulated;
use crate::world::{Delivery, Truth};

/// Deadlines are noticed with this granularity, and where in it depends on the past.
const GRANULARITY: Span = Span::millis(300);
/// How long a shadow lives on.
const LIVES_FOR: Span = Span::minutes(15);

/// A fleet restored beside the running one.
#[derive(Debug)]
pub(super) struct Shadow {
    fleet: Fleet,
    until: Timestamp,
    out: Collector,
    owed: Vec<Debt>,
}

impl Shadow {
    /// Restores a fleet from what a running one, of which everything is on disk, has written. Nothing if
    /// this is no moment to compare the two.
    pub(super) fn cast(
        engine: &Simulated,
        (policies, seed): (&Policies, u64),
        now: Timestamp,
        truth: &Truth,
    ) -> Result<Option<Self>, String> {
        let fleet = Fleet::restore(policies.clone(), seed, engine.store().rows(), now)
            .map_err(|error| format!("the rows cannot be read: {error}"))?;
        let running = engine.fleet();
        if running.len() != fleet.len() {
            return Err(format!("{} agents became {}", running.len(), fleet.len()));
        }
        for agent in truth.agents() {
            let before = format!("{:?}", running.view(now, &agent.id));
            let after = format!("{:?}", fleet.view(now, &agent.id));
            if before != after {
                return Err(format!("{before} became {after}"));
            }
        }
        compare_breakers(running, &fleet, now)?;
        compare_messages(running, &fleet, now)?;
        let mut shadow = Self { fleet, until: now + LIVES_FOR, out: Collector::default(), owed: Vec::new() };
        // The running fleet has been woken at this moment, and looks at the next bucket of deadlines. Where a
        // ping is due within the bucket, the two would not be of one mind about the moment: another time.
        shadow.fleet.wake(now, &mut shadow.out);
        let early = shadow.out.effects.iter().any(|effect| matches!(effect.action, Action::Ping));
        match shadow.out.events.first() {
            Some(event) => Err(format!("a restart brings about {event:?} at once")),
            None => Ok((!early).then_some(shadow)),
        }
    }

    /// The running fleet took these and decided that. Answers whether the shadow goes on.
    pub(super) fn follow(
        &mut self,
        turn: &Turn,
        taken: &[Delivery],
        mut decided: Collector,
    ) -> Result<bool, String> {
        self.out.events.clear();
        self.out.effects.clear();
        for delivery in taken {
            match delivery {
                Delivery::Signal(signal) => drop(self.fleet.observe(turn.now, signal, &mut self.out)),
                Delivery::Command(command) => drop(self.fleet.command(turn.now, command, &mut self.out)),
                Delivery::Notice(notice) | Delivery::Request { notice, .. } => {
                    drop(self.fleet.notice(turn.now, notice, &mut self.out));
                }
            }
        }
        if turn.complete {
            self.fleet.wake(turn.now, &mut self.out);
        }
        if decided.events.iter().any(is_shared) || self.out.events.iter().any(is_shared) {
            return Ok(false);
        }
        sort(&mut decided);
        sort(&mut self.out);
        if decided != self.out {
            self.owe(turn.now, &decided);
        }
        match self.owed.iter().find(|debt| GRANULARITY < turn.now.since(debt.since)) {
            None => Ok(turn.now < self.until),
            // A beat that comes in the very moment of a ping may be first in one of them: they part in peace.
            Some(debt) if debt.is_ping() => Ok(false),
            Some(debt) if debt.shadow => Err(format!("only after a restart: {}", debt.shown)),
            Some(debt) => Err(format!("not after a restart: {}", debt.shown)),
        }
    }

    /// Notes what one of the two did and the other did not yet; strikes out what the other had done before.
    fn owe(&mut self, now: Timestamp, decided: &Collector) {
        for (shadow, done) in [(false, decided), (true, &self.out)] {
            let events = done.events.iter().map(|event| (Kind::of_event(event), format!("{event:?}")));
            let effects = done.effects.iter().map(|effect| (Kind::of_effect(effect), format!("{effect:?}")));
            for (kind, shown) in events.chain(effects) {
                match self.owed.iter().position(|debt| debt.shadow != shadow && debt.kind == kind) {
                    Some(paid) => drop(self.owed.remove(paid)),
                    None => self.owed.push(Debt { since: now, shadow, kind, shown }),
                }
            }
        }
    }
}

/// What one of the two did and the other did not yet.
#[derive(Debug)]
struct Debt {
    since: Timestamp,
    /// It is the shadow that did it.
    shadow: bool,
    kind: Kind,
    shown: String,
}

impl Debt {
    fn is_ping(&self) -> bool {
        matches!(&self.kind, Kind::Effect(_, action) if *action == discriminant(&Action::Ping))
    }
}

/// What two equal decisions share, though one came a moment later.
#[derive(Debug, PartialEq)]
enum Kind {
    Event(Option<(AgentId, Incarnation)>, Discriminant<Fact>),
    Effect(EffectKey, Discriminant<Action>),
}

impl Kind {
    fn of_event(event: &Event) -> Self {
        Self::Event(event.agent.clone(), discriminant(&event.fact))
    }

    fn of_effect(effect: &Effect) -> Self {
        Self::Effect(effect.key.clone(), discriminant(&effect.action))
    }
}

/// What people see of circuit breakers must be the same. Permits need not outlive the monitor: who holds one that is not
/// known any more calls once more than it might.
fn compare_breakers(running: &Fleet, restored: &Fleet, now: Timestamp) -> Result<(), String> {
    let seen = |fleet: &Fleet| {
        let mut views = fleet.breakers().page(now, None, usize::MAX);
        for view in &mut views {
            view.outstanding = 0;
        }
        views
    };
    let (before, after) = (seen(running), seen(restored));
    match before.iter().zip(&after).find(|(before, after)| before != after) {
        Some((before, after)) => Err(format!("{before:?} became {after:?}")),
        None if before.len() == after.len() => Ok(()),
        None => Err(format!("{} breakers became {}", before.len(), after.len())),
    }
}

/// What people see of messages must be the same.
fn compare_messages(running: &Fleet, restored: &Fleet, now: Timestamp) -> Result<(), String> {
    let seen = |fleet: &Fleet| fleet.messages().page(now, None, None, None, usize::MAX);
    let (before, after) = (seen(running), seen(restored));
    match before.iter().zip(&after).find(|(before, after)| before != after) {
        Some((before, after)) => Err(format!("{before:?} became {after:?}")),
        None if before.len() == after.len() => Ok(()),
        None => Err(format!("{} messages became {}", before.len(), after.len())),
    }
}

/// Agents are woken in the order in which the table holds them, which a restart may change.
fn sort(collector: &mut Collector) {
    collector.events.sort_by(|a: &Event, b: &Event| a.agent.cmp(&b.agent));
    collector.effects.sort_by(|a: &Effect, b: &Effect| a.key.cmp(&b.key));
}

/// Whether agents compete for something, so that the order in which they are woken may decide. What many agents share
/// behind a breaker is asked for in the order in which they ask.
fn is_shared(event: &Event) -> bool {
    (event.agent.is_none() && !matches!(event.fact, Fact::Breaker(_)))
        || matches!(event.fact, Fact::BudgetExhausted { .. })
}
