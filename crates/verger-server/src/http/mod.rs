//! The HTTP face: one file per resource, each a few short handlers.
//!
//! ```text
//! request ─► host and origin ─► who asks ─► may they? ─► parse ─► Monitor ─► answer, or a problem document
//! ```

mod agents;
mod app;
mod asker;
mod breakers;
mod events;
mod fleet;
mod health;
mod history;
mod inbox;
mod incidents;
mod ingest;
mod interventions;
mod named;
mod notice;
mod openapi;
mod page;
mod recoveries;
mod refusal;
mod routes;
mod settings;
mod tasks;
mod told;

use axum::Router;
use axum::middleware;

pub use app::{App, Parts};
pub(crate) use refusal::Refusal;

use routes::Routes;

/// Every address, with what is said of it: one function for each resource.
fn table() -> Routes {
    openapi::routes()
        .and(health::routes())
        .and(ingest::routes())
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
}

/// Everything that is served.
pub fn router(app: App) -> Router {
    table()
        .router
        .fallback(refusal::no_such_address)
        .method_not_allowed_fallback(refusal::wrong_method)
        .layer(axum::extract::DefaultBodyLimit::max(app::BODY_MAX))
        .layer(middleware::from_fn_with_state(app.clone(), asker::check_origin))
        .with_state(app)
}

#[cfg(test)]
mod tests;
