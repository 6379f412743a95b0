//! What was acknowledged, and whether it is still there.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::http::Http;
use super::load::{Acknowledged, STATUSES};
use super::program::Place;

/// An effect may be carried out once, and once more after a crash.
const CARRIED_OUT_MAX: usize = 2;
/// How long the last run has to do what was not done yet.
const DONE_WITHIN: Duration = Duration::from_mins(2);

/// Everything that was ever acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    tasks: BTreeMap<String, u8>,
    checkpoints: BTreeMap<String, Value>,
    interventions: BTreeSet<(String, String)>,
    escalated: BTreeSet<String>,
    terminated: BTreeSet<String>,
    recoveries: BTreeSet<String>,
    /// Whose each token is.
    tokens: BTreeMap<String, String>,
    breakers: BTreeSet<String>,
    ended: BTreeSet<String>,
    lives: BTreeMap<String, u64>,
    /// What followers were shown since it was last asked for, and in all.
    shown: Vec<Value>,
    shown_count: usize,
    /// What was checked, and need not be again: it cannot have changed without being lost before.
    checked: BTreeSet<String>,
}

impl Ledger {
    pub(crate) fn take(&mut self, acknowledged: Vec<Acknowledged>) {
        for one in acknowledged {
            match one {
                Acknowledged::Task { id, rank } => drop(self.tasks.insert(id, rank)),
                Acknowledged::Checkpoint { id, state } => drop(self.checkpoints.insert(id, state)),
                Acknowledged::Intervention { agent, id } => drop(self.interventions.insert((agent, id))),
                Acknowledged::Escalation { agent, id } => {
                    self.escalated.insert(agent.clone());
                    self.interventions.insert((agent, id));
                }
                Acknowledged::Termination { agent, id } => {
                    self.terminated.insert(agent.clone());
                    self.interventions.insert((agent, id));
                }
                Acknowledged::Recovery { task } => drop(self.recoveries.insert(task)),
                Acknowledged::Token { secret, agent } => drop(self.tokens.insert(secret, agent)),
                Acknowledged::Tripped { breaker } => drop(self.breakers.insert(breaker)),
                Acknowledged::Ended { agent } => drop(self.ended.insert(agent)),
                Acknowledged::Seen { agent, incarnation } => drop(self.lives.insert(agent, incarnation)),
                Acknowledged::Shown { event } => {
                    self.shown_count += 1;
                    self.shown.push(event);
                }
            }
        }
    }

    /// How many of each kind there are.
    fn counts(&self) -> [(&'static str, usize); 10] {
        [
            ("tasks", self.tasks.len()),
            ("checkpoints", self.checkpoints.len()),
            ("interventions", self.interventions.len()),
            ("escalations", self.escalated.len()),
            ("terminations", self.terminated.len()),
            ("recoveries", self.recoveries.len()),
            ("tokens", self.tokens.len()),
            ("breakers", self.breakers.len()),
            ("lives", self.lives.len()),
            ("events shown", self.shown_count),
        ]
    }

    /// Whether each kind of thing was acknowledged at all.
    pub(crate) fn is_worth_something(&self) -> bool {
        self.counts().iter().all(|(_, count)| *count > 0)
    }

    pub(crate) fn tally(&self) -> String {
        self.counts().map(|(what, count)| format!("{count} {what}")).join(", ")
    }

    /// What followers were shown and nobody has looked for yet.
    pub(crate) fn shown(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.shown)
    }

    /// Looks for everything that was acknowledged and not found after an earlier crash already.
    pub(crate) fn check(&mut self, http: &Http) -> Result<(), String> {
        self.check_work(http)?;
        self.check_agents(http)?;
        for (secret, agent) in &self.tokens {
            if self.checked.insert(format!("token {secret}")) {
                found(&http.bearing(secret), &format!("/v1/agents/{agent}"))?;
            }
        }
        for breaker in &self.breakers {
            if self.checked.insert(format!("breaker {breaker}")) {
                let status = found(http, &format!("/v1/breakers/{breaker}"))?;
                if status["state"] != "OPEN" {
                    return Err(format!("breaker {breaker} was open, and is {status}"));
                }
            }
        }
        Ok(())
    }

    /// Tasks, what was saved of them, and how lost ones go on.
    fn check_work(&mut self, http: &Http) -> Result<(), String> {
        for (id, rank) in &self.tasks {
            if self.checked.insert(format!("task {id} {rank}")) {
                let task = found(http, &format!("/v1/tasks/{id}"))?;
                let status = task["status"].as_str().unwrap_or_default();
                let reached = STATUSES.iter().position(|known| *known == status);
                if reached.is_none_or(|reached| reached < usize::from(*rank)) {
                    return Err(format!("task {id} was {}, and is {status}", STATUSES[usize::from(*rank)]));
                }
            }
        }
        for (id, state) in &self.checkpoints {
            if self.checked.insert(format!("checkpoint {id}")) {
                let checkpoint = found(http, &format!("/v1/checkpoints/{id}"))?;
                if checkpoint["state"] != *state {
                    return Err(format!("checkpoint {id} is another than was saved"));
                }
            }
        }
        for task in &self.recoveries {
            if self.checked.insert(format!("recovery {task}")) {
                found(http, &format!("/v1/tasks/{task}/recovery"))?;
            }
        }
        Ok(())
    }

