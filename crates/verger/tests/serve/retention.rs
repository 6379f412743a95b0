//! What is over is forgotten while others go on writing (L46).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::program::{Place, Program, until};

const WRITERS: usize = 3;

/// One piece of work: given out, saved, done. Each of these is acknowledged.
fn work(program: &Program, task: &str) {
    let requests = [
        (format!("PUT /v1/tasks/{task}"), json!({"agentId": "busy", "description": task})),
        ("POST /v1/checkpoints".to_owned(), json!({"taskId": task, "agentId": "busy", "state": task})),
        (format!("PUT /v1/tasks/{task}"), json!({"status": "done"})),
        ("POST /v1/heartbeats".to_owned(), json!({"agentId": "busy"})),
    ];
    for (request, body) in requests {
        let got = program.as_admin(&request, &body.to_string());
        assert!((200..300).contains(&got.status), "{request}: {}", got.body);
    }
}

fn items(program: &Program, path: &str) -> Vec<Value> {
    program.get(path)["items"].as_array().cloned().unwrap_or_default()
}

#[test]
fn l46_under_load_what_is_over_goes_and_nothing_else_and_nobody_is_refused() {
    let place = Place::new();
    place.configure("retention: {events: 2s, history: 2s, checkpoints: 2s, messages: 2s}\n");
    let program = place.start();
    program.as_admin("PUT /v1/tasks/open", r#"{"agentId":"patient","description":"a long one"}"#);
    let saved = r#"{"id":"kept","taskId":"open","agentId":"patient","state":{"step":7}}"#;
    assert_eq!(program.as_admin("POST /v1/checkpoints", saved).status, 201);
    work(&program, "first");
    let (is_over, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (program, is_over, done) = (&program, &is_over, &done);
            scope.spawn(move || {
                let mut number = 0;
                while !is_over.load(Ordering::Relaxed) {
                    work(program, &format!("work-{writer}-{number}"));
                    done.fetch_add(1, Ordering::Relaxed);
                    number += 1;
                }
            });
        }
        let forgotten = || {
            let is_listed =
                |task: &str| !items(&program, &format!("/v1/tasks/{task}/checkpoints")).is_empty();
            !is_listed("first") && !is_listed("work-0-0")
        };
        let before = done.load(Ordering::Relaxed);
        until("the first are gone", || forgotten().then_some(()));
        // What comes meanwhile goes in its turn: it does not pile up.
        let at = done.load(Ordering::Relaxed);
        assert!(before < at, "others went on");
        until("those that came meanwhile are gone", || {
            items(&program, &format!("/v1/tasks/work-0-{}/checkpoints", at / WRITERS / 2))
                .is_empty()
                .then_some(())
        });
        is_over.store(true, Ordering::Relaxed);
    });
    let kept = program.get("/v1/checkpoints/kept");
    assert_eq!(kept["state"]["step"], 7, "what an open task can resume from stays however old it is: {kept}");
    assert_eq!(program.get("/v1/tasks/open")["description"], "a long one");
    until("events are gone", || items(&program, "/v1/agents/patient/events").is_empty().then_some(()));
    assert_eq!(program.as_nobody("GET /ready", "").status, 200, "{}", place.log());
    assert!(!place.log().contains("could not be forgotten"), "{}", place.log());
}
