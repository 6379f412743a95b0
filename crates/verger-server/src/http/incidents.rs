//! What is wrong and what was; and which alarms were false.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use verger_api::{
    Evidence, HttpError, Incident, IncidentQuery, IncidentState, List, Time, WrongMark, WrongRequest,
    read_body,
};
use verger_core::id::AgentId;
use verger_store::Moment;

use super::asker::Asker;
use super::events::blocking;
use super::named::{Named, kept_text};
use super::page;
use super::received::Received;
use super::routes::Routes;
use super::tasks::may_see;
use super::told::{Told, Who};
use super::{App, Refusal};
use crate::access::{Denied, Right};
use crate::wire;

pub(super) fn routes() -> Routes {
    let list =
        Told::new("listIncidents", "incidents", "What is wrong, and was, newest first", Who::AgentOrReader);
    let wrong = Told::new("markWrong", "events", "Say that an alarm was false", Who::Admin);
    Routes::new()
        .get(
            "/v1/incidents",
            self::list,
            list.query::<IncidentQuery>().answers(200, "A page.", "List_Incident"),
        )
        .post(
            "/v1/events/{id}/wrong",
            self::wrong,
            wrong.body("WrongRequest").answers(200, "It is marked.", "WrongMark").refuses(409),
        )
}

async fn list(
    State(app): State<App>,
    Asker(caller): Asker,
    query: Result<Query<IncidentQuery>, QueryRejection>,
) -> Result<Json<List<Incident>>, Refusal> {
    caller.is_somebody()?;
    let Query(query) = query?;
    let agent = query.agent.as_deref().map(AgentId::from);
    may_see(&caller, agent.as_ref())?;
    let name = format!("incidents {:?} {:?}", query.agent, query.state);
    let limit = page::limit(query.limit)?;
    let asked = verger_store::IncidentQuery {
        open: query.state.map(|state| state == IncidentState::Open),
        agent,
        before: page::after_number(&app, &name, query.cursor.as_ref())?,
        limit: limit + 1,
    };
    let archive = app.monitor.archive().clone();
    let kept = blocking(move || archive.incidents(&asked)).await?;
    let found: Vec<Incident> = kept.iter().filter_map(wire::incident).collect();
    let mut page = page::page(&app, &name, found, limit, |last| last.id.clone());
    add_evidence(&app, &mut page.items).await?;
    Ok(Json(page))
}

/// What stands against an agent now is why its incidents are open.
async fn add_evidence(app: &App, incidents: &mut [Incident]) -> Result<(), Refusal> {
    let open = incidents.iter_mut().filter(|incident| incident.state == IncidentState::Open);
    let open: Vec<&mut Incident> = open.collect();
    let agents: Vec<AgentId> =
        open.iter().filter_map(|incident| incident.agent_id.as_deref()).map(AgentId::from).collect();
    if agents.is_empty() {
        return Ok(());
    }
    let look = app.monitor.look(move |fleet, calendar| {
        let found = agents.into_iter().filter_map(|agent| {
            let view = fleet.view(calendar.now(), &agent)?;
            Some((agent.to_string(), wire::findings(&view.evidence)))
        });
        found.collect::<BTreeMap<String, Vec<Evidence>>>()
    });
    let found = look.await?;
    for incident in open {
        let present = incident.agent_id.as_ref().and_then(|agent| found.get(agent));
        // Of one that stands against it no longer, what was found when it began.
        if let Some(present) = present.filter(|present| !present.is_empty()) {
            incident.evidence.clone_from(present);
        }
    }
    Ok(())
}

/// Only what alarmed somebody can have been a false alarm. One that the journal has forgotten is that of an open
/// incident, or of none.
async fn check_alarm(app: &App, event: i64) -> Result<(), Refusal> {
    let archive = app.monitor.archive().clone();
    let Some(kept) = blocking(move || archive.event(event)).await? else { return Ok(()) };
    if wire::is_alarm(&kept) {
        return Ok(());
    }
    let text = format!("event `{event}` ({}) alarmed nobody", kept.kind);
    Err(Refusal::http(HttpError::NoAlarm, text))
}

async fn wrong(
    State(app): State<App>,
    Asker(caller): Asker,
    Named(id): Named,
    body: Result<Received, Refusal>,
) -> Result<Json<WrongMark>, Refusal> {
    caller.may(Right::Order)?;
    let asked: WrongRequest = read_body(&body?)?;
    let none = || Refusal::http(HttpError::NoSuchEvent, format!("no event `{id}` is kept"));
    let event: i64 = id.parse().map_err(|_| none())?;
    check_alarm(&app, event).await?;
    let by = caller.actor().ok_or(Denied::NoToken)?;
    let reason = asked.reason.map(|reason| kept_text("reason", &reason, &app.limits)).transpose()?;
    let look = app.monitor.look(|_, calendar| Moment { observed: calendar.now(), wall: calendar.wall_now() });
    let at = look.await?;
    let mark = verger_store::WrongMark { event, by: by.clone(), reason: reason.clone(), at };
    let marked = app.monitor.archive().mark_wrong(mark).await?.ok_or_else(none)?;
    Ok(Json(WrongMark {
        event_id: event.to_string(),
        agent_id: marked.agent.map(|agent| agent.to_string()),
        by: by.to_string(),
        at: Time::from_millis(at.wall.0),
        reason,
    }))
}
