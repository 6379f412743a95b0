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
mod breakers;
mod checkpoints;
mod events;
mod exposition;
mod fleet;
mod front;
mod grpc;
mod health;
mod history;
mod inbox;
mod inbox_stream;
mod incidents;
mod ingest;
mod interventions;
mod metrics;
mod named;
mod notice;
mod once;
mod openapi;
mod page;
mod pass;
mod received;
mod recoveries;
mod refusal;
mod reported;
mod routes;
mod sessions;
mod settings;
mod signed;
mod tail;
mod tasks;
mod tokens;
mod told;
mod traced;

use axum::Router;
use axum::middleware;
use axum::routing::post;

pub use app::{App, Parts};
pub(crate) use health::{meaning, missing};
pub(crate) use refusal::Refusal;

use routes::Routes;

/// Every address, with what is said of it.
fn table() -> Routes {
    layered().and(ingest::routes())
}

/// All but those of what is [reported] by the thousand: one function for each resource.
fn layered() -> Routes {
    openapi::routes()
        .and(front::routes())
        .and(health::routes())
        .and(fleet::routes())
        .and(agents::routes())
        .and(settings::routes())
        .and(history::routes())
        .and(events::routes())
        .and(inbox::routes())
        .and(interventions::routes())
        .and(tasks::routes())
        .and(recoveries::routes())
        .and(breakers::routes())
        .and(incidents::routes())
        .and(checkpoints::routes())
        .and(tokens::routes())
        .and(sessions::routes())
        .and(audit::routes())
        .and(metrics::routes())
        .and(backup::routes())
}

/// Everything that is served.
pub fn router(app: App) -> Router {
    let reports = ingest::routes().router.method_not_allowed_fallback(reported::wrong_method);
    layered()
        .router
        .route("/grpc.health.v1.Health/Check", post(grpc::check))
        .route("/grpc.health.v1.Health/List", post(grpc::list))
        .route("/grpc.health.v1.Health/Watch", post(grpc::watch))
        .fallback(refusal::no_such_address)
        .method_not_allowed_fallback(refusal::wrong_method)
        // Innermost: what an order does is done on a task of its own.
        .layer(middleware::from_fn_with_state(app.clone(), traced::trace))
        .layer(middleware::from_fn_with_state(app.clone(), asker::check_origin))
        .layer(middleware::from_fn_with_state(app.clone(), health::say_what_is_unwritten))
        .layer(middleware::from_fn_with_state(auditor::Auditor::new(app.clone()), auditor::audit))
        .merge(reports)
        .with_state(app)
}

#[cfg(test)]
mod tests;
