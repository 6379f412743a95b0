//! An agent's state as a story: what it is, why, how things stand, what happened, what comes next.
//!
//! One sentence for one fact, in the order in which a person would ask. What is as it should be is left out, unless the
//! reader would wonder.

use verger_api::{
    AgentHealth, Awaited, BreakerState, Cause, FailureClass, HealthState, LivenessStatus, ProbeState, Time,
    Verdict, Waiting,
};

use super::Known;
use super::next::{self, Way};
use super::timeline::{self, Step};
use crate::screen::{ago, clock, grouped, lasting, until};

/// A clock that is off by less than this confuses nobody.
const SKEW_MS: u64 = 5_000;

/// Whoever was heard within this time is surely alive; of others that is a guess.
const QUIET_MS: u64 = 120_000;

/// The whole of it.
#[derive(Debug, Default)]
pub(super) struct Story {
    /// What follows `agent-7 is STUCK`, up to the full stop.
    pub(super) headline: String,
    /// What the state rests on.
    pub(super) findings: Vec<String>,
    /// How things stand at present.
    pub(super) standing: Vec<String>,
    /// What led here.
    pub(super) happened: Vec<Step>,
    /// What the monitor does next, and when.
    pub(super) next: Vec<String>,
    /// What the reader can do.
    pub(super) you_can: Vec<Way>,
    /// The first sentence, whole.
    whole: String,
}

impl Story {
    /// All sentences but those about the past, in order.
    pub(super) fn sentences(&self) -> Vec<&str> {
        let rest = self.findings.iter().chain(&self.standing).chain(&self.next);
        std::iter::once(&self.whole).chain(rest).map(String::as_str).collect()
    }
}

pub(super) fn of(known: &Known, now: Time) -> Story {
    let Known { agent, events, .. } = known;
    let headline = headline(agent, now);
    let mut standing = Vec::new();
    standing.extend(liveness(agent, now));
    standing.extend(waiting(agent, now));
    standing.extend(surroundings(agent, now));
    Story {
        whole: format!("{} is {}{headline}", agent.agent_id, agent.state),
        headline,
        findings: findings(agent),
        standing,
        happened: timeline::of(agent, events),
        next: next::comes(known, now),
        you_can: next::you_can(known),
    }
}

/// What the state means, in this case.
fn headline(agent: &AgentHealth, now: Time) -> String {
    let since = format!("for {}", lasting(between(agent.state_changed_at, now)));
    match agent.state {
        HealthState::Unknown => format!(": too little has been heard of it to judge, {since}."),
        HealthState::Healthy => match (&agent.waiting_on, agent.liveness.status) {
            (Some(waiting), _) => format!(": it is {}.", occupied(waiting.kind)),
            (None, LivenessStatus::Idle) => ": it is idle, and nothing speaks against that.".to_owned(),
            (None, _) => ": it shows life, and nothing speaks against it.".to_owned(),
        },
        HealthState::Degraded => format!(", {since}: there are warning signs."),
        HealthState::Stuck | HealthState::Failing if is_silent(agent) => {
            format!(", {since}: it does not answer.")
        }
        HealthState::Stuck => format!(", {since}: it makes no progress."),
        HealthState::Failing => format!(", {since}: what it does keeps failing."),
        HealthState::Terminated => format!(": this life of it ended {}.", ago(agent.state_changed_at, now)),
    }
}

fn is_silent(agent: &AgentHealth) -> bool {
    matches!(agent.liveness.status, LivenessStatus::Unresponsive | LivenessStatus::Offline)
}

fn occupied(kind: Awaited) -> &'static str {
    match kind {
        Awaited::Tool => "in a tool call",
        Awaited::Model => "waiting for its model",
        Awaited::Subagent => "waiting for a sub-agent",
        Awaited::Person => "waiting for a person",
        Awaited::Provider => "waiting for its provider, which refuses or limits requests",
        Awaited::Timer => "waiting for a time that it set itself",
    }
}

/// The findings, the gravest first; and how far they can be trusted.
fn findings(agent: &AgentHealth) -> Vec<String> {
    let counts = |verdict| !matches!(verdict, Verdict::Normal | Verdict::Undecided);
    let mut found: Vec<_> = agent.evidence.iter().filter(|found| counts(found.verdict)).collect();
    found.sort_by_key(|found| std::cmp::Reverse(weight(found.verdict)));
    let is_unproven = !found.is_empty() && found.iter().all(|found| !found.verified);
    let mut sentences: Vec<_> = found
        .iter()
        .map(|found| match found.verdict {
            Verdict::Note => format!("{} (says nothing by itself)", found.text),
            _ => found.text.clone(),
        })
        .collect();
    let needs_reason =
        matches!(agent.state, HealthState::Degraded | HealthState::Stuck | HealthState::Failing);
    if sentences.is_empty() && needs_reason {
        sentences.push("what led to this is over; it is called healthy when that has lasted".to_owned());
    }
    if is_unproven && agent.state != HealthState::Terminated {
        sentences.push(
            "all of this was reported without a token, so it can never lead to a termination".to_owned(),
        );
    }
    sentences
}

