//! Signing a browser in and out.
//!
//! The page that a link opens sets the cookie and goes on by itself, instead of redirecting: a browser that followed a
//! link from elsewhere would not send a strict cookie along with the redirect.

use std::time::Instant;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::{Extension, Json};
use verger_api::{HttpError, Identity, Scope, SignInLink, SignInQuery, Time};

use super::asker::{Asker, Named, SESSION, cookie};
use super::routes::Routes;
use super::told::{Told, Who};
use super::{App, Refusal};
use crate::access::{Caller, Denied, LINK_LASTS, Right, SESSION_LASTS};
use crate::monitor::wall_now;

/// Goes to the dashboard.
const SIGNED_IN: &str = "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url=/\">\
                         <title>Verger</title><p>You are signed in. <a href=\"/\">Go on</a>.</p>\n";

pub(super) fn routes() -> Routes {
    let create = Told::new("createSession", "access", "A link that signs a browser in, once", Who::Admin);
    let sign_in = Told::new("signIn", "access", "Sign in by such a link", Who::Anybody);
    let current = Told::new("getSession", "access", "Who is asking", Who::AgentOrReader);
    let sign_out = Told::new("signOut", "access", "Sign out", Who::AgentOrReader);
    Routes::new()
        .post("/v1/sessions", self::create, create.answers(201, "The link.", "SignInLink"))
        .get(
            "/signin",
            self::sign_in,
            sign_in
                .query::<SignInQuery>()
                .answers_text("A cookie, and the way to the dashboard.", "text/html")
                .refuses(410),
        )
        .get("/v1/sessions/current", self::current, current.answers(200, "Who it is.", "Identity"))
        .delete(
            "/v1/sessions/current",
            self::sign_out,
            sign_out.answers_nothing("The cookie opens nothing any more."),
        )
}

async fn create(State(app): State<App>, Asker(caller): Asker) -> Result<Response, Refusal> {
    caller.may(Right::Order)?;
    let whose = caller.actor().ok_or(Denied::NoToken)?;
    let code = app.doorkeeper.sessions().link(whose, Instant::now()).map_err(|_| no_randomness())?;
    let lasts = i64::try_from(LINK_LASTS.as_millis()).unwrap_or(i64::MAX);
    let link = SignInLink {
        url: format!("{}/signin?code={}", app.origin.base_url(), code.reveal()),
        expires_at: Time::from_millis(wall_now().0.saturating_add(lasts)),
    };
    Ok((StatusCode::CREATED, [(header::CACHE_CONTROL, "no-store")], Json(link)).into_response())
}

async fn sign_in(
    State(app): State<App>,
    method: Method,
    named: Option<Extension<Named>>,
    query: Result<Query<SignInQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(SignInQuery { code }) = query?;
    // Who only looks whether there is a page does not use the link up.
    if method == Method::HEAD {
        return Ok(StatusCode::OK.into_response());
    }
    let opened = app.doorkeeper.sessions().sign_in(&code, Instant::now()).map_err(|_| no_randomness())?;
    let used_up = || Refusal::http(HttpError::SignInLink, "the sign-in link was used or has expired");
    let (secret, whose) = opened.ok_or_else(used_up)?;
    if let Some(Extension(named)) = named {
        named.set(&Caller::Admin(whose));
    }
    let cookie = set_cookie(&app, secret.reveal(), SESSION_LASTS.as_secs())?;
    let headers = [
        (header::SET_COOKIE, cookie),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    Ok((headers, Html(SIGNED_IN)).into_response())
}

async fn current(Asker(caller): Asker) -> Result<Json<Identity>, Refusal> {
    let name = caller.actor().ok_or(Denied::NoToken)?.as_str().to_owned();
    let (scope, agent) = match caller {
        Caller::Agent(agent) => (Scope::Agent, Some(agent)),
        Caller::Reader(_) | Caller::Nobody => (Scope::Read, None),
        Caller::Watched(agent) => (Scope::Read, Some(agent)),
        Caller::Admin(_) => (Scope::Admin, None),
    };
    Ok(Json(Identity { name, scope, agent_id: agent.map(|agent| agent.to_string()) }))
}

async fn sign_out(
    State(app): State<App>,
    Asker(caller): Asker,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    caller.actor().ok_or(Denied::NoToken)?;
    if let Some(cookie) = cookie(&headers) {
        app.doorkeeper.sessions().sign_out(cookie);
    }
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, set_cookie(&app, "", 0)?)]).into_response())
}

fn set_cookie(app: &App, value: &str, lasts_secs: u64) -> Result<HeaderValue, Refusal> {
    let secure = if app.origin.is_secure() { "; Secure" } else { "" };
    let text = format!("{SESSION}={value}; Path=/; Max-Age={lasts_secs}; HttpOnly; SameSite=Strict{secure}");
    let mut cookie = HeaderValue::try_from(text)
        .map_err(|_| Refusal::http(HttpError::Internal, "no cookie could be made"))?;
    cookie.set_sensitive(true);
    Ok(cookie)
}

fn no_randomness() -> Refusal {
    Refusal::http(HttpError::Internal, "the operating system gave no randomness")
}
