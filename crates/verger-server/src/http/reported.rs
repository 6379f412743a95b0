//! What is reported by the thousand: by whom, and the body, after every check.
//!
//! Each layer around a handler costs some allocations for every request, and nearly all requests are heartbeats: the
//! layers were a quarter of the processor time of one. So reports are served outside of them, and this looks for itself
//! at what they look at: from where a request comes, who asks, how large it is. Reports leave no line in the audit,
//! with or without layers.

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::Uri;
use axum::http::request::Parts;

use super::asker::{Asker, check_head};
use super::received::Received;
use super::{App, Refusal, once, refusal};
use crate::access::Caller;
use crate::trace::Begun;

/// A report that may be looked at.
pub(super) struct Reported {
    pub(super) caller: Caller,
    pub(super) body: Received,
    /// What it is called, so that it counts once however often it is sent.
    pub(super) name: Option<String>,
    /// Its part in the trace that it bears.
    pub(super) trace: Option<Begun>,
}

impl FromRequest<App> for Reported {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        check_head(request.headers(), request.uri(), app)?;
        let (mut parts, body) = request.into_parts();
        let Asker(caller) = Asker::from_request_parts(&mut parts, app).await?;
        let span = || format!("{} {}", parts.method, parts.uri.path());
        let trace = Begun::of(app.monitor.tracer(), &parts.headers, span);
        let name = once::name(&parts.headers)?;
        let body = Received::from_request(Request::from_parts(parts, body), app).await?;
        Ok(Self { caller, body, name, trace })
    }
}

/// A request for the address of reports by another method.
pub(super) struct NoReport(Uri);

impl FromRequestParts<App> for NoReport {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        check_head(&parts.headers, &parts.uri, app)?;
        Ok(Self(parts.uri.clone()))
    }
}

pub(super) async fn wrong_method(NoReport(uri): NoReport) -> Refusal {
    refusal::wrong_method(uri).await
}
