//! Connections: each served within its bounds, and all of them brought to an end.
//!
//! A head must be there within its time, also the next one of a connection that is kept open; so a client that says
//! nothing, or says it slowly, is let go. So is one that does not take its answer, and one that does nothing while
//! others want its [seat](crate::traffic).

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ConnectInfo;
use axum::response::Response;
use http_body::{Body as _, Frame, SizeHint};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};

use super::body::TimelyBody;
use crate::traffic::{Patient, Seat, Traffic, Work};

/// More than this is not read of a head, whatever is configured: twice of that, so that who exceeds it is told in words.
const HEAD_BYTES: std::ops::RangeInclusive<u64> = 16 << 10..=2 << 20;
/// How long requests may take to be finished at the end. Streams and long polls are cut off then.
const FINISH_WITHIN: Duration = Duration::from_secs(3);
/// How often the other side of HTTP/2 is asked whether it is still there, and how long it has to say so.
const ALIVE: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(20));
/// Requests at one time on one connection of HTTP/2.
const STREAMS_MAX: u32 = 128;
/// What one request, and one connection, of HTTP/2 may have sent before it is read.
const WINDOWS: (u32, u32) = (64 << 10, 256 << 10);
/// What may wait to be sent on one request of HTTP/2.
const UNSENT_MAX: usize = 64 << 10;

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
    traffic: Arc<Traffic>,
    graceful: GracefulShutdown,
}

/// What serves one connection.
pub(super) struct Serve {
    router: Router,
    traffic: Arc<Traffic>,
    watcher: Watcher,
}

impl Connections {
    pub(super) fn new(router: Router, traffic: Arc<Traffic>) -> Self {
        Self { router, traffic, graceful: GracefulShutdown::new() }
    }

    pub(super) fn traffic(&self) -> &Arc<Traffic> {
        &self.traffic
    }

    /// For one more connection.
    pub(super) fn one(&self) -> Serve {
        let (router, traffic) = (self.router.clone(), Arc::clone(&self.traffic));
        Serve { router, traffic, watcher: self.graceful.watcher() }
    }

    /// Waits until requests that are under way are answered, or their time is up.
    pub(super) async fn finish(self) {
        // Whoever is cut off finds a closed connection and comes back.
        let _ = tokio::time::timeout(FINISH_WITHIN, self.graceful.shutdown()).await;
    }
}

impl Serve {
    /// How long a connection may be silent at its beginning.
    pub(super) fn head_within(&self) -> Duration {
        Duration::from_millis(self.traffic.limits().head_timeout.as_millis())
    }

    /// Serves this connection, which this peer has opened, until it ends.
    pub(super) async fn run<T, P>(self, stream: T, version: Version, peer: P, seat: &Arc<Seat>)
    where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        P: Clone + Send + Sync + 'static,
    {
        let head_within = self.head_within();
        let Self { router, traffic, watcher } = self;
        let limits = traffic.limits();
        let body_within = Duration::from_millis(limits.body_timeout.as_millis());
        let head_max = limits.head.saturating_mul(2).clamp(*HEAD_BYTES.start(), *HEAD_BYTES.end()) as usize;
        let (silent, seat) = (Arc::clone(seat), Arc::clone(seat));
        let answer = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(|body| Body::new(TimelyBody::new(body, body_within)));
            request.extensions_mut().insert(ConnectInfo(peer.clone()));
            let work = seat.work();
            let answer = hyper::service::Service::call(&TowerToHyperService::new(router.clone()), request);
            async move { answer.await.map(|response| at_work(response, work)) }
        });
        let stream = TokioIo::new(Patient::new(stream, traffic));
        // A client that breaks off is nobody's fault here. Each is boxed, or a connection of either kind would take the
        // memory of the larger, several times over.
        match version {
            Version::Http1 => drop(
                Box::pin(watcher.watch(http1(head_within, head_max).serve_connection(stream, answer))).await,
            ),
            // It says by itself that it is there only after the two sides have greeted each other.
            Version::Http2 => tokio::select! {
                ended = Box::pin(watcher.watch(http2(head_max).serve_connection(stream, answer))) => drop(ended),
                () = silent.stays_silent(head_within) => {}
            },
        }
    }
}

/// A whole answer leaves its connection idle as soon as it is made; one that goes on keeps it at work until it ends.
fn at_work(response: Response, work: Work) -> Response {
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    response.map(|body| Body::new(Working { body, _work: work }))
}

/// A body whose connection is at work.
struct Working {
    body: Body,
    _work: Work,
}

impl http_body::Body for Working {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn http1(head_within: Duration, head_max: usize) -> http1::Builder {
    let mut builder = http1::Builder::new();
    // Never with `pipeline_flush`: hyper then gathers an answer without end for who does not read it.
    builder.timer(TokioTimer::new()).header_read_timeout(head_within).max_buf_size(head_max);
    builder
}

fn http2(head_max: usize) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    let (every, within) = ALIVE;
    builder
        .timer(TokioTimer::new())
        .keep_alive_interval(every)
        .keep_alive_timeout(within)
        .max_concurrent_streams(STREAMS_MAX)
        .initial_stream_window_size(WINDOWS.0)
        .initial_connection_window_size(WINDOWS.1)
        .max_send_buf_size(UNSENT_MAX)
        .max_header_list_size(u32::try_from(head_max).unwrap_or(u32::MAX));
    builder
}
