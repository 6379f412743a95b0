//! What was acknowledged, and whether it is still there.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::http::Http;
use super::load::{Acknowledged, STATUSES};
use super::program::Place;

/// An effect may be carried out once, and once more after a crash.
const CARRIED_OUT_MAX: usize = 2;
/// How long the last run has to tell people what they were not told yet.
const TOLD_WITHIN: Duration = Duration::from_mins(1);

/// Everything that was ever acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    tasks: BTreeMap<String, u8>,
    checkpoints: BTreeMap<String, Value>,
    interventions: BTreeSet<(String, String)>,
    escalations: BTreeSet<(String, String)>,
    recoveries: BTreeSet<String>,
    lives: BTreeMap<String, u64>,
    /// What was checked, and need not be again: it cannot have changed without being lost before.
    checked: BTreeSet<String>,
}

impl Ledger {
    pub(crate) fn take(&mut self, acknowledged: Vec<Acknowledged>) {
        for one in acknowledged {
            match one {
                Acknowledged::Task { id, rank } => {
                    self.tasks.insert(id, rank);
                }
                Acknowledged::Checkpoint { id, state } => {
                    self.checkpoints.insert(id, state);
                }
                Acknowledged::Intervention { agent, id } => {
                    self.interventions.insert((agent, id));
                }
                Acknowledged::Escalation { agent, id } => {
                    self.interventions.insert((agent.clone(), id.clone()));
                    self.escalations.insert((agent, id));
                }
                Acknowledged::Recovery { task } => {
                    self.recoveries.insert(task);
                }
                Acknowledged::Seen { agent, incarnation } => {
                    self.lives.insert(agent, incarnation);
                }
            }
        }
    }

    /// Whether each kind of thing was acknowledged at all.
    pub(crate) fn is_worth_something(&self) -> bool {
        !self.tasks.is_empty()
            && !self.checkpoints.is_empty()
            && !self.escalations.is_empty()
            && !self.recoveries.is_empty()
            && !self.lives.is_empty()
    }

    /// Looks for everything that was acknowledged and not found after an earlier crash already.
    pub(crate) fn check(&mut self, http: &Http) -> Result<(), String> {
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
        for (agent, id) in &self.interventions {
            if self.checked.insert(format!("intervention {agent} {id}")) {
                let events = found(http, &format!("/v1/agents/{agent}/events?limit=100"))?;
                if !events.to_string().contains(id.as_str()) {
                    return Err(format!("intervention {id} of {agent} is in none of its events: {events}"));
                }
            }
        }
        for task in &self.recoveries {
            if self.checked.insert(format!("recovery {task}")) {
                found(http, &format!("/v1/tasks/{task}/recovery"))?;
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

    /// Waits until people were told of every escalation, and lost work was started again.
    pub(crate) fn await_effects(&self, place: &Place) -> Result<(), String> {
        let deadline = Instant::now() + TOLD_WITHIN;
        loop {
            let told: Vec<String> = place.notified().iter().map(Value::to_string).collect();
            let untold = |(agent, _): &&(String, String)| {
                let named = format!("\"{agent}\"");
                !told.iter().any(|told| told.contains(&named))
            };
            let untold = self.escalations.iter().find(untold);
            if untold.is_none() && !place.spawned().is_empty() {
                return Ok(());
            }
            if deadline < Instant::now() {
                return Err(format!("nobody was told of {untold:?}, or nothing was started again"));
            }
            super::pass(Duration::from_millis(50));
        }
    }
}

/// Nothing was carried out more often than it may be.
pub(crate) fn check_repeats(place: &Place) -> Result<(), String> {
    for (what, ran) in [("people were told", place.notified()), ("a start was made", place.spawned())] {
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        for document in ran {
            *times.entry(document["id"].to_string()).or_default() += 1;
        }
        if let Some((id, times)) = times.iter().find(|(_, times)| CARRIED_OUT_MAX < **times) {
            return Err(format!("{what} {times} times of {id}"));
        }
    }
    Ok(())
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
