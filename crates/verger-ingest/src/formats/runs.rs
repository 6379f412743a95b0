//! `runs`: one run per line, with its steps. Verger's own exchange format, described in the book.

use serde_json::Value;

use super::{Reader, Steps};
use crate::run::{Call, Event, Talker};
use crate::values::{self, Object};

pub(super) struct Runs;

impl Reader for Runs {
    fn line(&mut self, line: Object, steps: &mut Steps<'_>) -> Result<(), String> {
        let run = values::first_str(&line, &["run_id", "runId", "id"]).ok_or("no run_id")?;
        let Some(list) = line.get("steps").and_then(Value::as_array) else {
            return Err("no steps".to_owned());
        };
        steps.start(run);
        for (at, step) in list.iter().enumerate() {
            let read = step.as_object().ok_or_else(|| "no object".to_owned()).and_then(event);
            match read {
                Err(reason) => steps.flawed(format!("step {at} of run `{run}`: {reason}")),
                Ok(event) => {
                    let i = step.get("i").and_then(Value::as_u64).and_then(|i| u32::try_from(i).ok());
                    if !steps.numbered(run, i, event) {
                        steps.flawed(format!(
                            "step {at} of run `{run}`: its number is not above the one before"
                        ));
                    }
                }
            }
        }
        steps.end(run);
        Ok(())
    }
}

fn event(step: &Object) -> Result<Event, String> {
    match values::str(step, "kind") {
        Some("tool") => Ok(Event::Call(Call {
            // Some agents call tools that have no name.
            tool: values::str(step, "name")
                .or_else(|| values::str(step, "tool"))
                .ok_or("no name")?
                .to_owned(),
            args: values::args(step.get("args")),
            result: values::args(step.get("result")),
            error: values::truth(step, "error"),
            exit_code: values::int(step, "returncode").or_else(|| values::int(step, "exit_code")),
            started_ms: values::millis(step, "ts"),
            ended_ms: values::millis(step, "ts_end"),
        })),
        Some("message") => Ok(Event::Message {
            from: Talker::named(values::str(step, "role").unwrap_or_default()),
            text: values::args(step.get("text")),
        }),
        Some("output") => {
            let count = |names: [&str; 2]| names.iter().find_map(|name| values::count(step, name));
            Ok(Event::Output {
                files_changed: count(["filesChanged", "files_changed"]),
                tests_passed: count(["testsPassed", "tests_passed"]),
                tests_failed: count(["testsFailed", "tests_failed"]),
            })
        }
        Some(other) => Err(format!("unknown kind `{other}`")),
        None => Err("no kind".to_owned()),
    }
}
