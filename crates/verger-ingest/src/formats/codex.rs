//! `codex`: rollouts of Codex (`~/.codex/sessions/…/rollout-*.jsonl`).
//!
//! Calls and answers are `response_item`s, joined by `call_id`. The exit code stands in the words around a result, and
//! in an `item_completed` event that comes before it.

use serde_json::Value;

use super::{Reader, Steps};
use crate::run::{Call, Talker};
use crate::values::{self, Object};

#[derive(Default)]
pub(super) struct Codex {
    session: Option<String>,
}

impl Reader for Codex {
    fn line(&mut self, line: Object, steps: &mut Steps<'_>) -> Result<(), String> {
        let at = values::millis(&line, "timestamp");
        let Some(payload) = values::object(&line, "payload") else { return Err("no payload".to_owned()) };
        match values::str(&line, "type") {
            Some("session_meta") => {
                let id = values::first_str(payload, &["id", "session_id"]);
                self.session = self.session.take().or_else(|| id.map(str::to_owned));
            }
            Some("response_item") => item(&self.run(steps), at, payload, steps),
            Some("event_msg") => completed(&self.run(steps), payload, steps),
            _ => {}
        }
        Ok(())
    }
}

impl Codex {
    fn run(&self, steps: &Steps<'_>) -> String {
        self.session.clone().unwrap_or_else(|| steps.default_id())
    }
}

fn item(run: &str, at: Option<i64>, item: &Object, steps: &mut Steps<'_>) {
    let id = values::first_str(item, &["call_id", "id"]).unwrap_or_default();
    let begin =
        |tool: &str, args: String| Call { tool: tool.to_owned(), args, started_ms: at, ..Call::default() };
    match values::str(item, "type") {
        Some("message") => {
            let text = values::args(item.get("content"));
            let role = values::str(item, "role").unwrap_or_default();
            // What Codex itself puts before the person's words comes under their role.
            let from =
                if text.starts_with('<') && role == "user" { Talker::Other } else { Talker::named(role) };
            steps.message(run, from, &text);
        }
        Some("function_call" | "custom_tool_call") => {
            let args = item.get("arguments").or_else(|| item.get("input"));
            let tool = values::str(item, "name").unwrap_or_default();
            steps.begin(run, id, begin(tool, values::args(args)));
        }
        Some("local_shell_call") => {
            steps.begin(run, id, begin("local_shell", values::args(item.get("action"))));
        }
        Some("function_call_output" | "custom_tool_call_output" | "local_shell_call_output") => {
            let (result, code) = output(item.get("output").unwrap_or(&Value::Null));
            steps.answer(run, id, |call| {
                call.result = result;
                call.exit_code = code.or(call.exit_code);
                call.error = call.exit_code.map(|code| code != 0).or(call.error);
                call.ended_ms = at;
            });
        }
        _ => {}
    }
}

/// The exit code of a command, told before its answer.
fn completed(run: &str, event: &Object, steps: &mut Steps<'_>) {
    if values::str(event, "type") != Some("item_completed") {
        return;
    }
    let Some(item) = values::object(event, "item") else { return };
    if let Some(call) = values::str(item, "id").and_then(|id| steps.pending(run, id)) {
        call.exit_code = values::int(item, "exit_code");
        call.error = values::str(item, "status").map(|status| status == "failed");
    }
}

/// The answer itself, and the exit code, without the words that Codex puts around it: they differ each time.
fn output(output: &Value) -> (String, Option<i32>) {
    let text = values::text(output);
    let object: Option<Object> = serde_json::from_str(&text).ok();
    if let Some((inner, object)) = object.as_ref().and_then(|object| Some((object.get("output")?, object))) {
        let code = values::object(object, "metadata").and_then(|data| values::int(data, "exit_code"));
        return (values::text(inner), code);
    }
    match text.split_once("Output:\n") {
        Some((head, rest)) if head.lines().all(is_envelope) => (rest.to_owned(), values::exit_code(head)),
        _ => (text, None),
    }
}

fn is_envelope(line: &str) -> bool {
    ["Chunk ID:", "Wall time:", "Process ", "Original token count:", "Exit code:", "Total output lines:"]
        .iter()
        .any(|start| line.starts_with(start))
        || line.is_empty()
}
