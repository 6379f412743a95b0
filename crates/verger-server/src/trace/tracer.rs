//! Which trace each thing belongs to: the newest that an agent was heard in, or that a person's order came in.
//!
//! A change of state hangs below the request in which the agent was last heard. What is done about it hangs below the
//! change. What people order hangs below their order. When all is well again, the next trouble begins anew.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use verger_core::effect::{Action, Effect, EffectKey, Outcome};
use verger_core::event::{Event, Fact};
use verger_core::health::HealthState;
use verger_core::id::{AgentId, TaskId};
use verger_core::notice::Notice;
use verger_core::signal::Body;
use verger_engine::Message;
use verger_store::Place;

use super::context::{Context, Ids};
use super::queue::{Exported, Loss, Queue};
use super::recent::Recent;
use super::span::{End, Kind, Span};
use crate::monitor::{Figures, wall_now};

/// Agents, and tasks, whose trace is remembered: at least so many of each, at most twice as many.
const REMEMBERED: usize = 32_768;
/// Effects under way, at least and at most in the same way. There are seldom more than a few.
const UNDER_WAY: usize = 4_096;
/// Events whose context is remembered, in case that their batch is written once more.
const EVENTS: usize = 4_096;
/// Letters of a text that a span says.
const TEXT_MAX: usize = 512;

/// Events that are a span of their own. Reminders and other effects are one from when they leave until their end.
const TOLD: [&str; 8] = [
    "HEALTH_STATE_CHANGED",
    "NUDGE_ANSWERED",
    "ESCALATION_TRIGGERED",
    "ESCALATION_DECIDED",
    "AGENT_TERMINATED",
    "RECOVERY_INITIATED",
    "RECOVERY_COMPLETED",
    "RECOVERY_FAILED",
];

/// Knows which trace each thing belongs to, and makes spans of what is done.
#[derive(Debug)]
pub struct Tracer {
    ids: Ids,
    /// Whether anybody wants spans. Contexts are passed on in any case.
    recording: AtomicBool,
    sample_percent: AtomicU8,
    known: Mutex<Known>,
    pub(super) queue: Queue,
    /// What is counted of all this, whether or not it is traced.
    pub(crate) figures: Figures,
}

#[derive(Debug)]
struct Known {
    agents: Recent<AgentId, Case>,
    tasks: Recent<TaskId, Context>,
    under_way: Recent<EffectKey, Span>,
    /// The ping of each agent that was not answered yet.
    pings: Recent<AgentId, (u32, Span)>,
    /// Contexts of the newest events, by their numbers.
    events: BTreeMap<i64, Option<Context>>,
    /// Spans of events that are not on disk yet.
    written: Vec<Span>,
}

/// What is known of an agent.
#[derive(Clone, Debug, Default)]
struct Case {
    /// The trace in which it was last heard.
    heard: Option<Context>,
    /// What is done about it hangs below this.
    cause: Option<Context>,
}

impl Default for Tracer {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Tracer {
    /// One that records nothing yet. `seed` is any number.
    pub fn new(seed: u64) -> Self {
        let known = Known {
            agents: Recent::new(REMEMBERED),
            tasks: Recent::new(REMEMBERED),
            under_way: Recent::new(UNDER_WAY),
            pings: Recent::new(UNDER_WAY),
            events: BTreeMap::new(),
            written: Vec::new(),
        };
        Self {
            ids: Ids::new(seed),
            recording: AtomicBool::new(false),
            sample_percent: AtomicU8::new(100),
            known: Mutex::new(known),
            queue: Queue::default(),
            figures: Figures::default(),
        }
    }

    /// Somebody wants spans: this share of the traces that begin here. Or nobody does any more.
    pub(super) fn record(&self, sample_percent: Option<u8>) {
        self.sample_percent.store(sample_percent.unwrap_or(0), Ordering::Relaxed);
        self.recording.store(sample_percent.is_some(), Ordering::Relaxed);
        if sample_percent.is_none() {
            self.queue.clear();
        }
    }

    pub(super) fn is_recording(&self) -> bool {
        self.recording.load(Ordering::Relaxed)
    }

    /// What became of spans.
    pub fn exported(&self) -> Exported {
        self.queue.read()
    }

    /// The loop takes this message, which came in this context.
    pub(crate) fn on_message(&self, message: &Message, context: Option<&Context>) {
        match message {
            Message::Signal(signal) => self.on_signal(&signal.agent, &signal.content.body, context),
            Message::Command(command) => {
                let Some(context) = context else { return };
                let case = Case { heard: Some(context.clone()), cause: Some(context.clone()) };
                self.lock().agents.put(command.agent.clone(), case);
            }
            Message::Notice(Notice::Recovery { task, .. } | Notice::Task { task, .. }) => {
                let Some(context) = context else { return };
                self.lock().tasks.put(task.clone(), context.clone());
            }
            Message::Notice(_) | Message::At(..) | Message::Handing(_) => {}
        }
    }

