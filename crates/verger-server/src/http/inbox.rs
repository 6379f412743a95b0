//! What waits for an agent, handed over: with the reply to a heartbeat, when it asks, or as a [stream](inbox_stream).

use std::time::Duration;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use verger_api::{InboxQuery, List, PendingItem, PendingKind, Time};
use verger_core::effect::Outcome;
use verger_core::id::{AgentId, Incarnation};

use super::asker::Asker;
use super::named::Named;
use super::pass::Pass;
use super::routes::Routes;
use super::told::{Told, Who};
use super::{App, Refusal, inbox_stream};
use crate::access::{Caller, Right};
use crate::monitor::{Item, Kind, Manner, wall_now};

/// Nobody waits longer than this at once: what lies between would cut it off.
const WAIT_MAX: Duration = Duration::from_mins(1);

pub(super) fn routes() -> Routes {
    let told = Told::new("getInbox", "agents", "What waits for an agent; it counts as delivered", Who::Agent);
    let told = told.query::<InboxQuery>().answers(200, "All of it.", "List_PendingItem");
    Routes::new().get("/v1/agents/{id}/inbox", inbox, told)
}

async fn inbox(
    State(app): State<App>,
    Asker(caller): Asker,
    pass: Pass,
    Named(id): Named,
    headers: HeaderMap,
    query: Result<Query<InboxQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let agent = AgentId::from(id.as_str());
    caller.may(Right::Own(&agent))?;
    let Query(query) = query?;
    let present = life(&app, &agent).await?.ok_or_else(|| Refusal::unknown_agent(&id))?;
    if query.incarnation.is_some_and(|asks| Incarnation(asks) < present) {
        return Ok(Json(List::whole(vec![superseded_item()])).into_response());
    }
    if wants_stream(&headers) {
        return inbox_stream::stream(app, pass, agent, present, query.incarnation.is_some());
    }
    let wait =
        query.wait.map_or(Duration::ZERO, |wait| Duration::from_millis(wait.as_millis())).min(WAIT_MAX);
    if wait.is_zero() {
        return Ok(Json(List::whole(waiting(&app, &agent).await?)).into_response());
    }
    // A person who looks on does not listen for the agent.
    let _presence =
        matches!(caller, Caller::Agent(_)).then(|| app.monitor.listen(&agent, present, Manner::Poll));
    // Whether something came or the time is up, what is there is handed over.
    let listener = app.monitor.pending().listen(&agent);
    let _ = tokio::time::timeout(wait, listener.ready()).await;
    Ok(Json(List::whole(waiting(&app, &agent).await?)).into_response())
}

/// Whether it is to be told as things come, over a connection that stays open.
fn wants_stream(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or("");
    accept.contains("text/event-stream")
}

/// The present life of an agent, if it is registered.
pub(super) async fn life(app: &App, agent: &AgentId) -> Result<Option<Incarnation>, Refusal> {
    let agent = agent.clone();
    let look = app
        .monitor
        .look(move |fleet, calendar| fleet.view(calendar.now(), &agent).map(|view| view.incarnation));
    Ok(look.await?)
}

/// Takes what waits for an agent; it counts as delivered, for the reply is on its way.
pub(super) async fn waiting(app: &App, agent: &AgentId) -> Result<Vec<PendingItem>, Refusal> {
    let Some(life) = life(app, agent).await? else { return Ok(Vec::new()) };
    let handover = app.monitor.hand_over(agent, life).await;
    let items = handover.items().iter().map(pending_item).collect();
    for key in handover.done() {
        app.monitor.report(key, Outcome::Delivered);
    }
    Ok(items)
}

pub(super) fn pending_item(item: &Item) -> PendingItem {
    let kind = match item.kind {
        Kind::Nudge => PendingKind::Nudge,
        Kind::Ping => PendingKind::Ping,
        Kind::Cancel => PendingKind::Cancel,
        Kind::Handoff => PendingKind::Handoff,
    };
    PendingItem {
        id: item.key.to_string(),
        kind,
        message: Some(item.text.to_string()),
        attempt: item.attempt.into(),
        created_at: Time::from_millis(item.since.0),
        seq: (item.kind == Kind::Ping).then_some(item.key.seq),
        interval_seconds: None,
    }
}

/// An earlier life is told that another one runs.
pub(super) fn superseded_item() -> PendingItem {
    PendingItem {
        id: "superseded".to_owned(),
        kind: PendingKind::Superseded,
        message: Some("Another life of this agent runs; end yourself.".to_owned()),
        attempt: 1,
        created_at: Time::from_millis(wall_now().0),
        seq: None,
        interval_seconds: None,
    }
}
