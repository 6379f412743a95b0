//! What happened, in the words of a person: one sentence for each type of event.

use serde_json::Value;
use verger_client::Event;

use crate::screen::{Style, lasting, safe};

/// What of a reminder is shown beside other things; `verger events --json` has it whole.
const QUOTE_MAX: usize = 60;

/// What happened, on one line. An event of a newer monitor has at least its data.
pub(super) fn sentence(event: &Event) -> String {
    let said = of_health(event).or_else(|| of_interventions(event)).or_else(|| of_work(event));
    safe(&said.unwrap_or_else(|| any(&event.data)))
}

/// Whether it is good news.
pub(super) fn style(event: &Event) -> Style {
    match (event.kind.as_str(), event.data["to"].as_str()) {
        (_, Some("STUCK" | "FAILING" | "OPEN")) | ("INCIDENT_OPENED" | "RECOVERY_FAILED", _) => Style::Bad,
        (_, Some("DEGRADED" | "HALF_OPEN")) | ("ESCALATION_TRIGGERED" | "MONITOR_BLIND", _) => Style::Warn,
        (_, Some("HEALTHY" | "CLOSED")) | ("INCIDENT_RESOLVED" | "RECOVERY_COMPLETED", _) => Style::Good,
        _ => Style::Plain,
    }
}

fn of_health(event: &Event) -> Option<String> {
    let data = Data(&event.data);
    Some(match event.kind.as_str() {
        "HEALTH_STATE_CHANGED" => {
            let (from, to) = (data.text("from")?, data.text("to")?);
            // Of health there is nothing to prove.
            let reason = data.text("reason").filter(|_| to != "HEALTHY").map(colon).unwrap_or_default();
            format!("{from} → {to}{reason}")
        }
        "AGENT_TERMINATED" => {
            let goes_on = if event.data["recover"] == true { "; its work is to go on" } else { "" };
            format!("this life ended{}{goes_on}", colon(data.text("reason")?))
        }
        "INCIDENT_OPENED" => format!("incident opened: {}", data.text("kind")?),
        "INCIDENT_RESOLVED" => {
            format!("incident over after {}: {}", lasting(data.number("lastedMs")?), data.text("kind")?)
        }
        "agent-healthy" => "it shows life".to_owned(),
        "agent-degraded" | "agent-disconnected" => {
            format!("it fell silent{}", data.text("reason").map(colon).unwrap_or_default())
        }
        "agent-reconnected" => format!("it is back after {}", lasting(data.number("downtime")?)),
        "agent-health-critical" => {
            let cause = data.text("type").map(|cause| format!(" ({cause})")).unwrap_or_default();
            format!("it does not come back by itself{cause}")
        }
        "MONITOR_BLIND" => {
            let (lasted, cause) = (lasting(data.number("lastedMs")?), data.text("cause")?);
            format!("the monitor could not see for {lasted} ({cause}); nobody is blamed for that time")
        }
        _ => return None,
    })
}

fn of_interventions(event: &Event) -> Option<String> {
    let data = Data(&event.data);
    let by = data.text("by").map(|by| format!(" by {by}")).unwrap_or_default();
    Some(match event.kind.as_str() {
        "NUDGE_SENT" => {
            format!("reminder {} queued{by}: {}", data.number("attempt")?, quote(data.text("message")?))
        }
        "NUDGE_DELIVERED" => "the reminder reached it".to_owned(),
        "NUDGE_ANSWERED" => format!("it reacted to the reminder after {}", lasting(data.number("afterMs")?)),
        "ESCALATION_TRIGGERED" => format!("people are asked what to do{by}{}", colon(data.text("reason")?)),
        "ESCALATION_DECIDED" => {
            let who = data.text("by").unwrap_or("nobody answered in time; the monitor");
            let reason = data.text("reason").map(colon).unwrap_or_default();
            format!("{who} decided: {}{reason}", data.text("decision")?)
        }
        _ => return None,
    })
}

fn of_work(event: &Event) -> Option<String> {
    let data = Data(&event.data);
    Some(match event.kind.as_str() {
        "RECOVERY_INITIATED" => {
            let from = data.text("fromCheckpoint").map(|id| format!("checkpoint {id}"));
            let from = from.unwrap_or_else(|| "the beginning".to_owned());
            format!(
                "recovery of {} begins from {from}, attempt {}",
                data.text("taskId")?,
                data.number("attempt")?
            )
        }
        "RECOVERY_COMPLETED" => {
            format!(
                "recovery of {} succeeded: {} goes on with it",
                data.text("taskId")?,
                data.text("newAgentId")?
            )
        }
        "RECOVERY_FAILED" => {
            let (task, attempts) = (data.text("taskId")?, data.number("attempts")?);
            format!("recovery of {task} failed at attempt {attempts}{}", colon(data.text("reason")?))
        }
        "CIRCUIT_BREAKER_STATE_CHANGED" => {
            let (name, from, to) = (data.text("name")?, data.text("from")?, data.text("to")?);
            format!("breaker {name}: {from} → {to}{}", data.text("reason").map(colon).unwrap_or_default())
        }
        _ => return None,
    })
}

