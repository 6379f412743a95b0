//! An orchestrator: takes webhooks, checks their signature and answers as it is told.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ring::hmac;
use serde_json::Value;

pub(crate) const SECRET: &str = "a secret of this test alone";

/// Somebody who takes webhooks.
pub(crate) struct Orchestrator {
    pub(crate) port: u16,
    calls: Receiver<Call>,
}

/// One call.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) is_signed: bool,
    pub(crate) traceparent: String,
    pub(crate) document: Value,
}

impl Orchestrator {
    /// Listens at this port, or any if it is 0, and answers each call with this status and body.
    pub(crate) fn at(port: u16, status: u16, answer: &'static str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).expect("a port");
        let port = listener.local_addr().expect("it has one").port();
        let (tell, calls) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let mut reader = BufReader::new(stream);
                let Some(call) = read(&mut reader) else { continue };
                let length = answer.len();
                let text = format!(
                    "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{answer}"
                );
                // Whoever hung up is not interested.
                let _ = reader.into_inner().write_all(text.as_bytes());
                if tell.send(call).is_err() {
                    return;
                }
            }
        });
        Self { port, calls }
    }

    /// The next call of this type.
    pub(crate) fn next(&self, kind: &str) -> Call {
        loop {
            let call = self.calls.recv_timeout(Duration::from_mins(2)).expect("it is called");
            if call.document["type"] == kind {
                return call;
            }
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Call> {
    let (mut length, mut headers) = (0, Vec::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.trim().split_once(": ") {
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
    }
    let of = |name: &str| {
        headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).unwrap_or_default()
    };
    length = of("content-length").parse().unwrap_or(length);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let right = signature(&of("verger-timestamp"), &of("verger-nonce"), &body);
    Some(Call {
        id: of("verger-id"),
        is_signed: of("verger-signature") == right,
        traceparent: of("traceparent"),
        document: serde_json::from_slice(&body).ok()?,
    })
}

fn signature(timestamp: &str, nonce: &str, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    let tag = hmac::sign(&key, &[timestamp.as_bytes(), nonce.as_bytes(), body].join(&b'.'));
    let mut signature = "v1=".to_owned();
    for byte in tag.as_ref() {
        let _ = write!(signature, "{byte:02x}");
    }
    signature
}

/// The headers of a call that is signed now.
pub(crate) fn signed(nonce: &str, body: &str) -> [(&'static str, String); 3] {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later").as_secs().to_string();
    let signature = signature(&now, nonce, body.as_bytes());
    [("Verger-Timestamp", now), ("Verger-Nonce", nonce.to_owned()), ("Verger-Signature", signature)]
}
