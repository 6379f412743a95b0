//! Circuit breakers: how they stand, and whether a call may be made.
//!
//! Names hold slashes (`{agent}/{kind}/{target}`), so one handler takes all that lies below `/v1/breakers/` and looks
//! for the verb at its end. An agent asks for its own breakers; those that are shared it reaches through its own, for
//! whoever may report failures to a shared one may have everybody's calls refused.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use verger_api::{
    BreakerQuery, BreakerState, CallReport, CircuitBreakerStatus, HttpError, List, Permit, read_body,
};
use verger_core::breaker::{self, BreakerName, CallResult};
use verger_core::fingerprint::ResultPrint;
use verger_core::fleet::Fleet;
use verger_core::id::AgentId;
use verger_core::notice::{BreakerNotice, Notice, NoticeError, Reply};
use verger_core::time::Span;

use super::asker::Asker;
use super::named::{Named, wrong_field};
use super::notice::notice;
use super::page;
use super::received::Received;
use super::refusal::no_such_address;
use super::routes::{Method, Routes};
use super::tasks::may_see;
use super::told::{Told, Who};
use super::{App, Refusal};
use crate::access::{Caller, Denied, Right};
use crate::monitor::Calendar;
use crate::wire;

/// Breakers that are looked at between two turns of the loop.
const LOOK_MAX: usize = 1_000;

pub(super) fn routes() -> Routes {
    let list = Told::new("listBreakers", "breakers", "Circuit breakers, by name", Who::AgentOrReader);
    let get = Told::new("getBreaker", "breakers", "One circuit breaker", Who::AgentOrReader);
    let acquire = Told::new("acquirePermit", "breakers", "Ask whether a call may be made", Who::Agent);
    let report = Told::new("reportCall", "breakers", "Tell what became of a call", Who::Agent);
    let reset = Told::new("resetBreaker", "breakers", "All is well with what is behind it", Who::Admin);
    Routes::new()
        .get(
            "/v1/breakers",
            self::list,
            list.query::<BreakerQuery>().answers(200, "A page.", "List_CircuitBreakerStatus"),
        )
        .under(
            Method::Get,
            "/v1/breakers/{*name}",
            one,
            vec![("/v1/breakers/{name}", get.answers(200, "The breaker.", "CircuitBreakerStatus"))],
        )
        .under(
            Method::Post,
            "/v1/breakers/{*name}",
            act,
            vec![
                ("/v1/breakers/{name}/acquire", acquire.answers(200, "It may.", "Permit")),
                (
                    "/v1/breakers/{name}/report",
                    report.body("CallReport").answers_nothing("It was taken in, or came too late to count."),
                ),
                ("/v1/breakers/{name}/reset", reset.answers(200, "It is closed.", "CircuitBreakerStatus")),
            ],
        )
}

async fn list(
    State(app): State<App>,
    Asker(caller): Asker,
    query: Result<Query<BreakerQuery>, QueryRejection>,
) -> Result<Json<List<CircuitBreakerStatus>>, Refusal> {
    caller.is_somebody()?;
    let Query(query) = query?;
    let agent = query.agent.as_deref().map(AgentId::from);
    may_see(&caller, agent.as_ref())?;
    let name = format!("breakers {:?} {:?}", query.agent, query.state);
    let limit = page::limit(query.limit)?;
    let mut after = match page::after(&app, &name, query.cursor.as_ref())? {
        Some(place) => Some(named(&place)?),
        None => None,
    };
    let mut found = Vec::new();
    loop {
        let (agent, from, state) = (agent.clone(), after.take(), query.state);
        let look = app
            .monitor
            .look(move |fleet, calendar| search(fleet, calendar, agent.as_ref(), from.as_ref(), state));
        let (mut breakers, next) = look.await?;
        found.append(&mut breakers);
        after = next;
        if limit < found.len() || after.is_none() {
            break;
        }
    }
    found.truncate(limit + 1);
    Ok(Json(page::page(&app, &name, found, limit, |last| last.name.clone())))
}

/// Those of so many breakers that are asked for, and after which to go on.
fn search(
    fleet: &Fleet,
    calendar: &Calendar,
    agent: Option<&AgentId>,
    after: Option<&BreakerName>,
    state: Option<BreakerState>,
) -> (Vec<CircuitBreakerStatus>, Option<BreakerName>) {
    let breakers = fleet.breakers();
    let (views, next) = if let Some(agent) = agent {
        let mut views = breakers.of_agent(calendar.now(), agent);
        views.retain(|view| after.is_none_or(|after| *after < view.name));
        (views, None)
    } else {
        let views = breakers.page(calendar.now(), after, LOOK_MAX);
        let next = views.last().filter(|_| views.len() == LOOK_MAX).map(|last| last.name.clone());
        (views, next)
    };
    let told = views.iter().map(|view| wire::breaker_status(view, calendar));
    (told.filter(|told| state.is_none_or(|state| state == told.state)).collect(), next)
}

