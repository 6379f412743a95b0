//! The description says what is really sent: every answer is held against its schema.

use boon::{Compiler, Schemas};
use serde::Serialize;
use serde_json::{Value, json};
use verger_api::{
    AgentHealth, AgentMetrics, AnyJson, Checkpoint, Health, HealthState, Heartbeat, IncidentKind, List,
    Liveness, LivenessStatus, Mode, Problem, Readiness, RecoveryPhase, RecoveryStatus, SignalKind, Task,
    TaskStatus, Time, Waste, openapi,
};

fn document() -> Value {
    serde_json::to_value(openapi()).expect("JSON")
}

/// Whether a value is what the component of this name describes.
fn fits(document: &Value, name: &str, value: &Value) -> Result<(), String> {
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource("verger.json", document.clone()).expect("JSON");
    let place = format!("verger.json#/components/schemas/{name}");
    let index = compiler.compile(&place, &mut schemas).map_err(|error| format!("{error:#}"))?;
    schemas.validate(value, index).map_err(|error| format!("{error:#}"))
}

fn agent() -> AgentHealth {
    let at = Time::from_millis(1_800_000_000_000);
    AgentHealth {
        agent_id: "a".to_owned(),
        task_id: None,
        state: HealthState::Healthy,
        state_changed_at: at,
        last_heartbeat: Some(at),
        last_checkpoint: None,
        metrics: AgentMetrics::default(),
        circuit_breakers: vec![],
        incarnation: 1,
        role: "active".to_owned(),
        mode: Mode::Escalate,
        ready: true,
        liveness: Liveness { status: LivenessStatus::Idle, cause: None, class: None, since: at },
        waiting_on: None,
        evidence: vec![],
        intervention: None,
        probes: None,
        clock_skew_ms: None,
        host: None,
        checkpoint_id: None,
        waste: Waste::default(),
    }
}

fn checkpoint() -> Value {
    json!({
        "id": "c", "parentId": null, "hash": "h", "createdAt": "2026-01-31T12:00:00.000Z", "taskId": "t",
        "agentId": "a", "phase": null, "stateRef": null, "size": 0, "queued": false, "state": null
    })
}

