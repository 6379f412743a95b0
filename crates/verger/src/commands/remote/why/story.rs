//! An agent's state as a story: what was found, whether it is there, what it waits on, what is done about it.
//!
//! One sentence for one fact, in the order in which a person would ask. What is as it should be is left out, unless the
//! reader would wonder.

use verger_api::{
    AgentHealth, BreakerState, Cause, Evidence, FailureClass, HealthState, LivenessStatus, Mode, ProbeState,
    Step, Time, Verdict,
};

use super::super::agents::awaited;
use crate::screen::{ago, lasting, until};

/// A clock that is off by less than this confuses nobody.
const SKEW_MS: u64 = 5_000;

/// A sentence, and what it rests on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Paragraph {
    pub(super) text: String,
    pub(super) points: Vec<String>,
}

/// The whole of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Story {
    pub(super) paragraphs: Vec<Paragraph>,
    /// What one could type next.
    pub(super) next: Vec<String>,
}

impl Story {
    /// All sentences, in order.
    pub(super) fn sentences(&self) -> Vec<&str> {
        let all = self.paragraphs.iter();
        all.flat_map(|part| std::iter::once(&part.text).chain(&part.points)).map(String::as_str).collect()
    }

    fn say(&mut self, text: impl Into<String>) {
        self.paragraphs.push(Paragraph { text: text.into(), points: Vec::new() });
    }

    fn list(&mut self, text: impl Into<String>, points: Vec<String>) {
        self.paragraphs.push(Paragraph { text: text.into(), points });
    }
}

pub(super) fn of(agent: &AgentHealth, now: Time) -> Story {
    let mut story = Story::default();
    judgement(&mut story, agent, now);
    liveness(&mut story, agent, now);
    waiting(&mut story, agent, now);
    intervention(&mut story, agent, now);
    surroundings(&mut story, agent, now);
    story.next = next_steps(agent);
    story
}

/// The state, and the findings that led to it.
fn judgement(story: &mut Story, agent: &AgentHealth, now: Time) {
    let (name, since) = (&agent.agent_id, ago(agent.state_changed_at, now));
    let (notes, reasons): (Vec<_>, Vec<_>) = agent
        .evidence
        .iter()
        .filter(|found| !matches!(found.verdict, Verdict::Normal | Verdict::Undecided))
        .partition(|found| found.verdict == Verdict::Note);
    let begun = match agent.state {
        HealthState::Unknown => format!("{name} has not shown enough yet to be judged."),
        HealthState::Healthy => {
            format!("{name} is HEALTHY: it gets on with its work, and nothing stands against it.")
        }
        HealthState::Degraded => format!("{name} is DEGRADED: there are warning signs. It became so {since}"),
        HealthState::Stuck => format!("{name} is STUCK: it does not get on. It became so {since}"),
        HealthState::Failing => {
            format!("{name} is FAILING: what it does goes wrong, again and again. It became so {since}")
        }
        HealthState::Terminated => format!("{name} is TERMINATED: this life of it ended {since}"),
    };
    let needs_reason = !matches!(agent.state, HealthState::Unknown | HealthState::Healthy);
    match (needs_reason, reasons.is_empty()) {
        (false, true) => story.say(begun),
        (true, true) => story.say(format!("{begun}; what led to it is over, or was not kept.")),
        (true, false) => story.list(format!("{begun}, because:"), points(&reasons)),
        (false, false) => story.list(format!("{begun} Yet this was found:"), points(&reasons)),
    }
    if !notes.is_empty() {
        story.list("What is worth noting, but says nothing by itself:", points(&notes));
    }
    if !reasons.is_empty() && reasons.iter().all(|found| !found.verified) {
        story
            .say("All of this was told by somebody who showed no token, so it never leads to a termination.");
    }
}

fn points(evidence: &[&Evidence]) -> Vec<String> {
    evidence.iter().map(|found| found.text.clone()).collect()
}

/// Whether it is there at all.
fn liveness(story: &mut Story, agent: &AgentHealth, now: Time) {
    if agent.state == HealthState::Terminated {
        return;
    }
    let seen = ago(agent.liveness.since, now);
    let what = match (agent.liveness.status, agent.liveness.cause) {
        (LivenessStatus::Online, _) => format!("It is alive: it last showed life {seen}."),
        (LivenessStatus::Busy, _) => format!("It is alive and at work: it last showed life {seen}."),
        (LivenessStatus::Idle, _) => {
            format!("It is alive and does nothing at present: it last showed life {seen}.")
        }
        (LivenessStatus::Unresponsive, Some(Cause::EventLoopFreeze)) => {
            format!(
                "Pings reach it and it does not answer: its process is there and seems frozen. It last showed life {seen}."
            )
        }
        (LivenessStatus::Unresponsive, _) => {
            format!("It does not answer, though the way to it works. It last showed life {seen}.")
        }
        (LivenessStatus::Offline, Some(Cause::ProcessCrash)) => {
            format!("Its process is gone; it last showed life {seen}.")
        }
        (LivenessStatus::Offline, Some(Cause::NetworkPartition)) => {
            format!(
                "The way to it is broken: it may well be alive where it runs. It last showed life {seen}."
            )
        }
        (LivenessStatus::Offline, _) => format!("It cannot be reached; it last showed life {seen}."),
    };
    story.say(what);
    match agent.liveness.class {
        Some(FailureClass::Transient) => story.say("Such a silence often ends by itself."),
        Some(FailureClass::Recoverable) => story.say("It does not pass by itself: somebody has to step in."),
        Some(FailureClass::Terminal) => story.say("This life does not come back."),
        None => {}
    }
}

