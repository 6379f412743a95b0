//! Requests that notice when the program dies under them: an answer that did not arrive whole is none.

use std::io::{self, BufRead, BufReader, Read, Write};
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

    /// The same way for somebody else.
    pub(crate) fn bearing(&self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self.clone() }
    }

    pub(crate) fn get(&self, path: &str) -> io::Result<Answer> {
        self.ask("GET", path, None)
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> io::Result<Answer> {
        let body = body.map_or_else(String::new, Value::to_string);
        let mut stream = self.connect()?;
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

    /// Follows events after this one; without it, those to come.
    pub(crate) fn follow(&self, after: Option<u64>) -> io::Result<Followed> {
        let mut stream = self.connect()?;
        let after = after.map_or_else(String::new, |id| format!("Last-Event-ID: {id}\r\n"));
        // The old protocol sends a stream as it is, without lengths in between.
        write!(
            stream,
            "GET /v1/events HTTP/1.0\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{after}\r\n",
            self.address, self.token
        )?;
        Ok(Followed(BufReader::new(stream)))
    }

    /// The events after one, up to another, which is there.
    pub(crate) fn events(&self, after: u64, newest: u64) -> io::Result<Vec<Value>> {
        let (mut events, last) = (Vec::new(), newest.to_string());
        if newest <= after {
            return Ok(events);
        }
        for event in self.follow(Some(after))? {
            let event = event?;
            let is_last = event["id"].as_str() == Some(&last);
            events.push(event);
            if is_last {
                return Ok(events);
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(stream)
    }
}

/// Events as they happen, until the program is gone.
pub(crate) struct Followed(BufReader<TcpStream>);

impl Iterator for Followed {
    type Item = io::Result<Value>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = String::new();
        loop {
            line.clear();
            match self.0.read_line(&mut line) {
                Ok(0) => return None,
                Ok(_) if !line.ends_with('\n') => return None,
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
            if let Some(data) = line.strip_prefix("data:") {
                return Some(serde_json::from_str(data.trim()).map_err(io::Error::other));
            }
        }
    }
}

fn parse(answer: &[u8]) -> Option<Answer> {
    let text = std::str::from_utf8(answer).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status: u16 = head.split(' ').nth(1)?.parse().ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    // What has no content does not say how long it is.
    let whole = length.map_or(status == 204, |length| body.len() == length);
    whole.then(|| Answer { status, body: serde_json::from_str(body).unwrap_or(Value::Null) })
}
