//! Takes connections in, in the clear or encrypted, and never more than there is room for.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::response::IntoResponse;
use rustix::net::{RecvFlags, recv, sockopt};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, Interest};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use super::connections::{Connections, Serve, Version};
use super::tls::HTTP2;
use crate::http::Refusal;
use crate::traffic::{Cut, NoSeat, Reason, Seat, Traffic};

/// Files that are kept for the store, programs, requests to others, and connections that are about to end.
const OTHER_FILES: u64 = 1_024;
/// How long the two sides may take to agree on keys.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);
/// The pause when the system has no room for another connection: trying again at once would only burn time.
pub(super) const NO_ROOM_PAUSE: Duration = Duration::from_millis(100);
/// How clients of HTTP/2 begin. No request of HTTP/1 begins like that.
const HTTP2_BEGINS: [u8; 3] = *b"PRI";
/// The first pause before a beginning that is too short to tell is looked at again; the next is twice as long.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Connections that wait to be taken in, as far as the system allows. While the monitor stands still agents go on
/// trying; whoever finds no place is tried again by the kernel after ever longer pauses, and would seem silent when
/// the monitor is back.
const BACKLOG: u32 = 4_096;
/// What the system keeps for one connection on its way out. By itself it would keep megabytes for who does not read.
const UNSENT_MAX: u32 = 64 << 10;

/// After this silence the system asks whether the other machine is there; so often, after each of these pauses.
const ALIVE_AFTER: Duration = Duration::from_mins(1);
const ALIVE_EVERY: Duration = Duration::from_secs(15);
const ALIVE_TRIES: u32 = 4;
/// What was sent and not acknowledged for so long was sent to nobody.
const UNACKNOWLEDGED_MAX: Duration = Duration::from_mins(1);

/// Those who are told to come back, at one time; others are hung up on.
const TURNED_AWAY_MAX: usize = 64;
/// How long they may take to hear it.
const TURNED_AWAY_WITHIN: Duration = Duration::from_secs(1);

/// Where connections come in.
pub(super) struct Listener {
    socket: TcpListener,
    /// As of the last time that the configuration was loaded. Connections that exist keep their keys.
    tls: watch::Receiver<Option<TlsAcceptor>>,
    doorway: Doorway,
}

/// Whether there is room for one more, and what is said if there is none.
pub(super) struct Doorway {
    /// Connections for which there are files.
    files: usize,
    /// Seats beyond those of everybody.
    more: usize,
    turned_away: Arc<Semaphore>,
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Or the port of a monitor that has just ended could not be taken for a while.
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(UNSENT_MAX)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl Listener {
    pub(super) fn bind(address: SocketAddr, tls: watch::Receiver<Option<TlsAcceptor>>) -> io::Result<Self> {
        Ok(Self { socket: listen(address)?, tls, doorway: Doorway::new(connections_by_files(), 0) })
    }

    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.tls.borrow().is_some()
    }

    /// Takes connections in for ever. To be dropped when no more are wanted.
    pub(super) async fn run(&self, connections: &Connections) {
        loop {
            match self.socket.accept().await {
                Ok((stream, peer)) => self.take(stream, peer, connections),
                Err(error) if is_clients_fault(&error) => {}
                Err(_) => tokio::time::sleep(NO_ROOM_PAUSE).await,
            }
        }
    }

    fn take(&self, stream: TcpStream, peer: SocketAddr, connections: &Connections) {
        let tls = self.tls.borrow().clone();
        match self.doorway.seat(connections.traffic(), peer.ip()) {
            Ok(seat) => {
                let serve = connections.one();
                tokio::spawn(async move {
                    let seat = Arc::new(seat);
                    tokio::select! {
                        () = greet(stream, peer, tls, serve, &seat) => {}
                        () = seat.let_go() => {}
                    }
                });
            }
            // Whoever wants encryption would not understand it.
            Err(_) if tls.is_some() => {}
            Err(none) => self.doorway.turn_away(stream, none),
        }
    }
}

impl Doorway {
    /// For as many as there are files for, and for these more than everybody has.
    pub(super) fn new(files: usize, more: usize) -> Self {
        Self { files, more, turned_away: Arc::new(Semaphore::new(TURNED_AWAY_MAX)) }
    }

    /// A seat for one more connection.
    pub(super) fn seat(&self, traffic: &Arc<Traffic>, address: IpAddr) -> Result<Seat, NoSeat> {
        let limits = traffic.limits();
        let most = self.files.min(limits.connections as usize + self.more);
        let taken = traffic.seats().take(address, most, limits.connections_per_address);
        let (seat, let_go) = taken.inspect_err(|_| traffic.on_refused(Reason::Connections))?;
        (0..let_go).for_each(|_| traffic.on_cut(Cut::Idle));
        Ok(seat)
    }