    /// What was done to agents, and which of their lives are over.
    fn check_agents(&mut self, http: &Http) -> Result<(), String> {
        for (agent, id) in &self.interventions {
            if self.checked.insert(format!("intervention {agent} {id}")) {
                let events = found(http, &format!("/v1/agents/{agent}/events?limit=100"))?;
                if !events.to_string().contains(id.as_str()) {
                    return Err(format!("intervention {id} of {agent} is in none of its events: {events}"));
                }
            }
        }
        for agent in &self.ended {
            if self.checked.insert(format!("end of {agent}")) {
                let health = found(http, &format!("/v1/agents/{agent}"))?;
                if health["incarnation"] == 1 && health["state"] != "TERMINATED" {
                    return Err(format!("{agent} had ended, and is {}", health["state"]));
                }
            }
        }
        for (agent, incarnation) in &self.lives {
            let health = found(http, &format!("/v1/agents/{agent}"))?;
            if health["incarnation"].as_u64().is_none_or(|known| known < *incarnation) {
                return Err(format!(
                    "{agent} was in life {incarnation}, and is in {}",
                    health["incarnation"]
                ));
            }
        }
        Ok(())
    }

    /// Waits until people were told of every escalation, who was to end was ended, and lost work was started again.
    pub(crate) fn await_effects(&self, http: &Http, place: &Place) -> Result<(), String> {
        let deadline = Instant::now() + DONE_WITHIN;
        loop {
            let Some(undone) = self.undone(http, place)? else { return Ok(()) };
            if deadline < Instant::now() {
                return Err(undone);
            }
            super::pass(Duration::from_millis(100));
        }
    }

    /// Something that was to be done, and is not.
    fn undone(&self, http: &Http, place: &Place) -> Result<Option<String>, String> {
        let told: BTreeSet<String> = place.notified().iter().map(|event| text(&event["subject"])).collect();
        if let Some(untold) = self.escalated.difference(&told).next() {
            return Ok(Some(format!("nobody was told of {untold}")));
        }
        let started: BTreeSet<String> = place.spawned().iter().map(|start| text(&start["taskId"])).collect();
        if let Some(lost) = self.recoveries.difference(&started).next() {
            return Ok(Some(format!("{lost} was not started again")));
        }
        let stops = place.called();
        let stopped: BTreeSet<String> = stops
            .iter()
            .filter(|(_, call)| call["action"] == "terminate")
            .map(|(_, call)| text(&call["agentId"]))
            .collect();
        for agent in self.terminated.difference(&stopped) {
            // Two crashes in a row may have come between it and its doing; then people are told that it failed.
            let events = found(http, &format!("/v1/agents/{agent}/events?limit=100"))?;
            if !events.to_string().contains("TERMINATION_FAILED") {
                return Ok(Some(format!("{agent} was not ended")));
            }
        }
        Ok(None)
    }
}

/// Nothing was carried out more often than it may be. Gives how much was carried out.
pub(crate) fn check_repeats(place: &Place) -> Result<String, String> {
    let ids = |documents: Vec<Value>| documents.iter().map(|document| text(&document["id"])).collect();
    let carried: [(&str, Vec<String>); 3] = [
        ("programs told people", ids(place.notified())),
        ("starts were made", ids(place.spawned())),
        ("webhooks were called", place.called().into_iter().map(|(id, _)| id).collect()),
    ];
    let mut tally = Vec::new();
    for (what, ids) in carried {
        let mut times: BTreeMap<&String, usize> = BTreeMap::new();
        for id in &ids {
            *times.entry(id).or_default() += 1;
        }
        if let Some((id, times)) = times.iter().find(|(_, times)| CARRIED_OUT_MAX < **times) {
            return Err(format!("{what} {times} times of {id}"));
        }
        tally.push(format!("{what} {} times, {} of them again", ids.len(), ids.len() - times.len()));
    }
    Ok(tally.join(", "))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// What is at this address, which must be there.
fn found(http: &Http, path: &str) -> Result<Value, String> {
    let answer = http.get(path).map_err(|error| format!("{path}: {error}"))?;
    if answer.status == 200 {
        Ok(answer.body)
    } else {
        Err(format!("{path}: {} {}", answer.status, answer.body))
    }
}
