//! `/openapi.json`: every address, with what goes in and what comes out.
//!
//! It holds nothing that is secret, and whoever generates a client has no token yet: on this machine anybody may read it.

use std::sync::OnceLock;

use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use utoipa::openapi::OpenApi;

use super::asker::Asker;
use super::routes::Routes;
use super::told::{Told, Who};

pub(super) fn routes() -> Routes {
    Routes::new().get(
        "/openapi.json",
        document,
        Told::new("getOpenapi", "monitor", "This document", Who::Anybody)
            .answers_object(200, "OpenAPI 3.1")
            .refuses(401),
    )
}

async fn document(_: Asker) -> impl IntoResponse {
    static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
    let document = DOCUMENT.get_or_init(|| serde_json::to_vec(&described()).unwrap_or_default().into());
    ([(CONTENT_TYPE, "application/json")], document.clone())
}

/// The types of the wire and the paths of the server.
pub(super) fn described() -> OpenApi {
    let mut document = verger_api::openapi();
    document.paths = super::table().paths;
    document
}
