//! Stories, as they are read.

use serde_json::{Value, json};

use super::*;

const NOON: i64 = 1_769_860_800_000;

fn at(seconds_ago: i64) -> Value {
    json!(Time::from_millis(NOON - seconds_ago * 1_000))
}

/// A healthy agent, with these fields changed.
fn agent(changes: &Value) -> AgentHealth {
    let mut health = json!({
        "agentId": "agent-7", "taskId": "build", "state": "HEALTHY", "stateChangedAt": at(600),
        "lastHeartbeat": at(4), "lastCheckpoint": null,
        "metrics": {"uptimeSeconds": 900, "tokenCount": 1, "errorCount": 0, "toolCallCount": 3, "interventionCount": 0,
            "missedHeartbeats": 0, "totalHeartbeats": 9, "disconnectionCount": 0, "lastActivity": null, "costUsd": 0.0},
        "circuitBreakers": [], "incarnation": 1, "role": "default", "mode": "escalate", "ready": true,
        "liveness": {"status": "online", "cause": null, "class": null, "since": at(4)},
        "waitingOn": null, "evidence": [], "intervention": null, "probes": null, "clockSkewMs": null, "host": null,
        "checkpointId": null,
        "waste": {"tokens": 0, "costUsd": 0.0, "seconds": 0, "savedTokens": 0, "savedCostUsd": 0.0},
    });
    for (name, value) in changes.as_object().expect("fields") {
        health[name] = value.clone();
    }
    serde_json::from_value(health).expect("an agent")
}

fn found(signal: &str, verdict: &str, verified: bool, text: &str) -> Value {
    json!({"signal": signal, "value": "17m", "threshold": "15m", "verdict": verdict, "text": text, "verified": verified})
}

fn told(changes: &Value) -> String {
    let story = of(&agent(changes), Time::from_millis(NOON));
    let mut lines = Vec::new();
    for part in &story.paragraphs {
        lines.push(part.text.clone());
        lines.extend(part.points.iter().map(|point| format!("  - {point}")));
    }
    lines.extend(story.next.iter().map(|step| format!("> {step}")));
    lines.join("\n")
}

#[test]
fn a_healthy_agent_needs_few_words() {
    insta::assert_snapshot!(told(&json!({})));
}

#[test]
fn a_stuck_agent_is_explained_by_what_was_found_and_what_is_done() {
    insta::assert_snapshot!(told(&json!({
        "state": "STUCK",
        "evidence": [
            found("tool-silence", "stuck", true, "no tool call for 17m (limit 15m)"),
            found("context", "note", true, "context 92 % full without a handoff (limit 90 %)"),
        ],
        "intervention": {"step": "nudging", "attempt": 2, "until": null},
        "waste": {"tokens": 5200, "costUsd": 0.31, "seconds": 0, "savedTokens": 0, "savedCostUsd": 0.0},
    })));
}

#[test]
fn one_that_waits_for_a_person_is_not_blamed() {
    insta::assert_snapshot!(told(&json!({
        "liveness": {"status": "idle", "cause": null, "class": null, "since": at(30)},
        "waitingOn": {"kind": "person", "since": at(720), "until": at(-7200)},
    })));
}

#[test]
fn a_frozen_one_whose_people_were_asked_says_how_to_answer() {
    insta::assert_snapshot!(told(&json!({
        "agentId": "it's odd",
        "state": "FAILING",
        "liveness": {"status": "unresponsive", "cause": "event-loop-freeze", "class": "recoverable", "since": at(300)},
        "evidence": [found("ping", "failing", false, "3 pings unanswered (limit 2)")],
        "intervention": {"step": "escalated", "attempt": null, "until": at(-600)},
        "clockSkewMs": -7_000,
    })));
}

#[test]
fn one_that_ended_is_not_said_to_be_silent() {
    insta::assert_snapshot!(told(&json!({
        "state": "TERMINATED",
        "liveness": {"status": "offline", "cause": "process-crash", "class": "terminal", "since": at(60)},
        "evidence": [found("exit", "failing", true, "its process ended (137)")],
    })));
}

#[test]
fn every_state_liveness_and_step_is_told_in_sentences() {
    for state in HealthState::ALL {
        for status in LivenessStatus::ALL {
            for step in Step::ALL {
                let story = told(&json!({
                    "state": state,
                    "liveness": {"status": status, "cause": null, "class": null, "since": at(60)},
                    "intervention": {"step": step, "attempt": 1, "until": at(-60)},
                }));
                let sentences = story.lines().filter(|line| !line.starts_with('>'));
                assert!(sentences.clone().all(|line| line.ends_with(['.', ':'])), "{story}");
                assert!(sentences.count() >= 2, "{story}");
            }
        }
    }
}
