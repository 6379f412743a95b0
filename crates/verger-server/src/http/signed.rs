//! Calls that are signed instead of bearing a token: the decisions of whoever directs the agents.
//!
//! The signature covers time, nonce and body, and not the address: so the body must name the agent that it decides
//! about, or a decision about one could be sent to another.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use serde_json::Value;
use verger_act::{SignatureError, Stamp};
use verger_api::{HttpError, read_body};
use verger_core::id::Actor;

use super::asker::{Asker, Named};
use super::{App, Refusal};
use crate::access::Caller;

/// Under which name its decisions are recorded.
const ORCHESTRATOR: &str = "orchestrator";

/// Who asks: by a signature, if there is one, else as everywhere.
pub(super) struct Signed {
    pub(super) stamp: Option<Stamp>,
    pub(super) asked: Asked,
}

/// Who asks without a signature, and where it is written down who it was with one.
pub(super) struct Asked {
    pub(super) caller: Result<Caller, Refusal>,
    named: Option<Named>,
}

impl FromRequestParts<App> for Signed {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let (stamp, named) = (stamp(&parts.headers), parts.extensions.get::<Named>().cloned());
        let caller = match &stamp {
            // Who it is, the signature says; whether it may be believed is known when the body is there.
            Some(_) => Ok(Caller::Nobody),
            None => Asker::from_request_parts(parts, app).await.map(|Asker(caller)| caller),
        };
        Ok(Self { stamp, asked: Asked { caller, named } })
    }
}

/// The signature that a request bears, if it bears one.
fn stamp(headers: &HeaderMap) -> Option<Stamp> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let signature = headers.get("verger-signature")?.to_str().unwrap_or_default().to_owned();
    Some(Stamp { timestamp: text("verger-timestamp"), nonce: text("verger-nonce"), signature })
}

/// Who signed this, if it is about this agent.
pub(super) fn orchestrator(
    app: &App,
    stamp: &Stamp,
    agent: &str,
    body: &[u8],
    asked: &Asked,
) -> Result<Caller, Refusal> {
    let named: Value = read_body(body)?;
    let about = named.get("agentId").or_else(|| named.get("agent_id")).and_then(Value::as_str);
    if about != Some(agent) {
        let detail = "a signed decision must name its agent in `agentId`, as in the address";
        return Err(Refusal::http(HttpError::WrongField, detail));
    }
    app.doorkeeper.is_orchestrator(stamp, body).map_err(|error| match error {
        SignatureError::TooMany => Refusal::http(HttpError::TooManyRequests, error.to_string()),
        error => Refusal::http(HttpError::BadToken, error.to_string()),
    })?;
    let caller = Caller::Admin(Actor::from(ORCHESTRATOR));
    if let Some(named) = &asked.named {
        named.set(&caller);
    }
    Ok(caller)
}
