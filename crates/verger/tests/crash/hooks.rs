//! Whoever directs the agents, reached by webhooks: outlives the monitor, and writes down each call.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::Value;

/// All calls so far, each with the name that tells it from others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls(Arc<Mutex<Vec<(String, Value)>>>);

impl Calls {
    /// Begins to listen; gives the port.
    pub(crate) fn listen(&self) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("it has one").port();
        let calls = self.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let calls = calls.clone();
                thread::spawn(move || calls.take(stream));
            }
        });
        port
    }

    pub(crate) fn all(&self) -> Vec<(String, Value)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A call that arrived whole was carried out, whatever the caller hears of it.
    fn take(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream);
        let Some(call) = read(&mut reader) else { return };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        // The monitor may be dead by now.
        let _ = reader
            .into_inner()
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
}

fn read(reader: &mut impl BufRead) -> Option<(String, Value)> {
    let (mut id, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        let Some((name, value)) = line.trim().split_once(": ") else {
            if line.trim().is_empty() {
                break;
            }
            continue;
        };
        match name.to_ascii_lowercase().as_str() {
            "verger-id" => value.clone_into(&mut id),
            "content-length" => length = value.parse().ok()?,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((id, serde_json::from_slice(&body).ok()?))
}
