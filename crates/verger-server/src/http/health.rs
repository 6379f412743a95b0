//! The monitor's own health. Whoever asks needs no token.

use std::time::Duration;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use verger_api::{Health, Missing, Readiness, Time};

use super::App;
use super::routes::Routes;
use super::told::{Told, Who};
use crate::monitor::{Monitor, Trouble};

/// A loop that did not turn for so long does not do its work: it wakes every ten seconds at the latest.
const STILL_MAX: Duration = Duration::from_secs(30);

pub(super) fn routes() -> Routes {
    let health = Told::new("getHealth", "monitor", "Whether the monitor runs", Who::Anybody);
    let ready = Told::new("getReady", "monitor", "Whether it does its work", Who::Anybody);
    Routes::new().get("/health", self::health, health.answers(200, "It does.", "Health")).get(
        "/ready",
        self::ready,
        ready.answers(200, "It does.", "Readiness").answers(503, "Something is missing.", "Readiness"),
    )
}

async fn health(State(app): State<App>) -> Json<Health> {
    Json(Health::ok(app.version, app.started.elapsed().as_secs()))
}

async fn ready(State(app): State<App>) -> Response {
    let readiness = Readiness::of(missing(&app.monitor));
    let status = if readiness.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(readiness)).into_response()
}

/// What keeps the monitor from doing its work.
pub(crate) fn missing(monitor: &Monitor) -> Vec<Missing> {
    let pulse = monitor.pulse();
    let mut missing = Vec::new();
    if pulse.turns() == 0 {
        missing.push(part("engine", "it has not begun to watch yet".to_owned()));
    } else if pulse.age() > STILL_MAX {
        missing.push(part("engine", format!("it has not looked for {} s", pulse.age().as_secs())));
    }
    if let Some(trouble) = &*pulse.trouble().borrow() {
        missing.push(Missing {
            since: Some(Time::from_millis(trouble.since.0)),
            meaning: Some(meaning(trouble, pulse.is_stalled())),
            remedy: trouble.remedy.as_deref().map(str::to_owned),
            ..part("store", format!("it cannot be written: {}", trouble.why))
        });
    }
    missing
}

/// Says with every answer that what it holds is judged from memory, while that is so.
pub(super) async fn say_what_is_unwritten(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let since = app.monitor.pulse().trouble().borrow().as_ref().map(|trouble| trouble.since);
    let said = since.map(|since| format!("unwritten since {}", Time::from_millis(since.0)));
    if let Some(said) = said.and_then(|said| HeaderValue::try_from(said).ok()) {
        response.headers_mut().insert("verger-store", said);
    }
    response
}

/// What it means for agents and people that nothing can be written.
pub(crate) fn meaning(trouble: &Trouble, is_stalled: bool) -> String {
    let waits = format!(
        "{} events and {} actions wait to be written; nothing is done before it is on disk, and a restart now forgets them",
        trouble.events, trouble.effects
    );
    if is_stalled {
        return format!(
            "so much waits that nothing is taken or judged any more, and nobody is blamed: {waits}"
        );
    }
    format!("facts and orders are refused with 503; vital signs are taken and judged from memory: {waits}")
}

fn part(part: &str, text: String) -> Missing {
    Missing { part: part.to_owned(), text, since: None, meaning: None, remedy: None }
}