/// What cannot be a name is no breaker's.
fn named(text: &str) -> Result<BreakerName, Refusal> {
    text.parse().map_err(|error| Refusal::http(HttpError::WrongQuery, format!("`{text}`: {error}")))
}

async fn one(
    State(app): State<App>,
    Asker(caller): Asker,
    Named(name): Named,
) -> Result<Json<CircuitBreakerStatus>, Refusal> {
    caller.is_somebody()?;
    let name = named(&name)?;
    may_see(&caller, name.agent().as_ref())?;
    known(&app, name).await.map(Json)
}

async fn known(app: &App, name: BreakerName) -> Result<CircuitBreakerStatus, Refusal> {
    let asked = name.clone();
    let look = app.monitor.look(move |fleet, calendar| {
        let view = fleet.breakers().view(calendar.now(), &asked);
        view.map(|view| wire::breaker_status(&view, calendar))
    });
    look.await?.ok_or_else(|| NoticeError::NoBreaker(name).into())
}

/// What is asked of, told to or ordered about a breaker: the last part of the address says which.
async fn act(
    State(app): State<App>,
    Asker(caller): Asker,
    Named(path): Named,
    uri: Uri,
    body: Result<Received, Refusal>,
) -> Result<Response, Refusal> {
    caller.is_somebody()?;
    let (name, verb) = path.rsplit_once('/').unwrap_or((&path, ""));
    match verb {
        "acquire" => acquire(&app, &caller, named(name)?).await,
        "report" => report(&app, &caller, named(name)?, &body?).await,
        "reset" => reset(&app, &caller, named(name)?).await,
        _ => Err(no_such_address(uri).await),
    }
}

/// Whether somebody may make calls through a breaker.
fn may_call(caller: &Caller, name: &BreakerName) -> Result<(), Denied> {
    match name.agent() {
        Some(agent) => caller.may(Right::Own(&agent)),
        None => caller.may(Right::Order),
    }
}

async fn acquire(app: &App, caller: &Caller, name: BreakerName) -> Result<Response, Refusal> {
    may_call(caller, &name)?;
    let asked = Notice::Breaker { name: name.clone(), what: BreakerNotice::Acquire };
    let Reply::Permit(permit) = notice(app, asked).await? else {
        return Err(Refusal::http(HttpError::Internal, "the breaker did not answer"));
    };
    let permit = app.cursors.seal(&sealed_for(&name), &permit.to_string());
    let expires = app.monitor.look(move |fleet, calendar| expiry(fleet, calendar, &name));
    Ok(Json(Permit { permit, expires_at: expires.await? }).into_response())
}

/// A permit is sealed for its breaker: nobody can make one up, or use it elsewhere.
fn sealed_for(name: &BreakerName) -> String {
    format!("permit {name}")
}

/// Calls that try whether it works again are waited for so long.
fn expiry(fleet: &Fleet, calendar: &Calendar, name: &BreakerName) -> Option<verger_api::Time> {
    let breakers = fleet.breakers();
    let view = breakers.view(calendar.now(), name)?;
    let wait = breakers.policies().of(name.kind()).permit_timeout;
    (view.state == breaker::State::HalfOpen).then(|| wire::time(calendar, calendar.now() + wait))
}

async fn report(app: &App, caller: &Caller, name: BreakerName, body: &[u8]) -> Result<Response, Refusal> {
    may_call(caller, &name)?;
    let told: CallReport = read_body(body)?;
    let opened = app.cursors.open(&sealed_for(&name), &told.permit).ok();
    let permit = opened.and_then(|text| text.parse().ok());
    let permit = permit.ok_or_else(|| wrong_field("permit", "it was not given for this breaker"))?;
    let what = BreakerNotice::Report { permit, outcome: outcome(&told) };
    notice(app, Notice::Breaker { name, what }).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// What an error says tells an outage from a failure.
fn outcome(told: &CallReport) -> breaker::Outcome {
    let took = told.duration_ms.map(Span::millis);
    let print = ResultPrint::of(told.error.as_deref().unwrap_or(""), !told.ok, took);
    let result = match (told.ok, print.outage) {
        (true, _) => CallResult::Ok,
        (false, true) => CallResult::Outage,
        (false, false) => CallResult::Failed,
    };
    breaker::Outcome { result, took }
}

async fn reset(app: &App, caller: &Caller, name: BreakerName) -> Result<Response, Refusal> {
    caller.may(Right::Order)?;
    let by = caller.actor().ok_or(Denied::NoToken)?;
    notice(app, Notice::Breaker { name: name.clone(), what: BreakerNotice::Reset { by } }).await?;
    known(app, name).await.map(|breaker| Json(breaker).into_response())
}
