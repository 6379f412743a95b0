//! What programs and webhooks are told: one JSON document each, and a few variables for scripts.

use serde_json::{Value, json};
use verger_api::Time;
use verger_core::effect::{EffectKey, Escalation};
use verger_core::recovery::Spawn;
use verger_core::time::Span;

use crate::monitor::wall_now;
use crate::trace::Context;
use crate::wire;

/// What is known of an agent when something is done to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Whom {
    pub(super) role: Option<String>,
    pub(super) task: Option<String>,
}

/// A question to whoever directs the agents, in the form of an event, with all that is needed to decide.
pub(super) fn escalation(key: &EffectKey, asked: &Escalation, url: &str) -> Value {
    json!({
        "specversion": "1.0",
        "id": key.to_string(),
        "source": wire::SOURCE,
        "type": "ESCALATION_TRIGGERED",
        "subject": key.agent.to_string(),
        "time": Time::from_millis(wall_now().0),
        "incarnation": key.incarnation.0,
        "data": {
            "agentId": key.agent.to_string(),
            "incarnation": key.incarnation.0,
            "reason": asked.reason.as_ref(),
            "evidence": wire::findings(&asked.evidence),
            "taskId": asked.task.as_ref().map(ToString::to_string),
            "checkpoint": asked.checkpoint.as_ref().map(ToString::to_string),
            "nudges": asked.nudges,
            "timeoutSeconds": asked.timeout.as_millis() / 1_000,
            "options": ["allow-more-time", "force-handoff", "terminate-and-recover"],
            "decisionUrl": format!("{url}/v1/agents/{}/decision", in_path(key.agent.as_str())),
        },
    })
}

/// An agent is to end.
pub(super) fn stop(key: &EffectKey, whom: &Whom, within: Span) -> Value {
    json!({
        "action": "terminate",
        "id": key.to_string(),
        "agentId": key.agent.to_string(),
        "incarnation": key.incarnation.0,
        "role": whom.role,
        "taskId": whom.task,
        "withinSeconds": within.as_millis() / 1_000,
    })
}

/// A start was taken back: what it began is to end.
pub(super) fn withdraw(key: &EffectKey, task: &str, start: u64, incarnation: Option<u32>) -> Value {
    json!({
        "action": "withdraw",
        "id": key.to_string(),
        "agentId": key.agent.to_string(),
        "taskId": task,
        "start": start,
        "incarnation": incarnation,
    })
}

/// A new life is to go on with a task, from this state.
pub(super) fn spawn(key: &EffectKey, new: &Spawn, state: Option<&Value>) -> Value {
    json!({
        "action": "spawn",
        "id": key.to_string(),
        "agentId": new.agent.to_string(),
        "taskId": new.task.to_string(),
        "start": new.start,
        "attempt": new.attempt,
        "checkpoint": new.from.as_ref().map(ToString::to_string),
        "state": state,
        "context": new.context.to_string(),
    })
}

/// The texts and numbers of a document as variables: `agentId` is `VERGER_AGENT_ID`. What a person reads as one
/// sentence is `VERGER_TEXT`.
pub(super) fn variables(document: &Value, text: &str) -> Vec<(String, String)> {
    let named = document.as_object().into_iter().flatten().filter_map(|(name, value)| {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        Some((format!("VERGER_{}", screaming(name)), value))
    });
    // By this one programs that are traced know to which trace they belong.
    let trace = document["traceparent"].as_str().map(|trace| ("TRACEPARENT".to_owned(), trace.to_owned()));
    // Nothing that a variable cannot hold.
    let all = named.chain([("VERGER_TEXT".to_owned(), text.to_owned())]).chain(trace);
    all.map(|(name, value)| (name, value.replace('\0', " "))).collect()
}

/// Says to which trace a document belongs, as an event does.
pub(super) fn trace(document: &mut Value, context: &Context) {
    document["traceparent"] = context.to_string().into();
    if let Some(state) = context.state() {
        document["tracestate"] = state.into();
    }
}

fn screaming(name: &str) -> String {
    name.chars().fold(String::new(), |mut text, letter| {
        if letter.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(letter.to_ascii_uppercase());
        text
    })
}

/// A name as a part of an address.
fn in_path(name: &str) -> String {
    use std::fmt::Write as _;
    name.bytes().fold(String::new(), |mut path, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            path.push(char::from(byte));
        } else {
            let _ = write!(path, "%{byte:02X}");
        }
        path
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_get_what_they_need_without_reading_json() {
        let document = json!({"agentId": "a\0b", "attempt": 2, "state": {"x": 1}, "taskId": null});
        let variables = variables(&document, "it waits");
        let of =
            |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!(of("VERGER_AGENT_ID"), Some("a b"));
        assert_eq!(of("VERGER_ATTEMPT"), Some("2"));
        assert_eq!(of("VERGER_TEXT"), Some("it waits"));
        assert_eq!((of("VERGER_STATE"), of("VERGER_TASK_ID")), (None, None));
    }

    #[test]
    fn an_agents_name_is_one_part_of_an_address() {
        assert_eq!(in_path("claude-code:a/b c"), "claude-code%3Aa%2Fb%20c");
    }
}
