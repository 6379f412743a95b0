//! Requests may be written in camelCase or in `snake_case`, and go out in camelCase.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use verger_api::{
    AgentSettings, CallReport, DecisionRequest, EscalateRequest, EscalationTicket, NewCheckpoint, NewToken,
    NudgeRequest, RecoverRequest, TaskUpdate, TerminateRequest, WrongRequest, read_body,
};

/// Every name in `snake_case`. What is inside of `env` is the user's own.
fn snake(value: &Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(name, value)| (to_snake(name), snake(value))).collect::<Map<_, _>>(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(snake).collect()),
        other => other.clone(),
    }
}

fn to_snake(name: &str) -> String {
    let lower =
        |c: char| if c.is_ascii_uppercase() { format!("_{}", c.to_ascii_lowercase()) } else { c.to_string() };
    name.chars().map(lower).collect()
}

fn is_read_in_both<T: DeserializeOwned + Serialize>(camel: &Value) {
    for sent in [camel.clone(), snake(camel)] {
        let read: T = read_body(sent.to_string().as_bytes()).expect("a request");
        assert_eq!(serde_json::to_value(&read).expect("JSON"), *camel, "{sent}");
    }
}

#[test]
fn requests_are_read_in_both_spellings() {
    let at = "2026-01-31T12:00:00.000Z";
    is_read_in_both::<NudgeRequest>(&json!({ "message": "m", "incarnation": 1 }));
    is_read_in_both::<EscalateRequest>(&json!({ "reason": "r", "incarnation": 1 }));
    is_read_in_both::<TerminateRequest>(&json!({ "reason": "r" }));
    is_read_in_both::<DecisionRequest>(&json!({ "decision": "allow-more-time", "reason": "r", "until": at }));
    is_read_in_both::<RecoverRequest>(&json!({ "fromCheckpoint": "c", "reason": "r" }));
    is_read_in_both::<WrongRequest>(&json!({ "reason": "r" }));
    is_read_in_both::<CallReport>(&json!({ "permit": "p", "ok": false, "durationMs": 5, "error": "e" }));
    is_read_in_both::<NewToken>(
        &json!({ "scope": "agent", "agentId": "a", "label": "l", "expiresIn": "7d" }),
    );
    is_read_in_both::<TaskUpdate>(&json!({
        "agentId": "a", "description": "d", "assignedAt": at, "expectedCompletion": at, "lastProgressUpdate": at,
        "progressPercentage": 12.5, "status": "in_progress", "explanation": "e"
    }));
    is_read_in_both::<AgentSettings>(&json!({
        "role": "r", "taskId": "t", "mode": "full",
        "limits": { "tokens": 1, "costUsd": 2.5, "wallSeconds": 3, "memoryMb": 4, "cpuPercent": 5.5 },
        "nudge": { "channels": ["inbox"] },
        "probes": [{
            "type": "http", "name": "n", "interval": "5s", "timeout": "3s", "failureThreshold": 3,
            "successThreshold": 2, "httpEndpoint": "http://x", "expectedStatusCodes": [200], "tcpEndpoint": "x:1",
            "customExpression": "true", "additionalProbes": ["b"], "includeInAggregate": false
        }],
        "spawn": { "command": ["a", "b"], "cwd": "/", "env": { "a": "b" } }
    }));
}

#[test]
fn a_checkpoint_borrows_its_state_and_is_read_in_both_spellings() {
    for body in [
        r#"{"taskId":"t","agentId":"a","state":{ "n": 1.0 },"parentId":"p","createdAt":"2026-01-31T12:00:00Z"}"#,
        r#"{"task_id":"t","agent_id":"a","state":{ "n": 1.0 },"parent_id":"p","created_at":"2026-01-31T12:00:00Z"}"#,
    ] {
        let mut new: NewCheckpoint<'_> = read_body(body.as_bytes()).expect("a checkpoint");
        assert_eq!((new.parent_id.as_deref(), new.created_at.is_some()), (Some("p"), true));
        let verger_api::State::Body(state) = new.take_state().expect("a state") else {
            panic!("a body was expected")
        };
        assert_eq!(state.get(), r#"{ "n": 1.0 }"#);
    }
    for body in
        [r#"{"taskId":"t","agentId":"a"}"#, r#"{"taskId":"t","agentId":"a","state":1,"stateRef":"r"}"#]
    {
        let mut new: NewCheckpoint<'_> = read_body(body.as_bytes()).expect("a checkpoint");
        assert!(new.take_state().is_err(), "{body}");
    }
}

#[test]
fn a_ticket_keeps_the_spelling_of_its_specification() {
    let (_, data) =
        crate::events::samples().into_iter().find(|(name, _)| name.starts_with("WORKER")).expect("a sample");
    let ticket = &data["ticket"];
    let read: EscalationTicket = serde_json::from_value(ticket.clone()).expect("a ticket");
    assert_eq!(serde_json::to_value(&read).expect("JSON"), *ticket);
    let mut partial = ticket.clone();
    partial.as_object_mut().expect("an object").remove("cause");
    assert!(serde_json::from_value::<EscalationTicket>(partial).is_err());
}

#[test]
fn scope_and_agent_of_a_token_go_together() {
    let check = |body: &str| read_body::<NewToken>(body.as_bytes()).expect("a token").check().is_ok();
    assert!(check(r#"{"scope":"agent","agentId":"a"}"#) && check(r#"{"scope":"read"}"#));
    assert!(!check(r#"{"scope":"agent"}"#) && !check(r#"{"scope":"admin","agentId":"a"}"#));
}

#[test]
fn progress_is_a_percentage() {
    let percent = |given: &str| {
        read_body::<TaskUpdate>(format!(r#"{{"progressPercentage":{given}}}"#).as_bytes())
            .expect("a task")
            .percent()
    };
    assert_eq!((percent("99.9"), percent("0"), percent("null")), (Ok(Some(99)), Ok(Some(0)), Ok(None)));
    assert!(percent("101").is_err() && percent("-1").is_err());
}
