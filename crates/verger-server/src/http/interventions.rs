//! What people order about an agent: remind it, ask about it, decide, end it.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use verger_api::{
    self as api, DecisionRequest, Delivery, EscalateRequest, Intervention, InterventionKind, NudgeRequest,
    TerminateRequest, Time, read_body,
};
use verger_core::command::{Decision, Order};
use verger_core::time::Span;

use super::agents::{order, seen};
use super::asker::Asker;
use super::{App, Refusal};
use crate::access::{Caller, Right};
use crate::monitor::wall_now;

type Body = Result<Bytes, BytesRejection>;

pub(super) async fn nudge(
    State(app): State<App>,
    Asker(caller): Asker,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, Refusal> {
    caller.may(Right::Order)?;
    let asked: NudgeRequest = read_body(&body?)?;
    let text = asked.message.as_deref().map(Into::into);
    order(&app, &caller, &id, asked.incarnation, Order::Nudge { text }).await?;
    let said = Said { kind: InterventionKind::Nudge, message: asked.message, reason: None };
    said.answer(&app, &caller, &id).await
}

pub(super) async fn escalate(
    State(app): State<App>,
    Asker(caller): Asker,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, Refusal> {
    caller.may(Right::Order)?;
    let asked: EscalateRequest = read_body(&body?)?;
    let reason = asked.reason.as_str().into();
    order(&app, &caller, &id, asked.incarnation, Order::Escalate { reason }).await?;
    let said = Said { kind: InterventionKind::Escalation, message: None, reason: Some(asked.reason) };
    said.answer(&app, &caller, &id).await
}

pub(super) async fn terminate(
    State(app): State<App>,
    Asker(caller): Asker,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, Refusal> {
    caller.may(Right::Order)?;
    let asked: TerminateRequest = read_body(&body?)?;
    let reason = asked.reason.as_str().into();
    order(&app, &caller, &id, asked.incarnation, Order::Terminate { reason }).await?;
    let said = Said { kind: InterventionKind::Termination, message: None, reason: Some(asked.reason) };
    said.answer(&app, &caller, &id).await
}

pub(super) async fn decide(
    State(app): State<App>,
    Asker(caller): Asker,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, Refusal> {
    caller.may(Right::Order)?;
    let asked: DecisionRequest = read_body(&body?)?;
    let decision = match asked.decision {
        api::Decision::AllowMoreTime => Decision::AllowMoreTime(asked.until.map(from_now)),
        api::Decision::ForceHandoff => Decision::ForceHandoff,
        api::Decision::TerminateAndRecover => Decision::TerminateAndRecover,
    };
    let reason = asked.reason.as_str().into();
    order(&app, &caller, &id, asked.incarnation, Order::Decide { decision, reason }).await?;
    let said = Said { kind: InterventionKind::Decision, message: None, reason: Some(asked.reason) };
    said.answer(&app, &caller, &id).await
}

fn from_now(until: Time) -> Span {
    Span::millis(u64::try_from(until.as_millis().saturating_sub(wall_now().0)).unwrap_or(0))
}

/// What was ordered.
struct Said {
    kind: InterventionKind,
    message: Option<String>,
    reason: Option<String>,
}

impl Said {
    /// It is on disk, and on its way.
    async fn answer(self, app: &App, caller: &Caller, id: &str) -> Result<Response, Refusal> {
        let now = wall_now();
        let health = seen(app, caller, id).await?;
        let intervention = Intervention {
            id: format!("{id}#{}/{}/{}", health.incarnation, self.kind.as_str(), now.0),
            kind: self.kind,
            agent_id: id.to_owned(),
            incarnation: health.incarnation,
            delivery: Delivery::Queued,
            attempt: health.intervention.and_then(|step| step.attempt),
            message: self.message,
            reason: self.reason,
            by: caller.actor().map(|by| by.to_string()),
            created_at: Time::from_millis(now.0),
        };
        Ok((StatusCode::ACCEPTED, Json(intervention)).into_response())
    }
}