fn waiting(story: &mut Story, agent: &AgentHealth, now: Time) {
    if let Some(waiting) = &agent.waiting_on {
        let what = awaited(waiting.kind);
        let patience = match waiting.until {
            Some(end) if now < end => format!(
                "; that is no fault of its own, and is held against it only if it lasts until {}",
                clock(end)
            ),
            Some(_) => "; that takes longer than it usually may".to_owned(),
            None => String::new(),
        };
        story.say(format!("It waits for {what}, since {}{patience}.", lasting(between(waiting.since, now))));
    } else if agent.state == HealthState::Stuck {
        story.say("It waits on nothing that would explain this.");
    }
}

/// What is done about it, or why nothing is.
fn intervention(story: &mut Story, agent: &AgentHealth, now: Time) {
    let Some(doing) = &agent.intervention else {
        if matches!(agent.state, HealthState::Stuck | HealthState::Failing) {
            story.say(match agent.mode {
                Mode::Observe => "Nothing is done about it: it is only observed.",
                Mode::Nudge | Mode::Escalate | Mode::Full => "Nothing is being done about it at the moment.",
            });
        }
        return;
    };
    let attempt = doing.attempt.unwrap_or(1);
    let end = doing.until.map(|at| until(at, now));
    story.say(match (doing.step, end) {
        (Step::Nudging, _) if attempt <= 1 => "It was reminded once, and is given time to react.".to_owned(),
        (Step::Nudging, _) => format!("It was reminded {attempt} times so far."),
        (Step::Escalated, Some(end)) => {
            format!("People were asked what to do; without an answer it goes on {end}.")
        }
        (Step::Escalated, None) => "People were asked what to do, and have not answered yet.".to_owned(),
        (Step::MoreTime, Some(end)) => format!("People gave it more time; it is looked at again {end}."),
        (Step::MoreTime, None) => "People gave it more time.".to_owned(),
        (Step::HandingOff, _) => {
            "It was asked to save its work and stop, so that a successor can go on.".to_owned()
        }
        (Step::Stopping, _) => "It is being stopped.".to_owned(),
    });
}

/// What else bears on it.
fn surroundings(story: &mut Story, agent: &AgentHealth, now: Time) {
    for breaker in agent.circuit_breakers.iter().filter(|breaker| breaker.state != BreakerState::Closed) {
        let name = &breaker.name;
        story.say(match (breaker.state, breaker.half_open_at) {
            (BreakerState::HalfOpen, _) => format!(
                "Its circuit breaker {name} lets a few calls through, to see whether they work again."
            ),
            (_, Some(at)) => {
                format!("Its circuit breaker {name} refuses calls; they are tried again {}.", until(at, now))
            }
            (_, None) => format!("Its circuit breaker {name} refuses calls."),
        });
    }
    if let Some(probes) = agent.probes.as_ref().filter(|probes| probes.state != ProbeState::Healthy) {
        story.say(format!(
            "Its health checks say {}: {}.",
            probes.state,
            probes.summary.trim_end_matches('.')
        ));
    }
    if let Some(skew) = agent.clock_skew_ms.filter(|skew| SKEW_MS <= skew.unsigned_abs()) {
        let side = if skew > 0 { "ahead" } else { "behind" };
        story.say(format!("Its clock is {} {side}; nothing is judged by it.", lasting(skew.unsigned_abs())));
    }
    if agent.waste.tokens > 0 {
        story.say(format!(
            "It used {} tokens (${:.2}) in vain while it was stuck.",
            agent.waste.tokens, agent.waste.cost_usd
        ));
    }
}

fn next_steps(agent: &AgentHealth) -> Vec<String> {
    let id = quoted(&agent.agent_id);
    let asked = agent.intervention.as_ref().is_some_and(|doing| doing.step == Step::Escalated);
    match agent.state {
        _ if asked => vec![
            format!("verger decide {id} allow-more-time --reason …"),
            format!("verger decide {id} force-handoff --reason …"),
            format!("verger decide {id} terminate-and-recover --reason …"),
        ],
        HealthState::Stuck | HealthState::Failing | HealthState::Degraded => vec![
            format!("verger events --agent {id}            what led to this"),
            format!("verger nudge {id} -m …                remind it"),
        ],
        HealthState::Unknown | HealthState::Healthy | HealthState::Terminated => Vec::new(),
    }
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.:/@".contains(letter);
    if !name.is_empty() && name.chars().all(is_plain) {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\'', r"'\''"))
    }
}

fn between(from: Time, to: Time) -> u64 {
    u64::try_from(to.as_millis().saturating_sub(from.as_millis())).unwrap_or(0)
}

/// The time of day, in UTC.
fn clock(at: Time) -> String {
    let text = at.to_string();
    text.get(11..16).map_or_else(|| text.clone(), |time| format!("{time} UTC"))
}

#[cfg(test)]
mod tests;
