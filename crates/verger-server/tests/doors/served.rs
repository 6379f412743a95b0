//! A monitor that serves, on a port that the system picks and on a socket in its folder; and how it is asked.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use verger_api::Cursors;
use verger_api::ingest::Limits;
use verger_core::policy::Policies;
use verger_engine::Settings;
use verger_server::Traffic;
use verger_server::access::{Doorkeeper, Origin, Secret, admin_secret};
use verger_server::http::{App, Parts, router};
use verger_server::monitor::{Monitor, Started, wall_now};
use verger_server::serve::serve_locally;
use verger_server::unix::Socket;
use verger_server::wire::Encoder;
use verger_store::{Options, Token};

/// A monitor that serves.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) admin: String,
    pub(crate) started: Started,
    directory: TempDir,
}

/// An answer.
pub(crate) struct Got {
    pub(crate) status: u16,
    /// As it was sent, in small letters.
    pub(crate) head: String,
    /// As it was sent.
    pub(crate) text: String,
    /// As JSON, if it is that.
    pub(crate) body: Value,
}

impl Served {
    pub(crate) async fn new() -> Self {
        Self::with(Policies::default()).await
    }

    pub(crate) async fn with(policies: Policies) -> Self {
        let directory = TempDir::new().expect("a folder");
        let (tell, newest) = watch::channel(0);
        let encoder = Encoder { source: "/verger".to_owned(), ..Encoder::default() };
        let tracer = Arc::clone(&encoder.tracer);
        let mut options = Options::new(directory.path(), Arc::new(encoder));
        options.on_events = Some(Box::new(move |id| {
            tell.send_replace(id);
        }));
        let store = verger_store::open(options).expect("it can be opened");
        let archive = store.1.clone();
        let started = Monitor::start_traced(store, policies, Settings::default(), 7, tracer);
        let started = started.expect("it can be started");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("it has one");
        let admin = admin_secret(directory.path()).expect("it can be made");
        let traffic = Traffic::new(verger_config::Traffic::default());
        let app = App::new(Parts {
            monitor: started.monitor.clone(),
            doorkeeper: Doorkeeper::new(archive, &admin),
            origin: Origin::new(address, []),
            cursors: Cursors::new(b"a secret of this test"),
            limits: Limits::default(),
            traffic: Arc::clone(&traffic),
            newest,
            started: Instant::now(),
            version: "0.1.0",
        });
        let router = router(app);
        let service = router.clone().into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, service).await });
        let socket = Socket::bind(&directory.path().join("verger.sock")).expect("it is free");
        tokio::spawn(serve_locally(socket, router, traffic));
        Self { address, admin: admin.reveal().to_owned(), started, directory }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.path().join("verger.sock")
    }

    /// Registers an agent.
    pub(crate) async fn beat(&self, agent: &str) {
        let got = self.nobody("POST /v1/heartbeats", &format!(r#"{{"agentId":"{agent}"}}"#)).await;
        assert_eq!(got.body["accepted"], 1, "{}", got.text);
    }

    /// A token of this scope, written down as the monitor does; it ended so many milliseconds ago, if it did.
    pub(crate) async fn token(&self, scope: &str, agent: Option<&str>, expired: bool) -> String {
        let secret = Secret::new().expect("randomness");
        let token = Token {
            id: format!("{scope}-{}-{expired}", agent.unwrap_or("all")),
            scope: scope.to_owned(),
            agent: agent.map(Into::into),
            label: None,
            created: wall_now(),
            expires: expired.then(wall_now),
            revoked: None,
        };
        self.started.monitor.archive().add_token(token, secret.hash()).await.expect("it can be written");
        secret.reveal().to_owned()
    }

    pub(crate) async fn nobody(&self, request: &str, body: &str) -> Got {
        self.send(request, &[], body).await
    }

    pub(crate) async fn admin(&self, request: &str, body: &str) -> Got {
        self.bearer(&self.admin, request, body).await
    }

    pub(crate) async fn bearer(&self, token: &str, request: &str, body: &str) -> Got {
        let bearer = format!("Bearer {token}");
        self.send(request, &[("Authorization", &bearer)], body).await
    }

    pub(crate) async fn send(&self, request: &str, headers: &[(&str, &str)], body: &str) -> Got {
        let stream = TcpStream::connect(self.address).await.expect("it listens");
        ask(stream, &self.address.to_string(), request, headers, body).await
    }

    /// The same over the socket.
    pub(crate) async fn local(&self, request: &str, headers: &[(&str, &str)], body: &str) -> Got {
        let stream = UnixStream::connect(self.socket()).await.expect("it listens");
        ask(stream, "localhost", request, headers, body).await
    }

    /// A stream of everything that happens, from the beginning.
    pub(crate) async fn events(&self) -> Streamed<TcpStream> {
        let stream = TcpStream::connect(self.address).await.expect("it listens");
        let headers =
            format!("Host: {}\r\nAuthorization: Bearer {}\r\nLast-Event-ID: 0\r\n", self.address, self.admin);
        Streamed::open(stream, "GET /v1/events", &headers).await
    }
}

/// Sends a request as `curl` would, and reads the answer. Of an answer that does not end, its head.
pub(crate) async fn ask(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    host: &str,
    request: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Got {
    let length = body.len().to_string();
    let mut all = vec![("Connection", "close"), ("Content-Length", &length)];
    if !headers.iter().any(|(name, _)| *name == "Host") {
        all.push(("Host", host));
    }
    all.extend(headers);
    let lines: Vec<String> = all.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let text = format!("{request} HTTP/1.1\r\n{}\r\n{body}", lines.concat());
    stream.write_all(text.as_bytes()).await.expect("it reads");
    let mut answer = Vec::new();
    let mut end = None;
    while end.is_none() && stream.read_buf(&mut answer).await.expect("it answers") > 0 {
        end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    }
    let end = end.expect("a head");
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    if !head.contains("text/event-stream") && !head.contains("application/grpc") {
        stream.read_to_end(&mut answer).await.expect("it ends");
    }
    let text = String::from_utf8_lossy(&answer[end + 4..]).into_owned();
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    Got { status, head, text, body }
}

/// A stream, as a client reads it.
pub(crate) struct Streamed<S> {
    stream: S,
    text: String,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Streamed<S> {
    pub(crate) async fn open(mut stream: S, request: &str, headers: &str) -> Self {
        let text = format!("{request} HTTP/1.1\r\n{headers}\r\n");
        stream.write_all(text.as_bytes()).await.expect("it reads");
        let mut streamed = Self { stream, text: String::new() };
        let head = streamed.until("\r\n\r\n").await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        streamed
    }

    /// Everything up to this word, which is read now if it has not come yet.
    pub(crate) async fn until(&mut self, word: &str) -> String {
        let mut buffer = [0; 4_096];
        loop {
            if let Some(at) = self.text.find(word) {
                let rest = self.text.split_off(at + word.len());
                return std::mem::replace(&mut self.text, rest);
            }
            let read = self.stream.read(&mut buffer).await.expect("it can be read");
            assert!(read > 0, "it ended before `{word}`: {}", self.text);
            self.text.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    }
}