    /// Tells somebody to come back, unless too many are being told so.
    pub(super) fn turn_away<T>(&self, stream: T, none: NoSeat)
    where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Ok(place) = Arc::clone(&self.turned_away).try_acquire_owned() else { return };
        tokio::spawn(async move {
            let _place = place;
            let _ = tokio::time::timeout(TURNED_AWAY_WITHIN, turn_away(stream, none)).await;
        });
    }
}

/// Says that there is no room, without having read what is wanted.
async fn turn_away(mut stream: impl AsyncRead + AsyncWrite + Unpin, none: NoSeat) -> io::Result<()> {
    let (head, body) = Refusal::from(none).into_response().into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.map_err(io::Error::other)?;
    let mut text =
        format!("HTTP/1.1 {}\r\nconnection: close\r\ncontent-length: {}\r\n", head.status, body.len());
    for (name, value) in &head.headers {
        let value = value.to_str().unwrap_or_default();
        if name != "content-length" {
            text.extend([name.as_str(), ": ", value, "\r\n"]);
        }
    }
    text.push_str("\r\n");
    stream.write_all(text.as_bytes()).await?;
    stream.write_all(&body).await?;
    stream.shutdown().await?;
    // What is still on its way here would have the system take the answer back.
    let mut rest = [0; 4_096];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}

/// Agrees on keys where that is wanted, then serves.
async fn greet(
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    serve: Serve,
    seat: &Arc<Seat>,
) {
    // Answers are small and somebody waits for each.
    let _ = stream.set_nodelay(true);
    // A system that cannot do this leaves connections of machines that are gone until their next answer.
    let _ = notice_the_gone(&stream);
    match tls {
        None => {
            if let Ok(Ok(version)) = tokio::time::timeout(serve.head_within(), version(&stream)).await {
                Box::pin(serve.run(stream, version, peer, seat)).await;
            }
        }
        Some(tls) => {
            let agreed = Box::pin(tokio::time::timeout(HANDSHAKE_WITHIN, tls.accept(stream))).await;
            if let Ok(Ok(stream)) = agreed {
                let agreed = stream.get_ref().1.alpn_protocol();
                let version = if agreed == Some(HTTP2) { Version::Http2 } else { Version::Http1 };
                Box::pin(serve.run(stream, version, peer, seat)).await;
            }
        }
    }
}

/// A machine that vanished says nothing, and a connection to it would stay half open for ever.
fn notice_the_gone(stream: &TcpStream) -> rustix::io::Result<()> {
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, ALIVE_AFTER)?;
    sockopt::set_tcp_keepintvl(stream, ALIVE_EVERY)?;
    sockopt::set_tcp_keepcnt(stream, ALIVE_TRIES)?;
    sockopt::set_tcp_user_timeout(stream, UNACKNOWLEDGED_MAX.as_millis() as u32)
}

/// How a client speaks that says so in the clear: by how it begins, which is left for whoever reads it.
pub(super) async fn version(stream: &impl Begins) -> io::Result<Version> {
    let (mut begins, mut pause) = ([0; HTTP2_BEGINS.len()], LOOK_AGAIN);
    loop {
        let seen = stream.begins(&mut begins).await?;
        if seen == begins.len() && begins == HTTP2_BEGINS {
            return Ok(Version::Http2);
        }
        if seen == 0 || begins[..seen] != HTTP2_BEGINS[..seen] {
            return Ok(Version::Http1);
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
}

/// What can be looked at without being read.
pub(super) trait Begins {
    /// As much of the beginning as is there and fits; waits for the first of it.
    fn begins(&self, into: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send;
}

impl Begins for TcpStream {
    async fn begins(&self, into: &mut [u8]) -> io::Result<usize> {
        self.peek(into).await
    }
}

impl Begins for UnixStream {
    async fn begins(&self, into: &mut [u8]) -> io::Result<usize> {
        let look = || Ok(recv(self, &mut *into, RecvFlags::PEEK)?.1);
        self.async_io(Interest::READABLE, look).await
    }
}

fn is_clients_fault(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// As many as the limit on open files leaves room for, after it was raised as far as it goes.
pub(super) fn connections_by_files() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX);
    let present = limit.current.unwrap_or(u64::MAX);
    let raised = Rlimit { current: Some(most), maximum: limit.maximum };
    let files = if present < most && setrlimit(Resource::Nofile, raised).is_ok() { most } else { present };
    usize::try_from(files.saturating_sub(OTHER_FILES).max(16)).unwrap_or(usize::MAX)
}
