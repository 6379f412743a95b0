//! How an agent was over time, and its last heartbeat.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use verger_api::{HealthSnapshot, Heartbeat, HistoryQuery, HttpError, HumanDuration, List};
use verger_core::id::AgentId;
use verger_core::time::WallTime;

use super::asker::Asker;
use super::events::blocking;
use super::named::Named;
use super::routes::Routes;
use super::told::{Told, Who};
use super::{App, Refusal, page};
use crate::access::Right;
use crate::history::Stretch;
use crate::monitor::wall_now;
use crate::wire;

/// Snapshots on one page, unless it is asked for fewer: a day of an agent is 1,440 and its changes of state.
const PAGE: usize = 2_000;
/// Snapshots on one page at most.
const PAGE_MAX: usize = 10_000;
/// How far a history goes back, unless it is said.
const DAY: u64 = 86_400;

pub(super) fn routes() -> Routes {
    let history =
        Told::new("getAgentHistory", "agents", "How an agent was, oldest first", Who::AgentOrReader);
    let beat = Told::new("getLastHeartbeat", "agents", "An agent's last heartbeat", Who::AgentOrReader);
    Routes::new()
        .get(
            "/v1/agents/{id}/history",
            history_of,
            history.query::<HistoryQuery>().answers(200, "A page.", "List_HealthSnapshot"),
        )
        .get(
            "/v1/agents/{id}/heartbeat",
            heartbeat,
            beat.answers(200, "When it came, and the totals it told.", "Heartbeat"),
        )
}

async fn history_of(
    State(app): State<App>,
    Asker(caller): Asker,
    Named(id): Named,
    query: Result<Query<HistoryQuery>, QueryRejection>,
) -> Result<Json<List<HealthSnapshot>>, Refusal> {
    let agent = AgentId::from(id.as_str());
    caller.may(Right::See(&agent))?;
    let Query(query) = query?;
    let list = format!("history {id}");
    let back = query.duration.unwrap_or_else(|| HumanDuration::from_secs(DAY));
    let from = match page::after_number(&app, &list, query.cursor.as_ref())? {
        Some(end) => end + 1,
        None => wall_now().0.saturating_sub(millis(back)),
    };
    let limit = page::limit_within(query.limit, PAGE, PAGE_MAX)?;
    // Not until now: what happened before the clock was set back has happened all the same.
    let stretch = Stretch { agent: agent.clone(), from: WallTime(from), until: WallTime(i64::MAX), limit };
    let archive = app.monitor.archive().clone();
    let (items, has_more) = blocking(move || stretch.read(&archive)).await?;
    if items.is_empty() && !is_registered(&app, &agent).await? {
        return Err(Refusal::unknown_agent(&id));
    }
    let end = items.last().filter(|_| has_more);
    let next_cursor = end.map(|end| app.cursors.seal(&list, &end.at.as_millis().to_string()));
    Ok(Json(List { items, next_cursor }))
}

fn millis(duration: HumanDuration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// One that is not may still have a history.
async fn is_registered(app: &App, agent: &AgentId) -> Result<bool, Refusal> {
    let agent = agent.clone();
    Ok(app.monitor.look(move |fleet, calendar| fleet.view(calendar.now(), &agent).is_some()).await?)
}

async fn heartbeat(
    State(app): State<App>,
    Asker(caller): Asker,
    Named(id): Named,
) -> Result<Json<Heartbeat<'static>>, Refusal> {
    let agent = AgentId::from(id.as_str());
    caller.may(Right::See(&agent))?;
    let look = app.monitor.look(move |fleet, calendar| {
        fleet.view(calendar.now(), &agent).map(|view| wire::last_heartbeat(&view, calendar))
    });
    let known = look.await?.ok_or_else(|| Refusal::unknown_agent(&id))?;
    let never =
        || Refusal::http(HttpError::NoSuchAddress, format!("no heartbeat of `{id}` came in this life"));
    known.map(Json).ok_or_else(never)
}
