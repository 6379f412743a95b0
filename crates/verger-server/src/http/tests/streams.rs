//! Events: as a stream that resumes, as pages, and an inbox to wait on.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Served;
use crate::http::events::Reading;
use crate::http::tail::Tail;
use verger_core::time::{Span, Timestamp};
use verger_store::Retention;

/// A stream of events, as a client reads it.
struct Streamed {
    stream: TcpStream,
    text: String,
}

impl Streamed {
    async fn open(served: &Served, last: Option<&str>) -> Self {
        Self::asked(served, "", last).await
    }

    async fn asked(served: &Served, query: &str, last: Option<&str>) -> Self {
        let last = last.map_or_else(String::new, |id| format!("Last-Event-ID: {id}\r\n"));
        Self::with(served, &served.admin, &format!("/v1/events{query}"), &last).await
    }

    async fn with(served: &Served, token: &str, path: &str, headers: &str) -> Self {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n{headers}\r\n",
            served.address
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
async fn l49_a_reader_so_slow_that_events_were_forgotten_meanwhile_is_told_that_it_missed_some() {
    let served = Served::new().await;
    served.beat(&["a", "b", "c"]).await;
    served.as_admin("GET /v1/agents/c", "").await;
    let archive = served.started.monitor.archive().clone();
    let mut reading = Reading::begin(&archive, Some(0)).expect("it can be read");
    assert!(!reading.reset, "all is there yet");
    let short = Retention { events: Span::millis(1), ..Retention::default() };
    archive.sweep(&short, Timestamp::ZERO + Span::hours(1), 10).expect("it can be swept");
    let oldest = archive.oldest_event().expect("it can be read").expect("the newest is always kept");
    assert!(oldest > 1);
    reading.on(&Tail::default(), &archive).await.expect("it can be read");
    assert_eq!((reading.reset, reading.seen + 1), (true, oldest));
    assert_eq!(reading.read.front().map(|first| first.id), Some(oldest), "and gets what is left");
    served.started.stop();
}

#[tokio::test]
async fn l49_heartbeats_come_over_the_stream_of_who_asks_for_them_and_are_not_kept() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    served.as_admin("GET /v1/agents/a", "").await;
    let watched = Streamed::asked(&served, "?heartbeats=1&agent=a", None).await;
    let others = Streamed::asked(&served, "?agent=b", None).await;
    served.beat(&["b"]).await;
    let beat = r#"{"agentId":"a","taskId":"t","phase":"tests","tokenCount":7}"#;
    served.as_nobody("POST /v1/heartbeats", beat).await;
    let watched = watched.until("AGENT_HEARTBEAT\ndata: ").await.until("\n\n").await;
    let data =
        watched.text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back().expect("an event");
    let event: Value = serde_json::from_str(data).expect("JSON");
    assert_eq!((&event["subject"], &event["data"]["phase"]), (&json!("a"), &json!("tests")), "{event}");
    assert_eq!((&event["data"]["tokenCount"], &event["data"]["taskId"]), (&json!(7), &json!("t")), "{event}");
    assert!(!watched.text.contains("\"b\""), "only what is asked for: {}", watched.text);
    let others = others.until("HEALTH_STATE_CHANGED").await;
    assert!(!others.text.contains("AGENT_HEARTBEAT") && !others.text.contains("\"a\""), "{}", others.text);
    let kept = served.started.monitor.archive().events_after(0, 100).expect("it can be read");
    assert!(kept.iter().all(|event| event.kind != "AGENT_HEARTBEAT"));
    drop((watched, others));
    served.started.stop();
}

#[tokio::test]
async fn h05_an_agent_that_is_well_is_told_of_by_the_name_of_002_and_with_its_counters() {
    let served = Served::new().await;
    served.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a","tokenCount":7}"#).await;
    // A heartbeat waits for nothing; what is seen of it is on disk.
    served.as_admin("GET /v1/agents/a", "").await;
    let got = served.as_admin("GET /v1/agents/a/events?type=agent-healthy", "").await.body;
    let data = &got["items"][0]["data"];
    assert_eq!((&data["agent"], &data["metrics"]["tokenCount"]), (&json!("a"), &json!(7)), "{got}");
    served.fail("a").await;
    let got = served.as_admin("GET /v1/agents/a/events?type=agent-degraded", "").await.body;
    assert_eq!(got["items"], json!([]), "it is not silent");
    served.started.stop();
}

#[tokio::test]
async fn x01_a_time_in_which_the_monitor_was_away_is_an_event() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    served.as_admin("GET /v1/agents/a", "").await;
    let second = served.crashed().await;
    let blind = Streamed::open(&second, Some("1")).await.until("MONITOR_BLIND").await.until("\n\n").await;
    assert!(blind.text.contains(r#""cause":"down""#), "{}", blind.text);
    drop(blind);
    served.started.stop();
    second.started.stop();
}

#[tokio::test]
async fn l21_who_is_told_of_trouble_is_told_why_what_it_works_on_and_what_may_be_decided() {
    let served = Served::new().await;
    served.as_admin("POST /v1/signals", r#"{"kind":"spawn","agentId":"a","taskId":"t"}"#).await;
    served.fail("a").await;
    let of = async |kind: &str| {
        let got = served.as_admin(&format!("GET /v1/agents/a/events?limit=1&type={kind}"), "").await.body;
        got["items"][0].clone()
    };
    for kind in ["HEALTH_STATE_CHANGED", "INCIDENT_OPENED", "ESCALATION_TRIGGERED"] {
        let event = of(kind).await;
        assert_eq!(event["data"]["evidence"][0]["signal"], "unrecoverable", "{event}");
        assert_eq!(event["taskid"], "t", "{event}");
    }
    let changed = of("HEALTH_STATE_CHANGED").await;
    assert_eq!(
        (&changed["data"]["taskId"], &changed["data"]["nudges"]),
        (&json!("t"), &json!(0)),
        "{changed}"
    );
    assert_eq!(changed["data"]["options"].as_array().map(Vec::len), Some(3), "{changed}");
    let fleet = served.as_admin("GET /v1/fleet", "").await.body;
    assert_eq!(fleet["incidents"][0]["evidence"][0]["signal"], "unrecoverable", "{fleet}");
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
    assert_eq!(kinds, ["ESCALATION_TRIGGERED", "agent-healthy", "HEALTH_STATE_CHANGED", "AGENT_REGISTERED"]);
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

#[tokio::test]
async fn r12_a_stream_ends_with_the_token_that_opened_it() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    served.as_admin("GET /v1/agents/a", "").await;
    let made = served.as_admin("POST /v1/tokens", r#"{"scope":"read"}"#).await.body;
    let own = served.as_admin("POST /v1/tokens", r#"{"scope":"agent","agentId":"a"}"#).await.body;
    let secret = |token: &Value| token["secret"].as_str().expect("a secret").to_owned();
    let events = Streamed::with(&served, &secret(&made), "/v1/events", "").await;
    let accept = "Accept: text/event-stream\r\n";
    let inbox = Streamed::with(&served, &secret(&own), "/v1/agents/a/inbox", accept).await;
    let others = Streamed::open(&served, None).await;
    for token in [&made, &own] {
        let id = token["token"]["id"].as_str().expect("a name");
        assert_eq!(served.as_admin(&format!("DELETE /v1/tokens/{id}"), "").await.status, 204);
    }
    // An empty piece is the last one: the answer ends in order.
    drop((events.until("\r\n0\r\n\r\n").await, inbox.until("\r\n0\r\n\r\n").await));
    served.as_nobody("POST /v1/heartbeats", r#"{"agentId":"new"}"#).await;
    drop(others.until("HEALTH_STATE_CHANGED").await);
    served.started.stop();
}
