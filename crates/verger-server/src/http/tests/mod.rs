//! Over a real socket: a monitor on a port that the system picks, and requests as `curl` would send them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use verger_api::Cursors;
use verger_api::ingest::Limits;
use verger_core::policy::Policies;
use verger_core::time::WallTime;
use verger_engine::Settings;
use verger_store::{Options, Token};

use super::*;
use crate::access::{Doorkeeper, Origin, Secret, admin_secret};
use crate::monitor::{Monitor, Started};
use crate::wire::Encoder;

/// A monitor that serves.
struct Served {
    address: SocketAddr,
    admin: String,
    started: Started,
    _directory: TempDir,
}

/// An answer.
struct Got {
    status: u16,
    head: String,
    body: Value,
}

impl Served {
    async fn new() -> Self {
        let directory = TempDir::new().expect("a folder");
        let encoder = Arc::new(Encoder { source: "/verger".to_owned() });
        let (tell, newest) = watch::channel(0);
        let mut options = Options::new(directory.path(), encoder);
        options.on_events = Some(Box::new(move |id| {
            tell.send_replace(id);
        }));
        let store = verger_store::open(options).expect("it can be opened");
        let archive = store.1.clone();
        let started =
            Monitor::start(store, Policies::default(), Settings::default(), 7).expect("it can be started");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("it has one");
        let admin = admin_secret(directory.path()).expect("it can be made");
        let app = App::new(Parts {
            monitor: started.monitor.clone(),
            doorkeeper: Doorkeeper::new(archive, &admin),
            origin: Origin::new(address, []),
            cursors: Cursors::new(b"a secret of this test"),
            limits: Limits::default(),
            newest,
            started: Instant::now(),
            version: "0.1.0",
        });
        let service = router(app).into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, service).await });
        Self { address, admin: admin.reveal().to_owned(), started, _directory: directory }
    }

    /// A token of this scope.
    async fn token(&self, scope: &str, agent: Option<&str>) -> String {
        let secret = Secret::new().expect("randomness");
        let token = Token {
            id: format!("{scope}-{}", agent.unwrap_or("all")),
            scope: scope.to_owned(),
            agent: agent.map(Into::into),
            label: None,
            created: WallTime(0),
            expires: None,
            revoked: None,
        };
        self.started.monitor.archive().add_token(token, secret.hash()).await.expect("it can be written");
        secret.reveal().to_owned()
    }

    async fn send(&self, request: &str, headers: &[(&str, &str)], body: &str) -> Got {
        let length = body.len().to_string();
        let own = self.address.to_string();
        let mut all = vec![("Connection", "close"), ("Content-Length", &length)];
        if !headers.iter().any(|(name, _)| *name == "Host") {
            all.push(("Host", &own));
        }
        all.extend(headers);
        let lines: Vec<String> = all.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let text = format!("{request} HTTP/1.1\r\n{}\r\n{body}", lines.concat());
        let mut stream = TcpStream::connect(self.address).await.expect("it listens");
        stream.write_all(text.as_bytes()).await.expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.expect("it answers");
        let answer = String::from_utf8(answer).expect("text");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        let body = serde_json::from_str(body).unwrap_or(Value::Null);
        Got { status, head: head.to_ascii_lowercase(), body }
    }

    async fn as_nobody(&self, request: &str, body: &str) -> Got {
        self.send(request, &[], body).await
    }

    async fn as_admin(&self, request: &str, body: &str) -> Got {
        let bearer = format!("Bearer {}", self.admin);
        self.send(request, &[("Authorization", &bearer)], body).await
    }

    async fn with_token(&self, token: &str, request: &str, body: &str) -> Got {
        let bearer = format!("Bearer {token}");
        self.send(request, &[("Authorization", &bearer)], body).await
    }
}

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
