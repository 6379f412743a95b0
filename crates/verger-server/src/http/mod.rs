//! The HTTP face: one file per resource, each a few short handlers.
//!
//! ```text
//! request ─► host and origin ─► who asks ─► may they? ─► parse ─► Monitor ─► answer, or a problem document
//!                                                                    └─► orders and refusals ─► audit
//! ```

mod agents;
mod app;
mod asker;
mod audit;
mod auditor;
mod backup;
mod checkpoints;
mod events;
mod exposition;
mod grpc;
mod health;
mod inbox;
mod inbox_stream;
mod ingest;
mod interventions;
mod metrics;
mod refusal;
mod sessions;
mod signed;
mod tokens;

use axum::Router;
use axum::middleware;
use axum::routing::{delete, get, post};

pub use app::{App, Parts};
pub(crate) use refusal::Refusal;

/// Everything that is served.
pub fn router(app: App) -> Router {
    Router::new()
        .route("/health", get(health::health))
        .route("/ready", get(health::ready))
        .route("/v1/heartbeats", post(ingest::heartbeats))
        .route("/v1/signals", post(ingest::signals))
        .route("/v1/agents", get(agents::list))
        .route("/v1/agents/{id}", get(agents::one).delete(agents::unregister))
        .route("/v1/agents/{id}/ready", get(agents::ready))
        .route("/v1/agents/{id}/events", get(events::of_agent))
        .route("/v1/agents/{id}/inbox", get(inbox::inbox))
        .route("/v1/events", get(events::stream))
        .route("/v1/agents/{id}/nudge", post(interventions::nudge))
        .route("/v1/agents/{id}/escalate", post(interventions::escalate))
        .route("/v1/agents/{id}/decision", post(interventions::decide))
        .route("/v1/agents/{id}/terminate", post(interventions::terminate))
        .route("/v1/checkpoints", post(checkpoints::save))
        .route("/v1/checkpoints/{id}", get(checkpoints::one))
        .route("/v1/tasks/{id}/checkpoints", get(checkpoints::of_task))
        .route("/v1/backup", post(backup::make))
        .route("/v1/tokens", get(tokens::list).post(tokens::create))
        .route("/v1/tokens/{id}", delete(tokens::revoke))
        .route("/v1/audit", get(audit::list))
        .route("/v1/sessions", post(sessions::create))
        .route("/v1/sessions/current", get(sessions::current).delete(sessions::sign_out))
        .route("/signin", get(sessions::sign_in))
        .route("/metrics", get(metrics::metrics))
        .route("/grpc.health.v1.Health/Check", post(grpc::check))
        .route("/grpc.health.v1.Health/List", post(grpc::list))
        .route("/grpc.health.v1.Health/Watch", post(grpc::watch))
        .fallback(refusal::no_such_address)
        .method_not_allowed_fallback(refusal::wrong_method)
        .layer(axum::extract::DefaultBodyLimit::max(app::BODY_MAX))
        .layer(middleware::from_fn_with_state(app.clone(), asker::check_origin))
        .layer(middleware::from_fn_with_state(auditor::Auditor::new(app.clone()), auditor::audit))
        .with_state(app)
}

#[cfg(test)]
mod tests;
