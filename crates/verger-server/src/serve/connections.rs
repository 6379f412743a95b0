//! Connections: each served within its bounds, and all of them brought to an end.
//!
//! A head must be there within its time, also the next one of a connection that is kept open; so a client that says
//! nothing, or says it slowly, is let go. There are so many connections and no more; those on top wait until another
//! ends, and are not forgotten.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::OwnedSemaphorePermit;

use super::body::TimelyBody;

/// How long a connection may be silent before a request, and how long its head may take.
pub(super) const HEAD_WITHIN: Duration = Duration::from_secs(75);
/// The most that is read of a head.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// How long requests may take to be finished at the end. Streams and long polls are cut off then.
const FINISH_WITHIN: Duration = Duration::from_secs(3);
/// How often the other side of HTTP/2 is asked whether it is still there, and how long it has to say so.
const ALIVE: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(20));
/// Requests at one time on one connection of HTTP/2.
const STREAMS_MAX: u32 = 256;

/// How a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// As nearly all do.
    Http1,
    /// As gRPC does.
    Http2,
}

/// Serves connections with one router.
pub(super) struct Connections {
    router: Router,
    graceful: GracefulShutdown,
}

/// What serves one connection.
pub(super) struct Serve {
    router: Router,
    watcher: Watcher,
}

impl Connections {
    pub(super) fn new(router: Router) -> Self {
        Self { router, graceful: GracefulShutdown::new() }
    }

    /// For one more connection.
    pub(super) fn one(&self) -> Serve {
        Serve { router: self.router.clone(), watcher: self.graceful.watcher() }
    }

    /// Waits until requests that are under way are answered, or their time is up.
    pub(super) async fn finish(self) {
        // Whoever is cut off finds a closed connection and comes back.
        let _ = tokio::time::timeout(FINISH_WITHIN, self.graceful.shutdown()).await;
    }
}

impl Serve {
    /// Serves this connection until it ends. The slot is free then.
    pub(super) async fn run<T>(
        self,
        stream: T,
        version: Version,
        peer: SocketAddr,
        _slot: OwnedSemaphorePermit,
    ) where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self { router, watcher } = self;
        let answer = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(|body| Body::new(TimelyBody::new(body)));
            request.extensions_mut().insert(ConnectInfo(peer));
            hyper::service::Service::call(&TowerToHyperService::new(router.clone()), request)
        });
        let stream = TokioIo::new(stream);
        // A client that breaks off is nobody's fault here. Each is boxed, or a connection of either kind would take the
        // memory of the larger, several times over.
        match version {
            Version::Http1 => drop(Box::pin(watcher.watch(http1().serve_connection(stream, answer))).await),
            Version::Http2 => drop(Box::pin(watcher.watch(http2().serve_connection(stream, answer))).await),
        }
    }
}

fn http1() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .max_buf_size(HEAD_BYTES_MAX)
        .pipeline_flush(true);
    builder
}

fn http2() -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    let (every, within) = ALIVE;
    builder
        .timer(TokioTimer::new())
        .keep_alive_interval(every)
        .keep_alive_timeout(within)
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEAD_BYTES_MAX as u32);
    builder
}
