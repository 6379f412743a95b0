//! Takes connections in, in the clear or encrypted, and never more than there is room for.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::response::IntoResponse;
use rustix::net::sockopt;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
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
const NO_ROOM_PAUSE: Duration = Duration::from_millis(100);
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
    /// Connections for which there are files.
    files: usize,
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
        let turned_away = Arc::new(Semaphore::new(TURNED_AWAY_MAX));
        Ok(Self { socket: listen(address)?, tls, files: connections_by_files(), turned_away })
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
        match seat(connections.traffic(), peer, self.files) {
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
            Err(none) => {
                let Ok(place) = Arc::clone(&self.turned_away).try_acquire_owned() else { return };
                tokio::spawn(async move {
                    let _place = place;
                    let _ = tokio::time::timeout(TURNED_AWAY_WITHIN, turn_away(stream, none)).await;
                });
            }
        }
    }
}

/// A seat for one more connection.
pub(super) fn seat(traffic: &Arc<Traffic>, peer: SocketAddr, files: usize) -> Result<Seat, NoSeat> {
    let limits = traffic.limits();
    let most = files.min(limits.connections as usize);
    let taken = traffic.seats().take(peer.ip(), most, limits.connections_per_address);
    let (seat, let_go) = taken.inspect_err(|_| traffic.on_refused(Reason::Connections))?;
    (0..let_go).for_each(|_| traffic.on_cut(Cut::Idle));
    Ok(seat)
}

/// Says that there is no room, without having read what is wanted.
async fn turn_away(mut stream: TcpStream, none: NoSeat) -> io::Result<()> {
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
    while stream.readable().await.is_ok() {
        match stream.try_read(&mut rest) {
            Ok(0) => break,
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => break,
            Ok(_) | Err(_) => {}
        }
    }
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
async fn version(stream: &TcpStream) -> io::Result<Version> {
    let (mut begins, mut pause) = ([0; HTTP2_BEGINS.len()], LOOK_AGAIN);
    loop {
        let seen = stream.peek(&mut begins).await?;
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

fn is_clients_fault(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// As many as the limit on open files leaves room for, after it was raised as far as it goes.
fn connections_by_files() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX);
    let present = limit.current.unwrap_or(u64::MAX);
    let raised = Rlimit { current: Some(most), maximum: limit.maximum };
    let files = if present < most && setrlimit(Resource::Nofile, raised).is_ok() { most } else { present };
    usize::try_from(files.saturating_sub(OTHER_FILES).max(16)).unwrap_or(usize::MAX)
}
