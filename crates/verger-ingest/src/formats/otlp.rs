//! `otlp`: OpenTelemetry in JSON, one export request a line, as the collector's file exporter writes it; or one record
//! a line with its attributes as an object (`sig`, `name`, `body`, `attrs`, `res`).
//!
//! Tool calls are spans of the `GenAI` conventions (`execute_tool`), of `OpenInference` or of the AI SDK, and log records
//! of Claude Code, Codex and Gemini CLI. Which of their arguments and results were recorded is the sender's choice.

use serde_json::Value;

use super::{Reader, Steps};
use crate::run::{Call, Talker};
use crate::values::{self, Object};

pub(super) struct Otlp;

impl Reader for Otlp {
    fn line(&mut self, line: Object, steps: &mut Steps<'_>) -> Result<(), String> {
        if line.contains_key("attrs") {
            record(&Record::flat(&line), steps);
            return Ok(());
        }
        let mut known = false;
        for (name, of_scope, of_record) in
            [("resourceLogs", "scopeLogs", "logRecords"), ("resourceSpans", "scopeSpans", "spans")]
        {
            known |= line.contains_key(name);
            for resource in objects(values::list(&line, name)) {
                of_resource(resource, of_scope, of_record, steps);
            }
        }
        if known || line.contains_key("resourceMetrics") {
            Ok(())
        } else {
            Err("no export of OTLP".to_owned())
        }
    }

    fn element(&mut self, name: &str, element: Object, steps: &mut Steps<'_>) -> Result<(), String> {
        match name {
            "resourceLogs" => of_resource(&element, "scopeLogs", "logRecords", steps),
            "resourceSpans" => of_resource(&element, "scopeSpans", "spans", steps),
            _ => {}
        }
        Ok(())
    }
}

/// The records below one resource.
fn of_resource(resource: &Object, of_scope: &str, of_record: &str, steps: &mut Steps<'_>) {
    let attributes = values::object(resource, "resource").map(attributes).unwrap_or_default();
    for scope in objects(values::list(resource, of_scope)) {
        for it in objects(values::list(scope, of_record)) {
            record(&Record::nested(it, &attributes), steps);
        }
    }
}

fn objects(list: &[Value]) -> impl Iterator<Item = &Object> {
    list.iter().filter_map(Value::as_object)
}

/// A log record or a span.
struct Record {
    name: String,
    attributes: Object,
    run: Option<String>,
    started_ms: Option<i64>,
    ended_ms: Option<i64>,
    failed: Option<bool>,
}

/// Attributes that name the run, the most telling first.
const RUN: [&str; 4] = ["session.id", "gen_ai.conversation.id", "conversation.id", "service.instance.id"];

impl Record {
    fn flat(line: &Object) -> Self {
        let attributes = values::object(line, "attrs").cloned().unwrap_or_default();
        let resource = values::object(line, "res").cloned().unwrap_or_default();
        let name = values::str(&attributes, "event.name").or_else(|| values::str(line, "name"));
        let name = name.or_else(|| values::str(line, "body")).unwrap_or_default().to_owned();
        let run = values::first_str(&attributes, &RUN).or_else(|| values::first_str(&resource, &RUN));
        let run = run.map(str::to_owned);
        let ended_ms = values::millis(&attributes, "event.timestamp");
        Self { name, run, attributes, started_ms: None, ended_ms, failed: None }
    }

    fn nested(record: &Object, resource: &Object) -> Self {
        let attributes = attributes(record);
        let body = record.get("body").map(|body| values::text(&plain(body)));
        let name = values::str(&attributes, "event.name")
            .or_else(|| values::first_str(record, &["eventName", "name"]));
        let name = name.map(str::to_owned).or(body).unwrap_or_default();
        let run = values::first_str(&attributes, &RUN)
            .or_else(|| values::first_str(resource, &RUN))
            .or_else(|| values::str(record, "traceId"))
            .map(str::to_owned);
        let status = values::object(record, "status").and_then(|status| status.get("code"));
        let failed = status.map(|code| *code == 2 || *code == "STATUS_CODE_ERROR");
        let started_ms = values::millis(record, "startTimeUnixNano");
        let ended_ms =
            values::millis(record, "endTimeUnixNano").or_else(|| values::millis(record, "timeUnixNano"));
        Self { name, attributes, run, started_ms, ended_ms, failed }
    }

    fn text(&self, names: &[&str]) -> String {
        names.iter().find_map(|name| self.attributes.get(*name)).map(values::text).unwrap_or_default()
    }
}

