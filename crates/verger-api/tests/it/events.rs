//! Every type of event, in its envelope, there and back.

use serde_json::{Value, json};
use verger_api::event::DecodeError;
use verger_api::{CloudEvent, EventType};

/// What an event of each type holds, as the specifications have it.
pub(crate) fn samples() -> Vec<(&'static str, Value)> {
    let metrics = json!({
        "uptimeSeconds": 1, "tokenCount": 2, "errorCount": 3, "toolCallCount": 4, "interventionCount": 5,
        "missedHeartbeats": 0, "totalHeartbeats": 6, "disconnectionCount": 0,
        "lastActivity": "2026-01-31T12:00:00.000Z", "costUsd": 0.5
    });
    let ticket = json!({
        "ticket_id": "t", "created_at": "2026-01-31T12:00:00.000Z", "worker_agent_id": "a",
        "worker_session_id": "s", "worker_node_id": "n", "worker_graph_id": "g", "severity": "high",
        "cause": "c", "judge_reasoning": "r", "suggested_action": "restart", "recent_verdicts": ["RETRY"],
        "total_steps_checked": 20, "steps_since_last_accept": 15, "stall_minutes": null, "evidence_snippet": "e"
    });
    let evidence = json!([{
        "signal": "tool-silence", "value": "17m", "threshold": "15m", "verdict": "stuck",
        "text": "no tool call for 17m (limit 15m)", "verified": true
    }]);
    let at = "2026-01-31T12:00:00.000Z";
    vec![
        (
            "AGENT_HEARTBEAT",
            json!({
                "agentId": "a", "taskId": "t", "timestamp": at, "phase": "p", "lastToolCall": "bash", "tokenCount": 1,
                "errorCount": 0, "progressIndicator": "x"
            }),
        ),
        (
            "HEALTH_STATE_CHANGED",
            json!({ "agentId": "a", "from": "HEALTHY", "to": "STUCK", "reason": "r", "evidence": evidence }),
        ),
        ("NUDGE_SENT", json!({ "agentId": "a", "attempt": 1, "message": "m", "id": "i" })),
        ("NUDGE_DELIVERED", json!({ "agentId": "a", "id": "i" })),
        ("NUDGE_ANSWERED", json!({ "agentId": "a", "id": "i", "afterMs": 1500 })),
        (
            "ESCALATION_TRIGGERED",
            json!({
                "agentId": "a", "reason": "r", "evidence": [], "options": ["allow-more-time", "force-handoff"],
                "deadline": at
            }),
        ),
        (
            "ESCALATION_DECIDED",
            json!({ "agentId": "a", "decision": "force-handoff", "reason": "r", "by": "ann" }),
        ),
        ("AGENT_TERMINATED", json!({ "agentId": "a", "reason": "r", "checkpoint": "c", "recover": true })),
        ("RECOVERY_INITIATED", json!({ "taskId": "t", "fromCheckpoint": "c", "attempt": 1 })),
        ("RECOVERY_COMPLETED", json!({ "taskId": "t", "newAgentId": "a", "incarnation": 2 })),
        ("RECOVERY_FAILED", json!({ "taskId": "t", "reason": "r", "attempts": 3 })),
        ("CIRCUIT_BREAKER_STATE_CHANGED", json!({ "name": "a/tool/bash", "from": "CLOSED", "to": "OPEN" })),
        ("agent-healthy", json!({ "agent": "a", "metrics": metrics })),
        ("agent-degraded", json!({ "agent": "a", "reason": "r", "idleTime": 5000 })),
        (
            "agent-disconnected",
            json!({ "agent": "a", "reason": "r", "lastSeen": at, "type": "event-loop-freeze" }),
        ),
        ("agent-reconnected", json!({ "agent": "a", "downtime": 4000 })),
        ("agent-health-critical", json!({ "agent": "a", "type": "process-crash" })),
        ("WORKER_ESCALATION_TICKET", json!({ "ticket": ticket })),
        (
            "QUEEN_INTERVENTION_REQUESTED",
            json!({
                "ticket_id": "t", "analysis": "x", "severity": "critical", "queen_graph_id": "q", "queen_stream_id": "s"
            }),
        ),
        (
            "INCIDENT_OPENED",
            json!({ "id": "7", "kind": "stuck", "agentId": "a", "since": at, "evidence": [] }),
        ),
        ("INCIDENT_RESOLVED", json!({ "id": "7", "kind": "stuck", "agentId": "a", "lastedMs": 60000 })),
        ("MONITOR_BLIND", json!({ "from": at, "until": at, "lastedMs": 0, "cause": "paused" })),
    ]
}

pub(crate) fn envelope(kind: &str, data: &Value) -> Value {
    json!({
        "specversion": "1.0", "id": "42", "source": "/verger", "type": kind, "subject": "a",
        "time": "2026-01-31T12:00:00.000Z", "datacontenttype": "application/json", "incarnation": 2,
        "taskid": "t", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "data": data
    })
}

/// Every type: the specified ones with their data, the others with a note.
pub(crate) fn all() -> Vec<(String, Value)> {
    let specified = samples();
    let note = json!({ "agentId": "a", "text": "it happened", "details": { "why": [1] } });
    let data = |kind: &EventType| {
        let found = specified.iter().find(|(name, _)| *name == kind.as_str());
        found.map_or_else(|| note.clone(), |(_, data)| data.clone())
    };
    EventType::ALL.iter().map(|kind| (kind.to_string(), data(kind))).collect()
}

#[test]
fn l49_every_event_goes_out_as_a_cloud_event_and_comes_back_the_same() {
    for (kind, data) in all() {
        let sent = envelope(&kind, &data);
        let event = CloudEvent::decode(sent.to_string().as_bytes())
            .unwrap_or_else(|error| panic!("{kind}: {error:?}"));
        assert_eq!(event.data.kind().as_str(), kind);
        let mut bytes = b"data: ".to_vec();
        event.encode(&mut bytes);
        assert_eq!(serde_json::from_slice::<Value>(&bytes[6..]).expect("JSON"), sent, "{kind}");
        assert_eq!(event.to_json().as_bytes(), &bytes[6..]);
    }
}

#[test]
fn l49_the_events_of_the_specifications_have_their_names() {
    let names: Vec<_> = samples().iter().map(|(name, _)| *name).collect();
    let known: Vec<_> = EventType::ALL.iter().map(|kind| kind.as_str()).take(names.len()).collect();
    assert_eq!(known, names);
}

#[test]
fn what_is_not_said_is_left_out_of_the_envelope() {
    let mut sent = envelope("agent-reconnected", &json!({ "agent": "a", "downtime": 1 }));
    for name in ["subject", "incarnation", "taskid", "traceparent"] {
        sent.as_object_mut().expect("an object").remove(name);
    }
    let event = CloudEvent::decode(sent.to_string().as_bytes()).expect("an event");
    assert_eq!(serde_json::to_value(&event).expect("JSON"), sent);
}

#[test]
fn an_event_of_a_newer_monitor_is_told_apart_from_nonsense() {
    let newer = envelope("AGENT_DREAMED", &json!({}));
    let error = CloudEvent::decode(newer.to_string().as_bytes()).expect_err("not known");
    assert_eq!(error.to_string(), "events of type `AGENT_DREAMED` are not known to this version");
    let mut version = envelope("MONITOR_BLIND", &json!({}));
    version["specversion"] = json!("2.0");
    assert!(matches!(CloudEvent::decode(version.to_string().as_bytes()), Err(DecodeError::Version(_))));
    assert!(matches!(CloudEvent::decode(b"{}"), Err(DecodeError::Unreadable(_))));
}
