//! From when on the policy would allow a verdict: the zero of every latency.
//!
//! A freeze cannot be found before its pings have had their time, nor a loop before it has gone round often
//! enough. Latency beyond that is the monitor's own; the time up to it is what the operator asked for.
//!
//! Limits that count calls become time at the usual pace of an agent. What an agent does when a fault hits
//! it decides which silence is the first to be noticed, where nothing but silence tells.

use verger_core::policy::{Policies, Role};
use verger_core::time::Span;

use crate::world::{AgentFacts, Condition, Connection, FaultKind};

/// The usual time between two calls of an agent at work, model included.
const CALL: Span = Span::secs(30);

/// How long after its beginning a fault may be found at the earliest; `None` if no verdict is expected.
///
/// `before` is what the agent did when it was hit.
pub fn allowance(
    kind: FaultKind,
    facts: &AgentFacts,
    before: Condition,
    policies: &Policies,
) -> Option<Span> {
    let role = policies.role(facts.role.as_ref());
    match kind {
        FaultKind::Crash if facts.connection == Connection::Wrapped => Some(Span::ZERO),
        FaultKind::Freeze | FaultKind::Crash | FaultKind::HostLoss | FaultKind::Partition => {
            silence(facts, before, role)
        }
        FaultKind::ExactLoop => Some(CALL.times(u64::from(role.repetition.repeats))),
        FaultKind::Alternation => Some(CALL.times(2 * u64::from(role.repetition.laps))),
        FaultKind::ErrorLoop => Some(CALL.times(u64::from(role.errors.streak_max))),
        FaultKind::TokenRunaway => Some(Span::minutes(1 + u64::from(role.tokens.spike_minutes))),
        FaultKind::ContextExhaustion => Some(role.context.grace),
        // Nothing is wrong with the agent, or the detector for it is yet to come.
        FaultKind::NearLoop
        | FaultKind::ProviderOutage
        | FaultKind::ClockSkew
        | FaultKind::Transport
        | FaultKind::EffectFailure => None,
    }
}

/// How long silence lasts until the first sign for it is due.
fn silence(facts: &AgentFacts, before: Condition, role: &Role) -> Option<Span> {
    let pings = role.liveness.pings.as_ref().filter(|_| facts.pinged);
    let pinged = pings.map(|pings| pings.interval + pings.timeout.times(u64::from(pings.misses_max)));
    let beats = match facts.connection {
        Connection::Sdk | Connection::Remote => Some(role.liveness.beats.timeout),
        Connection::Wrapped | Connection::Hook => None,
    };
    pinged.into_iter().chain(beats).min().or_else(|| standstill(before, role))
}

/// Nobody beats and nobody pings: only the standstill of its work tells.
fn standstill(before: Condition, role: &Role) -> Option<Span> {
    match before {
        Condition::Working
        | Condition::LongTool
        | Condition::Polling
        | Condition::Paging
        | Condition::Testing => Some(role.patience.tool),
        Condition::Thinking => Some(role.patience.model),
        Condition::Subagent => Some(role.patience.subagent),
        Condition::WaitingPerson
        | Condition::WaitingProvider
        | Condition::Idle
        | Condition::Starting
        | Condition::Gone
        | Condition::Faulty(_) => None,
    }
}
