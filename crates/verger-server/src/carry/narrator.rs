//! Tells the operator what happens, where that was asked for (`telemetry.log.level: info`): a line for each event that
//! people care about, with the agent, the event's number and its trace.

use serde_json::Value;
use tokio::sync::watch;
use verger_store::{Archive, JournalEvent};

use crate::serve::Log;
use crate::trace::Context;

/// Events that are read at once.
const READ: usize = 256;

/// Kinds that are told. What follows from them can be looked up by their numbers.
const TOLD: [&str; 13] = [
    "HEALTH_STATE_CHANGED",
    "NUDGE_SENT",
    "NUDGE_DELIVERED",
    "NUDGE_FAILED",
    "ESCALATION_TRIGGERED",
    "ESCALATION_DECIDED",
    "TERMINATION_FAILED",
    "AGENT_TERMINATED",
    "RECOVERY_INITIATED",
    "RECOVERY_COMPLETED",
    "RECOVERY_FAILED",
    "CIRCUIT_BREAKER_STATE_CHANGED",
    "MONITOR_BLIND",
];

/// Tells of what is new until it is dropped. What happened while nobody wanted to know is not told later.
pub(crate) async fn narrate(archive: Archive, mut newest: watch::Receiver<i64>, log: Log) {
    let looked = archive.clone();
    let read = tokio::task::spawn_blocking(move || looked.newest_event()).await;
    let Ok(Ok(mut seen)) = read else { return std::future::pending().await };
    while newest.changed().await.is_ok() {
        let last = *newest.borrow_and_update();
        while log.is_wordy() && seen < last {
            let looked = archive.clone();
            let read = tokio::task::spawn_blocking(move || looked.events_after(seen, READ)).await;
            let Ok(Ok(events)) = read else { break };
            let Some(end) = events.last().map(|event| event.id) else { break };
            for event in events.iter().filter(|event| TOLD.contains(&event.kind.as_str())) {
                tell(event, &log);
            }
            seen = end;
        }
        if !log.is_wordy() {
            seen = last;
        }
    }
}

fn tell(event: &JournalEvent, log: &Log) {
    let body: Value = serde_json::from_str(&event.body).unwrap_or(Value::Null);
    let id = event.id.to_string();
    let trace = body["traceparent"].as_str().and_then(Context::parse).map(|context| context.trace_id());
    let mut about = vec![("event", id.as_str())];
    about.extend(event.agent.as_ref().map(|(agent, _)| ("agent", agent.as_str())));
    about.extend(event.task.as_ref().map(|task| ("task", task.as_str())));
    let said = ["from", "to", "reason", "text", "name", "cause"];
    about.extend(said.into_iter().filter_map(|name| Some((name, body["data"][name].as_str()?))));
    about.extend(trace.as_deref().map(|trace| ("trace", trace)));
    log.info(&event.kind, &about);
}
