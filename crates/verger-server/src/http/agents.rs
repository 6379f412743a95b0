//! Agents: how they are doing, and whether they should be given work.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use verger_api::{AgentHealth, AgentQuery, AgentReadiness, HttpError, List, Time};
use verger_core::AgentView;
use verger_core::command::{Command, Order};
use verger_core::fleet::Fleet;
use verger_core::id::AgentId;
use verger_engine::{Answer, Message};

use super::asker::Asker;
use super::events::blocking;
use super::named::Named;
use super::routes::Routes;
use super::told::{Told, Who};
use super::{App, Refusal, page};
use crate::access::{Caller, Right};
use crate::monitor::Calendar;
use crate::wire;

/// Agents that are looked at between two turns of the loop; a rare state is searched for in several looks.
const LOOK_MAX: usize = 10_000;

pub(super) fn routes() -> Routes {
    let list = Told::new("listAgents", "agents", "How agents are doing", Who::Reader);
    let get = Told::new("getAgent", "agents", "How one agent is doing", Who::AgentOrReader);
    let ready =
        Told::new("getAgentReady", "agents", "Whether it should be given work now", Who::AgentOrReader);
    let delete = Told::new("unregisterAgent", "agents", "Watch an agent no longer", Who::Admin);
    Routes::new()
        .get("/v1/agents", self::list, list.query::<AgentQuery>().answers(200, "A page.", "List_AgentHealth"))
        .get("/v1/agents/{id}", one, get.answers(200, "The agent.", "AgentHealth"))
        .delete("/v1/agents/{id}", unregister, delete.answers_nothing("It is forgotten."))
        .get(
            "/v1/agents/{id}/ready",
            self::ready,
            ready.answers(200, "It should.", "AgentReadiness").answers(
                503,
                "It should not.",
                "AgentReadiness",
            ),
        )
}

async fn list(
    State(app): State<App>,
    Asker(caller): Asker,
    query: Result<Query<AgentQuery>, QueryRejection>,
) -> Result<Json<List<AgentHealth>>, Refusal> {
    caller.may(Right::Read)?;
    let Query(query) = query?;
    let limit = page::limit(query.limit)?;
    let mut from = match &query.cursor {
        Some(cursor) => {
            let place = app.cursors.open("agents", cursor)?;
            place.parse().map_err(|_| Refusal::http(HttpError::WrongCursor, "the cursor cannot be read"))?
        }
        None => 0,
    };
    let mut items = Vec::new();
    loop {
        let (wanted, asked) = (limit - items.len(), query.clone());
        let look = app.monitor.look(move |fleet, calendar| search(fleet, calendar, from, wanted, &asked));
        let (mut found, next) = look.await?;
        items.append(&mut found);
        match next {
            Some(next) if items.len() < limit => from = next,
            _ => {
                let next_cursor = next.map(|next| app.cursors.seal("agents", &next.to_string()));
                let items = with_checkpoints(&app, items).await?;
                return Ok(Json(List { items, next_cursor }));
            }
        }
    }
}

/// Those of so many agents that are asked for; and where to go on.
fn search(
    fleet: &Fleet,
    calendar: &Calendar,
    from: u32,
    wanted: usize,
    query: &AgentQuery,
) -> (Vec<AgentHealth>, Option<u32>) {
    let (mut found, mut cursor, mut looked) = (Vec::new(), Some(from), 0);
    while let Some(at) = cursor.filter(|_| found.len() < wanted && looked < LOOK_MAX) {
        let (views, next) = fleet.page(calendar.now(), at, wanted - found.len());
        looked += views.len().max(1);
        cursor = next;
        let healths = views.iter().map(|view| health(fleet, calendar, view));
        found.extend(healths.filter(|health| is_asked_for(health, query)));
    }
    (found, cursor)
}

fn is_asked_for(health: &AgentHealth, query: &AgentQuery) -> bool {
    query.state.is_none_or(|state| state == health.state)
        && query.role.as_ref().is_none_or(|role| *role == health.role)
        && query.task.as_ref().is_none_or(|task| health.task_id.as_ref() == Some(task))
}

