//! A request's body, read as far as it may be.
//!
//! One that says that it is too large is refused before any of it is read; one that does not say so, as soon as it is.
//! Nothing is gathered for which there is no room beside what others send.

use std::ops::Deref;
use std::pin::Pin;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use http_body::{Body as _, Frame};
use verger_api::{HttpError, Problem};

use super::{App, Refusal};
use crate::monitor::told;
use crate::traffic::{Reason, Share};

/// Seconds after which others will have made room.
const ROOM_AGAIN: u64 = 1;

/// All of a body. It weighs until it is dropped.
#[derive(Debug)]
pub(super) struct Received {
    bytes: Bytes,
    _share: Share,
}

impl Deref for Received {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl FromRequest<App> for Received {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        Reading::new(app).all(request.into_body()).await
    }
}

struct Reading<'a> {
    app: &'a App,
    share: Share,
    /// The largest body, and all together.
    most: (u64, u64),
}

impl<'a> Reading<'a> {
    fn new(app: &'a App) -> Self {
        let limits = app.traffic.limits();
        Self { app, share: app.traffic.share(), most: (limits.body, limits.bodies) }
    }

    async fn all(mut self, mut body: Body) -> Result<Received, Refusal> {
        self.hold(body.size_hint().lower())?;
        let Some(first) = next(&mut body).await? else { return Ok(self.done(Bytes::new())) };
        self.hold(first.len() as u64)?;
        // Nearly all come in one piece, which is used as it is.
        if body.is_end_stream() {
            return Ok(self.done(first));
        }
        let mut bytes = Vec::from(first);
        while let Some(more) = next(&mut body).await? {
            self.hold(bytes.len() as u64 + more.len() as u64)?;
            bytes.extend_from_slice(&more);
        }
        Ok(self.done(bytes.into()))
    }

    fn done(self, bytes: Bytes) -> Received {
        Received { bytes, _share: self.share }
    }

    /// Whether it may be so long.
    fn hold(&mut self, bytes: u64) -> Result<(), Refusal> {
        let (most, all) = self.most;
        if most < bytes {
            self.app.traffic.on_refused(Reason::Body);
            let detail = format!("a body of more than {most} bytes is not read");
            return Err(Refusal::http(HttpError::TooLarge, detail));
        }
        if !self.share.hold(bytes, all) {
            self.app.traffic.on_refused(Reason::Bodies);
            let detail = format!("bodies of more than {all} bytes are not read at one time");
            return Err(Problem::http(HttpError::Overloaded, detail).retry_after(ROOM_AGAIN).into());
        }
        Ok(())
    }
}

/// The next piece that is not empty.
async fn next(body: &mut Body) -> Result<Option<Bytes>, Refusal> {
    loop {
        let frame = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await;
        match frame.map(|frame| frame.map(Frame::into_data)) {
            None => return Ok(None),
            Some(Ok(Ok(data))) if !data.is_empty() => return Ok(Some(data)),
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(Refusal::http(HttpError::UnreadableBody, told(&error))),
        }
    }
}
