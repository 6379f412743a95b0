//! Reports that bear a name count once, however often they are sent (L43).

use std::fs;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::Served;

const NAME: &str = "Idempotency-Key";

fn used(agent: &str) -> String {
    json!({"kind": "tokens", "agentId": agent, "input": 5, "output": 5}).to_string()
}

async fn tokens(served: &Served, agent: &str) -> i64 {
    let health = served.as_admin(&format!("GET /v1/agents/{agent}"), "").await.body;
    health["metrics"]["tokenCount"].as_i64().unwrap_or_else(|| panic!("{health}"))
}

#[tokio::test]
async fn l43_a_report_that_is_sent_again_under_its_name_counts_once_and_is_answered_the_same() {
    let served = Served::new().await;
    let first = served.send("POST /v1/signals", &[(NAME, "one")], &used("a")).await;
    assert_eq!((first.status, &first.body["accepted"]), (202, &1.into()), "{}", first.body);
    for _ in 0..3 {
        let again = served.send("POST /v1/signals", &[(NAME, "one")], &used("a")).await;
        assert_eq!((again.status, &again.body), (202, &first.body));
    }
    assert_eq!(tokens(&served, "a").await, 10);
    served.send("POST /v1/signals", &[(NAME, "two")], &used("a")).await;
    served.send("POST /v1/signals", &[], &used("a")).await;
    served.send("POST /v1/signals", &[], &used("a")).await;
    assert_eq!(tokens(&served, "a").await, 40, "another name is another report, and so is none");
    served.started.stop();
}

#[tokio::test]
async fn l43_nobody_answers_for_somebody_else() {
    let served = Served::new().await;
    let token = format!("Bearer {}", served.token("agent", Some("a")).await);
    served.send("POST /v1/signals", &[(NAME, "one")], &used("a")).await;
    let own = served.send("POST /v1/signals", &[(NAME, "one"), ("Authorization", &token)], &used("a")).await;
    assert_eq!((own.status, &own.body["accepted"]), (202, &1.into()));
    assert_eq!(tokens(&served, "a").await, 20);
    served.started.stop();
}

#[tokio::test]
async fn l43_what_was_refused_is_taken_when_it_comes_again() {
    let served = Served::new().await;
    let wrong = served.send("POST /v1/signals", &[(NAME, "one")], r#"{"kind":"tokens"}"#).await;
    assert_eq!(wrong.status, 422, "{}", wrong.body);
    let right = served.send("POST /v1/signals", &[(NAME, "one")], &used("a")).await;
    assert_eq!(right.status, 202, "{}", right.body);
    assert_eq!(tokens(&served, "a").await, 10);
    let long = "x".repeat(129);
    for name in ["", long.as_str()] {
        let refused = served.send("POST /v1/signals", &[(NAME, name)], &used("a")).await;
        assert_eq!((refused.status, &refused.body["code"]), (400, &"VG0403".into()), "{}", refused.body);
    }
    served.started.stop();
}

#[tokio::test]
async fn l43_whoever_hangs_up_and_sends_it_again_at_once_counts_once() {
    let served = Served::new().await;
    let body = used("a");
    let request = format!(
        "POST /v1/signals HTTP/1.1\r\nHost: {}\r\n{NAME}: one\r\nContent-Length: {}\r\n\r\n{body}",
        served.address,
        body.len()
    );
    for _ in 0..20 {
        let mut stream = TcpStream::connect(served.address).await.expect("it listens");
        stream.write_all(request.as_bytes()).await.expect("it reads");
    }
    let last = served.send("POST /v1/signals", &[(NAME, "one")], &body).await;
    assert_eq!((last.status, &last.body["accepted"]), (202, &1.into()), "{}", last.body);
    assert_eq!(tokens(&served, "a").await, 10);
    served.started.stop();
}

#[tokio::test]
async fn l43_calls_whose_end_was_refused_are_what_they_were_when_it_is_told_again() {
    let served = Served::hasty().await;
    let bearer = format!("Bearer {}", served.admin);
    let call = |phase: &str, rest: &str, number: usize| {
        let json = json!({"kind": "toolCall", "agentId": "a", "callId": number.to_string(), "tool": "edit"});
        let json = json.to_string();
        format!(r#"{},"phase":"{phase}"{rest}}}"#, json.trim_end_matches('}')) + "\n"
    };
    let began: String =
        (0..6).map(|n| call("started", &format!(r#","args":{{"file":"{n}.rs"}}"#), n)).collect();
    assert_eq!(served.as_admin("POST /v1/signals", &began).await.body["accepted"], 6);
    // With something among them that waits for the disk, and without what was told when they began.
    let ended: String = (0..6).map(|n| call("finished", "", n)).collect();
    let ended = ended + r#"{"kind":"blocker","agentId":"a","reason":"no access"}"#;
    let (here, away) = (served.directory.path().join("verger.db"), served.directory.path().join("away"));
    fs::rename(&here, &away).expect("it is ours");
    while served.as_admin("PUT /v1/tasks/t", "{}").await.body["detail"]
        .as_str()
        .is_none_or(|why| !why.contains("nothing was taken"))
    {}
    let headers = [("Authorization", bearer.as_str()), (NAME, "ends")];
    assert_eq!(served.send("POST /v1/signals", &headers, &ended).await.status, 503);
    fs::rename(&away, &here).expect("it is ours");
    while served.send("POST /v1/signals", &headers, &ended).await.status != 202 {}
    let health = served.as_admin("GET /v1/agents/a", "").await.body;
    assert_eq!(health["metrics"]["toolCallCount"], 6, "{health}");
    let evidence = health["evidence"].to_string();
    assert!(!evidence.contains("edit"), "six files are six calls: {evidence}");
    served.started.stop();
}
