//! A client that costs little: requests are bytes that were made before, and of answers only the end is looked for.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// One connection that is kept open.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(4_096) })
    }

    /// Sends one request and waits for all of its answer, which must say that it was done.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> io::Result<&str> {
        let (status, head) = self.answer(request).await?;
        let text = std::str::from_utf8(&self.buffer).unwrap_or_default();
        if (200..300).contains(&status) { Ok(&text[head..]) } else { Err(io::Error::other(text.to_owned())) }
    }

    /// Sends one request; gives the status of its answer, and where in the buffer its body begins.
    pub(crate) async fn answer(&mut self, request: &[u8]) -> io::Result<(u16, usize)> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        loop {
            self.more().await?;
            let Some((status, head, length)) = parse(&self.buffer) else { continue };
            if self.buffer.len() >= head + length {
                return Ok((status, head));
            }
        }
    }

    /// Sends a request that is answered by a stream.
    pub(crate) async fn begin(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        self.until(b"\r\n\r\n").await.map(drop)
    }

    /// Reads on until these bytes have come, and takes everything up to their end.
    pub(crate) async fn until(&mut self, end: &[u8]) -> io::Result<String> {
        loop {
            if let Some(at) = find(&self.buffer, end) {
                let rest = self.buffer.split_off(at + end.len());
                let taken = std::mem::replace(&mut self.buffer, rest);
                return Ok(String::from_utf8_lossy(&taken).into_owned());
            }
            self.more().await?;
        }
    }

    async fn more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// Asks over so many connections at once, on each `each` times; gives how long each answer took.
pub(crate) async fn hammer(
    address: SocketAddr,
    connections: usize,
    each: usize,
    requests: &'static [Vec<u8>],
) -> io::Result<Vec<Duration>> {
    let mut running = JoinSet::new();
    for number in 0..connections {
        running.spawn(async move {
            let mut connection = Connection::open(address).await?;
            let mut waits = Vec::with_capacity(each);
            for request in requests.iter().cycle().skip(number * requests.len() / connections).take(each) {
                let begun = Instant::now();
                connection.ask(request).await?;
                waits.push(begun.elapsed());
            }
            io::Result::Ok(waits)
        });
    }
    let mut waits = Vec::with_capacity(connections * each);
    while let Some(done) = running.join_next().await {
        waits.extend(done.map_err(io::Error::other)??);
    }
    Ok(waits)
}

/// Status, where the body begins, and how long it is; nothing while the head is not all there.
fn parse(answer: &[u8]) -> Option<(u16, usize, usize)> {
    let head = find(answer, b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&answer[..head]).ok()?;
    let status = text.get(9..12)?.parse().ok()?;
    let length =
        text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    Some((status, head, length))
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
