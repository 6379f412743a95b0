//! A copy of everything, made while the monitor works: `verger backup FILE`.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use verger_api::{HttpError, read_body};

use super::asker::Asker;
use super::events::blocking;
use super::received::Received;
use super::routes::Routes;
use super::told::{Told, Who};
use super::{App, Refusal};
use crate::access::Right;
use crate::monitor::told;

pub(super) fn routes() -> Routes {
    let told =
        Told::new("makeBackup", "monitor", "Copy everything into a file while the monitor runs", Who::Admin);
    Routes::new().post(
        "/v1/backup",
        make,
        told.body_object().answers_object(201, "What was copied.").refuses(409),
    )
}

/// The file is made by the monitor, on its machine, and must not be there yet.
async fn make(
    State(app): State<App>,
    Asker(caller): Asker,
    body: Result<Received, Refusal>,
) -> Result<Response, Refusal> {
    caller.may(Right::Order)?;
    let asked: Value = read_body(&body?)?;
    let file = asked["file"].as_str().map(PathBuf::from).filter(|file| file.is_absolute());
    let file = file.ok_or_else(|| Refusal::http(HttpError::WrongField, "file must be an absolute path"))?;
    let (archive, to) = (app.monitor.archive().clone(), file.clone());
    let exists = to.try_exists().unwrap_or(false);
    if exists {
        let text = format!("there is a file {} already", to.display());
        return Err(Refusal::http(HttpError::FileExists, text));
    }
    let made = blocking(move || Ok(archive.backup(&to))).await?;
    let made = made.map_err(|error| match error {
        // Whoever asked named the place.
        verger_store::Error::File { .. } => Refusal::http(HttpError::WrongField, told(&error)),
        error => error.into(),
    })?;
    let told = json!({
        "file": file, "bytes": made.bytes, "checkpoints": made.bodies, "checkpointsLost": made.lost,
    });
    Ok((StatusCode::CREATED, Json(told)).into_response())
}
