//! Requests that notice when the program dies under them: an answer that did not arrive whole is none.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// Nobody waits longer than this for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The way to one run of the program, as the admin.
#[derive(Clone)]
pub(crate) struct Http {
    address: SocketAddr,
    token: String,
}

/// An answer that arrived whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Http {
    pub(crate) fn new(address: SocketAddr, token: &str) -> Self {
        Self { address, token: token.to_owned() }
    }

    pub(crate) fn get(&self, path: &str) -> io::Result<Answer> {
        self.ask("GET", path, None)
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> io::Result<Answer> {
        let body = body.map_or_else(String::new, Value::to_string);
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        )?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        parse(&answer).ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))
    }
}

fn parse(answer: &[u8]) -> Option<Answer> {
    let text = std::str::from_utf8(answer).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    })?;
    let whole = body.len() == length;
    whole.then(|| Answer { status, body: serde_json::from_str(body).unwrap_or(Value::Null) })
}
