//! Tokens: made, listed and revoked. A secret is in one answer, and never again anywhere.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use verger_api::{self as api, CreatedToken, HttpError, List, NewToken, Scope, Time, read_body};
use verger_core::time::WallTime;
use verger_store::Token;

use super::asker::Asker;
use super::events::blocking;
use super::named::Named;
use super::received::Received;
use super::routes::Routes;
use super::told::{Told, Who};
use super::{App, Refusal};
use crate::access::{Right, Secret};
use crate::monitor::wall_now;

/// Letters of a label: it is for people to read.
const LABEL_MAX: usize = 200;

pub(super) fn routes() -> Routes {
    let list = Told::new("listTokens", "access", "All tokens, without their secrets", Who::Reader);
    let create =
        Told::new("createToken", "access", "Make a token; its secret is shown this once", Who::Admin);
    let revoke = Told::new("revokeToken", "access", "A token opens nothing any more", Who::Admin);
    Routes::new()
        .get("/v1/tokens", self::list, list.answers(200, "All of them.", "List_Token"))
        .post(
            "/v1/tokens",
            self::create,
            create.body("NewToken").answers(201, "The token, with its secret.", "CreatedToken"),
        )
        .delete("/v1/tokens/{id}", self::revoke, revoke.answers_nothing("It is revoked."))
}

async fn create(
    State(app): State<App>,
    Asker(caller): Asker,
    body: Result<Received, Refusal>,
) -> Result<Response, Refusal> {
    caller.may(Right::Order)?;
    let wanted: NewToken = read_body(&body?)?;
    check(&wanted, app.limits.name_bytes)?;
    let no_randomness = |_| Refusal::http(HttpError::Internal, "the operating system gave no randomness");
    let secret = Secret::new().map_err(no_randomness)?;
    let now = wall_now();
    let expires = wanted.expires_in.map(|lasts| after(now, lasts.as_millis()));
    let token = Token {
        id: name_of(&secret),
        scope: wanted.scope.as_str().to_owned(),
        agent: wanted.agent_id.map(Into::into),
        label: wanted.label,
        created: now,
        expires,
        revoked: None,
    };
    app.monitor.archive().add_token(token.clone(), secret.hash()).await?;
    app.doorkeeper.forget();
    let token = shown(token).ok_or_else(|| Refusal::http(HttpError::Internal, "the scope is not known"))?;
    let created = CreatedToken { token, secret: secret.reveal().to_owned() };
    Ok((StatusCode::CREATED, [(header::CACHE_CONTROL, "no-store")], Json(created)).into_response())
}

async fn list(State(app): State<App>, Asker(caller): Asker) -> Result<Json<List<api::Token>>, Refusal> {
    caller.may(Right::Read)?;
    let archive = app.monitor.archive().clone();
    let tokens = blocking(move || archive.tokens()).await?;
    Ok(Json(List::whole(tokens.into_iter().filter_map(shown).collect())))
}

async fn revoke(
    State(app): State<App>,
    Asker(caller): Asker,
    Named(id): Named,
) -> Result<StatusCode, Refusal> {
    caller.may(Right::Order)?;
    let archive = app.monitor.archive().clone();
    let tokens = blocking(move || archive.tokens()).await?;
    let is_admins = tokens.iter().any(|token| token.id == id && token.scope == Scope::Admin.as_str());
    let ended = app.monitor.archive().revoke_token(id.clone(), wall_now()).await?;
    app.doorkeeper.forget();
    if !ended {
        let text = format!("no token is called `{id}`, or it was revoked already");
        return Err(Refusal::http(HttpError::NoSuchToken, text));
    }
    // Somebody may have signed in with it.
    if is_admins {
        app.doorkeeper.sessions().end_all();
    }
    Ok(StatusCode::NO_CONTENT)
}

fn check(wanted: &NewToken, name_bytes: usize) -> Result<(), Refusal> {
    let wrong = |text: String| Refusal::http(HttpError::WrongField, text);
    wanted.check().map_err(|error| wrong(error.to_string()))?;
    if wanted.agent_id.as_ref().is_some_and(|agent| agent.is_empty() || agent.len() > name_bytes) {
        return Err(wrong(format!("`agentId` must have 1 to {name_bytes} bytes")));
    }
    let is_readable =
        |label: &String| label.chars().count() <= LABEL_MAX && !label.chars().any(char::is_control);
    if wanted.label.as_ref().is_some_and(|label| !is_readable(label)) {
        return Err(wrong(format!("`label` must have at most {LABEL_MAX} letters, all of them readable")));
    }
    Ok(())
}

/// A name that says nothing about the secret: of its hash, another hash.
fn name_of(secret: &Secret) -> String {
    let name = blake3::derive_key("verger token name 2026-11", &secret.hash());
    let hex = blake3::Hash::from_bytes(name).to_hex();
    format!("tok_{}", &hex[..12])
}

fn after(now: WallTime, millis: u64) -> WallTime {
    WallTime(now.0.saturating_add(i64::try_from(millis).unwrap_or(i64::MAX)))
}

/// A token as it is told. One of a scope that is not known opens nothing, and is not shown.
fn shown(token: Token) -> Option<api::Token> {
    let time = |at: WallTime| Time::from_millis(at.0);
    Some(api::Token {
        id: token.id,
        scope: Scope::ALL.iter().copied().find(|scope| scope.as_str() == token.scope)?,
        agent_id: token.agent.map(|agent| agent.to_string()),
        label: token.label,
        created_at: time(token.created),
        expires_at: token.expires.map(time),
        revoked_at: token.revoked.map(time),
    })
}