#[test]
fn a_checkpoint_is_read_as_it_is_written() {
    let mut sent = checkpoint();
    sent["state"] = json!({ "n": [1, 2] });
    let text = sent.to_string();
    let read = Checkpoint::decode(text.as_bytes()).expect("a checkpoint");
    assert_eq!(read.state.as_ref().map(AnyJson::get), Some(r#"{"n":[1,2]}"#));
    assert_eq!(serde_json::to_value(&read).expect("JSON"), sent);
}

#[test]
fn l50_agent_health_has_the_fields_of_the_specification_and_of_the_contract() {
    let sent = serde_json::to_value(agent()).expect("JSON");
    for name in [
        "agentId",
        "taskId",
        "state",
        "stateChangedAt",
        "lastHeartbeat",
        "lastCheckpoint",
        "metrics",
        "circuitBreakers",
        "incarnation",
        "role",
        "mode",
        "ready",
        "liveness",
        "waitingOn",
        "evidence",
        "intervention",
        "probes",
        "clockSkewMs",
    ] {
        assert!(sent.get(name).is_some(), "{name} is missing");
    }
    for name in [
        "uptimeSeconds",
        "tokenCount",
        "errorCount",
        "toolCallCount",
        "interventionCount",
        "missedHeartbeats",
        "totalHeartbeats",
        "disconnectionCount",
        "lastActivity",
        "costUsd",
    ] {
        assert!(sent["metrics"].get(name).is_some(), "metrics.{name} is missing");
    }
}

#[test]
fn what_is_sent_is_what_is_described() {
    fn sent(value: &impl Serialize) -> Value {
        serde_json::to_value(value).expect("JSON")
    }
    let at = Time::from_millis(0);
    let task = Task {
        task_id: "t".to_owned(),
        agent_id: None,
        status: TaskStatus::InProgress,
        description: None,
        assigned_at: Some(at),
        expected_completion: None,
        last_progress_update: None,
        progress_percentage: Some(50),
        explanation: None,
        stalled_since: None,
        failed_since: None,
        ended_at: None,
    };
    let recovery = RecoveryStatus {
        task_id: "t".to_owned(),
        agent_id: "a".to_owned(),
        status: RecoveryPhase::HumanReview,
        since: at,
        attempt: 1,
        from_checkpoint: None,
        incarnation: 2,
        next_attempt_at: None,
        reason: "r".to_owned(),
    };
    let document = document();
    for (name, value) in [
        ("AgentHealth", sent(&agent())),
        ("List_AgentHealth", sent(&List { items: vec![agent()], next_cursor: Some("c".to_owned()) })),
        ("Task", sent(&task)),
        ("RecoveryStatus", sent(&recovery)),
        ("Problem", sent(&Problem::new("VG0101", "d").at("/x").retry_after(1))),
        ("Health", sent(&Health::ok("0.1.0", 1))),
        ("Readiness", sent(&Readiness::of(vec![]))),
        ("Heartbeat", sent(&Heartbeat::of("a"))),
        ("IncidentKind", sent(&IncidentKind::OverLimit)),
        (
            "Signal",
            json!({ "agentId": "a", "kind": "toolCall", "callId": "c", "tool": "t", "phase": "started", "args": null }),
        ),
        ("Checkpoint", checkpoint()),
    ] {
        fits(&document, name, &value).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    for (kind, data) in crate::events::all() {
        let event = crate::events::envelope(&kind, &data);
        fits(&document, "CloudEvent", &event).unwrap_or_else(|error| panic!("{kind}: {error}"));
    }
}

#[test]
fn l50_a_signal_is_one_of_a_type_for_each_kind() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    let choices = schemas["Signal"]["oneOf"].as_array().expect("a choice");
    let mapping = schemas["Signal"]["discriminator"]["mapping"].as_object().expect("a word for each");
    let words: Vec<&str> = SignalKind::ALL.iter().map(|kind| kind.as_str()).collect();
    assert_eq!((choices.len(), mapping.len()), (words.len(), words.len()));
    for word in words {
        let place = mapping[word].as_str().expect("a reference");
        assert!(
            choices.iter().any(|choice| choice["$ref"] == place),
            "{word} leads to {place}, which is no choice"
        );
        let name = place.trim_start_matches("#/components/schemas/");
        let parts = schemas[name]["allOf"].as_array().expect("parts");
        assert!(
            parts.iter().any(|part| part["properties"]["kind"]["enum"] == json!([word])),
            "{word}: {parts:?}"
        );
        assert!(fits(&document, name, &json!({ "kind": word })).is_err(), "{word}: nobody is named");
    }
    let sent = json!({ "agentId": "a", "kind": "pong", "seq": 7, "at": "2026-01-31T12:00:00Z" });
    fits(&document, "PongSignal", &sent).expect("all of it is described");
    assert!(fits(&document, "ExitSignal", &sent).is_err());
}

#[test]
fn what_is_wrong_does_not_fit() {
    let document = document();
    let mut wrong = serde_json::to_value(agent()).expect("JSON");
    wrong["state"] = json!("GOOD");
    assert!(fits(&document, "AgentHealth", &wrong).is_err());
    assert!(fits(&document, "Signal", &json!({ "agentId": "a", "kind": "dance" })).is_err());
    assert!(fits(&document, "Heartbeat", &json!({ "phase": "p" })).is_err());
}

#[test]
fn everything_is_described_in_words_and_every_reference_leads_somewhere() {
    let document = document();
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    let mut wrong = Vec::new();
    for (name, schema) in schemas {
        if schema.get("description").and_then(Value::as_str).is_none_or(str::is_empty) {
            wrong.push(format!("{name} has no description"));
        }
        references(schema, &mut |target| {
            let target = target.strip_prefix("#/components/schemas/").unwrap_or(target);
            if !schemas.contains_key(target) {
                wrong.push(format!("{name} refers to {target}"));
            }
        });
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(document["components"]["securitySchemes"]["bearer"].is_object());
}

fn references<'a>(value: &'a Value, found: &mut impl FnMut(&'a str)) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| match value {
            Value::String(target) if name == "$ref" => found(target),
            other => references(other, found),
        }),
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}
