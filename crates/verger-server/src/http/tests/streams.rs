//! Events: as a stream that resumes, as pages, and an inbox to wait on.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Served;

/// A stream of events, as a client reads it.
struct Streamed {
    stream: TcpStream,
    text: String,
}

impl Streamed {
    async fn open(served: &Served, last: Option<&str>) -> Self {
        let last = last.map_or_else(String::new, |id| format!("Last-Event-ID: {id}\r\n"));
        let request = format!(
            "GET /v1/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{last}\r\n",
            served.address, served.admin
        );
        let mut stream = TcpStream::connect(served.address).await.expect("it listens");
        stream.write_all(request.as_bytes()).await.expect("it reads");
        Self { stream, text: String::new() }.until("\r\n\r\n").await
    }

    /// Reads until this was sent.
    async fn until(mut self, word: &str) -> Self {
        let mut buffer = [0; 4_096];
        while !self.text.contains(word) {
            let read = self.stream.read(&mut buffer).await.expect("it can be read");
            assert!(read > 0, "it ended before `{word}`: {}", self.text);
            self.text.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
        self
    }

    fn ids(&self) -> Vec<&str> {
        self.text.lines().filter_map(|line| line.strip_prefix("id: ")).collect()
    }
}

#[tokio::test]
async fn l49_a_stream_brings_what_happens_and_resumes_after_what_was_seen() {
    let served = Served::new().await;
    served.as_nobody("POST /v1/heartbeats", r#"{"agentId":"old"}"#).await;
    // A heartbeat waits for nothing; what is seen of it is on disk.
    served.as_admin("GET /v1/agents/old", "").await;
    let streamed = Streamed::open(&served, None).await;
    served.as_nobody("POST /v1/heartbeats", r#"{"agentId":"new"}"#).await;
    let streamed = streamed.until("HEALTH_STATE_CHANGED").await;
    assert!(!streamed.text.contains("\"old\""), "what was before is not repeated: {}", streamed.text);
    let resumed = Streamed::open(&served, Some("1")).await.until("event: HEALTH_STATE_CHANGED").await;
    assert!(resumed.ids().starts_with(&["2"]), "{}", resumed.text);
    drop((streamed, resumed));
    served.started.stop();
}

#[tokio::test]
async fn l49_who_saw_what_this_journal_never_had_is_told_to_begin_anew() {
    let served = Served::new().await;
    served.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a"}"#).await;
    let reset = Streamed::open(&served, Some("4711")).await.until("event: HEALTH_STATE_CHANGED").await;
    let at = reset.text.find("event: reset").expect("it is told");
    assert!(at < reset.text.find("id: 1").expect("and gets all there is"), "{}", reset.text);
    served.started.stop();
}

#[tokio::test]
async fn the_events_of_an_agent_come_page_by_page_newest_first() {
    let served = Served::new().await;
    served.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a"}"#).await;
    served.as_admin("POST /v1/agents/a/escalate", r#"{"reason":"odd"}"#).await;
    let mut kinds = Vec::new();
    let mut request = "GET /v1/agents/a/events?limit=2".to_owned();
    loop {
        let got = served.as_admin(&request, "").await;
        assert_eq!(got.status, 200, "{}", got.body);
        let items = got.body["items"].as_array().expect("a list");
        kinds.extend(items.iter().map(|item| item["type"].as_str().expect("a type").to_owned()));
        let Some(cursor) = got.body["nextCursor"].as_str() else { break };
        request = format!("GET /v1/agents/a/events?limit=2&cursor={cursor}");
    }
    assert_eq!(kinds, ["ESCALATION_TRIGGERED", "HEALTH_STATE_CHANGED", "AGENT_REGISTERED"]);
    let got = served.as_admin("GET /v1/agents/a/events?type=AGENT_REGISTERED", "").await;
    assert_eq!(got.body["items"].as_array().map(Vec::len), Some(1), "{}", got.body);
    served.started.stop();
}

#[tokio::test]
async fn x09_who_waits_on_its_inbox_gets_a_nudge_as_soon_as_there_is_one() {
    let served = Served::new().await;
    served.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a"}"#).await;
    let token = served.token("agent", Some("a")).await;
    let (got, nudged) =
        tokio::join!(served.with_token(&token, "GET /v1/agents/a/inbox?wait=30s", ""), async {
            while !served.started.monitor.pending().is_heard(&"a".into()) {
                tokio::task::yield_now().await;
            }
            served.as_admin("POST /v1/agents/a/nudge", r#"{"message":"go on"}"#).await
        });
    assert_eq!(nudged.status, 202, "{}", nudged.body);
    assert_eq!(got.body["items"][0]["message"], "go on", "{}", got.body);
    let got = served.with_token(&token, "GET /v1/agents/a/inbox", "").await;
    assert_eq!(got.body["items"], json!([]), "it was handed over");
    let got = served.as_nobody("GET /v1/agents/a/inbox", "").await;
    assert_eq!(got.status, 401, "what is for it is for nobody else");
    served.started.stop();
}
