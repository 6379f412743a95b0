//! The monitor's own health. Whoever asks needs no token.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use verger_api::{Health, Missing, Readiness};

use super::App;
use super::routes::Routes;
use super::told::{Told, Who};

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
    let readiness = Readiness::of(missing(&app));
    let status = if readiness.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(readiness)).into_response()
}

/// What keeps the monitor from doing its work.
pub(super) fn missing(app: &App) -> Vec<Missing> {
    let pulse = app.monitor.pulse();
    let mut missing = Vec::new();
    if pulse.turns() == 0 {
        missing.push(part("engine", "it has not begun to watch yet".to_owned()));
    } else if pulse.age() > STILL_MAX {
        missing.push(part("engine", format!("it has not looked for {} s", pulse.age().as_secs())));
    }
    if pulse.store_failed() {
        let why = pulse.trouble().borrow().as_ref().map_or_else(String::new, |why| format!(" ({why})"));
        missing.push(part("store", format!("it cannot be written{why}; nothing is decided meanwhile")));
    }
    missing
}

fn part(part: &str, text: String) -> Missing {
    Missing { part: part.to_owned(), text }
}
