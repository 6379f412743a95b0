//! Over a real socket: a monitor on a port that the system picks, and requests as `curl` would send them.

mod breakers;
mod decisions;
mod documented;
mod first;
mod fleet;
mod history;
mod hostile;
mod incidents;
mod named;
mod recoveries;
mod settings;
mod streams;
mod tasks;

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
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
use crate::history::{Sampler, Sampling};
use crate::monitor::{Monitor, Started};
use crate::traffic::Traffic;
use crate::wire::Encoder;

/// A monitor that serves.
struct Served {
    address: SocketAddr,
    admin: String,
    started: Started,
    directory: TempDir,
    router: Router,
}

/// The secret by which whoever directs the agents signs.
fn orchestrator() -> verger_act::Secret {
    verger_act::Secret::new(b"0123456789abcdef").expect("it is long enough")
}

/// An answer.
struct Got {
    status: u16,
    head: String,
    body: Value,
}

impl Served {
    async fn new() -> Self {
        Self::on(TempDir::new().expect("a folder")).await
    }

    /// What a monitor finds that is started after this one ended without warning.
    async fn crashed(&self) -> Self {
        let copy = TempDir::new().expect("a folder");
        for entry in fs::read_dir(self.directory.path()).expect("it is there") {
            let entry = entry.expect("it can be read");
            if entry.file_type().expect("it has one").is_file() {
                fs::copy(entry.path(), copy.path().join(entry.file_name())).expect("it can be copied");
            }
        }
        Self::on(copy).await
    }

    /// One that does not wait for a disk.
    async fn hasty() -> Self {
        let hasty = |monitor: Monitor| monitor.with_patience(Duration::from_secs(1));
        Self::with(TempDir::new().expect("a folder"), hasty).await
    }

    async fn on(directory: TempDir) -> Self {
        Self::with(directory, |monitor| monitor).await
    }

    async fn with(directory: TempDir, of: impl FnOnce(Monitor) -> Monitor) -> Self {
        let encoder = Arc::new(Encoder { source: "/verger".to_owned(), ..Encoder::default() });
        let (tell, newest) = watch::channel(0);
        let mut options = Options::new(directory.path(), encoder);
        options.on_events = Some(Box::new(move |id| {
            tell.send_replace(id);
        }));
        let store = verger_store::open(options).expect("it can be opened");
        let archive = store.1.clone();
        let started =
            Monitor::start(store, Policies::default(), Settings::default(), 7).expect("it can be started");
        // Often enough to be awaited, and seldom enough that a copy of the files holds no half of a write.
        let sampling = Sampling { every: Duration::from_millis(600), per_second_max: 1_000_000 };
        let sampler = Sampler::new(started.monitor.clone(), newest.clone(), sampling);
        tokio::spawn(sampler.run());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("it has one");
        let admin = admin_secret(directory.path()).expect("it can be made");
        let doorkeeper = Doorkeeper::new(archive, &admin);
        doorkeeper.set_orchestrator(Some(orchestrator()));
        let app = App::new(Parts {
            monitor: of(started.monitor.clone()),
            doorkeeper,
            origin: Origin::new(address, []),
            cursors: Cursors::new(b"a secret of this test"),
            limits: Limits::default(),
            traffic: Traffic::new(verger_config::Traffic::default()),
            newest,
            started: Instant::now(),
            version: "0.1.0",
        });
        let router = router(app);
        let service = router.clone().into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, service).await });
        Self { address, admin: admin.reveal().to_owned(), started, directory, router }
    }

    /// The same monitor as somebody on another machine reaches it.
    async fn afar(&self) -> SocketAddr {
        let afar: SocketAddr = "192.0.2.7:4711".parse().expect("an address");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("it has one");
        let router = self.router.clone().layer(axum::Extension(axum::extract::ConnectInfo(afar)));
        tokio::spawn(async move { axum::serve(listener, router).await });
        address
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
        self.send_to(self.address, request, headers, body).await
    }

    async fn send_to(&self, to: SocketAddr, request: &str, headers: &[(&str, &str)], body: &str) -> Got {
        let length = body.len().to_string();
        let own = self.address.to_string();
        let mut all = vec![("Connection", "close"), ("Content-Length", &length)];
        if !headers.iter().any(|(name, _)| *name == "Host") {
            all.push(("Host", &own));
        }
        all.extend(headers);
        let lines: Vec<String> = all.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let text = format!("{request} HTTP/1.1\r\n{}\r\n{body}", lines.concat());
        let mut stream = TcpStream::connect(to).await.expect("it listens");
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

    /// Agents that beat once.
    async fn beat(&self, agents: &[&str]) {
        let lines: Vec<String> =
            agents.iter().map(|agent| format!("{{\"agentId\":\"{agent}\"}}\n")).collect();
        let got = self.as_nobody("POST /v1/heartbeats", &lines.concat()).await;
        assert_eq!(got.body["rejected"], serde_json::json!([]), "{}", got.body);
    }

    /// This agent meets an error that it cannot get over.
    async fn fail(&self, agent: &str) {
        let error = format!(r#"{{"kind":"error","agentId":"{agent}","message":"no","unrecoverable":true}}"#);
        let got = self.as_admin("POST /v1/signals", &error).await;
        assert_eq!(got.body["accepted"], 1, "{}", got.body);
        // An error waits for nothing; what is seen of it is on disk.
        self.as_admin(&format!("GET /v1/agents/{agent}"), "").await;
    }

    /// All items of a list, page by page, with what each page held at most.
    async fn pages(&self, request: &str, limit: usize) -> Vec<Value> {
        let sign = if request.contains('?') { '&' } else { '?' };
        let (first, mut all) = (format!("{request}{sign}limit={limit}"), Vec::new());
        let mut next = first.clone();
        loop {
            let got = self.as_admin(&next, "").await;
            assert_eq!(got.status, 200, "{next}: {}", got.body);
            let items = got.body["items"].as_array().expect("a list");
            assert!(items.len() <= limit, "{}", got.body);
            all.extend(items.iter().cloned());
            let Some(cursor) = got.body["nextCursor"].as_str() else { return all };
            next = format!("{first}&cursor={cursor}");
        }
    }

    /// Which of these requests succeed with a token; without one if it is empty.
    async fn reached(&self, token: &str, requests: &[(&str, &str)]) -> String {
        let mut reached = String::new();
        for (request, body) in requests {
            let got = if token.is_empty() {
                self.as_nobody(request, body).await
            } else {
                self.with_token(token, request, body).await
            };
            let denied = [401, 403].contains(&got.status);
            assert!(denied || got.status < 300, "{request}: {} {}", got.status, got.body);
            reached.push(if denied { '.' } else { '1' });
        }
        reached
    }

    /// Each of these is refused with this status and code, as a problem document.
    async fn refused(&self, cases: &[(&str, &str, u16, &str)]) {
        for (request, body, status, code) in cases {
            let got = self.as_admin(request, body).await;
            let told = (got.status, got.body["code"].as_str().unwrap_or_default());
            assert_eq!(told, (*status, *code), "{request} {body}: {}", got.body);
            assert!(got.head.contains("application/problem+json"), "{request}: {}", got.head);
        }
    }
}
