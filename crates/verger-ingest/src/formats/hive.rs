//! `hive`: `tool_logs.jsonl` of Hive, one step of a node a line. The lines carry no session; the folder does.

use std::path::Path;

use serde_json::Value;

use super::{Reader, Steps};
use crate::run::{Call, Talker};
use crate::values::{self, Object};

pub(super) struct Hive {
    run: Option<String>,
}

impl Hive {
    /// `sessions/ID/logs/tool_logs.jsonl`
    pub(super) fn of(path: &Path) -> Self {
        let session = path.ancestors().nth(2).and_then(Path::file_name);
        let is_session = path.ancestors().nth(3).is_some_and(|folder| folder.ends_with("sessions"));
        Self { run: session.filter(|_| is_session).map(|id| id.to_string_lossy().into_owned()) }
    }
}

impl Reader for Hive {
    fn line(&mut self, line: Object, steps: &mut Steps<'_>) -> Result<(), String> {
        if !line.contains_key("node_id") {
            return Err("no node_id".to_owned());
        }
        // Written while a step is under way, and again when it is done.
        if values::truth(&line, "is_partial") == Some(true) {
            return Ok(());
        }
        let run = self
            .run
            .clone()
            .or_else(|| values::first_str(&line, &["execution_id"]).map(str::to_owned))
            .unwrap_or_else(|| steps.default_id());
        steps.message(&run, Talker::Agent, values::str(&line, "llm_text").unwrap_or_default());
        for call in values::list(&line, "tool_calls").iter().filter_map(Value::as_object) {
            let started_ms = values::millis(call, "start_timestamp");
            let lasted_ms =
                call.get("duration_s").and_then(Value::as_f64).map(|seconds| (seconds * 1e3) as i64);
            steps.call(
                &run,
                Call {
                    tool: values::str(call, "tool_name").unwrap_or_default().to_owned(),
                    args: values::args(call.get("tool_input")),
                    result: values::args(call.get("result")),
                    error: values::truth(call, "is_error"),
                    exit_code: None,
                    started_ms,
                    ended_ms: started_ms.zip(lasted_ms).map(|(start, lasted)| start.saturating_add(lasted)),
                },
            );
        }
        steps.message(&run, Talker::Other, values::str(&line, "verdict_feedback").unwrap_or_default());
        Ok(())
    }
}
