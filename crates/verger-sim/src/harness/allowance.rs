//! From when on the policy would allow a verdict: the zero of every latency.
//!
//! A freeze cannot be found before its pings have had their time, nor a loop before it has gone round often
//! enough. Latency beyond that is the monitor's own; the time up to it is what the operator asked for.
//!
//! Where the moment depends on when the agent last beat or called, the later one is taken: it is the moment
//! by which a monitor that does exactly what its policy says has its verdict. Limits that count calls or minutes of
//! use are reached when the agent was heard to reach them.

use verger_core::policy::{Policies, Role};
use verger_core::time::Span;

use verger_core::id::AgentId;

use super::heard::Heard;
use super::seen::SeenTime;
use crate::world::{AgentFacts, Condition, Connection, FaultKind, SimTime};

/// Of the steps with a full window about half are calls.
const CALLS_OF_STEPS: u64 = 2;
/// What is only alike weighs half as much as what is equal: limits count equal calls.
const NEAR_OF_EQUAL: u64 = 2;
/// What is usual for an agent is learnt in its first half hour; until then nothing is unusual.
const WARM_UP: Span = Span::minutes(30);

/// What an agent was like when a fault hit it.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    /// What does not change about it.
    pub facts: &'a AgentFacts,
    /// Whether it says how many tokens it uses, as it uses them.
    pub tells_tokens: bool,
    /// Whether it says when a call begins.
    pub announces_calls: bool,
    /// What it did.
    pub before: Condition,
    /// Whether the monitor was away since, and cannot know what it has begun meanwhile.
    pub unsure: bool,
    /// Whether the monitor was away at that very moment, or had not heard it since.
    pub unseen: bool,
    /// Whether it had announced to be busy.
    pub busy: bool,
    /// How long it had lived.
    pub age: Span,
    /// How it went on.
    pub(super) pace: Pace<'a>,
}

/// How an agent went on after a fault hit it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace<'a> {
    pub(super) heard: &'a Heard,
    pub(super) seen: &'a SeenTime,
    pub(super) agent: &'a AgentId,
    pub(super) began: SimTime,
    pub(super) ended: SimTime,
}

impl Pace<'_> {
    /// How long it took until so many calls were heard to end. For ever, if they were not.
    fn calls(&self, count: u64) -> Span {
        self.took(self.heard.nth_call(self.agent, self.began, count as usize))
    }

    /// How long it took until so many minutes of token use were over. For ever, if they were not.
    fn token_minutes(&self, count: u64) -> Span {
        self.took(self.heard.nth_token_minute(self.agent, self.began, count as usize))
    }

    /// How long it took until it was heard that its provider refuses it, if it was.
    fn refusal(&self) -> Option<Span> {
        let refused = self.heard.first_refusal(self.agent, self.began).filter(|at| *at <= self.ended)?;
        Some(Span::millis(self.seen.between(self.began, refused)))
    }

    fn took(&self, until: Option<SimTime>) -> Span {
        until.map_or(Span::FOREVER, |until| Span::millis(self.seen.between(self.began, until)))
    }
}

