//! Calls that are signed instead of bearing a token: the decisions of whoever directs the agents.
//!
//! The signature covers time, nonce and body, and not the address: so the body must name the agent that it decides
//! about, or a decision about one could be sent to another.

use axum::http::HeaderMap;
use serde_json::Value;
use verger_act::{SignatureError, Stamp};
use verger_api::{HttpError, read_body};
use verger_core::id::Actor;

use super::{App, Refusal};
use crate::access::Caller;

/// Under which name its decisions are recorded.
const ORCHESTRATOR: &str = "orchestrator";

/// The signature that a request bears, if it bears one.
pub(super) fn stamp(headers: &HeaderMap) -> Option<Stamp> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let signature = headers.get("verger-signature")?.to_str().unwrap_or_default().to_owned();
    Some(Stamp { timestamp: text("verger-timestamp"), nonce: text("verger-nonce"), signature })
}

/// Who signed this, if it is about this agent.
pub(super) fn orchestrator(app: &App, stamp: &Stamp, agent: &str, body: &[u8]) -> Result<Caller, Refusal> {
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
    Ok(Caller::Admin(Actor::from(ORCHESTRATOR)))
}
