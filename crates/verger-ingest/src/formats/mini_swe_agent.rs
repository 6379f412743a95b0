//! `mini-swe-agent`: one document, whose `messages` are those of a chat.
//!
//! Since version 2 a command is a tool call and its outcome a `tool` message. Before, it was a code block in the
//! model's words, and the next `user` message was its outcome.

use serde_json::Value;

use super::{Reader, Steps};
use crate::run::{Call, Talker};
use crate::values::{self, Object};

const TOOL: &str = "bash";

#[derive(Default)]
pub(super) struct MiniSweAgent {
    /// A command in a code block, whose outcome is the next message.
    in_block: Option<Call>,
}

impl Reader for MiniSweAgent {
    fn line(&mut self, message: Object, steps: &mut Steps<'_>) -> Result<(), String> {
        let run = steps.default_id();
        let role = values::str(&message, "role").ok_or("a message without a role")?;
        let text = values::args(message.get("content"));
        let extra = values::object(&message, "extra");
        let at = extra.and_then(|extra| values::millis(extra, "timestamp"));
        match role {
            "assistant" => {
                steps.message(&run, Talker::Agent, &text);
                let calls = values::list(&message, "tool_calls");
                for call in calls.iter().filter_map(Value::as_object) {
                    begin(&run, at, call, steps);
                }
                if calls.is_empty() {
                    self.in_block = block(&text).map(|command| Call {
                        tool: TOOL.to_owned(),
                        args: command.to_owned(),
                        started_ms: at,
                        ..Call::default()
                    });
                }
            }
            "tool" => {
                let id = values::str(&message, "tool_call_id").unwrap_or_default();
                steps.answer(&run, id, |call| answer(call, &text, extra, at));
            }
            _ => match self.in_block.take() {
                Some(mut call) => {
                    answer(&mut call, &text, extra, at);
                    steps.call(&run, call);
                }
                None => steps.message(&run, Talker::named(role), &text),
            },
        }
        Ok(())
    }

    fn fields(&self) -> &'static [&'static str] {
        &["messages"]
    }
}

fn begin(run: &str, at: Option<i64>, call: &Object, steps: &mut Steps<'_>) {
    let Some(function) = values::object(call, "function") else { return };
    let args = values::args(function.get("arguments"));
    // A command alone is clearer than the object around it.
    let command = serde_json::from_str::<Object>(&args).ok().filter(|args| args.len() == 1);
    let command = command.and_then(|args| values::str(&args, "command").map(str::to_owned));
    let call_of = Call {
        tool: values::str(function, "name").unwrap_or(TOOL).to_owned(),
        args: command.unwrap_or(args),
        started_ms: at,
        ..Call::default()
    };
    steps.begin(run, values::str(call, "id").unwrap_or_default(), call_of);
}

fn answer(call: &mut Call, text: &str, extra: Option<&Object>, at: Option<i64>) {
    let raw = extra.and_then(|extra| values::str(extra, "raw_output"));
    raw.unwrap_or(text).clone_into(&mut call.result);
    call.exit_code = extra.and_then(|extra| values::int(extra, "returncode")).or_else(|| tagged_code(text));
    call.error = call.exit_code.map(|code| code != 0);
    call.ended_ms = at;
}

/// `<returncode>1</returncode>`
fn tagged_code(text: &str) -> Option<i32> {
    let (_, rest) = text.split_once("<returncode>")?;
    rest.split_once('<')?.0.trim().parse().ok()
}

/// The command in the model's words.
fn block(text: &str) -> Option<&str> {
    let start = ["```mswea_bash_command\n", "```bash\n", "```sh\n"]
        .iter()
        .find_map(|fence| text.find(fence).map(|at| at + fence.len()))?;
    let rest = &text[start..];
    Some(rest[..rest.find("```")?].trim_end())
}
