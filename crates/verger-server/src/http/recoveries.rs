//! How the work of a task is taken up again.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde_json::json;
use verger_api::{List, RecoverRequest, RecoveryQuery, RecoveryStatus, read_body};
use verger_core::id::{Actor, AgentId, TaskId};
use verger_core::notice::{Notice, NoticeError};
use verger_core::recovery::{Order, OrderError};
use verger_store::{AuditLine, Moment};

use super::asker::Asker;
use super::named::{Named, checked, kept_text};
use super::notice::notice;
use super::page;
use super::received::Received;
use super::routes::Routes;
use super::tasks::may_see;
use super::told::{Told, Who};
use super::{App, Refusal};
use crate::access::{Denied, Right};
use crate::wire;

pub(super) fn routes() -> Routes {
    let list = Told::new("listRecoveries", "tasks", "Recoveries, by task", Who::Reader);
    let get = Told::new("getRecovery", "tasks", "How the recovery of a task stands", Who::AgentOrReader);
    let post = Told::new("recoverTask", "tasks", "Recover a task now", Who::Admin);
    Routes::new()
        .get(
            "/v1/recoveries",
            self::list,
            list.query::<RecoveryQuery>().answers(200, "A page.", "List_RecoveryStatus"),
        )
        .get("/v1/tasks/{id}/recovery", one, get.answers(200, "The recovery.", "RecoveryStatus"))
        .post(
            "/v1/tasks/{id}/recover",
            recover,
            post.body("RecoverRequest").answers(202, "It is on its way.", "RecoveryStatus").refuses(409),
        )
}

async fn list(
    State(app): State<App>,
    Asker(caller): Asker,
    query: Result<Query<RecoveryQuery>, QueryRejection>,
) -> Result<Json<List<RecoveryStatus>>, Refusal> {
    caller.may(Right::Read)?;
    let Query(query) = query?;
    let (name, limit) = (format!("recoveries {:?}", query.status), page::limit(query.limit)?);
    let after = page::after(&app, &name, query.cursor.as_ref())?.map(TaskId::from);
    let look = app.monitor.look(move |fleet, calendar| {
        let views = fleet.recoveries().views(after.as_ref(), &fleet.policies().recovery);
        let told = views.map(|view| wire::recovery(&view, calendar));
        let asked = told.filter(|told| query.status.is_none_or(|status| status == told.status));
        asked.take(limit + 1).collect::<Vec<_>>()
    });
    Ok(Json(page::page(&app, &name, look.await?, limit, |last| last.task_id.clone())))
}

async fn one(
    State(app): State<App>,
    Asker(caller): Asker,
    Named(id): Named,
) -> Result<Json<RecoveryStatus>, Refusal> {
    let found = known(&app, &id).await?;
    let worker = found.as_ref().map(|found| AgentId::from(found.agent_id.as_str()));
    may_see(&caller, worker.as_ref())?;
    found.map(Json).ok_or_else(|| nothing(&id))
}

fn nothing(id: &str) -> Refusal {
    NoticeError::Recovery(OrderError::NothingToRecover(id.into())).into()
}

async fn known(app: &App, id: &str) -> Result<Option<RecoveryStatus>, Refusal> {
    let id = TaskId::from(id);
    let look = app.monitor.look(move |fleet, calendar| {
        let view = fleet.recoveries().view(&id, &fleet.policies().recovery);
        view.map(|view| wire::recovery(&view, calendar))
    });
    Ok(look.await?)
}

async fn recover(
    State(app): State<App>,
    Asker(caller): Asker,
    Named(id): Named,
    body: Result<Received, Refusal>,
) -> Result<(StatusCode, Json<RecoveryStatus>), Refusal> {
    caller.may(Right::Order)?;
    let asked: RecoverRequest = read_body(&body?)?;
    if let Some(from) = &asked.from_checkpoint {
        checked("fromCheckpoint", from, &app.limits)?;
    }
    let reason = asked.reason.map(|reason| kept_text("reason", &reason, &app.limits)).transpose()?;
    let by = caller.actor().ok_or(Denied::NoToken)?;
    let from = asked.from_checkpoint.as_deref().map(Into::into);
    let order = Order::Recover { from };
    notice(&app, Notice::Recovery { task: id.as_str().into(), by: by.clone(), order }).await?;
    if let Some(reason) = &reason {
        write_down(&app, by, &id, reason).await?;
    }
    let found = known(&app, &id).await?.ok_or_else(|| nothing(&id))?;
    Ok((StatusCode::ACCEPTED, Json(found)))
}

/// The core asks nobody why; the audit log keeps it.
async fn write_down(app: &App, actor: Actor, task: &str, reason: &str) -> Result<(), Refusal> {
    let look = app.monitor.look(|_, calendar| Moment { observed: calendar.now(), wall: calendar.wall_now() });
    let detail = json!({ "reason": reason }).to_string();
    let line = AuditLine {
        actor,
        action: "recover".to_owned(),
        target: format!("task {task}"),
        detail,
        at: look.await?,
    };
    app.monitor.archive().add_audit(line).await?;
    Ok(())
}