/// Whatever words it has; else its fields.
fn any(data: &Value) -> String {
    let said = ["text", "reason", "message"].into_iter().find_map(|name| Data(data).text(name));
    if let Some(said) = said {
        return said.to_owned();
    }
    let fields = data.as_object().into_iter().flatten();
    let told = fields.filter(|(name, _)| !matches!(name.as_str(), "agentId" | "agent" | "metrics"));
    told.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// What an event holds.
struct Data<'a>(&'a Value);

impl<'a> Data<'a> {
    fn text(&self, name: &str) -> Option<&'a str> {
        self.0[name].as_str().filter(|text| !text.is_empty())
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.0[name].as_u64()
    }
}

fn colon(reason: &str) -> String {
    format!(": {reason}")
}

/// The beginning of a text, in quotes, up to the end of a word.
fn quote(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let fits = line.chars().count() <= QUOTE_MAX;
    let shown: String = line.chars().take(QUOTE_MAX).collect();
    let shown = if fits { line } else { shown.rsplit_once(' ').map_or(shown.as_str(), |(words, _)| words) };
    format!("“{shown}{}”", if fits && line.len() == text.len() { "" } else { " …" })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use verger_api::EventType;

    use super::*;

    fn event(kind: &str, data: &Value) -> Event {
        let json =
            json!({"id": "7", "type": kind, "time": "2026-11-17T03:12:00Z", "subject": "a", "data": data});
        Event::read(&json.to_string()).expect("an event")
    }

    #[test]
    fn every_event_is_told_as_a_person_would() {
        let told = [
            (
                "HEALTH_STATE_CHANGED",
                json!({"from": "HEALTHY", "to": "STUCK", "reason": "no tool call for 17m (limit 15m)"}),
            ),
            (
                "HEALTH_STATE_CHANGED",
                json!({"from": "STUCK", "to": "HEALTHY", "reason": "nothing stands against it"}),
            ),
            ("NUDGE_SENT", json!({"attempt": 1, "message": "REMINDER: look at the tests.\nThen go on."})),
            ("NUDGE_SENT", json!({"attempt": 2, "message": "look", "by": "admin"})),
            ("NUDGE_SENT", json!({"attempt": 3, "message": "You have been working for 12 minutes without checkpoint update. Please"})),
            ("NUDGE_DELIVERED", json!({"id": "a#1/1"})),
            ("NUDGE_ANSWERED", json!({"id": "a#1/1", "afterMs": 12_000})),
            ("ESCALATION_TRIGGERED", json!({"reason": "no tool call for 20m; after 2 nudges"})),
            (
                "ESCALATION_DECIDED",
                json!({"decision": "allow-more-time", "reason": "a long build", "by": "admin"}),
            ),
            ("ESCALATION_DECIDED", json!({"decision": "terminate-and-recover", "reason": ""})),
            ("AGENT_TERMINATED", json!({"reason": "exited with code 137", "recover": true})),
            ("RECOVERY_INITIATED", json!({"taskId": "t", "fromCheckpoint": null, "attempt": 1})),
            ("RECOVERY_COMPLETED", json!({"taskId": "t", "newAgentId": "a"})),
            ("RECOVERY_FAILED", json!({"taskId": "t", "reason": "nobody can start it", "attempts": 3})),
            (
                "CIRCUIT_BREAKER_STATE_CHANGED",
                json!({"name": "a/api/x", "from": "CLOSED", "to": "OPEN", "reason": "3 failures in a row"}),
            ),
            ("INCIDENT_OPENED", json!({"id": "7", "kind": "stuck", "evidence": []})),
            ("INCIDENT_RESOLVED", json!({"id": "9", "kind": "stuck", "lastedMs": 300_000})),
            ("agent-disconnected", json!({"reason": "offline: process-crash"})),
            ("agent-reconnected", json!({"downtime": 300_000})),
            ("agent-health-critical", json!({"type": "process-crash"})),
            ("MONITOR_BLIND", json!({"lastedMs": 60_000, "cause": "pause"})),
            ("AGENT_REGISTERED", json!({"text": "it is watched from now on"})),
            ("FROM_THE_FUTURE", json!({"agentId": "a", "warp": 9})),
        ]
        .map(|(kind, data)| sentence(&event(kind, &data)));
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn an_event_without_its_fields_is_told_all_the_same() {
        for kind in EventType::ALL {
            let _ = sentence(&event(kind.as_str(), &json!({})));
            assert!(!sentence(&event(kind.as_str(), &json!({"warp": 9}))).is_empty(), "{kind}");
        }
    }
}
