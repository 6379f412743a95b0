//! Tokens from their making to their end, and what the audit says of it.

use serde_json::{Value, json};

use crate::served::Served;

/// Who did what with which outcome, the oldest first.
async fn audit(served: &Served) -> Vec<String> {
    let got = served.admin("GET /v1/audit", "").await;
    assert_eq!(got.status, 200, "{}", got.text);
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let line = |item: &Value| {
        format!("{} {} {}", text(&item["actor"]), text(&item["action"]), text(&item["detail"]["outcome"]))
    };
    got.body["items"].as_array().expect("a list").iter().rev().map(line).collect()
}

#[tokio::test]
async fn a_token_is_shown_once_works_and_works_no_more_when_it_is_revoked() {
    let served = Served::new().await;
    served.beat("a").await;
    let got = served.admin("POST /v1/tokens", r#"{"scope":"agent","agent_id":"a","label":"for a"}"#).await;
    assert_eq!(got.status, 201, "{}", got.text);
    assert!(got.head.contains("cache-control: no-store"), "{}", got.head);
    let (id, secret) =
        (got.body["token"]["id"].clone(), got.body["secret"].as_str().expect("text").to_owned());
    assert_eq!(got.body["token"]["agentId"], "a");
    assert_eq!(served.bearer(&secret, "GET /v1/agents/a", "").await.status, 200);
    let listed = served.admin("GET /v1/tokens", "").await;
    assert_eq!(listed.body["items"][0]["id"], id);
    assert!(!listed.text.contains(&secret), "it is shown once");
    let request = format!("DELETE /v1/tokens/{}", id.as_str().expect("text"));
    assert_eq!(served.admin(&request, "").await.status, 204);
    let got = served.bearer(&secret, "GET /v1/agents/a", "").await;
    assert_eq!((got.status, &got.body["code"]), (401, &json!("VG0412")));
    assert!(!got.text.contains(&secret), "a refusal does not repeat it: {}", got.text);
    let got = served.admin(&request, "").await;
    assert_eq!((got.status, &got.body["code"]), (404, &json!("VG0417")), "it has ended already");
    served.started.stop();
}

#[tokio::test]
async fn a_token_ends_when_its_time_is_up() {
    let served = Served::new().await;
    let got = served.admin("POST /v1/tokens", r#"{"scope":"read","expiresIn":"1h"}"#).await;
    assert!(got.body["token"]["expiresAt"].is_string(), "{}", got.text);
    let expired = served.token("read", None, true).await;
    assert_eq!(served.bearer(&expired, "GET /v1/agents", "").await.status, 401);
    served.started.stop();
}

#[tokio::test]
async fn a_token_that_makes_no_sense_is_not_made() {
    let served = Served::new().await;
    let long = format!(r#"{{"scope":"read","label":"{}"}}"#, "x".repeat(201));
    for body in [
        r#"{"scope":"agent"}"#,
        r#"{"scope":"agent","agentId":""}"#,
        r#"{"scope":"read","agentId":"a"}"#,
        r#"{"scope":"everything"}"#,
        r#"{"scope":"read","label":"a\nb"}"#,
        &long,
    ] {
        let got = served.admin("POST /v1/tokens", body).await;
        assert_eq!((got.status, &got.body["code"]), (422, &json!("VG0402")), "{body}: {}", got.text);
    }
    assert_eq!(served.admin("GET /v1/tokens", "").await.body["items"], json!([]));
    served.started.stop();
}

#[tokio::test]
async fn every_order_and_everybody_who_was_refused_one_leaves_a_line() {
    let served = Served::new().await;
    served.beat("a").await;
    let agent = served.token("agent", Some("a"), false).await;
    served.admin("POST /v1/agents/a/nudge", "").await;
    served.bearer(&agent, "POST /v1/agents/a/terminate", r#"{"reason":"x"}"#).await;
    served.nobody("POST /v1/agents/a/escalate", r#"{"reason":"x"}"#).await;
    served.bearer("vgt_wrong", "GET /v1/agents", "").await;
    served.admin("POST /v1/agents/nobody/nudge", "").await;
    served.admin("GET /v1/agents", "").await;
    let expected = [
        "admin POST /v1/agents/{id}/nudge done",
        "agent:a POST /v1/agents/{id}/terminate refused",
        "nobody POST /v1/agents/{id}/escalate refused",
        "nobody GET /v1/agents refused",
        "admin POST /v1/agents/{id}/nudge failed",
    ];
    assert_eq!(audit(&served).await, expected);
    let got = served.admin("GET /v1/audit?limit=1", "").await;
    let line = &got.body["items"][0];
    assert_eq!(
        (&line["target"], &line["detail"]["from"]),
        (&json!("/v1/agents/nobody/nudge"), &json!("127.0.0.1"))
    );
    assert_eq!((&line["detail"]["status"], &line["detail"]["code"]), (&json!(404), &json!("VG0101")));
    let check = served.started.monitor.archive().verify_audit().expect("it can be read");
    assert_eq!(check, verger_store::AuditCheck::Whole { lines: 5 });
    served.started.stop();
}

#[tokio::test]
async fn the_audit_comes_page_by_page_the_newest_first() {
    let served = Served::new().await;
    for _ in 0..5 {
        served.admin("POST /v1/tokens", r#"{"scope":"read"}"#).await;
    }
    let mut numbers = Vec::new();
    let mut request = "GET /v1/audit?limit=2".to_owned();
    loop {
        let got = served.admin(&request, "").await;
        let items = got.body["items"].as_array().expect("a list");
        numbers.extend(items.iter().filter_map(|item| item["number"].as_i64()));
        let Some(cursor) = got.body["nextCursor"].as_str() else { break };
        request = format!("GET /v1/audit?limit=2&cursor={cursor}");
    }
    assert_eq!(numbers, [5, 4, 3, 2, 1]);
    assert_eq!(served.admin("GET /v1/audit?cursor=forged", "").await.status, 400);
    served.started.stop();
}
