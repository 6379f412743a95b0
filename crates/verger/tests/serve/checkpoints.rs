//! Saved work: what is taken, what waits, and what a recovery begins with.

use std::fs;

use serde_json::{Value, json};

use crate::program::{Place, Program, until};

fn save(program: &Program, id: &str, parent: Option<&str>, state: &Value) -> (u16, Value) {
    let body = json!({"id": id, "taskId": "t", "agentId": "a", "parentId": parent, "state": state});
    let got = program.as_admin("POST /v1/checkpoints", &body.to_string());
    (got.status, got.body)
}

/// Too large to be a row.
fn large(word: &str) -> Value {
    json!(word.repeat(40_000))
}

#[test]
fn l27_a_checkpoint_follows_the_newest_and_one_that_does_not_fit_is_refused() {
    let place = Place::new();
    let program = place.start();
    program.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a","taskId":"t"}"#);
    let (status, first) = save(&program, "c1", None, &json!({"step": 1}));
    assert_eq!((status, &first["parentId"]), (201, &Value::Null));
    let (_, second) = save(&program, "c2", None, &json!({"step": 2}));
    assert_eq!(second["parentId"], "c1");
    assert_eq!(save(&program, "c2", None, &json!({"step": 2})).1, second, "the same again changes nothing");
    assert_eq!(save(&program, "c2", None, &json!({"step": 3})).0, 409, "another state under the same name");
    assert_eq!(save(&program, "c3", Some("c0"), &json!(3)).0, 409, "a parent that is not there");
    let listed = program.as_admin("GET /v1/tasks/t/checkpoints", "").body;
    let ids: Vec<&str> =
        listed["items"].as_array().expect("items").iter().filter_map(|it| it["id"].as_str()).collect();
    assert_eq!(ids, ["c2", "c1"]);
    assert_eq!(program.as_admin("GET /v1/checkpoints/c9", "").status, 404);
    assert_eq!(program.as_nobody("GET /v1/checkpoints/c1", "").status, 401);
}

#[test]
fn l26_while_the_store_fails_checkpoints_stand_in_line_and_are_written_when_it_works_again() {
    let place = Place::new();
    let fast = "writes:\n  pause: 1s\nbreakers:\n  checkpoint:\n    failure_threshold: 1\n    open_for: 2s\n";
    place.configure(fast);
    let program = place.start();
    program.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a","taskId":"t"}"#);
    let (folder, away) = (place.data().join("checkpoints"), place.path("away"));
    fs::rename(&folder, &away).and_then(|()| fs::write(&folder, "")).expect("it is ours");
    let (status, kept) = save(&program, "c1", None, &large("one"));
    assert_eq!((status, &kept["queued"]), (202, &true.into()), "{kept}");
    let breaker = || program.as_admin("GET /v1/agents/a", "").body["circuitBreakers"][0].clone();
    until("its breaker opens", || (breaker()["state"] == "OPEN").then_some(()));
    let (status, small) = save(&program, "c2", Some("c1"), &json!(2));
    assert_eq!((status, &small["queued"]), (202, &true.into()), "what comes later waits behind it");
    assert_eq!(program.as_admin("GET /v1/checkpoints/c2", "").body["queued"], true);
    // Also an end without warning loses none of them.
    program.kill();
    fs::remove_file(&folder).and_then(|()| fs::rename(&away, &folder)).expect("it is ours");
    let program = place.start();
    for id in ["c1", "c2"] {
        let request = format!("GET /v1/checkpoints/{id}");
        until("it is written", || (program.as_admin(&request, "").body["queued"] == false).then_some(()));
    }
    assert_eq!(program.as_admin("GET /v1/checkpoints/c1", "").body["state"], large("one"));
    assert_eq!(program.as_admin("GET /v1/checkpoints/c2", "").body["parentId"], "c1");
}

#[test]
fn l27_a_recovery_begins_with_the_newest_state_that_is_intact() {
    let place = Place::new();
    let note = r#"cat > "{here}/part"; mv "{here}/part" "{here}/spawned.json""#;
    place.configure(&format!(
        "mode: full\nrecovery:\n  backoff: [1s]\ntermination:\n  command: [\"true\"]\nspawn:\n  command: [sh, -c, '{note}']\n"
    ));
    let program = place.start();
    program.as_admin("POST /v1/heartbeats", r#"{"agentId":"a","taskId":"t"}"#);
    save(&program, "c1", None, &json!({"step": 1}));
    assert_eq!(save(&program, "c2", None, &large("two")).0, 201);
    let body = fs::read_dir(place.data().join("checkpoints")).expect("a folder").next();
    fs::write(body.expect("a file").expect("it is there").path(), "damaged").expect("it is ours");
    assert_eq!(program.as_admin("GET /v1/checkpoints/c2", "").status, 500, "nobody gets to see it");
    program.as_admin("POST /v1/agents/a/escalate", r#"{"reason":"look"}"#);
    let decision = r#"{"decision":"terminate-and-recover","reason":"start again"}"#;
    assert_eq!(program.as_admin("POST /v1/agents/a/decision", decision).status, 202);
    let spawned: Value = serde_json::from_str(&place.file("spawned.json")).expect("a document");
    assert_eq!((&spawned["taskId"], &spawned["checkpoint"]), (&"t".into(), &"c1".into()), "{spawned}");
    assert_eq!(spawned["state"], json!({"step": 1}));
    assert!(spawned["context"].as_str().is_some_and(|text| text.contains("goes on from checkpoint c1")));
}
