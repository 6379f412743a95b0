//! Doctored traces: what a broken monitor would have done.

use std::sync::Arc;

use verger_core::breaker::{self, BreakerName, Reason, State};
use verger_core::effect::{Action, Effect, EffectKey};
use verger_core::event::{Event, Fact};
use verger_core::evidence::{Evidence, Measure, Severity, Sign};
use verger_core::health::HealthState;
use verger_core::id::{AgentId, CheckpointId, HostId, Incarnation};
use verger_core::messages::Priority;
use verger_core::recovery::{Change, Checkpoint, Content, ContentHash, Context, Lost, Spawn};
use verger_core::signal::Trust;
use verger_core::time::{Span, Timestamp};
use verger_engine::{Batch, Mark};

use super::{Checker, End};
use crate::harness::{BreakerLog, Judgement, SeenTime};
use crate::trace::{Moment, What};
use crate::world::{
    AgentFacts, Answered, Ask, Condition, Connection, Letter, Saved, ServiceFacts, SimTime, Trouble,
    TroubleKind, Truth,
};

/// A trace of one agent, `a`, as a checker sees it.
pub(super) struct Trace {
    pub(super) truth: Truth,
    pub(super) judgement: Judgement,
    pub(super) seen: SeenTime,
    breakers: BreakerLog,
    now: SimTime,
    number: u64,
}

impl Trace {
    /// The agent works from the first moment on.
    pub(super) fn new() -> Self {
        let mut truth = Truth::default();
        truth.enrol(AgentFacts {
            id: AgentId::from("a"),
            role: None,
            connection: Connection::Wrapped,
            pinged: true,
            beat_ms: None,
            verified: true,
            reports_tools: true,
            host: HostId::from("h"),
            provider: "p".into(),
        });
        truth.become_at(0, SimTime(0), Condition::Working);
        truth.begin_life(0, SimTime(0), Incarnation::FIRST);
        let mut seen = SeenTime::default();
        seen.on_turn(SimTime::ZERO, Timestamp::ZERO);
        truth.services_mut().push(ServiceFacts::new(store()));
        let (judgement, breakers) = (Judgement::default(), BreakerLog::default());
        Self { truth, judgement, seen, breakers, now: SimTime::ZERO, number: 0 }
    }

    /// The service that many share, and that is asked for here, is in trouble between these seconds.
    pub(super) fn trouble(&mut self, kind: TroubleKind, began: u64, ended: u64) {
        let trouble = Trouble { kind, began: SimTime(began * 1_000), ended: Some(SimTime(ended * 1_000)) };
        self.truth.services_mut()[0].troubles.push(trouble);
    }

    /// A message to the agent, written and delivered at this second; the monitor hears then that it is acknowledged.
    pub(super) fn letter(&mut self, priority: Priority, secs: u64, acknowledged: Option<u64>) {
        let sent = SimTime(secs * 1_000);
        let read = acknowledged.map(|secs| SimTime(secs * 1_000));
        self.truth.letters_mut().push(Letter {
            id: "m-000000".into(),
            from: 0,
            to: Some(0),
            priority,
            reply_to: None,
            sent,
            taken: Some(sent),
            refused: None,
            delivered: Some(sent),
            read,
            acknowledged: read,
        });
    }

    pub(super) fn at(&mut self, secs: u64) -> &mut Self {
        self.now = SimTime(secs * 1_000);
        self
    }

    /// The monitor commits these facts and effects.
    pub(super) fn commit(&mut self, checker: &mut dyn Checker, facts: Vec<Fact>, effects: Vec<Effect>) {
        let at = Timestamp::from_millis(self.now.0);
        let agent = Some((AgentId::from("a"), Incarnation::FIRST));
        let events = facts.into_iter().map(|fact| Event { at, agent: agent.clone(), fact }).collect();
        self.commit_events(checker, events, effects);
    }

    pub(super) fn commit_events(
        &mut self,
        checker: &mut dyn Checker,
        events: Vec<Event>,
        effects: Vec<Effect>,
    ) {
        self.number += 1;
        for event in &events {
            self.breakers.on_event(event);
        }
        let observed = Timestamp::from_millis(self.now.0);
        let mark = Mark { number: self.number, observed, ..Mark::default() };
        let batch = Batch { mark, events, effects, ..Batch::default() };
        self.tell(checker, What::Committed { batch: &batch, decided: self.now });
    }

