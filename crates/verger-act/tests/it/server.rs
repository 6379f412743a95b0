//! A small HTTP server on a port that the system picks, which answers as badly as a test wants.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// How it answers.
#[derive(Clone, Debug)]
pub(crate) enum Answering {
    /// With these bytes; then it closes.
    With(String),
    /// With a good beginning and no end.
    Endlessly,
    /// Not at all, and it keeps the connection.
    Never,
}

impl Answering {
    /// With a status line, further headers and a body.
    pub(crate) fn status(status: &str, headers: &str, body: &str) -> Self {
        let length = body.len();
        Self::With(format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n{body}"))
    }
}

/// What it was asked.
#[derive(Debug)]
pub(crate) struct Request {
    head: String,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

/// Listens until the test's runtime ends.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: mpsc::UnboundedReceiver<Request>,
}

impl Server {
    pub(crate) async fn start(answering: Answering) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let (tell, requests) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, answering.clone(), tell.clone()));
            }
        });
        Self { address, requests }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook/path-secret", self.address)
    }

    /// The next request that came.
    pub(crate) async fn request(&mut self) -> Request {
        self.requests.recv().await.expect("the server runs")
    }

    pub(crate) fn was_asked(&mut self) -> bool {
        self.requests.try_recv().is_ok()
    }
}

async fn serve(mut stream: TcpStream, answering: Answering, tell: mpsc::UnboundedSender<Request>) {
    let Some(request) = read(&mut stream).await else {
        return drop(stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await);
    };
    drop(tell.send(request));
    match answering {
        Answering::With(answer) => drop(stream.write_all(answer.as_bytes()).await),
        Answering::Endlessly => {
            drop(stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await);
            while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
        }
        Answering::Never => drop(stream.read(&mut [0]).await),
    }
}

/// Reads a request with a `Content-Length`; nothing if it is something else, for example the beginning of TLS.
async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::with_capacity(64 * 1024);
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 || !bytes.starts_with(b"P") {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let mut request = Request { head, body: bytes.split_off(end) };
    let length: usize = request.header("content-length")?.parse().ok()?;
    while request.body.len() < length {
        stream.read_buf(&mut request.body).await.ok().filter(|read| *read > 0)?;
    }
    Some(request)
}