/// How grave a finding is.
pub(in super::super) const fn weight(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Undecided | Verdict::Normal => 0,
        Verdict::Note => 1,
        Verdict::Degraded => 2,
        Verdict::Stuck => 3,
        Verdict::Failing => 4,
    }
}

/// Whether it is there at all.
fn liveness(agent: &AgentHealth, now: Time) -> Vec<String> {
    if agent.state == HealthState::Terminated {
        return Vec::new();
    }
    let seen = ago(agent.liveness.since, now);
    let is_recent = between(agent.liveness.since, now) < QUIET_MS;
    let mut said = vec![match (agent.liveness.status, agent.liveness.cause) {
        (LivenessStatus::Online | LivenessStatus::Busy | LivenessStatus::Idle, _) if !is_recent => {
            format!("Last heard from {seen}; its silence is not held against it.")
        }
        (LivenessStatus::Online | LivenessStatus::Busy | LivenessStatus::Idle, _) => {
            format!("It is alive: last heard from {seen}.")
        }
        (LivenessStatus::Unresponsive, Some(Cause::EventLoopFreeze)) => {
            format!(
                "Its process is there but seems frozen: pings reach it and nothing answers. Last heard from {seen}."
            )
        }
        (LivenessStatus::Unresponsive, _) => {
            format!("It has fallen silent. Last heard from {seen}.")
        }
        (LivenessStatus::Offline, Some(Cause::ProcessCrash)) => {
            format!("Its process is gone. Last heard from {seen}.")
        }
        (LivenessStatus::Offline, Some(Cause::NetworkPartition)) => {
            format!("The way to it is broken; it may well be alive where it runs. Last heard from {seen}.")
        }
        (LivenessStatus::Offline, _) => format!("It cannot be reached. Last heard from {seen}."),
    }];
    said.extend(agent.liveness.class.map(|class| {
        match class {
            FailureClass::Transient => "Such a silence often ends by itself.",
            FailureClass::Recoverable => "Such a silence does not end by itself: somebody has to step in.",
            FailureClass::Terminal => "This life does not come back.",
        }
        .to_owned()
    }));
    said
}

/// What it waits for, and for how long that may last.
fn waiting(agent: &AgentHealth, now: Time) -> Option<String> {
    let Some(waiting) = &agent.waiting_on else {
        let puzzling = agent.state == HealthState::Stuck && !is_silent(agent);
        return puzzling.then(|| "It waits for nothing that would explain this.".to_owned());
    };
    let what = super::super::agents::awaited(waiting.kind);
    let lasts = lasting(between(waiting.since, now));
    Some(format!("It has been waiting for {what} for {lasts}{}.", patience(waiting, now)))
}

fn patience(waiting: &Waiting, now: Time) -> String {
    match waiting.until {
        Some(end) if now < end => {
            format!("; that is not held against it until {} ({})", clock(end, now), until(end, now))
        }
        Some(_) => ", longer than it should".to_owned(),
        None => String::new(),
    }
}

/// What else bears on it.
fn surroundings(agent: &AgentHealth, now: Time) -> Vec<String> {
    let mut said = Vec::new();
    if agent.incarnation > 1 {
        said.push(format!(
            "This is its life {}; signals of earlier ones are turned away.",
            agent.incarnation
        ));
    }
    for breaker in agent.circuit_breakers.iter().filter(|breaker| breaker.state != BreakerState::Closed) {
        let name = &breaker.name;
        said.push(match (breaker.state, breaker.half_open_at) {
            (BreakerState::HalfOpen, _) => {
                format!("Breaker {name} lets a few calls through, to see whether they work.")
            }
            (_, Some(at)) => {
                format!("Breaker {name} refuses calls; they are tried again {}.", until(at, now))
            }
            (_, None) => format!("Breaker {name} refuses calls."),
        });
    }
    if let Some(probes) = agent.probes.as_ref().filter(|probes| probes.state != ProbeState::Healthy) {
        said.push(format!(
            "Its health checks say {}: {}.",
            probes.state,
            probes.summary.trim_end_matches('.')
        ));
    }
    if let Some(skew) = agent.clock_skew_ms.filter(|skew| SKEW_MS <= skew.unsigned_abs()) {
        let side = if skew > 0 { "ahead" } else { "behind" };
        said.push(format!("Its clock is {} {side}; nothing is judged by it.", lasting(skew.unsigned_abs())));
    }
    if agent.waste.tokens > 0 {
        let (tokens, cost) = (grouped(agent.waste.tokens), agent.waste.cost_usd);
        said.push(format!("It used {tokens} tokens (${cost:.2}) while it was stuck."));
    }
    said
}

fn between(from: Time, to: Time) -> u64 {
    u64::try_from(to.as_millis().saturating_sub(from.as_millis())).unwrap_or(0)
}

#[cfg(test)]
mod tests;