/// `[{"key":…,"value":{"stringValue":…}}]` as an object.
fn attributes(of: &Object) -> Object {
    objects(values::list(of, "attributes"))
        .filter_map(|pair| Some((values::str(pair, "key")?.to_owned(), plain(pair.get("value")?))))
        .collect()
}

/// A value of OTLP as one of JSON. Numbers come as text.
fn plain(value: &Value) -> Value {
    let Some((kind, inner)) = value.as_object().and_then(|value| value.iter().next()) else {
        return value.clone();
    };
    match kind.as_str() {
        "intValue" => {
            inner.as_str().and_then(|text| text.parse::<i64>().ok()).map_or(inner.clone(), Value::from)
        }
        "arrayValue" => objects_plain(inner),
        "stringValue" | "boolValue" | "doubleValue" | "bytesValue" => inner.clone(),
        _ => value.clone(),
    }
}

fn objects_plain(array: &Value) -> Value {
    let values = array.get("values").and_then(Value::as_array);
    // One level is enough for the attributes that are read.
    Value::Array(
        values
            .into_iter()
            .flatten()
            .map(|value| value.as_object().and_then(|it| it.values().next()).cloned().unwrap_or_default())
            .collect(),
    )
}

fn record(record: &Record, steps: &mut Steps<'_>) {
    let run = record.run.clone().unwrap_or_else(|| steps.default_id());
    let attributes = &record.attributes;
    let name = record.name.strip_prefix("claude_code.").unwrap_or(&record.name);
    match name {
        "user_prompt" | "codex.user_prompt" | "gemini_cli.user_prompt" => {
            steps.message(&run, Talker::User, &record.text(&["prompt"]));
        }
        "tool_result" | "codex.tool_result" | "gemini_cli.tool_call" => {
            let id = record.text(&["tool_use_id", "call_id"]);
            let call = logged(record);
            if id.is_empty() || steps.is_new(&run, &id) {
                steps.call(&run, call);
            }
        }
        _ if is_tool_span(name, attributes) => {
            let id = record.text(&["gen_ai.tool.call.id", "gen_ai.tool.call_id", "ai.toolCall.id"]);
            if id.is_empty() || steps.is_new(&run, &id) {
                steps.call(&run, spanned(record));
            }
        }
        _ => {}
    }
}

fn is_tool_span(name: &str, attributes: &Object) -> bool {
    let is = |attribute: &str, value: &str| values::str(attributes, attribute) == Some(value);
    is("gen_ai.operation.name", "execute_tool")
        || is("openinference.span.kind", "TOOL")
        || name == "ai.toolCall"
        || name.starts_with("execute_tool ")
}

/// A call that a coding agent logged.
fn logged(record: &Record) -> Call {
    let attributes = &record.attributes;
    let metadata: Object = serde_json::from_str(&record.text(&["metadata"])).unwrap_or_default();
    let result = record.text(&["output", "tool_output", "error"]);
    let exit_code = values::int(&metadata, "exitCode").or_else(|| values::exit_code(&result));
    let lasted_ms = values::int(attributes, "duration_ms").map(i64::from);
    let failed = values::truth(attributes, "success")
        .map(|success| !success || exit_code.is_some_and(|code| code != 0));
    Call {
        tool: record.text(&["tool_name", "function_name"]),
        args: record.text(&["tool_input", "tool_parameters", "arguments", "function_args"]),
        result,
        error: failed,
        exit_code,
        started_ms: record.ended_ms.zip(lasted_ms).map(|(end, lasted)| end.saturating_sub(lasted)),
        ended_ms: record.ended_ms,
    }
}

/// A call that is a span.
fn spanned(record: &Record) -> Call {
    let named = record.text(&["gen_ai.tool.name", "tool.name", "ai.toolCall.name"]);
    let of_span = record.name.strip_prefix("execute_tool ").unwrap_or(&record.name);
    Call {
        tool: if named.is_empty() { of_span.to_owned() } else { named },
        args: record.text(&["gen_ai.tool.call.arguments", "input.value", "ai.toolCall.args"]),
        result: record.text(&["gen_ai.tool.call.result", "output.value", "ai.toolCall.result"]),
        error: if record.attributes.contains_key("error.type") { Some(true) } else { record.failed },
        exit_code: None,
        started_ms: record.started_ms,
        ended_ms: record.ended_ms,
    }
}
