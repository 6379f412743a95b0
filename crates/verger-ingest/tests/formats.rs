//! Each format is read from a recording in its shape, written here; its name is found out from the content.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use verger_ingest::{Event, Flaw, Format, ReadError, Recording, Run, Runs, Sink, Step, expand, read};

/// The runs of a recording, and the format that was found.
fn runs(folder: &TempDir, name: &str, content: &str) -> (Format, Runs) {
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, content).expect("a file");
    read_all(&path)
}

fn read_all(path: &Path) -> (Format, Runs) {
    let recording = expand([path]).recordings.remove(0);
    let mut runs = Runs::default();
    let format = read(&recording, None, &mut runs, &|_| ()).unwrap_or_else(|error| panic!("{error}"));
    (format, runs)
}

/// A run in a few lines.
fn shown(run: &Run) -> String {
    let mut text = format!("run {}\n", run.id);
    for Step { i, event } in &run.steps {
        let _ = match event {
            Event::Call(call) => {
                let took = call.started_ms.zip(call.ended_ms).map(|(start, end)| end - start);
                let outcome = (call.error, call.exit_code, took);
                writeln!(text, "{i} {} {:?} -> {:?} {outcome:?}", call.tool, call.args, call.result)
            }
            Event::Message { from, text: said } => writeln!(text, "{i} {from:?}: {said:?}"),
            Event::Output { .. } => writeln!(text, "{i} {event:?}"),
        };
    }
    text
}

fn all(runs: &Runs) -> String {
    assert_eq!(runs.flaws, Vec::<Flaw>::new());
    runs.done.iter().map(shown).collect()
}

