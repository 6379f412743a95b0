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
use super::reach::{Live, Reach};
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

/// By what one of those who may be told is told, if it is to be.
pub(crate) type Which = fn(&Reach) -> Option<&Arc<Told>>;

/// Somebody who may be told: under which name its place is kept, and by what it is told at present.
pub(crate) struct Receiver {
    pub(crate) name: &'static str,
    pub(crate) told: Which,
    pub(crate) live: Live,
}

impl Receiver {
    fn told(&self) -> Option<Arc<Told>> {
        (self.told)(&self.live.borrow()).cloned()
    }
}

/// By what somebody is told, and of what.
pub(crate) struct Told {
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

/// Tells of events as they come, until the monitor ends. While nobody is to be told it waits for somebody.
pub(crate) async fn follow(
    receiver: Receiver,
    archive: Archive,
    mut newest: watch::Receiver<i64>,
    carrier: Arc<Carrier>,
    log: Log,
) {
    let mut live = receiver.live.clone();
    let following = Following { receiver, archive, carrier, log };
    let mut pause = PAUSE_MIN;
    loop {
        // What is committed or loaded after this is noticed by the wait below.
        newest.mark_unchanged();
        live.mark_unchanged();
        match following.catch_up().await {
            Ok(()) => pause = PAUSE_MIN,
            Err(error) => {
                following.log.warn(&format!("{} cannot be told of events: {error}", following.receiver.name));
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(PAUSE_MAX);
                continue;
            }
        }
        let goes_on = tokio::select! {
            changed = newest.changed() => changed.is_ok(),
            changed = live.changed() => changed.is_ok(),
        };
        if !goes_on {
            return;
        }
    }
}

struct Following {
    receiver: Receiver,
    archive: Archive,
    carrier: Arc<Carrier>,
    log: Log,
}

/// What became of an event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Telling {
    /// It was told, or not wanted, or there is no use in trying.
    Over,
    /// Nobody is to be told any more.
    Nobody,
}

impl Following {
    /// Tells of everything that it was not told of yet. Who is new begins with what is to come.
    async fn catch_up(&self) -> Result<(), Error> {
        if self.receiver.told().is_none() {
            return Ok(());
        }
        let name = self.receiver.name;
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
                let Some(told) = self.receiver.told() else { return Ok(()) };
                if told.wants(&event, &body) {
                    if self.tell(&event, body).await == Telling::Nobody {
                        return Ok(());
                    }
                    self.archive.set_seen_by(name, event.id).await?;
                }
            }
            seen = last;
            self.archive.set_seen_by(name, seen).await?;
        }
    }

    /// Tells of one event, as often as it makes sense to try, each time by what holds then.
    async fn tell(&self, event: &JournalEvent, body: Value) -> Telling {
        let mut live = self.receiver.live.clone();
        let (mut pause, mut tries) = (PAUSE_MIN, 0);
        loop {
            live.mark_unchanged();
            let Some(told) = self.receiver.told() else { return Telling::Nobody };
            tries += 1;
            if let Some(done) = self.try_once(&told, event, &body).await {
                if done.succeeded() {
                    return Telling::Over;
                }
                let (name, id) = (self.receiver.name, event.id);
                // What a program said last may hold what it was given.
                self.log.warn(&redact(&format!("{name} was not told of event {id}: {done}")));
                if is_in_vain(&done, tries) {
                    return Telling::Over;
                }
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(PAUSE_MAX),
                changed = live.changed() => match changed {
                    Ok(()) => pause = PAUSE_MIN,
                    // The monitor ends.
                    Err(_) => return std::future::pending().await,
                },
            }
        }
    }

    /// What came of one try; nothing if it could not even be begun.
    async fn try_once(&self, told: &Told, event: &JournalEvent, body: &Value) -> Option<Done> {
        let work = told.way.work(body.clone(), variables(event, body));
        let key = format!("event-{}", event.id);
        let job = Job { key, lane: self.receiver.name.to_owned(), work, limit: TELL_WITHIN };
        match self.carrier.carry(job).ok()?.await {
            Ok(done) => Some(done),
            // The monitor ends.
            Err(_) => std::future::pending().await,
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
    if let Some(trace) = body["traceparent"].as_str() {
        variables.push(("TRACEPARENT".to_owned(), trace.to_owned()));
    }
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
