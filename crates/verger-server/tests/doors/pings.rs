//! Pings over the socket, answered by a process that is really stopped, goes on, and is killed.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use verger_core::liveness::Pings;
use verger_core::policy::Policies;
use verger_core::time::Span;

use crate::client::Client;
use crate::served::{Served, Streamed};

/// Waits until the agent's liveness is this; whatever happens is a reason to look.
async fn becomes(served: &Served, events: &mut Streamed<tokio::net::TcpStream>, status: &str) -> Value {
    loop {
        let liveness = served.admin("GET /v1/agents/a", "").await.body["liveness"].clone();
        if liveness["status"] == status {
            return liveness;
        }
        events.until("\n\n").await;
    }
}

fn signal(client: &Client, signal: Signal) {
    let pid = i32::try_from(client.process.id()).ok().and_then(Pid::from_raw).expect("a number");
    kill_process(pid, signal).expect("it is ours");
}

#[tokio::test]
async fn h01_h02_a_frozen_process_is_told_from_one_that_goes_on_and_one_that_is_gone() {
    let mut policies = Policies::default();
    policies
        .each(|role| role.liveness.pings = Some(Pings { interval: Span::millis(500), ..Pings::DEVELOPMENT }));
    let served = Served::with(policies).await;
    served.beat("a").await;
    let token = served.token("agent", Some("a"), false).await;
    let mut client = Client::start(&served, "listen", &token, None);
    let mut client = tokio::task::spawn_blocking(move || {
        client.says("pong: ");
        client.says("pong: ");
        client
    })
    .await
    .expect("silent as it is, it is pinged and answers");
    let mut events = served.events().await;
    signal(&client, Signal::STOP);
    let liveness = becomes(&served, &mut events, "unresponsive").await;
    assert_eq!(liveness["cause"], "event-loop-freeze", "{liveness}");
    signal(&client, Signal::CONT);
    events.until("agent-reconnected").await;
    client = tokio::task::spawn_blocking(move || {
        client.says("pong: ");
        client
    })
    .await
    .expect("it answers again");
    signal(&client, Signal::KILL);
    let liveness = becomes(&served, &mut events, "offline").await;
    assert_eq!(liveness["cause"], "process-crash", "{liveness}");
    served.started.stop();
}

#[tokio::test]
async fn l20_a_nudge_goes_out_over_a_stream_at_once_and_is_delivered() {
    let served = Served::new().await;
    served.beat("a").await;
    let token = served.token("agent", Some("a"), false).await;
    let stream = tokio::net::UnixStream::connect(served.socket()).await.expect("it listens");
    let headers =
        format!("Host: localhost\r\nAuthorization: Bearer {token}\r\nAccept: text/event-stream\r\n");
    let mut inbox = Streamed::open(stream, "GET /v1/agents/a/inbox", &headers).await;
    let mut events = served.events().await;
    let got = served.admin("POST /v1/agents/a/nudge", r#"{"message":"go on"}"#).await;
    assert_eq!(got.status, 202, "{}", got.text);
    let item = inbox.until("\n\n").await;
    assert!(item.contains("event: nudge") && item.contains("go on"), "{item}");
    events.until("NUDGE_DELIVERED").await;
    served.started.stop();
}

#[tokio::test]
async fn x10_a_stream_that_says_its_life_ends_with_it_and_one_that_does_not_goes_on() {
    let served = Served::new().await;
    served.beat("a").await;
    let token = served.token("agent", Some("a"), false).await;
    let headers =
        format!("Host: localhost\r\nAuthorization: Bearer {token}\r\nAccept: text/event-stream\r\n");
    let connect = || tokio::net::UnixStream::connect(served.socket());
    let mut old = Streamed::open(
        connect().await.expect("it listens"),
        "GET /v1/agents/a/inbox?incarnation=1",
        &headers,
    )
    .await;
    let mut any =
        Streamed::open(connect().await.expect("it listens"), "GET /v1/agents/a/inbox", &headers).await;
    let spawn = r#"{"kind":"spawn","agentId":"a","incarnation":2}"#;
    let got = served.bearer(&token, "POST /v1/signals", spawn).await;
    assert_eq!(got.body["accepted"], 1, "{}", got.text);
    served.admin("POST /v1/agents/a/nudge", r#"{"message":"hello, second"}"#).await;
    old.until("event: superseded").await;
    any.until("hello, second").await;
    served.started.stop();
}