fn lines(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn runs_hold_calls_messages_and_outputs() {
    let folder = TempDir::new().unwrap();
    let run = json!({"run_id": "r1", "steps": [
        {"i": 3, "kind": "message", "role": "user", "text": "go"},
        {"i": 5, "kind": "tool", "name": "ls", "args": {"path": "."}, "result": "a", "error": false, "ts": 1.0, "ts_end": 2.5},
        {"i": 6, "kind": "output", "filesChanged": 2, "tests_failed": 1},
    ]});
    let (format, runs) = runs(&folder, "x.jsonl", &lines(&[run, json!({"run_id": "empty", "steps": []})]));
    assert_eq!(format, Format::Runs);
    insta::assert_snapshot!(all(&runs), @r#"
    run r1
    3 User: "go"
    5 ls "{\"path\":\".\"}" -> "a" (Some(false), None, Some(1500))
    6 Output { files_changed: Some(2), tests_passed: None, tests_failed: Some(1) }
    run empty
    "#);
}

#[test]
fn steps_of_a_run_that_make_no_sense_are_named_and_the_rest_is_read() {
    let folder = TempDir::new().unwrap();
    let run = json!({"run_id": "r", "steps": [
        {"i": 4, "kind": "tool", "name": "a"}, {"i": 4, "kind": "tool", "name": "b"}, {"kind": "dance"}, 7,
        {"i": -1, "kind": "tool", "name": "c"}, {"i": 1e99, "kind": "tool"},
    ]});
    let (_, runs) = runs(&folder, "x.jsonl", &lines(&[run]));
    let numbers: Vec<_> = runs.done[0].steps.iter().map(|step| step.i).collect();
    assert_eq!(numbers, [4, 5, 6]);
    let flaws: Vec<_> = runs.flaws.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(flaws.join("\n"), @r"
    line 1: step 1 of run `r`: its number is not above the one before
    line 1: step 2 of run `r`: unknown kind `dance`
    line 1: step 3 of run `r`: no object
    line 1: step 5 of run `r`: no name
    ");
}

#[test]
fn files_of_lines_may_begin_with_a_very_long_one() {
    let folder = TempDir::new().unwrap();
    let long = "x".repeat(3 << 20);
    let run = |id: &str| json!({"run_id": id, "steps": [{"kind": "tool", "name": "cat", "result": long}]});
    let (format, read) = runs(&folder, "long.jsonl", &lines(&[run("a"), run("b")]));
    assert_eq!(format, Format::Runs);
    let ids: Vec<_> = read.done.iter().map(|run| (run.id.as_str(), run.steps.len())).collect();
    assert_eq!(ids, [("a", 1), ("b", 1)]);
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let export = json!({"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "execute_tool cat", "traceId": "t",
        "attributes": [text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.call.result", &long)]}]}]}]});
    let (format, read) = runs(&folder, "otlp.jsonl", &lines(&[export.clone(), export]));
    assert_eq!((format, read.done[0].steps.len()), (Format::Otlp, 2));
}

#[test]
fn claude_code_joins_calls_with_answers_and_keeps_subagents_apart() {
    let folder = TempDir::new().unwrap();
    let call = |uuid: &str, id: &str, extra: Value| {
        let mut line = json!({"type": "assistant", "uuid": uuid, "sessionId": "s1", "timestamp": "2026-01-01T00:00:00Z",
            "message": {"role": "assistant", "model": "m", "content": [{"type": "text", "text": "I look."},
                {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls nope"}}]}});
        line.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        line
    };
    let answer = |uuid: &str, id: &str| {
        json!({"type": "user", "uuid": uuid, "sessionId": "s1", "timestamp": "2026-01-01T00:00:03Z",
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "is_error": true,
                "content": [{"type": "text", "text": "Exit code 2\nno such file"}]}]}})
    };
    let text = lines(&[
        json!({"type": "queue-operation", "sessionId": "s1"}),
        json!({"type": "user", "uuid": "u0", "sessionId": "s1", "message": {"role": "user", "content": "Find it."}}),
        call("u1", "t1", json!({})),
        answer("u2", "t1"),
        // A resumed session repeats what it held.
        call("u1", "t1", json!({})),
        answer("u2", "t1"),
        call("u3", "t2", json!({"isSidechain": true, "agentId": "helper"})),
        json!({"type": "assistant", "uuid": "u4", "sessionId": "s1",
            "message": {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529"}]}}),
    ]);
    let (format, runs) = runs(&folder, "s1.jsonl", &text);
    assert_eq!(format, Format::ClaudeCode);
    insta::assert_snapshot!(all(&runs), @r#"
    run s1
    0 User: "Find it."
    1 Agent: "I look."
    2 Bash "{\"command\":\"ls nope\"}" -> "Exit code 2\nno such file" (Some(true), Some(2), Some(3000))
    3 Other: "API Error: 529"
    run s1/helper
    0 Agent: "I look."
    "#);
}

#[test]
fn codex_answers_are_read_without_the_words_around_them() {
    let folder = TempDir::new().unwrap();
    let item = |payload: Value| json!({"timestamp": "2026-01-01T00:00:00.500Z", "type": "response_item", "payload": payload});
    let text = lines(&[
        json!({"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "c1"}}),
        item(
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>x"}]}),
        ),
        item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]})),
        item(
            json!({"type": "function_call", "name": "exec_command", "arguments": "{\"cmd\": \"ls\"}", "call_id": "a"}),
        ),
        item(json!({"type": "function_call_output", "call_id": "a",
            "output": "Chunk ID: f2\nWall time: 0.1 seconds\nProcess exited with code 2\nOriginal token count: 9\nOutput:\nls: no"})),
        item(
            json!({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin", "call_id": "b"}),
        ),
        item(
            json!({"type": "custom_tool_call_output", "call_id": "b", "output": "{\"output\":\"Done\",\"metadata\":{\"exit_code\":0}}"}),
        ),
        item(json!({"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "c"})),
        json!({"type": "event_msg", "payload": {"type": "item_completed", "item": {"id": "c", "exit_code": 1, "status": "failed"}}}),
        item(json!({"type": "function_call_output", "call_id": "c", "output": "as it is"})),
    ]);
    let (format, runs) = runs(&folder, "rollout.jsonl", &text);
    assert_eq!(format, Format::Codex);
    insta::assert_snapshot!(all(&runs), @r#"
    run c1
    0 Other: "<environment_context>x"
    1 User: "go"
    2 exec_command "{\"cmd\": \"ls\"}" -> "ls: no" (Some(true), Some(2), Some(0))
    3 apply_patch "*** Begin" -> "Done" (Some(false), Some(0), Some(0))
    4 exec_command "{}" -> "as it is" (Some(true), Some(1), Some(0))
    "#);
}

#[test]
fn gemini_cli_messages_that_are_appended_again_count_once() {
    let folder = TempDir::new().unwrap();
    let call = |status: &str| {
        json!([{"id": "c1", "name": "run_shell_command", "args": {"command": "ls"}, "status": status, "timestamp": "2026-01-01T00:00:01Z",
            "result": [{"functionResponse": {"response": {"output":
                "<untrusted_context>\nOutput: ls: no\nExit Code: 2\nProcess Group PGID: 311\n</untrusted_context>"}}}]}])
    };
    let said =
        |text: &str, calls: Value| json!({"id": "m1", "type": "gemini", "content": text, "toolCalls": calls});
    let messages = [
        json!({"id": "m0", "type": "user", "content": [{"text": "go"}]}),
        said("I look.", json!([])),
        said("I look.", call("executing")),
        said("I look.", call("success")),
        said("I look.", call("success")),
    ];
    let mut text =
        vec![json!({"sessionId": "g1", "projectHash": "x"}), json!({"$set": {"messages": [&messages[0]]}})];
    text.extend(messages.clone());
    let (format, log) = runs(&folder, "session.jsonl", &lines(&text));
    assert_eq!(format, Format::GeminiCli);
    insta::assert_snapshot!(all(&log), @r#"
    run g1
    0 User: "go"
    1 Agent: "I look."
    2 run_shell_command "{\"command\":\"ls\"}" -> "ls: no\nExit Code: 2" (Some(true), Some(2), None)
    "#);
    let document = format!("{{\n\"sessionId\": \"g1\",\n\"messages\": {:#}\n}}", json!(messages));
    let (format, old) = runs(&folder, "session.json", &document);
    assert_eq!((format, old.done), (Format::GeminiCli, log.done));
}

/// A message of a person and a call of the agent, as opencode keeps them.
fn opencode_parts() -> [(&'static str, Value); 3] {
    [
        ("user", json!({"type": "text", "text": "go"})),
        (
            "assistant",
            json!({"type": "tool", "tool": "bash", "callID": "c1", "state": {"status": "completed",
            "input": {"command": "ls"}, "output": "a\n", "metadata": {"exit": 1}, "time": {"start": 1000, "end": 1250}}}),
        ),
        (
            "assistant",
            json!({"type": "tool", "tool": "bash", "callID": "c2", "state": {"status": "running", "input": {}}}),
        ),
    ]
}

#[test]
fn opencode_is_read_from_rows_in_any_order_from_an_export_and_from_its_database() {
    let folder = TempDir::new().unwrap();
    let (mut rows, mut messages) = (Vec::new(), Vec::new());
    let database = rusqlite::Connection::open(folder.path().join("opencode.db")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE message (id TEXT, session_id TEXT, time_created INT, time_updated INT, data TEXT);
             CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_created INT, time_updated INT, data TEXT);",
        )
        .unwrap();
    for (at, (role, part)) in (0_i64..).zip(opencode_parts()) {
        let (message, id) = (format!("m{at}"), format!("p{at}"));
        let info = json!({"role": role});
        rows.insert(0, json!({"table": "message", "row": [message, "ses1", at, at, info.to_string()]}));
        rows.insert(0, json!({"table": "part", "row": [id, message, "ses1", at, at, part.to_string()]}));
        messages.push(json!({"info": {"role": role, "sessionID": "ses1"}, "parts": [part]}));
        database
            .execute("INSERT INTO message VALUES (?1, 'ses1', ?2, 0, ?3)", (&message, at, info.to_string()))
            .unwrap();
        let values = (&id, &message, at, part.to_string());
        database.execute("INSERT INTO part VALUES (?1, ?2, 'ses1', ?3, 0, ?4)", values).unwrap();
    }
    drop(database);
    let (format, from_rows) = runs(&folder, "rows.jsonl", &lines(&rows));
    assert_eq!(format, Format::Opencode);
    insta::assert_snapshot!(all(&from_rows), @r#"
    run ses1
    0 User: "go"
    1 bash "{\"command\":\"ls\"}" -> "a\n" (Some(true), Some(1), Some(250000))
    "#);
    let export = json!({"info": {"id": "ses1"}, "messages": messages}).to_string();
    for (format, read) in
        [runs(&folder, "export.json", &export), read_all(&folder.path().join("opencode.db"))]
    {
        assert_eq!((format, read.done), (Format::Opencode, from_rows.done.clone()));
    }
}

#[test]
fn mini_swe_agent_is_read_with_tool_calls_and_with_code_blocks() {
    let folder = TempDir::new().unwrap();
    let calls = json!({"info": {"exit_status": "Submitted"}, "messages": [
        {"role": "system", "content": "You are helpful."},
        {"role": "assistant", "content": null, "extra": {"timestamp": 10.0},
            "tool_calls": [{"id": "c", "function": {"name": "bash", "arguments": "{\"command\": \"ls\"}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "{}", "extra": {"raw_output": "ls: no", "returncode": 2, "timestamp": 11.5}},
    ], "trajectory_format": "mini-swe-agent-1.1"});
    let (format, read) = runs(&folder, "case-1.traj.json", &format!("{calls:#}"));
    assert_eq!(format, Format::MiniSweAgent);
    insta::assert_snapshot!(all(&read), @r#"
    run case-1
    0 Other: "You are helpful."
    1 bash "ls" -> "ls: no" (Some(true), Some(2), Some(1500))
    "#);
    let blocks = json!({"info": {}, "messages": [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "I look.\n```bash\nls\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\na</output>"},
    ]});
    let (format, read) = runs(&folder, "old.json", &blocks.to_string());
    assert_eq!(format, Format::MiniSweAgent);
    insta::assert_snapshot!(all(&read), @r#"
    run old
    0 User: "go"
    1 Agent: "I look.\n```bash\nls\n```"
    2 bash "ls" -> "<returncode>0</returncode>\n<output>\na</output>" (Some(false), Some(0), None)
    "#);
}

#[test]
fn swe_agent_trajectories_are_read_up_to_where_they_were_cut() {
    let folder = TempDir::new().unwrap();
    let whole = json!({"environment": "main", "trajectory": [
        {"action": "open a.py\n", "observation": "[File: a.py]", "thought": "t", "state": "{}"},
        {"action": "", "observation": "no command"},
    ], "history": [{"role": "system"}], "info": {"exit_status": "submitted"}});
    let (format, read) = runs(&folder, "django-1.traj", &format!("{whole:#}"));
    assert_eq!(format, Format::SweAgent);
    insta::assert_snapshot!(all(&read), @r#"
    run django-1
    0 open "open a.py\n" -> "[File: a.py]" (None, None, None)
    1 no_action "" -> "no command" (None, None, None)
    "#);
    let (_, cut) = runs(&folder, "cut.traj", &whole.to_string()[..200]);
    assert_eq!((cut.done[0].steps.len(), cut.flaws.len()), (1, 1));
    assert!(cut.flaws[0].to_string().contains("nothing after it was read"), "{}", cut.flaws[0]);
}

#[test]
fn openhands_events_of_both_generations_are_read_from_arrays_and_folders() {
    let folder = TempDir::new().unwrap();
    let old = json!([
        {"id": 0, "source": "user", "action": "message", "args": {"content": "go"}},
        {"id": 1, "source": "agent", "action": "run", "timestamp": "2026-01-01T00:00:00.000001", "args": {"command": "ls", "thought": "hm"}},
        {"id": 2, "source": "agent", "cause": 1, "observation": "run", "content": "ls: no", "timestamp": "2026-01-01T00:00:02.000001",
            "extras": {"metadata": {"exit_code": 2}}},
        {"id": 3, "source": "environment", "observation": "agent_state_changed", "content": ""},
    ]);
    let (format, read) = runs(&folder, "trajectory.json", &old.to_string());
    assert_eq!(format, Format::OpenHands);
    insta::assert_snapshot!(all(&read), @r#"
    run trajectory
    0 User: "go"
    1 run "{\"command\":\"ls\"}" -> "ls: no" (Some(true), Some(2), Some(2000))
    "#);
    let new = [
        json!({"id": "e0", "kind": "MessageEvent", "source": "user", "llm_message": {"content": [{"type": "text", "text": "go"}]}}),
        json!({"id": "e1", "kind": "ActionEvent", "source": "agent", "tool_name": "terminal", "tool_call_id": "c",
            "action": {"kind": "TerminalAction", "command": "ls"}, "thought": [{"text": "hm"}]}),
        json!({"id": "e2", "kind": "ObservationEvent", "source": "environment", "tool_call_id": "c",
            "observation": {"kind": "TerminalObservation", "content": [{"type": "text", "text": "ls: no"}], "exit_code": 2}}),
        json!({"id": "e3", "kind": "ActionEvent", "source": "agent", "tool_name": "edit", "tool_call_id": "d", "action": {}}),
        json!({"id": "e4", "kind": "AgentErrorEvent", "source": "agent", "tool_call_id": "d", "error": "no such tool"}),
    ];
    for (at, event) in new.iter().enumerate() {
        let path = folder.path().join(format!("conv-7/events/event-0000{at}-abc.json"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{event:#}")).unwrap();
    }
    let (format, read) = read_all(&folder.path().join("conv-7"));
    assert_eq!(format, Format::OpenHands);
    insta::assert_snapshot!(all(&read), @r#"
    run conv-7
    0 User: "go"
    1 terminal "{\"command\":\"ls\"}" -> "ls: no" (Some(true), Some(2), None)
    2 edit "{}" -> "no such tool" (Some(true), None, None)
    "#);
}

#[test]
fn hive_logs_take_their_name_from_the_session() {
    let folder = TempDir::new().unwrap();
    let line = json!({"node_id": "worker", "step_index": 0, "llm_text": "I look.", "verdict": "RETRY", "verdict_feedback": "again",
        "tool_calls": [{"tool_use_id": "t", "tool_name": "ls", "tool_input": {"path": "."}, "result": "a", "is_error": false,
            "start_timestamp": "2026-01-01T00:00:00", "duration_s": 1.5}]});
    let mut partial = line.clone();
    partial["is_partial"] = json!(true);
    let (format, read) = runs(&folder, "sessions/session_1/logs/tool_logs.jsonl", &lines(&[partial, line]));
    assert_eq!(format, Format::Hive);
    insta::assert_snapshot!(all(&read), @r#"
    run session_1
    0 Agent: "I look."
    1 ls "{\"path\":\".\"}" -> "a" (Some(false), None, Some(1500))
    2 Other: "again"
    "#);
}

#[test]
fn otlp_calls_are_found_in_spans_and_logs_each_once() {
    let folder = TempDir::new().unwrap();
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let spans = json!({"resourceSpans": [{"resource": {"attributes": [text("session.id", "s1")]}, "scopeSpans": [{"spans": [
        {"name": "chat", "attributes": []},
        {"name": "execute_tool search", "startTimeUnixNano": "1767258000000000000", "endTimeUnixNano": "1767258001500000000",
            "attributes": [text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", "search"), text("gen_ai.tool.call.id", "c1"),
                text("gen_ai.tool.call.arguments", "{\"q\":1}"), text("gen_ai.tool.call.result", "none")], "status": {"code": 2}},
    ]}]}]});
    let logs = json!({"resourceLogs": [{"resource": {"attributes": [text("session.id", "s1")]}, "scopeLogs": [{"logRecords": [
        {"timeUnixNano": "1767258002000000000", "body": {"stringValue": "claude_code.tool_result"}, "attributes": [
            text("tool_name", "Bash"), text("tool_use_id", "c2"), text("success", "false"), text("tool_input", "{\"command\":\"ls\"}"),
            {"key": "duration_ms", "value": {"intValue": "250"}}]},
        {"body": {"stringValue": "claude_code.tool_result"}, "attributes": [text("tool_name", "search"), text("tool_use_id", "c1")]},
    ]}]}]});
    let flat = json!({"sig": "log", "body": "User prompt.", "attrs": {"session.id": "s1", "event.name": "gemini_cli.user_prompt", "prompt": "go"}});
    let (format, read) =
        runs(&folder, "otlp.jsonl", &lines(&[spans, logs, json!({"resourceMetrics": []}), flat]));
    assert_eq!(format, Format::Otlp);
    insta::assert_snapshot!(all(&read), @r#"
    run s1
    0 search "{\"q\":1}" -> "none" (Some(true), None, Some(1500))
    1 Bash "{\"command\":\"ls\"}" -> "" (Some(true), None, Some(250))
    2 User: "go"
    "#);
}

#[test]
fn what_cannot_be_read_at_all_says_why() {
    let folder = TempDir::new().unwrap();
    let error = |name: &str, content: &[u8], format: Option<Format>| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        let mut runs = Runs::default();
        let error = read(&Recording::file(&path), format, &mut runs, &|_| ()).expect_err(name).to_string();
        error.replace(&folder.path().display().to_string(), "")
    };
    let binary: Vec<u8> = (0..=255).cycle().take(10_000).collect();
    let said = [
        error("empty.json", b" \n", None),
        error("text.json", b"Dear diary,\n", None),
        error("binary.json", &binary, None),
        error("other.json", b"{\"a\": 1}", None),
        error("other.json", b"{\"a\": 1}\n", Some(Format::Codex)),
    ];
    insta::assert_snapshot!(said.join("\n"));
    let gone = Recording::file(folder.path().join("gone"));
    assert!(matches!(read(&gone, None, &mut Runs::default(), &|_| ()), Err(ReadError::NotFound(_))));
}

/// Whatever a file holds, it is read or refused; nothing panics.
mod hostile {
    use proptest::prelude::*;

    use super::*;

    /// Counts, and keeps nothing.
    #[derive(Default)]
    struct Count(usize);

    impl Sink for Count {
        fn step(&mut self, _: &str, _: Step) {
            self.0 += 1;
        }
        fn end(&mut self, _: &str) {}
        fn flaw(&mut self, _: Flaw) {}
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let names = [
            "type",
            "message",
            "content",
            "tool_use",
            "tool_result",
            "id",
            "tool_use_id",
            "payload",
            "call_id",
            "role",
            "steps",
            "kind",
            "run_id",
            "toolCalls",
            "$set",
            "messages",
            "table",
            "row",
            "part",
            "info",
            "action",
            "observation",
            "source",
            "trajectory",
            "node_id",
            "tool_calls",
            "attrs",
            "resourceSpans",
            "sessionId",
            "timestamp",
            "function_call",
            "assistant",
            "user",
            "response_item",
            "function",
            "arguments",
            "output",
            "text",
        ];
        let name = proptest::sample::select(names.to_vec());
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            name.clone().prop_map(Value::from),
            "\\PC{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 6, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::btree_map(name.clone().prop_map(str::to_owned), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn no_json_makes_a_reader_panic(values in proptest::collection::vec(any_json(), 1..5), cut in 0_usize..400) {
            let folder = TempDir::new().unwrap();
            let path = folder.path().join("x.json");
            let text = lines(&values);
            let cut = (0..=cut.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            for content in [text.as_str(), &text[..cut]] {
                fs::write(&path, content).unwrap();
                for format in std::iter::once(None).chain(Format::ALL.map(Some)) {
                    // Read or refused: either is fine.
                    let _ = read(&Recording::file(&path), format, &mut Count::default(), &|_| ());
                }
            }
        }
    }
}
