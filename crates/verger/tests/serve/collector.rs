//! Somebody outside who is called: takes requests, keeps them, and answers as it is told at the moment.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Somebody who is called.
pub(crate) struct Collector {
    pub(crate) port: u16,
    status: Arc<AtomicU16>,
    calls: Arc<Mutex<Vec<Call>>>,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// As in `GET /path`.
    pub(crate) line: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// How it was answered.
    pub(crate) status: u16,
}

impl Call {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Collector {
    /// Listens at this port, or any if it is 0.
    pub(crate) fn at(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).expect("a port");
        let port = listener.local_addr().expect("it has one").port();
        let (status, calls) = (Arc::new(AtomicU16::new(200)), Arc::<Mutex<Vec<Call>>>::default());
        let (answers, kept) = (Arc::clone(&status), Arc::clone(&calls));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let mut reader = BufReader::new(stream);
                let status = answers.load(Ordering::SeqCst);
                let Some(call) = read(&mut reader, status) else { continue };
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(call);
                let text = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                // Whoever hung up is not interested.
                let _ = reader.into_inner().write_all(text.as_bytes());
            }
        });
        Self { port, status, calls }
    }

    /// From now on it answers with this.
    pub(crate) fn answer(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }

    /// All calls so far.
    pub(crate) fn calls(&self) -> MutexGuard<'_, Vec<Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(reader: &mut impl BufRead, status: u16) -> Option<Call> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let line = lines.first()?.rsplit_once(' ')?.0.to_owned();
    let pairs = lines.iter().skip(1).filter_map(|line| line.split_once(": "));
    let headers: Vec<_> = pairs.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    let mut call = Call { line, headers, body: Vec::new(), status };
    let length = call.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    call.body = vec![0; length];
    reader.read_exact(&mut call.body).ok()?;
    Some(call)
}
