//! `openhands`: events of `OpenHands`: an array, a line each, or a file each in one folder.
//!
//! Two generations: events with `action` or `observation`, joined by `cause`; and events with a `kind`, joined by
//! `tool_call_id`. What the agent thought is no part of a call.

use serde_json::Value;

use super::{Reader, Steps};
use crate::run::{Call, Talker};
use crate::values::{self, Object};

/// What the program around the agent does, and what is no deed.
const NOT_CALLS: [&str; 8] = [
    "message",
    "system",
    "change_agent_state",
    "recall",
    "null",
    "condensation",
    "condensation_request",
    "finish",
];

/// Arguments that say nothing about what is done.
const NOT_ARGS: [&str; 7] =
    ["thought", "kind", "confirmation_state", "is_confirmed", "security_risk", "hidden", "blocking"];

pub(super) struct OpenHands;

impl Reader for OpenHands {
    fn line(&mut self, event: Object, steps: &mut Steps<'_>) -> Result<(), String> {
        if event.contains_key("kind") {
            by_kind(&event, steps);
        } else if event.contains_key("action") {
            action(&event, steps);
        } else if event.contains_key("observation") {
            observation(&event, steps);
        } else {
            return Err("no event: neither kind, action nor observation".to_owned());
        }
        Ok(())
    }

    fn element(&mut self, name: &str, element: Object, steps: &mut Steps<'_>) -> Result<(), String> {
        // A file of one event is a document whose fields are no events.
        if name.is_empty() { self.line(element, steps) } else { Ok(()) }
    }
}

/// What an action was given, without what is no part of it.
fn args_of(args: Option<&Object>) -> String {
    let kept = args
        .into_iter()
        .flatten()
        .filter(|(name, value)| !NOT_ARGS.contains(&name.as_str()) && !value.is_null());
    let kept: Object = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
    Value::Object(kept).to_string()
}

fn id_of(event: &Object, name: &str) -> String {
    values::args(event.get(name))
}

fn action(event: &Object, steps: &mut Steps<'_>) {
    let run = steps.default_id();
    let args = values::object(event, "args");
    let action = values::str(event, "action").unwrap_or_default();
    let source = values::str(event, "source").unwrap_or_default();
    if action == "message" {
        let text =
            args.and_then(|args| values::str(args, "content")).or_else(|| values::str(event, "message"));
        steps.message(&run, Talker::named(source), text.unwrap_or_default());
    } else if source == "agent" && !NOT_CALLS.contains(&action) {
        let started_ms = values::millis(event, "timestamp");
        let call = Call { tool: action.to_owned(), args: args_of(args), started_ms, ..Call::default() };
        steps.begin(&run, &id_of(event, "id"), call);
    }
}

fn observation(event: &Object, steps: &mut Steps<'_>) {
    let extras = values::object(event, "extras");
    let metadata = extras.and_then(|extras| values::object(extras, "metadata"));
    let code = [extras, metadata].into_iter().flatten().find_map(|object| values::int(object, "exit_code"));
    let failed = values::str(event, "observation") == Some("error") || code.is_some_and(|code| code != 0);
    let run = steps.default_id();
    steps.answer(&run, &id_of(event, "cause"), |call| {
        call.result = values::args(event.get("content"));
        call.exit_code = code.filter(|code| *code != -1);
        call.error = Some(failed);
        call.ended_ms = values::millis(event, "timestamp");
    });
}

fn by_kind(event: &Object, steps: &mut Steps<'_>) {
    let run = steps.default_id();
    let at = values::millis(event, "timestamp");
    let call_id = values::first_str(event, &["tool_call_id", "action_id", "id"]).unwrap_or_default();
    match values::str(event, "kind") {
        Some("MessageEvent") => {
            let message = values::object(event, "llm_message");
            let text = values::args(message.and_then(|message| message.get("content")));
            steps.message(&run, Talker::named(values::str(event, "source").unwrap_or_default()), &text);
        }
        Some("ActionEvent") => {
            let tool = values::str(event, "tool_name").unwrap_or_default().to_owned();
            let args = args_of(values::object(event, "action"));
            steps.begin(&run, call_id, Call { tool, args, started_ms: at, ..Call::default() });
        }
        Some("ObservationEvent") => {
            let Some(observed) = values::object(event, "observation") else { return };
            let metadata = values::object(observed, "metadata");
            let code =
                [Some(observed), metadata].into_iter().flatten().find_map(|it| values::int(it, "exit_code"));
            steps.answer(&run, call_id, |call| {
                call.result = values::args(observed.get("content").or_else(|| observed.get("output")));
                call.exit_code = code.filter(|code| *code != -1);
                let failed = values::truth(observed, "is_error").or_else(|| values::truth(observed, "error"));
                call.error = failed.or_else(|| code.map(|code| code != 0));
                call.ended_ms = at;
            });
        }
        Some("AgentErrorEvent" | "UserRejectObservation") => steps.answer(&run, call_id, |call| {
            call.result = values::args(event.get("error").or_else(|| event.get("rejection_reason")));
            call.error = Some(true);
            call.ended_ms = at;
        }),
        _ => {}
    }
}