    fn on_signal(&self, agent: &AgentId, body: &Body, context: Option<&Context>) {
        match body {
            Body::Outcome { key, outcome } => self.on_outcome(key, *outcome),
            Body::Surveyed { key, .. } => self.on_outcome(key, Outcome::Delivered),
            Body::Pong { seq, .. } => self.on_pong(agent, *seq),
            _ => {}
        }
        if let Some(context) = context {
            let mut known = self.lock();
            let cause = known.agents.get(agent).and_then(|case| case.cause.clone());
            known.agents.put(agent.clone(), Case { heard: Some(context.clone()), cause });
        }
    }

    /// An effect leaves: its span begins.
    pub(crate) fn on_release(&self, effect: &Effect) {
        self.figures.on_release(effect);
        let Effect { key, action } = effect;
        let Some((name, kind)) = named(action).filter(|_| self.is_recording()) else { return };
        let mut known = self.lock();
        let task = task_of(action);
        let parent = known.cause_of(&key.agent).or_else(|| known.tasks.get(task?).cloned());
        let mut span = self.begin(parent.as_ref(), name.to_owned(), kind);
        span.says("verger.agent.id", bounded(key.agent.as_str()));
        span.counts("verger.agent.incarnation", i64::from(key.incarnation.0));
        span.says("verger.effect.id", bounded(&key.to_string()));
        if let Some(task) = task {
            span.says("verger.task.id", bounded(task.as_str()));
        }
        let forgotten = if matches!(action, Action::Ping) {
            let before = known.pings.take(&key.agent);
            let forgotten = known.pings.put(key.agent.clone(), (key.seq, span));
            drop(known);
            if let Some((_, span)) = before {
                self.finish(span, End::Badly("not answered".to_owned()), "unanswered");
            }
            forgotten
        } else {
            known.under_way.put(key.clone(), span)
        };
        self.queue.lose(Loss::Unfinished, forgotten);
    }

    fn on_outcome(&self, key: &EffectKey, outcome: Outcome) {
        self.figures.on_outcome(key, outcome);
        let (word, is_well) = match outcome {
            Outcome::Delivered => ("delivered", true),
            Outcome::Stopped => ("stopped", true),
            Outcome::Refused => ("refused", false),
            Outcome::Unreachable => ("unreachable", false),
            Outcome::Failed => ("failed", false),
            Outcome::Unreadable => ("unreadable", false),
            Outcome::Rejected => ("rejected", false),
        };
        let span = {
            let mut known = self.lock();
            let ping = || known.pings.get(&key.agent).is_some_and(|(seq, _)| *seq == key.seq);
            // That a ping has left is not its answer.
            if !is_well && ping() {
                known.pings.take(&key.agent).map(|(_, span)| span)
            } else {
                known.under_way.take(key)
            }
        };
        if let Some(span) = span {
            let end = if is_well { End::Well } else { End::Badly(word.to_owned()) };
            self.finish(span, end, word);
        }
    }

    fn on_pong(&self, agent: &AgentId, seq: u32) {
        self.figures.on_pong(agent, seq);
        let mut known = self.lock();
        if known.pings.get(agent).is_some_and(|(sent, _)| *sent <= seq)
            && let Some((_, span)) = known.pings.take(agent)
        {
            drop(known);
            self.finish(span, End::Well, "answered");
        }
    }

    /// An effect need not be done any more.
    pub(crate) fn on_withdrawn(&self, key: &EffectKey) {
        let span = self.lock().under_way.take(key);
        if let Some(span) = span {
            self.finish(span, End::Unset, "withdrawn");
        }
    }

    /// The place in a trace of an event that is about to be written: the same however often it is.
    pub(crate) fn on_event(
        &self,
        event: &Event,
        place: Place,
        kind: &str,
        task: Option<&TaskId>,
    ) -> Option<Context> {
        let mut known = self.lock();
        if let Some(context) = known.events.get(&place.id) {
            return context.clone();
        }
        if let Fact::StateChanged { to, .. } = &event.fact
            && kind == "HEALTH_STATE_CHANGED"
        {
            self.figures.on_change(*to);
        }
        let agent = event.agent.as_ref().map(|(agent, _)| agent);
        let context = match (self.is_recording() && TOLD.contains(&kind), agent) {
            (true, _) => Some(self.tell(&mut known, event, place, kind, task)),
            (false, Some(agent)) => known.cause_of(agent),
            (false, None) => task.and_then(|task| known.tasks.get(task).cloned()),
        };
        known.events.insert(place.id, context.clone());
        if known.events.len() > EVENTS {
            known.events.pop_first();
        }
        context
    }

