//! The first addresses: what agents send, how they are, and what people order about them.

use serde_json::{Value, json};

use super::Served;

#[tokio::test]
async fn l02_a_heartbeat_registers_an_agent_and_its_health_can_be_asked() {
    let served = Served::new().await;
    let got = served.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a","taskId":"t","tokenCount":7}"#).await;
    assert_eq!((got.status, &got.body), (202, &json!({"accepted":1,"rejected":[],"pending":[]})));
    let got = served.as_admin("GET /v1/agents/a", "").await;
    assert_eq!(got.status, 200, "{}", got.body);
    let health = &got.body;
    assert_eq!(
        (&health["agentId"], &health["state"], &health["taskId"]),
        (&json!("a"), &json!("HEALTHY"), &json!("t"))
    );
    assert_eq!(
        (&health["metrics"]["tokenCount"], &health["metrics"]["totalHeartbeats"]),
        (&json!(7), &json!(1))
    );
    assert_eq!(health["liveness"]["status"], "online");
    served.started.stop();
}

#[tokio::test]
async fn l02_of_many_heartbeats_the_bad_ones_are_told_by_their_place() {
    let served = Served::new().await;
    let lines = "{\"agentId\":\"a\"}\n{\"agentId\":7}\n{\"agentId\":\"b\"}\nnonsense\n";
    let got = served.as_nobody("POST /v1/heartbeats", lines).await;
    assert_eq!((got.status, &got.body["accepted"]), (202, &json!(2)), "{}", got.body);
    let places: Vec<&Value> =
        got.body["rejected"].as_array().expect("a list").iter().map(|one| &one["index"]).collect();
    assert_eq!(places, [&json!(1), &json!(3)]);
    assert_eq!(got.body.get("pending"), None, "there is no one agent to tell");
    let got = served.as_nobody("POST /v1/heartbeats", r#"{"agentId":7}"#).await;
    assert_eq!((got.status, &got.body["code"]), (422, &json!("VG0402")), "{}", got.body);
    served.started.stop();
}

#[tokio::test]
async fn x09_a_nudge_is_in_the_reply_to_the_next_heartbeat_once() {
    let served = Served::new().await;
    let beat = r#"{"agentId":"a"}"#;
    served.as_nobody("POST /v1/heartbeats", beat).await;
    let got = served.as_admin("POST /v1/agents/a/nudge", r#"{"message":"look at the tests"}"#).await;
    assert_eq!((got.status, &got.body["delivery"]), (202, &json!("queued")), "{}", got.body);
    let ordered = got.body["id"].clone();
    let got = served.as_nobody("POST /v1/heartbeats", beat).await;
    let pending = got.body["pending"].as_array().expect("a list");
    assert_eq!(
        (pending.len(), &pending[0]["kind"], &pending[0]["message"]),
        (1, &json!("nudge"), &json!("look at the tests"))
    );
    assert_eq!(pending[0]["id"], ordered, "it has one name everywhere");
    let got = served.as_nobody("POST /v1/heartbeats", beat).await;
    assert_eq!(got.body["pending"], json!([]));
    served.started.stop();
}

#[tokio::test]
async fn l21_an_escalation_waits_for_a_decision() {
    let served = Served::new().await;
    served.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a"}"#).await;
    let decide = r#"{"decision":"allow-more-time","reason":"it is nearly done"}"#;
    let got = served.as_admin("POST /v1/agents/a/decision", decide).await;
    assert_eq!((got.status, &got.body["code"]), (409, &json!("VG0103")), "{}", got.body);
    let got = served.as_admin("POST /v1/agents/a/escalate", r#"{"reason":"it looks odd"}"#).await;
    assert_eq!(got.status, 202, "{}", got.body);
    let got = served.as_admin("GET /v1/agents/a", "").await;
    assert_eq!(got.body["intervention"]["step"], "escalated", "{}", got.body);
    let got = served.as_admin("POST /v1/agents/a/decision", decide).await;
    assert_eq!(got.status, 202, "{}", got.body);
    let got = served.as_admin("GET /v1/agents/a", "").await;
    assert_eq!(got.body["intervention"], Value::Null, "it is decided, and the agent is well: {}", got.body);
    let events = served.started.monitor.archive().events_after(0, 100).expect("it can be read");
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert!(kinds.ends_with(&["ESCALATION_TRIGGERED", "ESCALATION_DECIDED"]), "{kinds:?}");
    served.started.stop();
}

#[tokio::test]
async fn each_scope_reaches_what_it_may_and_nothing_else() {
    let served = Served::new().await;
    for agent in ["a", "b"] {
        served.as_nobody("POST /v1/heartbeats", &format!(r#"{{"agentId":"{agent}"}}"#)).await;
    }
    let (agent, read) = (served.token("agent", Some("a")).await, served.token("read", None).await);
    let spawn = r#"{"kind":"spawn","agentId":"a","host":"h"}"#;
    let requests = [
        ("GET /health", ""),
        ("GET /ready", ""),
        ("POST /v1/heartbeats", r#"{"agentId":"a"}"#),
        ("GET /v1/agents/a", ""),
        ("GET /v1/agents/b", ""),
        ("GET /v1/agents/a/ready", ""),
        ("GET /v1/agents", ""),
        ("POST /v1/agents/a/nudge", ""),
        ("POST /v1/agents/b/terminate", r#"{"reason":"x"}"#),
        ("DELETE /v1/agents/b", ""),
    ];
    let table = [("", "111......."), (agent.as_str(), "1111.1...."), (read.as_str(), "11.1111...")];
    for (token, expected) in table {
        let mut reached = String::new();
        for (request, body) in requests {
            let got = if token.is_empty() {
                served.as_nobody(request, body).await
            } else {
                served.with_token(token, request, body).await
            };
            let taken = got.body.get("accepted") != Some(&json!(0));
            reached.push(if got.status < 400 && taken { '1' } else { '.' });
        }
        assert_eq!(reached, expected, "{token}");
    }
    for (request, body) in requests {
        let got = served.as_admin(request, body).await;
        assert!(got.status < 400, "{request}: {} {}", got.status, got.body);
    }
    let got = served.as_nobody("POST /v1/signals", spawn).await;
    assert_eq!(got.body["accepted"], 0, "who proved nothing begins no life: {}", got.body);
    let got = served.with_token(&agent, "POST /v1/signals", spawn).await;
    assert_eq!(got.body["accepted"], 1, "{}", got.body);
    served.started.stop();
}

#[tokio::test]
async fn a_page_from_elsewhere_and_a_rebound_name_get_nowhere() {
    let served = Served::new().await;
    for headers in [
        [("Origin", "https://evil.example")].as_slice(),
        &[("Host", "evil.example:8374")],
        &[("Origin", "null")],
    ] {
        let got = served.send("GET /health", headers, "").await;
        assert_eq!((got.status, &got.body["code"]), (403, &json!("VG0414")), "{headers:?}");
    }
    served.started.stop();
}

#[tokio::test]
async fn refusals_are_problem_documents_that_say_what_to_do() {
    let served = Served::new().await;
    let cases = [
        ("GET /v1/agents/nobody", 404, "VG0101"),
        ("GET /v2/agents", 404, "VG0407"),
        ("PATCH /v1/agents", 405, "VG0408"),
        ("GET /v1/agents?cursor=forged", 400, "VG0404"),
        ("GET /v1/agents?limit=many", 400, "VG0403"),
        ("POST /v1/agents/nobody/escalate", 422, "VG0402"),
    ];
    for (request, status, code) in cases {
        let got = served.as_admin(request, "").await;
        assert_eq!((got.status, &got.body["code"]), (status, &json!(code)), "{request} {}", got.body);
        assert!(got.head.contains("application/problem+json"), "{request}: {}", got.head);
    }
    let got = served.with_token("vgt_wrong", "GET /v1/agents", "").await;
    assert_eq!((got.status, &got.body["code"]), (401, &json!("VG0412")), "{}", got.body);
    served.started.stop();
}

#[tokio::test]
async fn l50_all_agents_come_page_by_page_and_by_what_is_asked_for() {
    let served = Served::new().await;
    let beats: Vec<String> =
        (0..25).map(|n| format!("{{\"agentId\":\"a{n:02}\",\"taskId\":\"t{}\"}}\n", n % 5)).collect();
    served.as_nobody("POST /v1/heartbeats", &beats.concat()).await;
    let mut seen = Vec::new();
    let mut request = "GET /v1/agents?limit=10".to_owned();
    loop {
        let got = served.as_admin(&request, "").await;
        let items = got.body["items"].as_array().expect("a list").clone();
        assert!(items.len() <= 10);
        seen.extend(items.into_iter().map(|item| item["agentId"].as_str().expect("a name").to_owned()));
        let Some(cursor) = got.body["nextCursor"].as_str() else { break };
        request = format!("GET /v1/agents?limit=10&cursor={cursor}");
    }
    assert_eq!(seen, (0..25).map(|n| format!("a{n:02}")).collect::<Vec<_>>());
    let got = served.as_admin("GET /v1/agents?task=t3", "").await;
    assert_eq!(got.body["items"].as_array().map(Vec::len), Some(5), "{}", got.body);
    let got = served.as_admin("GET /v1/agents?state=STUCK", "").await;
    assert_eq!(got.body, json!({"items":[],"nextCursor":null}));
    served.started.stop();
}

#[tokio::test]
async fn l50_all_agents_are_told_as_one_is_with_the_time_at_which_their_work_was_saved() {
    let served = Served::new().await;
    served.beat(&["a", "b"]).await;
    let saved = r#"{"taskId":"t","agentId":"a","state":{"step":1},"createdAt":"2020-01-01T00:00:00Z"}"#;
    assert_eq!(served.as_admin("POST /v1/checkpoints", saved).await.status, 201);
    let one = served.as_admin("GET /v1/agents/a", "").await.body;
    assert_eq!(one["lastCheckpoint"], "2020-01-01T00:00:00.000Z", "when its agent made it: {one}");
    let all = served.as_admin("GET /v1/agents", "").await.body;
    let of = |at: usize| &all["items"][at]["lastCheckpoint"];
    assert_eq!((of(0), of(1)), (&one["lastCheckpoint"], &Value::Null), "{all}");
    served.started.stop();
}
