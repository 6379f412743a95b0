//! What people order about an agent: remind it, ask about it, decide, end it.
//!
//! The answer is made of what was recorded: an intervention bears the name that its events have.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use verger_api::{
    self as api, DecisionRequest, Delivery, EscalateRequest, EventType, HttpError, Intervention,
    InterventionKind, NudgeRequest, TerminateRequest, Time, read_body,
};
use verger_core::command::{Decision, Order};
use verger_core::time::Span;
use verger_store::{EventQuery, JournalEvent};

use super::agents::order;
use super::asker::Asker;
use super::events::blocking;
use super::named::{Named, kept_text};
use super::received::Received;
use super::routes::Routes;
use super::signed::{self, Signed};
use super::told::{Told, Who};
use super::{App, Refusal};
use crate::access::{Caller, Right};
use crate::monitor::wall_now;

type Body = Result<Received, Refusal>;

pub(super) fn routes() -> Routes {
    let told = |id, summary, body| {
        let told = Told::new(id, "interventions", summary, Who::Admin).body(body);
        told.answers(202, "It is ordered, and on disk.", "Intervention").refuses(409).refuses(429)
    };
    Routes::new()
        .post("/v1/agents/{id}/nudge", nudge, told("nudgeAgent", "Remind an agent", "NudgeRequest"))
        .post(
            "/v1/agents/{id}/escalate",
            escalate,
            told("escalateAgent", "Ask people about an agent", "EscalateRequest"),
        )
        .post(
            "/v1/agents/{id}/decision",
            decide,
            told("decideAgent", "Answer what people were asked", "DecisionRequest"),
        )
        .post(
            "/v1/agents/{id}/terminate",
            terminate,
            told("terminateAgent", "End an agent", "TerminateRequest"),
        )
}

async fn nudge(
    State(app): State<App>,
    Asker(caller): Asker,
    Named(id): Named,
    body: Body,
) -> Result<Response, Refusal> {
    caller.may(Right::Order)?;
    let asked: NudgeRequest = read_body(&body?)?;
    let text = asked.message.as_deref().map(|text| written(&app, "message", text)).transpose()?;
    intervene(&app, &caller, id, asked.incarnation, Order::Nudge { text }).await
}

async fn escalate(
    State(app): State<App>,
    Asker(caller): Asker,
    Named(id): Named,
    body: Body,
) -> Result<Response, Refusal> {
    caller.may(Right::Order)?;
    let asked: EscalateRequest = read_body(&body?)?;
    let reason = written(&app, "reason", &asked.reason)?;
    intervene(&app, &caller, id, asked.incarnation, Order::Escalate { reason }).await
}

async fn terminate(
    State(app): State<App>,
    Asker(caller): Asker,
    Named(id): Named,
    body: Body,
) -> Result<Response, Refusal> {
    caller.may(Right::Order)?;
    let asked: TerminateRequest = read_body(&body?)?;
    let reason = written(&app, "reason", &asked.reason)?;
    intervene(&app, &caller, id, asked.incarnation, Order::Terminate { reason }).await
}

/// By whoever may order, or by whoever directs the agents, with a signature instead of a token (L21). A signature is
/// enough from another machine too, and what it orders is recorded under its name.
async fn decide(
    State(app): State<App>,
    Signed { stamp, asked }: Signed,
    Named(id): Named,
    body: Body,
) -> Result<Response, Refusal> {
    let (caller, body) = match stamp {
        Some(stamp) => {
            let body = body?;
            (signed::orchestrator(&app, &stamp, &id, &body, &asked)?, body)
        }
        None => (asked.caller?, body?),
    };
    caller.may(Right::Order)?;
    let asked: DecisionRequest = read_body(&body)?;
    let decision = match asked.decision {
        api::Decision::AllowMoreTime => Decision::AllowMoreTime(asked.until.map(from_now)),
        api::Decision::ForceHandoff => Decision::ForceHandoff,
        api::Decision::TerminateAndRecover => Decision::TerminateAndRecover,
    };
    let reason = written(&app, "reason", &asked.reason)?;
    intervene(&app, &caller, id, asked.incarnation, Order::Decide { decision, reason }).await
}

fn written(app: &App, field: &str, text: &str) -> Result<Arc<str>, Refusal> {
    kept_text(field, text, &app.limits).map(Into::into)
}

fn from_now(until: Time) -> Span {
    Span::millis(u64::try_from(until.as_millis().saturating_sub(wall_now().0)).unwrap_or(0))
}

/// Carries the order out, and tells what was recorded of it.
async fn intervene(
    app: &App,
    caller: &Caller,
    id: String,
    incarnation: Option<u32>,
    what: Order,
) -> Result<Response, Refusal> {
    let (kind, recorded_as) = match &what {
        Order::Nudge { .. } => (InterventionKind::Nudge, EventType::NudgeSent),
        Order::Escalate { .. } => (InterventionKind::Escalation, EventType::EscalationTriggered),
        Order::Decide { .. } => (InterventionKind::Decision, EventType::EscalationDecided),
        _ => (InterventionKind::Termination, EventType::TerminationOrdered),
    };
    order(app, caller, &id, incarnation, what).await?;
    let newest = EventQuery {
        agent: Some(id.into()),
        kind: Some(recorded_as.as_str().to_owned()),
        limit: 1,
        ..EventQuery::default()
    };
    let archive = app.monitor.archive().clone();
    let recorded = blocking(move || archive.events(&newest)).await?;
    let told = recorded.first().and_then(|event| told(kind, event));
    let told = told.ok_or_else(|| Refusal::http(HttpError::Internal, "what was ordered was not recorded"))?;
    Ok((StatusCode::ACCEPTED, Json(told)).into_response())
}

/// An intervention out of the event that recorded it.
fn told(kind: InterventionKind, event: &JournalEvent) -> Option<Intervention> {
    let (agent, life) = event.agent.as_ref()?;
    let body: Value = serde_json::from_str(&event.body).ok()?;
    let text = |name: &str| body["data"][name].as_str().map(ToOwned::to_owned);
    Some(Intervention {
        id: text("id").unwrap_or_else(|| event.id.to_string()),
        kind,
        agent_id: agent.to_string(),
        incarnation: life.0,
        delivery: Delivery::Queued,
        attempt: body["data"]["attempt"].as_u64().and_then(|attempt| u32::try_from(attempt).ok()),
        message: text("message"),
        reason: text("reason").or_else(|| text("text")),
        by: text("by"),
        created_at: Time::from_millis(event.at.wall.0),
    })
}
