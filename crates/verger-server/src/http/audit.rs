//! The audit log, page by page, the newest first.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use verger_api::{AnyJson, AuditEntry, AuditQuery, HttpError, List, Time};

use super::asker::Asker;
use super::events::blocking;
use super::routes::Routes;
use super::told::{Told, Who};
use super::{App, Refusal, page};
use crate::access::Right;

pub(super) fn routes() -> Routes {
    let list = Told::new("listAudit", "access", "Who did what, newest first", Who::Reader);
    Routes::new().get(
        "/v1/audit",
        self::list,
        list.query::<AuditQuery>().answers(200, "A page.", "List_AuditEntry"),
    )
}

async fn list(
    State(app): State<App>,
    Asker(caller): Asker,
    query: Result<Query<AuditQuery>, QueryRejection>,
) -> Result<Json<List<AuditEntry>>, Refusal> {
    caller.may(Right::Read)?;
    let Query(query) = query?;
    let limit = page::limit(query.limit)?;
    let before = match &query.cursor {
        Some(cursor) => Some(place(&app, cursor)?),
        None => None,
    };
    let archive = app.monitor.archive().clone();
    let lines = blocking(move || archive.audit_before(before, limit + 1)).await?;
    let items = lines.into_iter().map(told).collect::<Result<Vec<_>, _>>()?;
    Ok(Json(List::page(items, limit, |last| app.cursors.seal("audit", &last.number.to_string()))))
}

fn place(app: &App, cursor: &str) -> Result<i64, Refusal> {
    let unreadable = |_| Refusal::http(HttpError::WrongCursor, "the cursor cannot be read");
    app.cursors.open("audit", cursor)?.parse().map_err(unreadable)
}

fn told(entry: verger_store::AuditEntry) -> Result<AuditEntry, Refusal> {
    let number = entry.number;
    let damaged = |_| Refusal::http(HttpError::Storage, format!("line {number} of the audit cannot be read"));
    Ok(AuditEntry {
        number,
        at: Time::from_millis(entry.line.at.wall.0),
        actor: entry.line.actor.as_str().to_owned(),
        action: entry.line.action,
        target: entry.line.target,
        detail: AnyJson::from_text(entry.line.detail).map_err(damaged)?,
        seal: blake3::Hash::from_bytes(entry.seal).to_hex().to_string(),
    })
}
