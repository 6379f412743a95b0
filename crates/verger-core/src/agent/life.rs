//! Lives: how one begins, who belongs to it, how it ends.
//!
//! The monitor counts an agent's lives. What an earlier life sends late is turned away, for a stale "done" must
//! not end its successor; what is sent without a number belongs to the present life, unless that one has ended:
//! then it opens the next, if it was not merely late.

use std::sync::Arc;

use super::{Agent, Metrics, Step, Usage};
use crate::event::{Fact, Incident};
use crate::evidence::{Evidence, Measure, Severity, Sign};
use crate::flapping::Flapping;
use crate::health::HealthState;
use crate::id::{AgentId, Incarnation};
use crate::intervention::Ladder;
use crate::liveness::Liveness;
use crate::policy::{Mode, RestartPolicy, Role, RoleIndex};
use crate::progress::Progress;
use crate::signal::{Body, Channel, Content, Exit, Spawn, TaskChange, Trust};
use crate::skew::Skew;
use crate::time::{AgentTime, Span, Timestamp};
use crate::waiting::Waiting;

/// What is sent without a number this soon after the end is late, whatever its clock says.
const LATE_WITHIN: Span = Span::secs(30);
/// What says itself that it was sent before the end is late for this long.
const OLD_WITHIN: Span = Span::minutes(10);
/// A life's first signals may overtake its announcement by this much.
const SPAWN_OVERTAKEN: Span = Span::minutes(1);
/// An announcement this much older than the present one is a late copy, not a clock that was set.
const COPY_WITHIN_MS: i64 = 600_000;

/// How a life was announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spawned {
    /// It was not: its first signal opened it.
    Unannounced,
    /// By a spawn signal, sent at this time of the agent's clock.
    Announced(Option<AgentTime>),
}

/// How a life came to its end.
pub(crate) struct Ending {
    pub(crate) reason: Arc<str>,
    /// A successor is to go on with its work.
    pub(crate) recover: bool,
    /// Somebody saw it end.
    pub(crate) seen: bool,
    pub(crate) evidence: Arc<[Evidence]>,
}

/// Why a signal was turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It belongs to a life that is over; its sender should be told.
    #[error("that incarnation of this agent is over; the present one is {present}")]
    Superseded {
        /// The life there is now.
        present: Incarnation,
    },
    /// Only a sender that proved who it is may say this.
    #[error("only a verified sender may say this")]
    Unverified,
    /// As many agents as may be are registered, and none of them is gone.
    #[error("{registered} agents are registered, and {max} may be")]
    Full {
        /// How many are.
        registered: u32,
        /// How many may be.
        max: u32,
    },
    /// As many agents as may be were registered lately by who shows no token.
    #[error(
        "{max} agents without a token were registered lately, and no more may be for {again}; a token lets an agent in"
    )]
    Strangers {
        /// How many may be.
        max: u32,
        /// After this time some more may be.
        again: Span,
    },
    /// The handle's agent is no longer registered.
    #[error("this agent is no longer registered")]
    Unregistered,
}

impl Agent {
    /// An agent seen for the first time.
    pub(crate) fn new(id: AgentId, role: RoleIndex, now: Timestamp) -> Self {
        Self {
            id,
            incarnation: Incarnation::FIRST,
            role,
            mode: None,
            state: HealthState::Unknown,
            state_since: now,
            evidence: Arc::new([]),
            born_at: now,
            spawned: Spawned::Unannounced,
            grace_until: now,
            heard: false,
            beats: false,
            unverified: false,
            stale_reported: false,
            blocked: false,
            next_effect: 1,
            task: None,
            place: None,
            checkpoint: None,
            liveness: Liveness { last_sign: now, ..Liveness::default() },
            waiting: Waiting::default(),
            progress: Progress { last: now, last_lasting: now, last_work: now, ..Progress::default() },
            skew: Skew::default(),
            metrics: Metrics::default(),
            signs: None,
            past: None,
            case: None,
            usage: None,
        }
    }

