//! Who asks, and from where.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use verger_api::HttpError;

use super::{App, Refusal};
use crate::access::Caller;
use crate::monitor::wall_now;

/// Who asks.
pub(super) struct Asker(pub(super) Caller);

impl FromRequestParts<App> for Asker {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let Some(presented) = parts.headers.get(AUTHORIZATION) else { return nobody(parts) };
        let secret = presented.to_str().ok().and_then(|text| text.strip_prefix("Bearer ")).map(str::trim);
        let secret = secret.ok_or_else(|| bad("the Authorization header must be `Bearer …`"))?;
        let caller = app.doorkeeper.caller(secret, wall_now())?;
        caller.map(Self).ok_or_else(|| bad("this token is not known, was revoked, or has expired"))
    }
}

/// Without a token one is somebody on this machine, or not let in.
fn nobody(parts: &Parts) -> Result<Asker, Refusal> {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    if peer.is_some_and(|ConnectInfo(peer)| !peer.ip().is_loopback()) {
        return Err(Refusal::http(HttpError::NoToken, "from another machine everything needs a token"));
    }
    Ok(Asker(Caller::Nobody))
}

fn bad(why: &str) -> Refusal {
    Refusal::http(HttpError::BadToken, why)
}

/// Turns web pages from elsewhere and rebound names away, before anything else is looked at.
pub(super) async fn check_origin(State(app): State<App>, request: Request, next: Next) -> Response {
    let header = |headers: &HeaderMap, name| {
        headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let headers = request.headers();
    let authority = request.uri().authority().map(ToString::to_string);
    let host = header(headers, HOST).or(authority);
    let origin = header(headers, ORIGIN);
    match app.origin.check(host.as_deref(), origin.as_deref()) {
        Ok(()) => next.run(request).await,
        Err(stranger) => Refusal::from(stranger).into_response(),
    }
}
