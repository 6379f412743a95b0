//! `gemini-cli`: chats of Gemini CLI.
//!
//! A chat is a log of appended messages and of `$set` patches; a message is appended again under its id once its
//! calls are done. Older versions wrote one document with `messages`.

use serde_json::Value;

use super::{Reader, Steps};
use crate::run::{Call, Talker};
use crate::values::{self, Object};

#[derive(Default)]
pub(super) struct GeminiCli {
    session: Option<String>,
}

impl Reader for GeminiCli {
    fn line(&mut self, line: Object, steps: &mut Steps<'_>) -> Result<(), String> {
        if let Some(id) = values::str(&line, "sessionId") {
            self.session.get_or_insert_with(|| id.to_owned());
        }
        let run = self.session.clone().unwrap_or_else(|| steps.default_id());
        if let Some(patch) = values::object(&line, "$set") {
            for message in values::list(patch, "messages").iter().filter_map(Value::as_object) {
                said(&run, message, steps);
            }
        } else {
            said(&run, &line, steps);
        }
        Ok(())
    }

    fn fields(&self) -> &'static [&'static str] {
        &["sessionId", "messages"]
    }

    fn field(&mut self, name: &str, value: &Value) -> Result<(), String> {
        if name == "sessionId" {
            self.session = value.as_str().map(str::to_owned);
        }
        Ok(())
    }
}

/// A message and the calls in it, each once.
fn said(run: &str, message: &Object, steps: &mut Steps<'_>) {
    let id = values::str(message, "id").unwrap_or_default();
    let kind = values::str(message, "type").unwrap_or_default();
    let text = content(message.get("content").unwrap_or(&Value::Null));
    if matches!(kind, "user" | "gemini" | "info" | "error" | "warning")
        && !text.trim().is_empty()
        && steps.is_new(run, &format!("message {id}"))
    {
        let from = if text.starts_with('<') { Talker::Other } else { Talker::named(kind) };
        steps.message(run, from, &text);
    }
    for call in values::list(message, "toolCalls").iter().filter_map(Value::as_object) {
        called(run, call, steps);
    }
}

fn content(content: &Value) -> String {
    match content {
        Value::Array(parts) => {
            let texts: Vec<_> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
            texts.join("\n")
        }
        other => values::text(other),
    }
}

fn called(run: &str, call: &Object, steps: &mut Steps<'_>) {
    let id = values::str(call, "id").unwrap_or_default();
    let status = values::str(call, "status").unwrap_or_default();
    if !matches!(status, "success" | "error" | "cancelled") || !steps.is_new(run, &format!("call {id}")) {
        return;
    }
    let (result, code) = answer(values::list(call, "result"));
    let failed = status != "success" || code.is_some_and(|code| code != 0);
    steps.call(
        run,
        Call {
            tool: values::str(call, "name").unwrap_or_default().to_owned(),
            args: values::args(call.get("args")),
            result,
            error: Some(failed),
            exit_code: code,
            started_ms: None,
            ended_ms: values::millis(call, "timestamp"),
        },
    );
}

/// The answer itself, and the exit code, without the words that Gemini CLI puts around it.
fn answer(parts: &[Value]) -> (String, Option<i32>) {
    let texts: Vec<String> = parts
        .iter()
        .filter_map(|part| part.get("functionResponse")?.get("response")?.as_object())
        .map(|response| values::args(response.get("output").or_else(|| response.get("error"))))
        .collect();
    let text = texts.join("\n");
    let kept: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("Process Group PGID:") && !line.ends_with("untrusted_context>"))
        .collect();
    let code = values::exit_code(&text);
    let kept = kept.join("\n");
    (kept.strip_prefix("Output: ").unwrap_or(&kept).to_owned(), code)
}
