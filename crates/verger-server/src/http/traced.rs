//! Requests as parts of traces (L48): whoever bears a trace context has it carried on by all that follows.

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use super::{App, Refusal};
use crate::trace::{Begun, within};

/// Carries on the trace of a request. One that changes something begins a trace if it bears none; one that only looks
/// does not.
pub(super) async fn trace(State(app): State<App>, request: Request, next: Next) -> Response {
    let (tracer, headers) = (app.monitor.tracer(), request.headers());
    let name = || {
        let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
        format!("{} {route}", request.method())
    };
    let is_order = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let begun = if is_order { Begun::order(tracer, headers, name) } else { Begun::of(tracer, headers, name) };
    let Some(begun) = begun else { return next.run(request).await };
    let response = within(begun.context(), next.run(request)).await;
    begun.answered(response.status().as_u16());
    response
}

/// The same for what is reported by the thousand, which costs nothing where no trace is borne.
pub(super) async fn reported<T>(
    begun: Option<Begun>,
    answer: impl Future<Output = Result<T, Refusal>>,
) -> Result<T, Refusal> {
    let Some(begun) = begun else { return answer.await };
    let answer = within(begun.context(), answer).await;
    let accepted = |_: &T| StatusCode::ACCEPTED.as_u16();
    begun.answered(answer.as_ref().map_or_else(Refusal::status, accepted));
    answer
}