    /// Makes a span of an event. What follows from it hangs below.
    fn tell(
        &self,
        known: &mut Known,
        event: &Event,
        place: Place,
        kind: &str,
        task: Option<&TaskId>,
    ) -> Context {
        let agent = event.agent.as_ref();
        let case = agent.and_then(|(agent, _)| known.agents.get(agent).cloned()).unwrap_or_default();
        let change = match &event.fact {
            Fact::StateChanged { from, to, .. } => Some((*from, *to)),
            _ => None,
        };
        let of_task = || task.and_then(|task| known.tasks.get(task).cloned());
        // An agent changes by what it does or leaves undone; everything else follows from that.
        let parent = if change.is_some() {
            case.heard.clone().or(case.cause.clone())
        } else {
            case.cause.clone().or(case.heard.clone())
        };
        let mut span = self.begin(parent.or_else(of_task).as_ref(), kind.to_owned(), Kind::Internal);
        (span.from, span.until) = (place.at.wall.0, wall_now().0.max(place.at.wall.0));
        span.counts("verger.event.id", place.id);
        if let Some((agent, life)) = agent {
            span.says("verger.agent.id", bounded(agent.as_str()));
            span.counts("verger.agent.incarnation", i64::from(life.0));
        }
        if let Some(task) = task {
            span.says("verger.task.id", bounded(task.as_str()));
        }
        if let (Some((from, to)), Fact::StateChanged { evidence, .. }) = (change, &event.fact) {
            span.says("verger.health.from", from.to_string());
            span.says("verger.health.to", to.to_string());
            let reasons: Vec<String> = evidence.iter().map(ToString::to_string).collect();
            span.says("verger.health.reason", bounded(&reasons.join("; ")));
        }
        let context = span.context.clone();
        known.follow(agent.map(|(agent, _)| agent), task, change.map(|(_, to)| to), &case, &context);
        if context.sampled {
            known.written.push(span);
        }
        context
    }

    /// What was written is on disk: whoever follows the traces may know of it.
    pub(crate) fn on_commit(&self) {
        if !self.is_recording() {
            return;
        }
        let written = std::mem::take(&mut self.lock().written);
        for span in written {
            self.queue.push(span);
        }
    }

    /// The place in a trace of an effect: what is done for it hangs below.
    pub(crate) fn of_effect(&self, key: &EffectKey) -> Option<Context> {
        let known = self.lock();
        let span = known.under_way.get(key).map(|span| span.context.clone());
        span.or_else(|| known.cause_of(&key.agent))
    }

    /// Begins a span below another, or a trace.
    pub(super) fn begin(&self, parent: Option<&Context>, name: String, kind: Kind) -> Span {
        let context = match parent {
            Some(parent) => parent.child(self.ids.span()),
            None => self.ids.root(self.sample_percent.load(Ordering::Relaxed)),
        };
        let now = wall_now().0;
        let parent = parent.map(|parent| parent.span);
        Span { context, parent, name, kind, from: now, until: now, said: Vec::new(), end: End::Unset }
    }

    fn finish(&self, mut span: Span, end: End, outcome: &'static str) {
        span.says("verger.outcome", outcome);
        self.end(span, end);
    }

    pub(super) fn end(&self, mut span: Span, end: End) {
        if span.context.sampled && self.is_recording() {
            (span.until, span.end) = (wall_now().0.max(span.from), end);
            self.queue.push(span);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn cause_of(&self, agent: &AgentId) -> Option<Context> {
        let Case { heard, cause } = self.agents.get(agent)?;
        cause.clone().or_else(|| heard.clone())
    }

    /// What is done next about this agent and its work hangs below this.
    fn follow(
        &mut self,
        agent: Option<&AgentId>,
        task: Option<&TaskId>,
        to: Option<HealthState>,
        case: &Case,
        context: &Context,
    ) {
        if let Some(task) = task {
            self.tasks.put(task.clone(), context.clone());
        }
        if let (Some(agent), Some(to)) = (agent, to) {
            let still = (to != HealthState::Healthy).then(|| context.clone());
            self.agents.put(agent.clone(), Case { heard: case.heard.clone(), cause: still });
        }
    }
}

/// What an effect is called, if it is traced: what asks an agent is a check, what changes its course an intervention.
fn named(action: &Action) -> Option<(&'static str, Kind)> {
    Some(match action {
        Action::Ping => ("check ping", Kind::Client),
        Action::Inquire { .. } => ("check inquire", Kind::Client),
        Action::Nudge { .. } => ("intervention nudge", Kind::Client),
        Action::Interrupt { .. } => ("intervention interrupt", Kind::Client),
        Action::RequestHandoff { .. } => ("intervention handoff", Kind::Client),
        Action::Escalate(_) => ("intervention escalate", Kind::Client),
        Action::Stop { .. } => ("intervention terminate", Kind::Client),
        Action::Survey { .. } => ("recovery survey", Kind::Internal),
        Action::Spawn(_) => ("recovery spawn", Kind::Client),
        Action::Withdraw { .. } => ("recovery withdraw", Kind::Client),
        Action::WriteCheckpoint { .. } => ("checkpoint write", Kind::Internal),
        // Nothing carries these out yet, or their results are no outcomes.
        Action::Deliver { .. }
        | Action::RemindOfMessage { .. }
        | Action::TellSender { .. }
        | Action::Probe(_)
        | Action::AskAdvice(_) => return None,
    })
}

fn task_of(action: &Action) -> Option<&TaskId> {
    match action {
        Action::Survey { task } | Action::Withdraw { task, .. } => Some(task),
        Action::Spawn(new) => Some(&new.task),
        Action::Escalate(asked) => asked.task.as_ref(),
        _ => None,
    }
}

/// Text of agents, up to a bound.
pub(super) fn bounded(text: &str) -> String {
    match text.char_indices().nth(TEXT_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
