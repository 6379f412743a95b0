//! A request's body, which must arrive within its time.
//!
//! A client that sends one byte a minute would hold its connection for ever. The time begins when the body is first
//! waited for: what came together with the head, as almost every heartbeat does, costs no timer.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Sleep, sleep};

/// A body within its time.
pub(super) struct TimelyBody {
    body: Incoming,
    /// The time that all of it may take.
    within: Duration,
    deadline: Option<Pin<Box<Sleep>>>,
}

/// A body took too long.
#[derive(Debug, thiserror::Error)]
pub(super) enum BodyError {
    /// It is not complete after its time.
    #[error("the body did not arrive within {} s", .0.as_secs_f32())]
    Late(Duration),
    /// It broke off.
    #[error(transparent)]
    Broken(#[from] hyper::Error),
}

impl TimelyBody {
    pub(super) fn new(body: Incoming, within: Duration) -> Self {
        Self { body, within, deadline: None }
    }
}

impl Body for TimelyBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Self { body, within, deadline } = self.get_mut();
        if let Poll::Ready(frame) = Pin::new(body).poll_frame(context) {
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let deadline = deadline.get_or_insert_with(|| Box::pin(sleep(*within)));
        deadline.as_mut().poll(context).map(|()| Some(Err(BodyError::Late(*within))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