    /// Lets a signal in, opening a new life if it announces one; refuses what belongs to an earlier life.
    pub(crate) fn admit(&mut self, step: &mut Step<'_>, content: &Content) -> Result<(), Refusal> {
        if content.trust == Trust::Unverified && needs_proof(&content.body) {
            return Err(Refusal::Unverified);
        }
        match content.incarnation {
            Some(claimed) if claimed < self.incarnation => self.turn_away(step, Some(claimed)),
            Some(claimed) if claimed > self.incarnation => {
                // Its announcement was lost, or is on its way. An unproven sender could fence the real one off.
                if content.trust == Trust::Unverified {
                    return Err(Refusal::Unverified);
                }
                if let Body::Spawn(spawn) = &content.body {
                    self.take_task_of(spawn);
                }
                self.begin_life(step, claimed);
                Ok(())
            }
            None if self.ended_before_this_life(step.now, content) => self.turn_away(step, None),
            _ if self.state != HealthState::Terminated => Ok(()),
            Some(_) => self.turn_away(step, content.incarnation),
            None if self.opens_next_life(step.now, content) => {
                if !matches!(content.body, Body::Spawn(_)) {
                    self.begin_life(step, self.incarnation.next());
                }
                Ok(())
            }
            None => self.turn_away(step, None),
        }
    }

    /// An exit without a number, sent before the present life was announced, is the earlier life's.
    fn ended_before_this_life(&self, now: Timestamp, content: &Content) -> bool {
        let (Spawned::Announced(Some(announced)), Body::Exit(_)) = (self.spawned, &content.body) else {
            return false;
        };
        let sent_earlier =
            |sent: AgentTime| sent < announced && announced.0.saturating_sub(sent.0) < COPY_WITHIN_MS;
        content.sent_at.is_some_and(|sent| sent_earlier(sent) && !self.was_sent_in_this_life(now, content))
    }

    /// Whether it was on its way for less time than this life has lasted, by the clock as it goes now: a clock that was
    /// set back in between dates everything before the announcement.
    fn was_sent_in_this_life(&self, now: Timestamp, content: &Content) -> bool {
        let (Some(sent), Some(skew)) = (content.sent_at, self.skew.millis()) else { return false };
        let under_way = content.received_at.0.saturating_sub(sent.0.saturating_sub(skew));
        u64::try_from(under_way).unwrap_or(0) < now.since(self.born_at).as_millis()
    }

    fn opens_next_life(&self, now: Timestamp, content: &Content) -> bool {
        if matches!(content.body, Body::Spawn(_)) {
            return true;
        }
        if !shows_life(&content.body) {
            return false;
        }
        let Some(ended_at) = self.past.as_ref().and_then(|past| past.ended_at) else { return true };
        let sent = content.sent_at.map(|sent| sent.0.saturating_sub(self.skew.millis().unwrap_or(0)));
        let is_old = sent.is_some_and(|sent| sent < ended_at.0);
        // A clock that was set back must not keep the successor out for ever.
        now.since(self.state_since) >= if is_old { OLD_WITHIN } else { LATE_WITHIN }
    }

    fn turn_away(&mut self, step: &mut Step<'_>, stale: Option<Incarnation>) -> Result<(), Refusal> {
        if !std::mem::replace(&mut self.stale_reported, true) {
            self.record(step, Fact::Superseded { stale });
        }
        Err(Refusal::Superseded { present: self.incarnation })
    }

    /// A life is announced; a copy of the announcement changes nothing.
    pub(crate) fn on_spawn(&mut self, step: &mut Step<'_>, spawn: &Spawn, content: &Content) {
        let (sent_at, numbered) = (content.sent_at, content.incarnation.is_some());
        let known = numbered && self.spawned != Spawned::Unannounced;
        if known || self.is_copy_of_announcement(step.now, sent_at) {
            return;
        }
        // A numbered announcement belongs to the life that was let in; it never opens yet another.
        if !numbered && self.opens_new_life(step.now) {
            self.take_task_of(spawn);
            self.begin_life(step, self.incarnation.next());
        }
        self.spawned = Spawned::Announced(sent_at);
        self.grace_until = if self.heard { step.now } else { step.now + step.role.startup_grace };
        self.settle(spawn.host.as_ref(), spawn.provider.as_ref());
        if let Some(task) = &spawn.task {
            self.on_task_assigned(step.now, task.clone());
        }
    }

