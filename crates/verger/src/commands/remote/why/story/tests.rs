//! Stories, as they are read.

use serde_json::{Value, json};
use verger_api::{RecoveryStatus, Step as Doing};
use verger_client::Event;

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

fn event(number: u32, seconds_ago: i64, kind: &str, data: &Value) -> Event {
    let json = json!({"id": number.to_string(), "type": kind, "time": at(seconds_ago), "subject": "agent-7", "data": data});
    Event::read(&json.to_string()).expect("an event")
}

fn changed(number: u32, seconds_ago: i64, from: &str, to: &str, reason: &str) -> Event {
    event(number, seconds_ago, "HEALTH_STATE_CHANGED", &json!({"from": from, "to": to, "reason": reason}))
}

fn recovery(status: &str, reason: &str, next: Option<i64>) -> RecoveryStatus {
    let status = json!({
        "taskId": "build", "agentId": "agent-7", "status": status, "since": at(60), "attempt": 1, "fromCheckpoint": "c-9",
        "incarnation": 1, "nextAttemptAt": next.map(|seconds| at(-seconds)), "reason": reason,
    });
    serde_json::from_value(status).expect("a recovery")
}

fn told(changes: &Value) -> String {
    told_with(changes, Vec::new(), None)
}

fn told_with(changes: &Value, mut events: Vec<Event>, recovery: Option<RecoveryStatus>) -> String {
    events.reverse();
    let known = Known { agent: agent(changes), events, recovery };
    let story = of(&known, Time::from_millis(NOON));
    let mut lines = vec![story.whole];
    for (title, sentences) in [("why", &story.findings), ("now", &story.standing)] {
        lines.extend(sentences.iter().map(|sentence| format!("{title:<5} {sentence}")));
    }
    lines.extend(story.happened.iter().map(|step| format!("{:<5} {}", "past", step.text)));
    lines.extend(story.next.iter().map(|sentence| format!("{:<5} {sentence}", "next")));
    lines.extend(story.you_can.iter().map(|way| format!("{:<5} {}: {}", "do", way.command, way.does)));
    lines.join("\n")
}

#[test]
fn a_healthy_agent_needs_few_words() {
    insta::assert_snapshot!(told(&json!({})));
    let idle = json!({"liveness": {"status": "idle", "cause": null, "class": null, "since": at(4)}});
    insta::assert_snapshot!(told(&idle));
}

#[test]
fn whoever_waits_is_not_blamed_and_it_is_said_how_long_that_may_last() {
    let waits =
        |kind: &str| told(&json!({"waitingOn": {"kind": kind, "since": at(720), "until": at(-7200)}}));
    let told: Vec<_> = ["tool", "model", "subagent", "person", "provider", "timer"].map(waits).into();
    insta::assert_snapshot!(told.join("\n---\n").replace(&clock_of(-7_200), "CLOCK"));
}

/// The time of day where the test runs.
fn clock_of(seconds_ago: i64) -> String {
    clock(Time::from_millis(NOON - seconds_ago * 1_000), Time::from_millis(NOON))
}

#[test]
fn a_warning_says_that_it_is_one() {
    insta::assert_snapshot!(told_with(
        &json!({"state": "DEGRADED", "evidence": [found("error-rate", "degraded", true, "30 % of recent calls failed (limit 25 %)")]}),
        vec![changed(9, 600, "HEALTHY", "DEGRADED", "30 % of recent calls failed (limit 25 %)")],
        None,
    ));
}

#[test]
fn a_stuck_agent_is_explained_by_what_was_found_what_happened_and_what_is_done() {
    insta::assert_snapshot!(told_with(
        &json!({
            "state": "STUCK",
            "evidence": [
                found("context", "note", true, "context 92 % full without a handoff (limit 90 %)"),
                found("tool-silence", "stuck", true, "no tool call for 17m (limit 15m)"),
            ],
            "intervention": {"step": "nudging", "attempt": 2, "until": null},
            "waste": {"tokens": 5200, "costUsd": 0.31, "seconds": 0, "savedTokens": 0, "savedCostUsd": 0.0},
        }),
        vec![
            changed(3, 9_000, "UNKNOWN", "HEALTHY", "nothing stands against it"),
            changed(
                7,
                900,
                "HEALTHY",
                "DEGRADED",
                "nothing saved, changed or learned for 10m of work (limit 10m)"
            ),
            changed(8, 600, "DEGRADED", "STUCK", "no tool call for 15m (limit 15m)"),
            event(9, 600, "INCIDENT_OPENED", &json!({"id": "9", "kind": "stuck"})),
            event(
                10,
                600,
                "NUDGE_SENT",
                &json!({"attempt": 1, "message": "REMINDER: look", "id": "agent-7#1/1"})
            ),
            event(11, 590, "NUDGE_DELIVERED", &json!({"id": "agent-7#1/1"})),
            event(
                12,
                300,
                "NUDGE_SENT",
                &json!({"attempt": 2, "message": "REMINDER: look", "id": "agent-7#1/2"})
            ),
        ],
        None,
    ));
}

