//! Records who did what: every order of an admin, and everybody who was refused one.
//!
//! The line is on disk before the answer goes out, and an order is recorded even if whoever gave it has hung up. What
//! agents report by the thousand leaves no line. Neither does what is in a body: reasons are in the journal, and
//! secrets nowhere.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use verger_api::HttpError;
use verger_core::id::Actor;
use verger_store::AuditLine;

use super::asker::Named;
use super::events::blocking;
use super::refusal::ProblemCode;
use super::{App, Refusal};
use crate::access::Caller;
use crate::monitor::wall_now;
use crate::unix::LocalPeer;

/// Lines about refusals in one minute. Who knocks without end must not fill the disk; the rest is counted.
const REFUSALS_MAX: u32 = 60;
const MINUTE: Duration = Duration::from_mins(1);
/// Letters of a path that are recorded.
const TARGET_MAX: usize = 300;

/// What agents report, or take. Whatever else changes something is an order.
const REPORTS: [&str; 10] = [
    "/v1/heartbeats",
    "/v1/signals",
    "/v1/traces",
    "/v1/logs",
    "/v1/metrics",
    "/v1/checkpoints",
    "/api/messages",
    "/acquire",
    "/report",
    "/mcp",
];

/// Writes the audit log.
#[derive(Clone)]
pub(super) struct Auditor {
    app: App,
    refusals: Arc<Mutex<Refusals>>,
}

impl Auditor {
    pub(super) fn new(app: App) -> Self {
        let refusals = Refusals { since: Instant::now(), written: 0, left_out: 0 };
        Self { app, refusals: Arc::new(Mutex::new(refusals)) }
    }
}

pub(super) async fn audit(State(auditor): State<Auditor>, mut request: Request, next: Next) -> Response {
    let pattern = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    if pattern.is_some_and(is_report) {
        return next.run(request).await;
    }
    let asked = Asked::of(&request);
    let named = Named::default();
    request.extensions_mut().insert(named.clone());
    if !asked.is_order {
        let response = next.run(request).await;
        return auditor.record(asked, &named, response).await;
    }
    // What cannot be recorded is not done.
    if let Err(refusal) = auditor.app.monitor.is_writable() {
        return Refusal::from(refusal).into_response();
    }
    let monitor = auditor.app.monitor.clone();
    // On a task of its own: who hangs up does not keep an order from being recorded.
    let order = tokio::spawn(async move {
        let response = next.run(request).await;
        auditor.record(asked, &named, response).await
    });
    match monitor.within(order).await {
        Ok(answer) => {
            answer.unwrap_or_else(|_| Refusal::http(HttpError::Internal, "the order failed").into_response())
        }
        Err(late) => Refusal::from(late).into_response(),
    }
}

impl Auditor {
    /// Records what was asked, if it is to be, and passes the answer on.
    async fn record(&self, asked: Asked, named: &Named, response: Response) -> Response {
        let status = response.status();
        let is_admins = matches!(named.get(), Some(Caller::Admin(_)));
        let is_refusal = is_refused(status);
        if !(asked.is_order && is_admins || is_refusal) {
            return response;
        }
        let mut left_out = 0;
        if is_refusal {
            let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
            match refusals.admit(Instant::now()) {
                Some(before) => left_out = before,
                None => return response,
            }
        }
        let detail = detail(&asked, &response, left_out);
        let actor = named.get().and_then(Caller::actor).unwrap_or_else(|| Actor::from("nobody"));
        match self.write(actor, asked, detail).await {
            Ok(()) => response,
            Err(refusal) => refusal.into_response(),
        }
    }

    async fn write(&self, actor: Actor, asked: Asked, detail: String) -> Result<(), Refusal> {
        let archive = self.app.monitor.archive().clone();
        let at = blocking(move || archive.moment(wall_now())).await?;
        let line = AuditLine { actor, action: asked.action, target: asked.target, detail, at };
        self.app.monitor.archive().add_audit(line).await?;
        Ok(())
    }
}

/// From where it was asked, and what came of it.
fn detail(asked: &Asked, response: &Response, left_out: u64) -> String {
    let status = response.status();
    let outcome = match status {
        _ if is_refused(status) => "refused",
        _ if status.is_client_error() || status.is_server_error() => "failed",
        _ => "done",
    };
    let mut detail = json!({ "from": asked.from, "outcome": outcome, "status": status.as_u16() });
    if let Some(ProblemCode(code)) = response.extensions().get() {
        detail["code"] = code.as_str().into();
    }
    if left_out > 0 {
        detail["leftOut"] = left_out.into();
    }
    detail.to_string()
}

fn is_refused(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::GONE)
}

/// What somebody asks.
struct Asked {
    action: String,
    target: String,
    from: String,
    is_order: bool,
}

impl Asked {
    fn of(request: &Request) -> Self {
        let path = request.uri().path();
        let pattern = request.extensions().get::<MatchedPath>().map_or(path, MatchedPath::as_str);
        let method = request.method();
        Self {
            action: format!("{method} {}", shortened(pattern)),
            target: shortened(path),
            from: from(request),
            is_order: !method.is_safe() || (pattern == "/signin" && *method == Method::GET),
        }
    }
}

fn is_report(pattern: &str) -> bool {
    REPORTS.iter().any(|report| pattern.ends_with(report)) || pattern.starts_with("/grpc.")
}

fn shortened(text: &str) -> String {
    text.chars().take(TARGET_MAX).collect()
}

/// From where somebody asks, as far as it is known.
fn from(request: &Request) -> String {
    let extensions = request.extensions();
    if let Some(ConnectInfo(peer)) = extensions.get::<ConnectInfo<SocketAddr>>() {
        return peer.ip().to_string();
    }
    let Some(ConnectInfo(peer)) = extensions.get::<ConnectInfo<LocalPeer>>() else {
        return "unknown".to_owned();
    };
    let number = |number: Option<u32>| number.map_or_else(|| "?".to_owned(), |number| number.to_string());
    format!("process {} of user {}", number(peer.pid), number(peer.uid))
}

/// Bounds how much is written about refusals.
struct Refusals {
    since: Instant,
    written: u32,
    left_out: u64,
}

impl Refusals {
    /// Whether one more may be written, and how many before it were not.
    fn admit(&mut self, now: Instant) -> Option<u64> {
        if now.saturating_duration_since(self.since) >= MINUTE {
            (self.since, self.written) = (now, 0);
        }
        if self.written >= REFUSALS_MAX {
            self.left_out += 1;
            return None;
        }
        self.written += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_knocks_without_end_is_counted_and_does_not_fill_the_disk() {
        let begun = Instant::now();
        let mut refusals = Refusals { since: begun, written: 0, left_out: 0 };
        let written = (0..1_000).filter(|_| refusals.admit(begun).is_some()).count();
        assert_eq!(written, REFUSALS_MAX as usize);
        assert_eq!(refusals.admit(begun + MINUTE), Some(1_000 - u64::from(REFUSALS_MAX)));
        assert_eq!(refusals.admit(begun + MINUTE), Some(0), "they are told once");
    }

    #[test]
    fn what_agents_report_is_no_order_and_everything_new_is() {
        for report in ["/v1/heartbeats", "/v1/breakers/{*name}/acquire", "/grpc.health.v1.Health/Check"] {
            assert!(is_report(report), "{report}");
        }
        for order in ["/v1/agents/{id}/nudge", "/v1/tokens", "/v1/whatever/comes"] {
            assert!(!is_report(order), "{order}");
        }
    }
}
