//! The local socket: who may do what over it.

use serde_json::json;
use verger_server::unix::watched_by;

use crate::client::Client;
use crate::served::Served;

#[tokio::test]
async fn over_the_socket_one_is_somebody_on_this_machine_and_may_use_tokens() {
    let served = Served::new().await;
    let got = served.local("POST /v1/heartbeats", &[], r#"{"agentId":"a"}"#).await;
    assert_eq!(got.body["accepted"], 1, "{}", got.text);
    assert_eq!(served.local("GET /v1/agents/a", &[], "").await.status, 401);
    let agent = format!("Bearer {}", served.token("agent", Some("a"), false).await);
    assert_eq!(served.local("GET /v1/agents/a", &[("Authorization", &agent)], "").await.status, 200);
    let admin = format!("Bearer {}", served.admin);
    let got = served.local("POST /v1/agents/a/nudge", &[("Authorization", &admin)], "").await;
    // Whoever runs these tests may be watched.
    let expected = if watched_by(std::process::id()).expect("we run").is_some() { 403 } else { 202 };
    assert_eq!(got.status, expected, "{}", got.text);
    let got = served.admin("GET /v1/audit?limit=1", "").await;
    let from = got.body["items"][0]["detail"]["from"].as_str().expect("text").to_owned();
    assert!(from.starts_with(&format!("process {} of user", std::process::id())), "{from}");
    served.started.stop();
}

#[tokio::test]
async fn from_inside_a_watched_tree_the_admins_token_orders_nothing() {
    let served = Served::new().await;
    served.beat("a").await;
    let mut client = Client::start(&served, "order", &served.admin, Some("a"));
    let answer = tokio::task::spawn_blocking(move || client.says("answer: ")).await.expect("it ends");
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("VG0415"), "{answer}");
    let mut client = Client::start(&served, "look", &served.admin, Some("a"));
    let answer = tokio::task::spawn_blocking(move || client.says("answer: ")).await.expect("it ends");
    assert!(answer.starts_with("HTTP/1.1 200"), "it may look: {answer}");
    let got = served.admin("GET /v1/audit", "").await;
    let items = got.body["items"].as_array().expect("a list");
    assert_eq!(items.len(), 1, "{}", got.text);
    assert_eq!((&items[0]["actor"], &items[0]["detail"]["code"]), (&json!("agent:a"), &json!("VG0415")));
    let events = served.started.monitor.archive().events_after(0, 100).expect("it can be read");
    assert!(events.iter().all(|event| event.kind != "ESCALATION_TRIGGERED"), "{events:?}");
    served.started.stop();
}
