//! The journal, as people follow it: nothing that was shown is taken back, and nothing in it goes backwards.

use std::collections::BTreeMap;

use serde_json::Value;

use super::http::Http;

/// Events that are read once more after each crash, to see that they are still the same.
const READ_AGAIN: u64 = 50;

/// What was read so far.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    newest: u64,
    observed: u64,
    /// The last of them, by number.
    read: BTreeMap<u64, Value>,
    /// The latest life of each agent that an event told of.
    lives: BTreeMap<String, u64>,
}

impl Journal {
    /// Reads on, and holds what is there against what was read before, and what followers were `shown` meanwhile.
    pub(crate) fn check(&mut self, http: &Http, shown: Vec<Value>) -> Result<(), String> {
        let fleet = http.get("/v1/fleet").map_err(|error| error.to_string())?.body;
        let monitor = &fleet["monitor"];
        let newest = monitor["lastEventId"].as_str().and_then(|id| id.parse().ok()).unwrap_or(0);
        if newest < self.newest {
            return Err(format!("the newest event was {}, and is {newest}", self.newest));
        }
        let observed = monitor["observedSeconds"].as_u64().ok_or("it does not say what it observed")?;
        if observed < self.observed {
            return Err(format!("{} s were observed, and now {observed}", self.observed));
        }
        self.observed = observed;
        let from = self.newest.saturating_sub(READ_AGAIN);
        for event in http.events(from, newest).map_err(|error| format!("the events after {from}: {error}"))? {
            self.take(event)?;
        }
        self.newest = newest;
        for event in shown {
            let id = number(&event)?;
            if self.read.get(&id) != Some(&event) {
                return Err(format!("{event} was shown, and now it is {:?}", self.read.get(&id)));
            }
        }
        let keep = newest.saturating_sub(READ_AGAIN);
        self.read = self.read.split_off(&keep);
        Ok(())
    }

    pub(crate) fn tally(&self) -> String {
        format!("{} events", self.newest)
    }

    fn take(&mut self, event: Value) -> Result<(), String> {
        let id = number(&event)?;
        if let Some(known) = self.read.get(&id) {
            return if *known == event {
                Ok(())
            } else {
                Err(format!("{known} was written, and is {event}"))
            };
        }
        if self.read.last_key_value().is_some_and(|(last, _)| id <= *last) {
            return Err(format!("{event} comes after later ones"));
        }
        if let (Some(agent), Some(life)) = (event["subject"].as_str(), event["incarnation"].as_u64()) {
            let latest = self.lives.entry(agent.to_owned()).or_default();
            if life < *latest {
                return Err(format!("{agent} was in life {latest}, and then {event}"));
            }
            *latest = life;
        }
        self.read.insert(id, event);
        Ok(())
    }
}

fn number(event: &Value) -> Result<u64, String> {
    event["id"].as_str().and_then(|id| id.parse().ok()).ok_or_else(|| format!("{event} has no number"))
}