    pub(super) fn tell(&self, checker: &mut dyn Checker, what: What<'_>) {
        checker.observe(&Moment { at: self.now, truth: &self.truth, what });
    }

    pub(super) fn finish(&self, checker: &mut dyn Checker) -> Result<(), String> {
        let Self { truth, judgement, seen, breakers, now, .. } = self;
        checker.finish(&End { at: *now, truth, judgement, seen, breakers })
    }
}

fn store() -> BreakerName {
    BreakerName::shared("store").unwrap()
}

/// The breaker before the service changes.
pub(super) fn turns(from: State, to: State) -> Fact {
    let transition = breaker::Transition { from, to, reason: Reason::ProbeFailed };
    Fact::Breaker(breaker::Change { name: store(), transition })
}

/// Somebody asks whether it may call the service, and is answered so; the call is not made.
pub(super) fn asked(trace: &mut Trace, secs: u64, answer: Answered) {
    let at = SimTime(secs * 1_000);
    let ask = Ask { agent: 0, at, answer: Some((at, answer)), called: None, permitted: false, heard: None };
    trace.truth.services_mut()[0].asks.push(ask);
}

/// Somebody calls the service, with a permit or without; how it went is heard a second later.
pub(super) fn wanted(trace: &mut Trace, secs: u64, permitted: bool) {
    let at = SimTime(secs * 1_000);
    let (answer, heard) = (Some((at, Answered::Permitted)), Some(at + 1_000));
    let ask = Ask { agent: 0, at, answer, called: Some(at), permitted, heard };
    trace.truth.services_mut()[0].asks.push(ask);
}

pub(super) fn effect(incarnation: u32, seq: u32, action: Action) -> Effect {
    let key = EffectKey { agent: AgentId::from("a"), incarnation: Incarnation(incarnation), seq };
    Effect { key, action }
}

pub(super) fn nudge(seq: u32) -> Effect {
    effect(1, seq, Action::Nudge { attempt: 1, text: "go on".into() })
}

pub(super) fn stop(seq: u32) -> Effect {
    effect(1, seq, Action::Stop { within: Span::secs(30) })
}

pub(super) fn registered(incarnation: u32) -> Event {
    let agent = Some((AgentId::from("a"), Incarnation(incarnation)));
    Event { at: Timestamp::ZERO, agent, fact: Fact::Registered { task: None } }
}

pub(super) fn becomes(from: HealthState, to: HealthState) -> Fact {
    Fact::StateChanged { from, to, evidence: silence() }
}

/// One finding: no heartbeat for ten minutes.
pub(super) fn silence() -> Arc<[Evidence]> {
    let limit = Measure::Span(Span::minutes(10));
    Arc::new([Evidence {
        sign: Sign::Heartbeat,
        value: limit,
        threshold: limit,
        severity: Severity::Degraded,
        trust: Trust::Verified,
        stretch: None,
    }])
}

/// An attempt to recover a task begins.
pub(super) fn started(task: &str, from: Option<&str>) -> Fact {
    Fact::Recovery(Box::new(Change::Initiated {
        task: task.into(),
        attempt: 1,
        start: 1,
        from: from.map(Into::into),
        lost: Lost::default(),
        skipped: vec![],
        breaks: vec![],
        unseen: 0,
        by: None,
    }))
}

/// The effect of it.
pub(super) fn spawn(task: &str, from: Option<&str>) -> Effect {
    let (from, lost): (Option<CheckpointId>, _) = (from.map(Into::into), Lost::default());
    let context =
        Context { reason: "it crashed".into(), attempt: 1, attempts_max: 3, from: from.clone(), lost };
    let spawn = Spawn { task: task.into(), agent: "a".into(), start: 1, attempt: 1, from, context };
    effect(1, 1, Action::Spawn(Box::new(spawn)))
}

/// A checkpoint, as it really is.
pub(super) fn saved(task: &str, id: &str, content: Content, secs: u64) -> Saved {
    let (at, made_at) = (SimTime(secs * 1_000), Timestamp::from_millis(secs * 1_000));
    let (id, task, hash) = (id.into(), task.into(), ContentHash::default());
    let checkpoint = Checkpoint { id, task, parent: None, hash, content, order: secs, made_at };
    Saved { checkpoint, poisoned: false, at }
}
