//! Those who are told of events: `notify.command`, and the orchestrator beside its escalations.
//!
//! A follower reads the journal like any other reader and notes on disk how far it came. So nothing is skipped while
//! a receiver is down or the monitor is; what was told just before a crash may be told once more, under the same id.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use verger_act::{Carrier, Done, Job, Reply};
use verger_api::redact;
use verger_store::{Archive, Error, JournalEvent};

use super::documents;
use super::way::{TELL_WITHIN, Way};
use crate::serve::Log;

/// Events that are read at once.
const READ: usize = 256;
/// The pause after the first failure; it doubles.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_mins(5);
/// How often a program is tried that fails: it runs here, so trying on and on does not help.
const PROGRAM_TRIES: u32 = 3;

/// Who is told, and of what.
pub(crate) struct Told {
    /// Under which name its place is kept.
    pub(crate) name: &'static str,
    pub(crate) way: Way,
    /// Kinds of events; without them, stuck agents and escalations.
    pub(crate) events: Option<Vec<String>>,
    /// Kinds that it hears of otherwise.
    pub(crate) except: &'static [&'static str],
}

impl Told {
    fn wants(&self, event: &JournalEvent, body: &Value) -> bool {
        if self.except.contains(&event.kind.as_str()) {
            return false;
        }
        match &self.events {
            Some(kinds) => kinds.contains(&event.kind),
            None => match event.kind.as_str() {
                "ESCALATION_TRIGGERED" | "RECOVERY_FAILED" | "TERMINATION_FAILED" => true,
                "HEALTH_STATE_CHANGED" => body["data"]["to"] == "STUCK" || body["data"]["to"] == "FAILING",
                // A process that ended though nobody asked it to.
                "INCIDENT_OPENED" => body["data"]["kind"] == "died",
                _ => false,
            },
        }
    }
}

/// Tells of events as they come, until the monitor ends.
pub(crate) async fn follow(
    told: Told,
    archive: Archive,
    mut newest: watch::Receiver<i64>,
    carrier: Arc<Carrier>,
    log: Log,
) {
    let following = Following { told, archive, carrier, log };
    let mut pause = PAUSE_MIN;
    loop {
        // What is committed after this is noticed by the wait below.
        newest.mark_unchanged();
        match following.catch_up().await {
            Ok(()) => pause = PAUSE_MIN,
            Err(error) => {
                (following.log)(&format!("{} cannot be told of events: {error}", following.told.name));
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(PAUSE_MAX);
                continue;
            }
        }
        if newest.changed().await.is_err() {
            return;
        }
    }
}

struct Following {
    told: Told,
    archive: Archive,
    carrier: Arc<Carrier>,
    log: Log,
}

impl Following {
    /// Tells of everything that it was not told of yet. Who is new begins with what is to come.
    async fn catch_up(&self) -> Result<(), Error> {
        let name = self.told.name;
        let archive = self.archive.clone();
        let read = move || match archive.seen_by(name)? {
            Some(seen) => Ok(seen),
            None => archive.newest_event(),
        };
        let mut seen = blocking(read).await?;
        self.archive.set_seen_by(name, seen).await?;
        loop {
            let archive = self.archive.clone();
            let events = blocking(move || archive.events_after(seen, READ)).await?;
            let Some(last) = events.last().map(|event| event.id) else { return Ok(()) };
            for event in events {
                let body = serde_json::from_str(&event.body).unwrap_or(Value::Null);
                if self.told.wants(&event, &body) {
                    self.tell(&event, body).await;
                    self.archive.set_seen_by(name, event.id).await?;
                }
            }
            seen = last;
            self.archive.set_seen_by(name, seen).await?;
        }
    }

    /// Tells of one event, as often as it makes sense to try.
    async fn tell(&self, event: &JournalEvent, body: Value) {
        let (mut pause, mut tries) = (PAUSE_MIN, 0);
        loop {
            tries += 1;
            let variables = variables(event, &body);
            let work = self.told.way.work(body.clone(), variables);
            let key = format!("event-{}", event.id);
            let job = Job { key, lane: self.told.name.to_owned(), work, limit: TELL_WITHIN };
            let done = match self.carrier.carry(job) {
                Ok(done) => match done.await {
                    Ok(done) => Some(done),
                    // The monitor ends.
                    Err(_) => return std::future::pending().await,
                },
                Err(_) => None,
            };
            match done {
                Some(done) if done.succeeded() => return,
                Some(done) => {
                    let (name, id) = (self.told.name, event.id);
                    // What a program said last may hold what it was given.
                    (self.log)(&redact(&format!("{name} was not told of event {id}: {done}")));
                    if is_in_vain(&done, tries) {
                        return;
                    }
                }
                None => {}
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}

fn is_in_vain(done: &Done, tries: u32) -> bool {
    match done {
        Done::Ran(_) => tries >= PROGRAM_TRIES,
        Done::Posted(delivery) => matches!(delivery.reply, Reply::Refused(_)),
    }
}

/// What a script wants to know: `VERGER_EVENT`, the agent, and a sentence.
fn variables(event: &JournalEvent, body: &Value) -> Vec<(String, String)> {
    let agent = event.agent.as_ref().map_or("the fleet", |(agent, _)| agent.as_str());
    let said = |name: &str| body["data"][name].as_str();
    let why = said("reason").or_else(|| said("text")).unwrap_or_default();
    let what = match event.kind.as_str() {
        "ESCALATION_TRIGGERED" => "needs a decision".to_owned(),
        "HEALTH_STATE_CHANGED" => format!("is {}", said("to").unwrap_or("changed")),
        kind => kind.to_owned(),
    };
    let text = if why.is_empty() { format!("{agent} {what}") } else { format!("{agent} {what}: {why}") };
    let mut variables = documents::variables(&body["data"], &text);
    variables.extend([
        ("VERGER_EVENT".to_owned(), event.kind.clone()),
        ("VERGER_EVENT_ID".to_owned(), event.id.to_string()),
    ]);
    if let Some((agent, _)) = &event.agent {
        variables.retain(|(name, _)| name != "VERGER_AGENT_ID");
        variables.push(("VERGER_AGENT_ID".to_owned(), agent.to_string().replace('\0', " ")));
    }
    variables
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(Error::Closed))
}
