//! Agents that go round in circles without doing the same thing twice, and those that only look like it.

use serde_json::{Value, json};

use crate::program::{Place, Program, until};

/// One thing, looked for in other words each time.
const WORDS: [&str; 12] = [
    "where is the retry limit of the uploader",
    "uploader retry limit constant",
    "maximum retries upload",
    "retry count configuration uploader",
    "how often does upload retry",
    "upload attempts limit",
    "retries in uploader module",
    "uploader backoff retry maximum",
    "limit of attempts when uploading",
    "upload retry policy definition",
    "retry setting for uploads",
    "constant for uploader retries",
];

/// A call that begins with its arguments and ends with its result; what waits for the agent comes with the answer.
fn call(program: &Program, agent: &str, id: usize, tool: &str, args: &Value, result: &str) -> Value {
    let call = json!({"kind": "toolCall", "agentId": agent, "callId": format!("c{id}"), "tool": tool});
    let with = |phase: &str, name: &str, value: &Value| {
        let mut call = call.clone();
        call["phase"] = phase.into();
        call[name] = value.clone();
        let got = program.as_admin("POST /v1/signals", &call.to_string());
        assert_eq!((got.status, &got.body["accepted"]), (202, &1.into()), "{}", got.body);
        got.body
    };
    with("started", "args", args);
    with("finished", "result", &result.into())
}

fn search(program: &Program, agent: &str, id: usize) -> Value {
    call(program, agent, id, "search", &json!({"query": WORDS[id]}), "No results found.")
}

fn state(program: &Program, agent: &str) -> Value {
    program.get(&format!("/v1/agents/{agent}"))["state"].clone()
}

fn why(place: &Place, agent: &str) -> String {
    let shown = place.run(&["why", agent], &[]);
    String::from_utf8_lossy(&shown.stdout).into_owned()
}

#[test]
fn l06_reworded_searches_are_reminded_of_found_stuck_and_shown_across_a_kill() {
    let place = Place::new();
    let program = place.start();
    (0..5).for_each(|id| drop(search(&program, "a", id)));
    until("it is worth a word", || (state(&program, "a") == "DEGRADED").then_some(()));
    let reminder = until("it is reminded", || {
        let got = program.as_admin("POST /v1/signals", r#"{"kind":"activity","agentId":"a"}"#);
        got.body["pending"].as_array()?.iter().find(|item| item["kind"] == "nudge").cloned()
    });
    let text = reminder["message"].as_str().expect("a text");
    assert!(text.starts_with("You seem to go round in circles: ") && text.contains("search ×5"), "{text}");
    // What is on disk is not told apart from what is not; an order is, and everything before it.
    program.as_admin("PUT /v1/agents/a", r#"{"role":"default"}"#);
    program.kill();

    let program = place.start();
    assert_eq!(state(&program, "a"), "DEGRADED", "it goes on where it was");
    (5..9).for_each(|id| drop(search(&program, "a", id)));
    until("it is stuck", || (state(&program, "a") == "STUCK").then_some(()));
    let found = program.get("/v1/agents/a")["evidence"][0].clone();
    assert_eq!(found["signal"], "fruitless-search", "{found}");
    let steps = found["stretch"]["steps"].as_array().expect("steps").clone();
    assert!(8 <= steps.len() && steps.iter().all(|step| step["tool"] == "search"), "{found}");
    let escalated = program.event("a", "ESCALATION_TRIGGERED");
    assert!(escalated["data"].to_string().contains("search ×"), "{escalated}");
    let incidents = program.get("/v1/incidents");
    assert_eq!(incidents["items"][0]["evidence"][0]["stretch"]["kind"], "fruitless-search", "{incidents}");
    let shown = why(&place, "a");
    assert!(shown.contains("looked for something and found nothing new"), "{shown}");
    assert!(shown.contains("Steps that came to nothing"), "{shown}");
    assert_eq!(shown.lines().filter(|line| line.ends_with("  search")).count(), steps.len(), "{shown}");

    let news = "src/upload/limits.rs line 14 says that RETRIES is five for every host of the cluster";
    call(&program, "a", 20, "search", &json!({"query": "RETRIES"}), news);
    until("another course ends it", || (state(&program, "a") == "HEALTHY").then_some(()));
    assert!(!why(&place, "a").contains("Steps that came to nothing"));
}

#[test]
fn l06_polling_paging_and_tests_after_edits_stay_healthy() {
    let place = Place::new();
    let program = place.start();
    for id in 0..25 {
        call(&program, "polls", id, "job_status", &json!({"job": 17}), "running");
        let page =
            format!("invoice{id} paid by customer{id}\ninvoice{id}b paid by customer{id}b of region{id}");
        call(&program, "pages", id, "list_invoices", &json!({"page": id}), &page);
        let edit = json!({"path": format!("src/part{id}.rs"), "old": format!("let x = {id};"),
            "new": format!("let total{id} = compute{id}(input) + rest{id};")});
        call(&program, "works", 2 * id, "edit", &edit, "ok");
        call(&program, "works", 2 * id + 1, "bash", &json!({"command": "cargo test"}), "all tests passed");
    }
    for agent in ["polls", "pages", "works"] {
        assert_eq!(state(&program, agent), "HEALTHY", "{}", program.get(&format!("/v1/agents/{agent}")));
        let told = program.get(&format!("/v1/agents/{agent}/events"));
        let raised =
            told["items"].as_array().expect("events").iter().any(|event| event["type"] == "NUDGE_SENT");
        assert!(!raised, "{told}");
    }
}

#[test]
fn x20_who_tells_only_results_or_only_arguments_is_not_judged_by_what_is_missing() {
    let place = Place::new();
    let program = place.start();
    for id in 0..12 {
        let ended = |agent: &str, rest: &Value| {
            let mut told = json!({"kind": "toolCall", "agentId": agent, "callId": format!("c{id}"), "tool": "read",
                "phase": "finished"});
            told.as_object_mut().expect("an object").extend(rest.as_object().expect("fields").clone());
            assert_eq!(program.as_admin("POST /v1/signals", &told.to_string()).status, 202);
        };
        ended("no-results", &json!({"args": {"path": format!("src/part{id}.rs")}}));
        ended("no-arguments", &json!({"result": format!("part {id} holds something of its own: word{id}")}));
    }
    assert_eq!(state(&program, "no-results"), "HEALTHY");
    assert_eq!(state(&program, "no-arguments"), "HEALTHY");
}
