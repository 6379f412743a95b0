//! `claude-code`: transcripts of Claude Code, and what it prints with `--output-format stream-json`.
//!
//! A line holds one message of the Messages API. Calls (`tool_use`) and answers (`tool_result`) are blocks in it, joined
//! by id. Subagents write into the same session; each is a run of its own.

use serde_json::Value;

use super::{Reader, Steps};
use crate::run::{Call, Talker};
use crate::values::{self, Object};

/// What Claude Code calls messages that no model wrote: errors of the provider, interruptions.
const SYNTHETIC: &str = "<synthetic>";

pub(super) struct ClaudeCode;

impl Reader for ClaudeCode {
    fn line(&mut self, line: Object, steps: &mut Steps<'_>) -> Result<(), String> {
        let kind = values::str(&line, "type").unwrap_or_default();
        if !matches!(kind, "user" | "assistant") {
            return Ok(());
        }
        let message = values::object(&line, "message").ok_or("no message")?;
        let run = run_of(&line, steps);
        // Resumed sessions begin with copies of what was said before.
        if values::str(&line, "uuid").is_some_and(|uuid| !steps.is_new(&run, uuid)) {
            return Ok(());
        }
        let from = if values::str(message, "model") == Some(SYNTHETIC)
            || values::truth(&line, "isMeta") == Some(true)
        {
            Talker::Other
        } else {
            Talker::named(kind)
        };
        let at = values::millis(&line, "timestamp");
        match message.get("content") {
            Some(Value::String(text)) => steps.message(&run, from, text),
            Some(Value::Array(blocks)) => {
                for block in blocks.iter().filter_map(Value::as_object) {
                    self::block(&run, from, at, block, steps);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn run_of(line: &Object, steps: &Steps<'_>) -> String {
    let session = values::first_str(line, &["sessionId", "session_id"])
        .map_or_else(|| steps.default_id(), str::to_owned);
    match values::first_str(line, &["agentId", "parent_tool_use_id"]) {
        Some(agent) => format!("{session}/{agent}"),
        None if values::truth(line, "isSidechain") == Some(true) => {
            format!("{session}/{}", steps.default_id())
        }
        None => session,
    }
}

fn block(run: &str, from: Talker, at: Option<i64>, block: &Object, steps: &mut Steps<'_>) {
    let id = |name: &str| values::str(block, name).unwrap_or_default();
    match values::str(block, "type") {
        Some("text") => steps.message(run, from, values::str(block, "text").unwrap_or_default()),
        Some("tool_use") => {
            let call = Call {
                tool: values::str(block, "name").unwrap_or_default().to_owned(),
                args: values::args(block.get("input")),
                started_ms: at,
                ..Call::default()
            };
            steps.begin(run, id("id"), call);
        }
        Some("tool_result") => steps.answer(run, id("tool_use_id"), |call| {
            call.result = values::args(block.get("content"));
            call.error = Some(values::truth(block, "is_error").unwrap_or(false));
            let code = call.result.lines().next().and_then(values::exit_code_of_line);
            call.exit_code = code.filter(|_| call.error == Some(true));
            call.ended_ms = at;
        }),
        _ => {}
    }
}