    /// A life that is announced for other work begins with that.
    fn take_task_of(&mut self, spawn: &Spawn) {
        if let Some(task) = spawn.task.as_ref().filter(|task| self.task.as_ref() != Some(*task)) {
            self.progress.on_unassigned();
            self.task = Some(task.clone());
            self.progress.task_proven = true;
        }
    }

    fn is_copy_of_announcement(&self, now: Timestamp, sent_at: Option<AgentTime>) -> bool {
        let Spawned::Announced(known) = self.spawned else { return false };
        if self.state == HealthState::Terminated {
            return sent_at.is_some() && sent_at == known;
        }
        match (known, sent_at) {
            (Some(known), Some(sent)) => sent <= known && known.0.saturating_sub(sent.0) < COPY_WITHIN_MS,
            _ => now.since(self.born_at) < Span::secs(2),
        }
    }

    fn opens_new_life(&self, now: Timestamp) -> bool {
        let overtaken = self.spawned == Spawned::Unannounced && now.since(self.born_at) < SPAWN_OVERTAKEN;
        self.state == HealthState::Terminated || !overtaken
    }

    /// Everything about the earlier life is over; only what belongs to the agent itself stays.
    pub(crate) fn begin_life(&mut self, step: &mut Step<'_>, incarnation: Incarnation) {
        self.resolve_all_incidents(step);
        let now = step.now;
        let mut next = Self::new(self.id.clone(), self.role, now);
        next.incarnation = incarnation;
        next.mode = self.mode;
        next.next_effect = self.next_effect;
        next.task = self.task.take();
        next.progress.task_proven = self.progress.task_proven;
        next.place = self.place.take();
        next.checkpoint = self.checkpoint.take();
        next.skew = self.skew;
        next.progress.assigned_at = self.progress.assigned_at.map(|_| now);
        next.progress.shows_work = self.progress.shows_work;
        next.progress.announces_calls = self.progress.announces_calls;
        next.progress.announces_thought = self.progress.announces_thought;
        next.waiting.tells = self.waiting.tells;
        next.liveness.beats_through_waits = self.liveness.beats_through_waits;
        next.metrics = self.metrics.carried_over();
        next.past = self.past.take();
        next.usage = self.usage.take().map(Usage::in_new_life);
        if let Some(past) = &mut next.past {
            past.handoff_at = None;
            past.inquiry = None;
            past.asked = None;
            past.flapping = Flapping::default();
        }
        next.signs = self.take_what_outlives();
        next.begin_steps_anew(step);
        next.case = self.case.take().map(|mut case| {
            // What was spent stays spent; what was under way was meant for the life that is over.
            case.begin_anew();
            case
        });
        *self = next;
        self.record(step, Fact::Registered { task: self.task.clone() });
        self.begin_probes(step);
    }

    /// The process ended.
    pub(crate) fn on_exit(&mut self, step: &mut Step<'_>, exit: Exit) {
        let expected = self
            .case
            .as_ref()
            .is_some_and(|case| matches!(case.ladder, Ladder::HandingOff { .. } | Ladder::Stopping(_)));
        // A program that ends by itself and says that all went well was done, or handed over; that nobody told of
        // it is no accident.
        let died = !expected && !exit.is_clean();
        let recover = match self.case.as_ref().map(|case| &case.ladder) {
            Some(Ladder::Stopping(stopping)) => stopping.recover,
            Some(Ladder::HandingOff { .. }) => true,
            // A dead process is nobody's decision any more; bringing it back is the role's.
            _ => {
                died && step.role.restart == RestartPolicy::Recover && self.mode(step.role) >= Mode::Escalate
            }
        };
        let reason = exit_reason(exit, expected);
        let code = exit.signal.or(exit.code).map_or(Measure::Said, Measure::Code);
        let evidence = Evidence {
            sign: Sign::Exit,
            value: code,
            threshold: Measure::Code(0),
            severity: if died { Severity::Failing } else { Severity::Note },
            trust: Trust::Verified,
            stretch: None,
        };
        self.end_life(step, Ending { reason, recover, seen: true, evidence: Arc::new([evidence]) });
        if died {
            self.open_incident(step, Incident::Died);
        }
    }