fn health(fleet: &Fleet, calendar: &Calendar, view: &AgentView) -> AgentHealth {
    let breakers = fleet.breakers().of_agent(calendar.now(), &view.id);
    wire::agent_health(view, &breakers, None, calendar)
}

/// How one agent is doing, for whoever may see that.
pub(super) async fn seen(app: &App, caller: &Caller, id: &str) -> Result<AgentHealth, Refusal> {
    let agent = AgentId::from(id);
    caller.may(Right::See(&agent))?;
    let look = app.monitor.look(move |fleet, calendar| {
        fleet.view(calendar.now(), &agent).map(|view| health(fleet, calendar, &view))
    });
    let health = look.await?.ok_or_else(|| Refusal::unknown_agent(id))?;
    let mut one = with_checkpoints(app, vec![health]).await?;
    Ok(one.remove(0))
}

/// With the times of their last checkpoints, which the store knows.
async fn with_checkpoints(app: &App, mut agents: Vec<AgentHealth>) -> Result<Vec<AgentHealth>, Refusal> {
    if agents.iter().all(|agent| agent.checkpoint_id.is_none()) {
        return Ok(agents);
    }
    let archive = app.monitor.archive().clone();
    let look_up = move || {
        for agent in &mut agents {
            if let Some(id) = &agent.checkpoint_id {
                let found = archive.checkpoint_info(&id.as_str().into())?;
                agent.last_checkpoint = found.map(|info| Time::from_millis(info.at.wall.0));
            }
        }
        Ok(agents)
    };
    blocking(look_up).await
}

async fn one(
    State(app): State<App>,
    Asker(caller): Asker,
    Named(id): Named,
) -> Result<Json<AgentHealth>, Refusal> {
    seen(&app, &caller, &id).await.map(Json)
}

async fn ready(State(app): State<App>, Asker(caller): Asker, Named(id): Named) -> Result<Response, Refusal> {
    let health = seen(&app, &caller, &id).await?;
    let status = if health.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let readiness = AgentReadiness { agent_id: id, ready: health.ready, reasons: reasons(&health) };
    Ok((status, Json(readiness)).into_response())
}

/// Why it should not be given work, in sentences.
fn reasons(health: &AgentHealth) -> Vec<String> {
    if health.ready {
        return Vec::new();
    }
    let mut reasons: Vec<String> = health.evidence.iter().map(|found| found.text.clone()).collect();
    if health.state != verger_api::HealthState::Healthy {
        reasons.insert(0, format!("it is {}", health.state.as_str()));
    }
    if let Some(waiting) = &health.waiting_on {
        reasons.push(format!("it waits on {}", waiting.kind.as_str()));
    }
    if let Some(step) = &health.intervention {
        reasons.push(format!("somebody sees to it ({})", step.step.as_str()));
    }
    if reasons.is_empty() {
        reasons.push(match &health.task_id {
            Some(task) => format!("it works on {task}"),
            None => "it is at work".to_owned(),
        });
    }
    reasons
}

async fn unregister(
    State(app): State<App>,
    Asker(caller): Asker,
    Named(id): Named,
) -> Result<StatusCode, Refusal> {
    caller.may(Right::Order)?;
    order(&app, &caller, &id, None, Order::Unregister).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Carries out what somebody orders about an agent; it is on disk when this is done.
pub(super) async fn order(
    app: &App,
    caller: &Caller,
    id: &str,
    incarnation: Option<u32>,
    order: Order,
) -> Result<(), Refusal> {
    let by = caller.actor().ok_or(crate::access::Denied::NoToken)?;
    let incarnation = incarnation.map(verger_core::id::Incarnation);
    let command = Command { agent: id.into(), incarnation, by, order };
    let answers = app.monitor.tell(vec![Message::Command(command)]).await?;
    match answers.into_iter().next() {
        Some(Answer::Ordered(result)) => Ok(result?),
        _ => Err(Refusal::http(HttpError::Internal, "the order was not answered")),
    }
}
