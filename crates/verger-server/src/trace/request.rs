//! A request as a part of a trace: what is told to the loop because of it belongs to it.

use std::sync::Arc;

use axum::http::HeaderMap;

use super::context::Context;
use super::span::{End, Kind, Span};
use super::tracer::{Tracer, bounded};

tokio::task_local! {
    /// In which trace the present task works.
    static CURRENT: Context;
}

/// In which trace the present task works, if it does in one.
pub(crate) fn current() -> Option<Context> {
    CURRENT.try_with(Clone::clone).ok()
}

/// Works in a trace.
pub(crate) async fn within<T>(context: Context, work: impl Future<Output = T>) -> T {
    CURRENT.scope(context, work).await
}

/// A request whose span has begun, or that is merely passed on.
pub(crate) struct Begun {
    tracer: Arc<Tracer>,
    context: Context,
    span: Option<Span>,
}

impl Begun {
    /// For a request that bears a trace. One that bears none begins a trace if it [changes](Self::order) something.
    pub(crate) fn of(
        tracer: &Arc<Tracer>,
        headers: &HeaderMap,
        name: impl FnOnce() -> String,
    ) -> Option<Self> {
        let parent = Context::of(headers)?;
        if !tracer.is_recording() || !parent.sampled {
            return Some(Self { tracer: Arc::clone(tracer), context: parent, span: None });
        }
        Some(Self::spanned(tracer, Some(&parent), &name()))
    }

    /// The same for a request that is an order: it is the beginning of a trace if it belongs to none.
    pub(crate) fn order(
        tracer: &Arc<Tracer>,
        headers: &HeaderMap,
        name: impl Fn() -> String,
    ) -> Option<Self> {
        let begins = || tracer.is_recording().then(|| Self::spanned(tracer, None, &name()));
        Self::of(tracer, headers, &name).or_else(begins)
    }

    fn spanned(tracer: &Arc<Tracer>, parent: Option<&Context>, name: &str) -> Self {
        let span = tracer.begin(parent, bounded(name), Kind::Server);
        Self { tracer: Arc::clone(tracer), context: span.context.clone(), span: Some(span) }
    }

    /// What is done for the request hangs below this.
    pub(crate) fn context(&self) -> Context {
        self.context.clone()
    }

    /// It is answered.
    pub(crate) fn answered(self, status: u16) {
        let Self { tracer, span: Some(mut span), .. } = self else { return };
        span.counts("http.response.status_code", i64::from(status));
        // By the conventions of OpenTelemetry what a caller did wrong is no error of a server.
        let end = if status >= 500 { End::Badly(format!("answered with {status}")) } else { End::Unset };
        tracer.end(span, end);
    }
}
