//! Takes connections in, in the clear or encrypted, and never more than there is room for.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use super::connections::{Connections, HEAD_WITHIN, Serve, Version};
use super::tls::HTTP2;

/// Connections at one time, where the system allows for as many open files.
const CONNECTIONS_MAX: u64 = 16_384;
/// Files that are kept for the store, programs and requests to others.
const OTHER_FILES: u64 = 256;
/// How long the two sides may take to agree on keys.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);
/// The pause when the system has no room for another connection: trying again at once would only burn time.
const NO_ROOM_PAUSE: Duration = Duration::from_millis(100);
/// How clients of HTTP/2 begin. No request of HTTP/1 begins like that.
const HTTP2_BEGINS: [u8; 3] = *b"PRI";
/// The pause before a beginning that is too short to tell is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Connections that wait to be taken in, as far as the system allows. While the monitor stands still agents go on
/// trying; whoever finds no place is tried again by the kernel after ever longer pauses, and would seem silent when
/// the monitor is back.
const BACKLOG: u32 = 4_096;

/// Where connections come in.
pub(super) struct Listener {
    socket: TcpListener,
    /// As of the last time that the configuration was loaded. Connections that exist keep their keys.
    tls: watch::Receiver<Option<TlsAcceptor>>,
    slots: Arc<Semaphore>,
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Or the port of a monitor that has just ended could not be taken for a while.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl Listener {
    pub(super) fn bind(address: SocketAddr, tls: watch::Receiver<Option<TlsAcceptor>>) -> io::Result<Self> {
        let socket = listen(address)?;
        Ok(Self { socket, tls, slots: Arc::new(Semaphore::new(connections_max())) })
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
            // Those that find no slot wait in the system's own queue.
            let Ok(slot) = Arc::clone(&self.slots).acquire_owned().await else { return };
            match self.socket.accept().await {
                Ok((stream, peer)) => {
                    let serve = connections.one();
                    tokio::spawn(greet(stream, peer, self.tls.borrow().clone(), serve, slot));
                }
                Err(error) if is_clients_fault(&error) => {}
                Err(_) => tokio::time::sleep(NO_ROOM_PAUSE).await,
            }
        }
    }
}

/// Agrees on keys where that is wanted, then serves.
async fn greet(
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    serve: Serve,
    slot: OwnedSemaphorePermit,
) {
    // Answers are small and somebody waits for each.
    let _ = stream.set_nodelay(true);
    match tls {
        None => {
            if let Ok(Ok(version)) = tokio::time::timeout(HEAD_WITHIN, version(&stream)).await {
                Box::pin(serve.run(stream, version, peer, slot)).await;
            }
        }
        Some(tls) => {
            let agreed = Box::pin(tokio::time::timeout(HANDSHAKE_WITHIN, tls.accept(stream))).await;
            if let Ok(Ok(stream)) = agreed {
                let agreed = stream.get_ref().1.alpn_protocol();
                let version = if agreed == Some(HTTP2) { Version::Http2 } else { Version::Http1 };
                Box::pin(serve.run(stream, version, peer, slot)).await;
            }
        }
    }
}

/// How a client speaks that says so in the clear: by how it begins, which is left for whoever reads it.
async fn version(stream: &TcpStream) -> io::Result<Version> {
    let mut begins = [0; HTTP2_BEGINS.len()];
    loop {
        let seen = stream.peek(&mut begins).await?;
        if seen == begins.len() && begins == HTTP2_BEGINS {
            return Ok(Version::Http2);
        }
        if seen == 0 || begins[..seen] != HTTP2_BEGINS[..seen] {
            return Ok(Version::Http1);
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

fn is_clients_fault(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// As many as the limit on open files leaves room for, after it was raised as far as it goes.
fn connections_max() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let wanted = CONNECTIONS_MAX + OTHER_FILES;
    let most = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let present = limit.current.unwrap_or(wanted);
    let raised = Rlimit { current: Some(most), maximum: limit.maximum };
    let files = if present < most && setrlimit(Resource::Nofile, raised).is_ok() { most } else { present };
    usize::try_from(files.saturating_sub(OTHER_FILES).clamp(16, CONNECTIONS_MAX)).unwrap_or(16)
}
