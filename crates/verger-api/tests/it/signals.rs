//! Every kind of signal: what it needs, what it may say, and that it goes out as it came in.

use serde_json::{Value, json};
use verger_api::ingest::{self, Ingest, Limits};
use verger_api::{Signal, SignalBody, SignalKind};

fn one(body: &str) -> Result<Signal<'_>, String> {
    match ingest::signals(body.as_bytes(), &Limits::default()) {
        Ingest::One(item) => item,
        Ingest::Many(batch) => panic!("one was expected: {batch:?}"),
    }
}

/// Each kind with everything that it may say.
fn samples() -> Vec<Value> {
    let phase = "started";
    vec![
        json!({ "kind": "heartbeat", "phase": "x", "tokenCount": 3, "status": "idle" }),
        json!({ "kind": "activity" }),
        json!({ "kind": "toolCall", "callId": "c1", "tool": "bash", "phase": phase, "args": { "cmd": ["ls", "-l"] } }),
        json!({
            "kind": "toolCall", "callId": "c1", "tool": "bash", "phase": "finished", "result": "ok\n",
            "error": "exit 1", "durationMs": 12
        }),
        json!({ "kind": "message", "role": "assistant", "text": "Done." }),
        json!({ "kind": "modelRequest", "phase": phase, "model": "m-1", "tokens": 9 }),
        json!({ "kind": "subagent", "phase": phase, "id": "s1" }),
        json!({ "kind": "compaction" }),
        json!({ "kind": "tokens", "input": 10, "output": 20, "costUsd": 0.25 }),
        json!({ "kind": "output", "filesChanged": 1, "testsPassed": 2, "testsFailed": 3 }),
        json!({ "kind": "error", "message": "429", "unrecoverable": true, "provider": "p", "retryAfter": "30s" }),
        json!({
            "kind": "status", "status": "waiting", "waitingOn": "person", "until": "2026-01-31T12:00:00.000Z",
            "reason": "a permission"
        }),
        json!({ "kind": "handoff", "reason": "full" }),
        json!({ "kind": "blocker", "reason": "no access" }),
        json!({ "kind": "pong", "seq": 7, "status": "busy" }),
        json!({ "kind": "spawn", "pid": 4711, "host": "build-3", "command": "agent --run", "role": "active" }),
        json!({ "kind": "exit", "code": -1, "signal": 9, "reason": "killed" }),
    ]
}

fn with_head(mut sample: Value) -> Value {
    for (name, value) in [("agentId", json!("a")), ("taskId", json!("t")), ("incarnation", json!(2))] {
        sample[name] = value;
    }
    sample["at"] = json!("2026-01-31T12:00:00.000Z");
    sample
}

#[test]
fn every_kind_is_read_and_goes_out_as_it_came() {
    let mut kinds = Vec::new();
    for sample in samples().into_iter().map(with_head) {
        let text = sample.to_string();
        let signal = one(&text).expect(&text);
        assert_eq!(serde_json::to_value(&signal).expect("JSON"), sample);
        assert_eq!(signal.clone().into_owned(), signal);
        assert_eq!(signal.body.kind().as_str(), sample["kind"]);
        kinds.push(signal.body.kind());
    }
    kinds.dedup();
    assert_eq!(kinds, SignalKind::ALL);
}

/// The row `none (loopback)` of the table of access.
#[test]
fn without_a_token_only_vital_signs_may_be_sent() {
    let open: Vec<_> =
        SignalKind::ALL.iter().filter(|kind| !kind.needs_token()).map(|kind| kind.as_str()).collect();
    assert_eq!(open, ["heartbeat", "activity", "toolCall", "message", "modelRequest", "tokens", "pong"]);
}

#[test]
fn snake_case_is_read_too() {
    let text =
        r#"{"kind":"tool_call","agent_id":"a","call_id":"c","tool":"t","phase":"finished","duration_ms":5}"#;
    let SignalBody::ToolCall(call) = one(text).expect("a call").body else { panic!("a call was expected") };
    assert_eq!((call.call_id.as_ref(), call.duration_ms), ("c", Some(5)));
}

#[test]
fn what_is_needed_is_asked_for_by_name() {
    for (fields, error) in [
        (r#""agentId":"a""#, "kind is missing"),
        (
            r#""agentId":"a","kind":"pung""#,
            "kind: `pung` is none of heartbeat, activity, toolCall, message, modelRequest, subagent, compaction, tokens, output, error, status, handoff, blocker, pong, spawn, exit",
        ),
        (r#""kind":"activity""#, "agentId is missing"),
        (r#""kind":"toolCall","agentId":"a","tool":"t","phase":"started""#, "callId is missing"),
        (
            r#""kind":"toolCall","agentId":"a","callId":"c","tool":"t","phase":"begun""#,
            "phase: `begun` is none of started, finished",
        ),
        (r#""kind":"message","agentId":"a","role":"user""#, "text is missing"),
        (r#""kind":"tokens","agentId":"a","input":1"#, "output is missing"),
        (r#""kind":"pong","agentId":"a","seq":"7""#, "seq must be a whole number, not a string"),
        (
            r#""kind":"error","agentId":"a","message":"m","unrecoverable":"yes""#,
            "unrecoverable must be true or false, not a string",
        ),
        (
            r#""kind":"error","agentId":"a","message":"m","retryAfter":"soon""#,
            "retryAfter must be seconds, or a duration as in 90s",
        ),
        (r#""kind":"exit","agentId":"a","code":99999999999"#, "code must fit 32 bits"),
    ] {
        assert_eq!(one(&format!("{{{fields}}}")), Err(error.to_owned()), "{fields}");
    }
}

#[test]
fn a_field_of_another_kind_is_ignored_whatever_it_holds() {
    let text = r#"{"kind":"activity","agentId":"a","output":"text","seq":[],"phase":{},"tokens":"many"}"#;
    assert_eq!(one(text).expect("an activity").body, SignalBody::Activity);
}

#[test]
fn arguments_and_results_are_passed_on_as_they_are() {
    let text = r#"{"kind":"toolCall","agentId":"a","callId":"c","tool":"t","phase":"started","args":{ "a" : [1e2,"\u0041"] },"result":null}"#;
    let SignalBody::ToolCall(call) = one(text).expect("a call").body else { panic!("a call was expected") };
    assert_eq!(call.args.map(|args| args.get().to_owned()).as_deref(), Some(r#"{ "a" : [1e2,"\u0041"] }"#));
    assert_eq!(call.result, None);
    let deep = text.replace("[1e2", &format!("[{}{},1e2", "[".repeat(64), "]".repeat(64)));
    assert_eq!(one(&deep), Err("args is nested deeper than 64 levels".to_owned()));
}

#[test]
fn a_providers_fault_may_be_told_without_its_name() {
    let provider = |given: &str| {
        let text = format!(r#"{{"kind":"error","agentId":"a","message":"m","provider":{given}}}"#);
        let SignalBody::Error(failure) = one(&text).expect("an error").into_owned().body else {
            panic!("an error was expected")
        };
        failure.provider.map(std::borrow::Cow::into_owned)
    };
    assert_eq!(provider("true"), Some("unknown".to_owned()));
    assert_eq!((provider("false"), provider("\"x\"")), (None, Some("x".to_owned())));
}