/// How long after its beginning a fault may be found; `None` if no verdict is expected.
pub fn allowance(kind: FaultKind, hit: &Circumstances<'_>, policies: &Policies) -> Option<Span> {
    let role = policies.role(hit.facts.role.as_ref());
    match kind {
        // How it ended nobody saw: it may have ended well.
        FaultKind::Crash if hit.unseen => None,
        FaultKind::Crash if hit.facts.connection == Connection::Wrapped => Some(Span::ZERO),
        FaultKind::Freeze | FaultKind::Crash => silence(hit, role),
        // It had ended before; what began meanwhile was never heard of.
        FaultKind::HostLoss | FaultKind::Partition | FaultKind::ClockSkew
            if hit.before == Condition::Gone =>
        {
            None
        }
        FaultKind::HostLoss | FaultKind::Partition => {
            silence(hit, role).map(|span| span.max(role.liveness.route_patience + pinged_after(hit, role)))
        }
        FaultKind::ExactLoop => going_round(u64::from(role.repetition.repeats_stuck), hit, role),
        FaultKind::Alternation => going_round(2 * u64::from(role.repetition.laps), hit, role),
        FaultKind::ErrorLoop => going_round(u64::from(role.errors.streak_max) + 2, hit, role),
        FaultKind::TokenRunaway if hit.age < WARM_UP => None,
        FaultKind::TokenRunaway if hit.tells_tokens => {
            Some(hit.pace.token_minutes(u64::from(role.tokens.spike_minutes)))
        }
        FaultKind::TokenRunaway => beat(hit).map(|beat| beat.times(3)),
        FaultKind::ContextExhaustion => beat(hit).map(|beat| {
            let steps = u64::from(role.context.steps) / CALLS_OF_STEPS;
            let seen = if hit.facts.reports_tools { hit.pace.calls(steps) } else { Span::ZERO };
            seen.max(role.context.standstill) + beat
        }),
        // Who asks nothing of its provider does not know that it would be refused.
        FaultKind::ProviderOutage => hit.pace.refusal(),
        FaultKind::ClockSkew => Some(Span::ZERO),
        FaultKind::NearLoop => {
            going_round(NEAR_OF_EQUAL * u64::from(role.repetition.repeats_stuck), hit, role)
        }
        // There is nothing to find.
        FaultKind::Transport | FaultKind::EffectFailure => None,
    }
}

/// A loop shows in so many calls, or else in that nothing new is reported.
fn going_round(calls: u64, hit: &Circumstances<'_>, role: &Role) -> Option<Span> {
    if hit.facts.reports_tools {
        return Some(hit.pace.calls(calls));
    }
    let patience = role.progress.stuck_after.times(u64::from(role.liveness.busy_factor));
    beat(hit).map(|beat| patience + beat.times(2))
}

/// How long it takes until a ping is due.
fn pinged_after(hit: &Circumstances<'_>, role: &Role) -> Span {
    let pings = role.liveness.pings.as_ref().filter(|_| hit.facts.pinged);
    pings.map_or(Span::ZERO, |pings| pings.interval.times(2))
}

/// The time between two of its heartbeats, if it beats.
fn beat(hit: &Circumstances<'_>) -> Option<Span> {
    hit.facts.beat_ms.map(Span::millis)
}

/// How long silence lasts until the first sign for it is due.
fn silence(hit: &Circumstances<'_>, role: &Role) -> Option<Span> {
    let patience = |limit: Span| {
        if hit.busy { limit.times(u64::from(role.liveness.busy_factor)) } else { limit }
    };
    let pings = role.liveness.pings.as_ref().filter(|_| hit.facts.pinged);
    let pinged =
        pings.map(|pings| pings.interval + patience(pings.timeout).times(u64::from(pings.misses_max)));
    let beats = beat(hit).map(|_| patience(role.liveness.beats.timeout));
    let standstill = || {
        // Who proved nothing cannot say when it rests, so its silence means nothing.
        let means_something = hit.facts.verified;
        let patience = standstill(hit, role).filter(|_| means_something);
        // It is asked first, and believed for a while if it answers.
        patience.map(|patience| patience + role.liveness.inquiry_timeout)
    };
    pinged.into_iter().chain(beats).min().or_else(standstill)
}

/// Nobody beats and nobody pings: only the standstill of its work tells.
fn standstill(hit: &Circumstances<'_>, role: &Role) -> Option<Span> {
    match hit.before {
        Condition::Working
        | Condition::LongTool
        | Condition::Polling
        | Condition::Paging
        | Condition::Testing => Some(role.patience.tool),
        // Who does not say when a call begins may be in one.
        Condition::Thinking if !hit.announces_calls || hit.unsure => Some(role.patience.tool),
        Condition::Thinking => Some(role.patience.model),
        Condition::Subagent => Some(role.patience.subagent),
        Condition::WaitingPerson => Some(role.patience.person),
        Condition::WaitingProvider => Some(role.patience.provider),
        Condition::Starting => Some(role.startup_grace + role.progress.idle_with_work),
        Condition::Idle | Condition::Gone | Condition::Faulty(_) => None,
    }
}
