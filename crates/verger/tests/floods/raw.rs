//! Connections as anybody can open them, and what comes back.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, connect, socket, sockopt};

/// Longer than anything here takes; whoever waits in vain fails.
const PATIENCE: Duration = Duration::from_mins(2);

/// A connection that is kept.
pub(crate) struct Kept {
    stream: TcpStream,
    read: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// In small letters.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// Whether it was refused like this: the status, the code, and when to come back.
    pub(crate) fn is_refusal(&self, status: u16, code: &str) -> bool {
        let says_when = self.head.contains("\r\nretry-after: ");
        self.status == status && self.body.contains(code) && (says_when || !matches!(status, 429 | 503))
    }
}

pub(crate) fn open(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("it listens");
    stream
        .set_read_timeout(Some(PATIENCE))
        .and_then(|()| stream.set_write_timeout(Some(PATIENCE)))
        .expect("a time");
    stream
}

/// A connection of somebody who has room for next to nothing.
pub(crate) fn narrow(address: &str) -> TcpStream {
    let to: SocketAddr = address.parse().expect("an address");
    let narrow: OwnedFd = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    sockopt::set_socket_recv_buffer_size(&narrow, 4_096).expect("a small buffer");
    connect(&narrow, &to).expect("it listens");
    let stream = TcpStream::from(narrow);
    stream.set_read_timeout(Some(PATIENCE)).expect("a time");
    stream
}

/// A request, with this token if there is one.
pub(crate) fn request(line: &str, token: &str, body: &str) -> String {
    let bearer = if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
    format!("{line} HTTP/1.1\r\nHost: localhost\r\n{bearer}Content-Length: {}\r\n\r\n{body}", body.len())
}

impl Kept {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, read: Vec::new() }
    }

    pub(crate) fn ask(&mut self, request: &str) -> io::Result<Answer> {
        self.stream.write_all(request.as_bytes())?;
        self.answer()
    }

    /// The next answer.
    pub(crate) fn answer(&mut self) -> io::Result<Answer> {
        loop {
            if let Some(answer) = self.whole() {
                return Ok(answer);
            }
            let mut buffer = [0; 16_384];
            match self.stream.read(&mut buffer)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                some => self.read.extend_from_slice(&buffer[..some]),
            }
        }
    }

    fn whole(&mut self) -> Option<Answer> {
        let end = self.read.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
        let head = String::from_utf8_lossy(&self.read[..end]).to_ascii_lowercase();
        let length =
            head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
        let body = self.read.get(end..end + length)?;
        let body = String::from_utf8_lossy(body).into_owned();
        self.read.drain(..end + length);
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Answer { status, head, body })
    }
}