    /// This life is over, for good.
    pub(crate) fn end_life(&mut self, step: &mut Step<'_>, ending: Ending) {
        if self.state == HealthState::Terminated {
            return;
        }
        self.resolve_all_incidents(step);
        let past = self.past.get_or_insert_default();
        past.ended_at = step.wall.or(past.ended_at);
        if let Some(case) = &mut self.case {
            case.ladder = Ladder::Rest;
        }
        let Ending { reason, recover, seen, evidence } = ending;
        self.change_state(step, HealthState::Terminated, evidence);
        self.waiting.reset();
        self.end_probes(step.now);
        let checkpoint = self.checkpoint.clone();
        self.record(step, Fact::Terminated { reason, checkpoint, recover, seen });
    }

    /// Whether silence is not yet held against this life.
    pub(crate) fn in_grace(&self, now: Timestamp) -> bool {
        now < self.grace_until
    }

    /// What may be done to it.
    pub(crate) fn mode(&self, role: &Role) -> Mode {
        self.mode.unwrap_or(role.mode)
    }
}

impl Metrics {
    fn carried_over(self) -> Self {
        Self { interventions: self.interventions, disconnections: self.disconnections, ..Self::default() }
    }
}

fn exit_reason(exit: Exit, expected: bool) -> Arc<str> {
    let how = match (exit.signal, exit.code) {
        (Some(signal), _) => format!("ended by signal {signal}"),
        (None, Some(code)) => format!("exited with code {code}"),
        (None, None) => "its process ended".to_owned(),
    };
    if expected { format!("{how} as it was asked to").into() } else { how.into() }
}

/// Whether this signal may be the first that is heard of an agent: late news of a forgotten one are not.
pub(crate) fn introduces(content: &Content) -> bool {
    let proven = content.trust == Trust::Verified || !needs_proof(&content.body);
    let begins = matches!(
        content.body,
        Body::Spawn(_) | Body::Task(TaskChange::Assigned(_)) | Body::Channel(Channel::Opened)
    );
    proven && (begins || shows_life(&content.body))
}

/// Whether this body is the agent's own doing, so that somebody must be there.
pub(crate) fn shows_life(body: &Body) -> bool {
    match body {
        Body::Heartbeat(_)
        | Body::Activity
        | Body::ToolStarted { .. }
        | Body::ToolFinished { .. }
        | Body::Message { .. }
        | Body::ModelStarted
        | Body::ModelFinished
        | Body::SubagentStarted { .. }
        | Body::SubagentFinished { .. }
        | Body::Compaction
        | Body::Tokens { .. }
        | Body::Output(_)
        | Body::Error(_)
        | Body::Status(_)
        | Body::Handoff { .. }
        | Body::Blocker { .. }
        | Body::Pong { .. }
        | Body::Checkpoint { .. } => true,
        Body::Spawn(_)
        | Body::Exit(_)
        | Body::Task(_)
        | Body::Channel(_)
        | Body::Outcome { .. }
        | Body::Surveyed { .. }
        | Body::Load(_) => false,
    }
}

/// Whether an unproven sender may not say this (CONTRACT.md, Access).
fn needs_proof(body: &Body) -> bool {
    match body {
        Body::Heartbeat(_)
        | Body::Activity
        | Body::ToolStarted { .. }
        | Body::ToolFinished { .. }
        | Body::Message { .. }
        | Body::ModelStarted
        | Body::ModelFinished
        | Body::Tokens { .. }
        | Body::Pong { .. } => false,
        Body::SubagentStarted { .. }
        | Body::SubagentFinished { .. }
        | Body::Compaction
        | Body::Output(_)
        | Body::Error(_)
        | Body::Status(_)
        | Body::Handoff { .. }
        | Body::Blocker { .. }
        | Body::Spawn(_)
        | Body::Exit(_)
        | Body::Checkpoint { .. }
        | Body::Task(_)
        | Body::Channel(_)
        | Body::Outcome { .. }
        | Body::Surveyed { .. }
        | Body::Load(_) => true,
    }
}