#[test]
fn a_loop_about_which_people_were_asked_says_how_to_answer() {
    insta::assert_snapshot!(told_with(
        &json!({
            "agentId": "it's odd", "state": "STUCK",
            "evidence": [found("repeats", "stuck", false, "the same call with the same result 7 times (limit 4)")],
            "intervention": {"step": "escalated", "attempt": null, "until": null},
        }),
        vec![
            changed(4, 20, "HEALTHY", "STUCK", "the same call with the same result 5 times (limit 4)"),
            event(5, 20, "INCIDENT_OPENED", &json!({"id": "5", "kind": "stuck"})),
            event(
                6,
                20,
                "ESCALATION_TRIGGERED",
                &json!({"reason": "the same call with the same result 5 times (limit 4)"})
            ),
        ],
        None,
    ));
}

#[test]
fn a_frozen_one_is_told_from_a_lost_one_and_a_deadline_has_its_time() {
    let frozen = told(&json!({
        "state": "FAILING",
        "liveness": {"status": "unresponsive", "cause": "event-loop-freeze", "class": "recoverable", "since": at(300)},
        "evidence": [found("ping", "failing", true, "3 pings unanswered (limit 2)")],
        "intervention": {"step": "escalated", "attempt": null, "until": at(-600)}, "mode": "full",
        "clockSkewMs": -7_000, "incarnation": 2,
    }));
    let lost = told(&json!({
        "state": "STUCK", "mode": "observe",
        "liveness": {"status": "offline", "cause": "network-partition", "class": "transient", "since": at(300)},
        "evidence": [found("route", "stuck", true, "unreachable for 5m (limit 2m)")],
    }));
    insta::assert_snapshot!(format!("{frozen}\n---\n{lost}").replace(&clock_of(-600), "CLOCK"));
}

#[test]
fn of_one_that_ended_it_is_said_what_becomes_of_its_work() {
    let ended = json!({
        "state": "TERMINATED",
        "liveness": {"status": "offline", "cause": "process-crash", "class": "terminal", "since": at(60)},
        "evidence": [found("exit", "failing", true, "its process ended (137)")],
    });
    let events = || {
        vec![
            changed(7, 600, "HEALTHY", "TERMINATED", "its process ended (137)"),
            event(8, 600, "AGENT_TERMINATED", &json!({"reason": "exited with code 137", "recover": true})),
        ]
    };
    let without = told_with(&ended, events(), None);
    let waiting =
        told_with(&ended, events(), Some(recovery("waiting", "the old life must be over first", Some(90))));
    let review = told_with(&ended, events(), Some(recovery("human-review", "3 attempts failed", None)));
    insta::assert_snapshot!(format!("{without}\n---\n{waiting}\n---\n{review}"));
}

#[test]
fn what_people_decided_is_said() {
    let doing = |step: &str, until: Option<i64>| {
        told(&json!({
            "state": "STUCK", "evidence": [found("progress", "stuck", true, "nothing new for 40m (limit 30m)")],
            "intervention": {"step": step, "attempt": null, "until": until.map(|seconds| at(-seconds))},
        }))
    };
    let told = [doing("more-time", Some(1_800)), doing("handing-off", None), doing("stopping", None)];
    insta::assert_snapshot!(told.join("\n---\n").replace(&clock_of(-1_800), "CLOCK"));
}

#[test]
fn every_state_liveness_and_step_is_told_in_sentences() {
    for state in HealthState::ALL {
        for status in LivenessStatus::ALL {
            for step in Doing::ALL {
                let changes = json!({
                    "state": state,
                    "liveness": {"status": status, "cause": null, "class": null, "since": at(60)},
                    "intervention": {"step": step, "attempt": 1, "until": at(-60)},
                });
                let known = Known { agent: agent(&changes), events: Vec::new(), recovery: None };
                let story = of(&known, Time::from_millis(NOON));
                let whole = story.standing.iter().chain(&story.next).chain([&story.whole]);
                assert!(whole.clone().all(|sentence| sentence.ends_with('.')), "{story:?}");
                assert!(!story.next.is_empty() || *state == HealthState::Healthy, "{story:?}");
            }
        }
    }
}
