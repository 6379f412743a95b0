//! Prints what a run shows, with every false alarm and every missed fault: the way to look into a seed.
//!
//! `SEED=3 DAYS=2 AGENTS=50 cargo run --release -p verger-sim --example explore`
//!
//! `AGENT=agent-0007` prints what was recorded about one agent and what was really the case, and `SIGNALS=1`
//! what arrived from it besides pongs; `FROM` and `TO` bound that in hours. `RECOVERIES=1` prints how work went on and
//! what failed together, `BREAKERS=1` what became of circuit breakers and of the services behind them, `MESSAGES=1`
//! what was decided about messages.

#![expect(clippy::print_stdout, reason = "people read it")]

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Instant;

use verger_core::breaker;
use verger_core::event::{Event, Fact};
use verger_core::id::AgentId;
use verger_core::messages::Decided;
use verger_core::signal::Body;
use verger_core::time::Span;
use verger_sim::harness::{Finding, Mode, MonitorFaults, Options, run_with};
use verger_sim::trace::{Moment, Watcher, What};
use verger_sim::world::{Delivery, SimTime};

fn setting<T: FromStr>(name: &str, default: T) -> T {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Prints the story of one agent.
struct Story {
    agent: Option<AgentId>,
    signals: bool,
    recoveries: bool,
    breakers: bool,
    messages: bool,
    from: SimTime,
    to: SimTime,
    /// What people were told, of whom and when, with what was really the case.
    told: BTreeMap<(AgentId, SimTime), String>,
}

impl Story {
    fn wanted() -> Self {
        let hours = |name, default: u64| SimTime(setting(name, default) * 3_600_000);
        Self {
            agent: std::env::var("AGENT").ok().map(AgentId::from),
            signals: setting("SIGNALS", 0) == 1,
            recoveries: setting("RECOVERIES", 0) == 1,
            breakers: setting("BREAKERS", 0) == 1,
            messages: setting("MESSAGES", 0) == 1,
            from: hours("FROM", 0),
            to: hours("TO", 1_000_000),
            told: BTreeMap::new(),
        }
    }

    fn remember_what_is_told(&mut self, moment: &Moment<'_>) {
        let What::Committed { batch, .. } = moment.what else { return };
        let mut evidence: BTreeMap<&AgentId, String> = BTreeMap::new();
        for event in &batch.events {
            let Some((agent, _)) = &event.agent else { continue };
            match &event.fact {
                Fact::StateChanged { to, evidence: found, .. } => {
                    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
                    evidence.insert(agent, format!("{to}: {}", found.join("; ")));
                }
                Fact::IncidentOpened { incident, .. } => {
                    let condition = moment.truth.condition_at(agent, moment.at);
                    let facts = moment.truth.agent(agent).map(|facts| {
                        let role = facts.role.as_ref().map_or("none", |role| role.as_str());
                        format!("{:?}, role {role}, verified {}", facts.connection, facts.verified)
                    });
                    let why = evidence.get(agent).map_or("", String::as_str);
                    let text = format!("{incident:?} [{why}] {condition} ({})", facts.unwrap_or_default());
                    self.told.insert((agent.clone(), moment.at), text);
                }
                _ => {}
            }
        }
    }

    fn tells(&self, at: SimTime) -> Option<&AgentId> {
        self.agent.as_ref().filter(|_| self.from <= at && at <= self.to)
    }
}

impl Watcher for Story {
    fn happened(&mut self, moment: &Moment<'_>) {
        self.remember_what_is_told(moment);
        if self.recoveries {
            tell_recoveries(moment);
        }
        if self.breakers {
            tell_breakers(moment);
        }
        if self.messages {
            tell_messages(moment);
        }
        let Some(agent) = self.tells(moment.at) else { return };
        match moment.what {
            What::Committed { batch, .. } => {
                let about = |event: &&Event| event.agent.as_ref().is_some_and(|(known, _)| known == agent);
                for event in batch.events.iter().filter(about) {
                    let condition = moment.truth.condition_at(agent, moment.at);
                    println!("{} [{}] {:?} | {condition}", moment.at, event.at, event.fact);
                }
            }
            What::Released(effect) if effect.key.agent == *agent => println!("{} {effect:?}", moment.at),
            What::Paused | What::Died | What::Restarted | What::Healed => {
                println!("{} {:?}", moment.at, moment.what);
            }
            What::Released(_) | What::Drilled { .. } => {}
        }
    }

    fn arrived(&mut self, at: SimTime, deliveries: &[Delivery]) {
        let Some(agent) = self.tells(at).filter(|_| self.signals) else { return };
        for delivery in deliveries {
            match delivery {
                Delivery::Signal(signal) if signal.agent == *agent => {
                    if !matches!(signal.content.body, Body::Pong { .. }) {
                        println!("    {at} {:?} {:?}", signal.content.incarnation, signal.content.body);
                    }
                }
                Delivery::Command(command) if command.agent == *agent => println!("    {at} {command:?}"),
                Delivery::Notice(notice) => println!("    {at} {notice:?}"),
                Delivery::Signal(_) | Delivery::Command(_) | Delivery::Request { .. } => {}
            }
        }
    }
}

/// Prints how work went on, and what failed together.
fn tell_recoveries(moment: &Moment<'_>) {
    let What::Committed { batch, .. } = moment.what else { return };
    for event in &batch.events {
        let what = match &event.fact {
            Fact::Recovery(change) => change.to_string(),
            Fact::Correlated(change) => change.to_string(),
            Fact::ReviewOpened { task, why } => format!("people must look at {task}: {why}"),
            Fact::RecoveryAlert { task, condition } => format!("alert of {task:?}: {condition}"),
            Fact::RecoveryAlertOver { task, condition } => format!("over of {task:?}: {condition}"),
            _ => continue,
        };
        println!("{} {what}", moment.at);
    }
}

/// Prints what became of circuit breakers, and what was wrong behind them.
fn tell_breakers(moment: &Moment<'_>) {
    let What::Committed { batch, .. } = moment.what else { return };
    for event in &batch.events {
        let Fact::Breaker(change) = &event.fact else { continue };
        let behind = moment.truth.services().iter().find(|service| service.breaker == change.name);
        let trouble = behind.and_then(|service| service.trouble_at(moment.at)).map(|trouble| trouble.kind);
        let breaker::Transition { from, to, reason } = change.transition;
        println!("{} {}: {from} -> {to}: {reason} | {trouble:?}", moment.at, change.name);
    }
}

/// Prints what was decided about messages, and what was really the case with their receivers.
fn tell_messages(moment: &Moment<'_>) {
    let What::Committed { batch, .. } = moment.what else { return };
    for event in &batch.events {
        let Fact::Message(decided) = &event.fact else { continue };
        let Decided { message, from, to, decision, evidence } = decided.as_ref();
        let condition = moment.truth.condition_at(to, moment.at);
        println!("{} {message} {from} -> {to}: {decision:?}: {evidence} | {condition}", moment.at);
    }
}

/// What became of a fault that was missed, or found more than five minutes after the policy would have allowed it.
fn fate(finding: &Finding) -> Option<String> {
    let fault = &finding.fault;
    let fate = match (finding.allowance, finding.found) {
        (Some(_), Some(late)) if Span::minutes(5) < late => format!("late by {late}"),
        (Some(_), None) if !finding.too_short => "missed".to_owned(),
        _ => return None,
    };
    let allowed = finding.allowance.unwrap_or_default();
    let (kind, agent, began) = (fault.kind, &fault.agent, fault.began);
    let ended = fault.ended.map_or_else(String::new, |at| format!(" until {at} ({:?})", fault.ended_by));
    let (allowed, lasted) = (allowed.as_millis(), finding.lasted.as_millis());
    Some(format!(
        "{fate}: {kind} of {agent} from {began}{ended}, seen {lasted} ms, allowed after {allowed} ms"
    ))
}

fn main() {
    let options = Options {
        seed: setting("SEED", 1),
        days: setting("DAYS", 7.0),
        agents: setting("AGENTS", 100),
        faults: setting("FAULTS", true),
        mode: Mode::Full,
    };
    let faults = if setting("MONITOR_FAULTS", options.faults) {
        MonitorFaults::seeded(options.seed)
    } else {
        MonitorFaults::scripted([])
    };
    let began = Instant::now();
    let mut story = Story::wanted();
    let finished = run_with(&options, faults, &mut (), &mut story);
    let shown = setting("SHOW", 20);
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for alarm in finished.judgement.false_alarms() {
        let reason = alarm.reason.replace(|c: char| c.is_ascii_digit() || c == '.', "");
        *reasons.entry(reason).or_default() += 1;
    }
    for (reason, count) in &reasons {
        println!("{count:>6} false alarms: {reason}");
    }
    for wrong in finished.wrong.iter().take(shown) {
        println!("wrong: {wrong}");
    }
    for alarm in finished.judgement.false_alarms().take(shown) {
        println!("false alarm at {} about {}: {}", alarm.began, alarm.agent, alarm.reason);
        let told =
            alarm.told.and_then(|at| story.told.get(&(alarm.agent.clone(), at)).map(|text| (at, text)));
        if let Some((at, text)) = told {
            println!("    told at {at}: {text}");
        }
    }
    for finding in &finished.judgement.findings {
        if let Some(fate) = fate(finding) {
            println!("{fate}");
        }
    }
    println!("{}", serde_json::to_string_pretty(&finished.report).expect("a report is plain data"));
    println!("digest {} after {:?}", finished.digest, began.elapsed());
}
