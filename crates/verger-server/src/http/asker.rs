//! Who asks, and from where.
//!
//! By a token, by the cookie of a browser that was signed in, or as somebody on this machine. Whoever comes over the
//! local socket with an admin's rights is looked at more closely: it must not be an agent.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use verger_api::HttpError;

use super::{App, Refusal};
use crate::access::{Caller, Stranger};
use crate::monitor::wall_now;
use crate::traffic::{Reason, TooOften};
use crate::unix::{LocalPeer, watched_by};

/// What the cookie of a signed-in browser is called.
pub(super) const SESSION: &str = "verger_session";
/// What stands between a header's name and its value, and behind it.
const LINE: usize = 4;

/// Who asks.
pub(super) struct Asker(pub(super) Caller);

/// Where it is written down who asked, for whoever records what they did.
#[derive(Clone, Default)]
pub(super) struct Named(Arc<OnceLock<Caller>>);

impl Named {
    /// The first one counts.
    pub(super) fn set(&self, caller: &Caller) {
        let _ = self.0.set(caller.clone());
    }

    pub(super) fn get(&self) -> Option<&Caller> {
        self.0.get()
    }
}

impl FromRequestParts<App> for Asker {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let caller = who(parts, app).await?;
        within_rate(&caller, app)?;
        if let Some(named) = parts.extensions.get::<Named>() {
            named.set(&caller);
        }
        Ok(Self(caller))
    }
}

/// Who sends or asks too much is turned away before anything is read. What people order is never counted, and who shows no
/// token cannot be told from others.
fn within_rate(caller: &Caller, app: &App) -> Result<(), TooOften> {
    match caller {
        Caller::Agent(agent) => {
            app.traffic.agent(agent.as_str(), true)?;
            app.traffic.on_signal(agent.as_str(), true);
            Ok(())
        }
        Caller::Reader(name) => app.traffic.reader(name.as_str()),
        Caller::Nobody | Caller::Admin(_) | Caller::Watched(_) => Ok(()),
    }
}

async fn who(parts: &Parts, app: &App) -> Result<Caller, Refusal> {
    let local = parts.extensions.get::<ConnectInfo<LocalPeer>>().map(|ConnectInfo(peer)| *peer);
    if local.is_some_and(|peer| !peer.is_owner()) {
        return Err(Refusal::http(HttpError::NotAllowed, "this socket is for the monitor's own user"));
    }
    let caller = match parts.headers.get(AUTHORIZATION) {
        Some(presented) => {
            let secret =
                bearer(presented).ok_or_else(|| bad("the Authorization header must be `Bearer …`"))?;
            let caller = app.doorkeeper.caller(secret, wall_now()).await?;
            caller.ok_or_else(|| bad("this token is not known, was revoked, or has expired"))?
        }
        None => match in_browser(parts, app)? {
            Some(caller) => caller,
            None => nobody(parts)?,
        },
    };
    match (&caller, local) {
        (Caller::Admin(_), Some(peer)) => unless_watched(caller, peer).await,
        _ => Ok(caller),
    }
}

/// Who is signed in by a cookie. One that opens nothing any more is as good as none.
fn in_browser(parts: &Parts, app: &App) -> Result<Option<Caller>, Refusal> {
    let Some(caller) = cookie(&parts.headers).and_then(|cookie| app.doorkeeper.in_browser(cookie)) else {
        return Ok(None);
    };
    // A browser sends cookies by itself; that the monitor's own page made it do so is told by the origin alone.
    if !parts.method.is_safe() && !parts.headers.contains_key(ORIGIN) {
        return Err(Refusal::http(
            HttpError::WrongOrigin,
            "a signed-in browser must say from which page it asks",
        ));
    }
    Ok(Some(caller))
}

/// The secret of an `Authorization` header.
pub(super) fn bearer(presented: &HeaderValue) -> Option<&str> {
    presented.to_str().ok()?.strip_prefix("Bearer ").map(str::trim)
}

/// What a signed-in browser presents.
pub(super) fn cookie(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut cookies = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    cookies.find(|(name, _)| *name == SESSION).map(|(_, value)| value)
}

/// Without a token one is somebody on this machine, or not let in.
fn nobody(parts: &Parts) -> Result<Caller, Refusal> {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    // Who listens on all addresses sees its own machine's old addresses in the form of the new ones.
    if peer.is_some_and(|ConnectInfo(peer)| !peer.ip().to_canonical().is_loopback()) {
        return Err(Refusal::http(HttpError::NoToken, "from another machine everything needs a token"));
    }
    Ok(Caller::Nobody)
}

/// An admin, unless it comes from inside a watched process tree. If that cannot be found out, it may be one.
async fn unless_watched(caller: Caller, peer: LocalPeer) -> Result<Caller, Refusal> {
    let unknown =
        || Refusal::http(HttpError::WatchedTree, "from which process this comes cannot be found out");
    let pid = peer.pid.ok_or_else(unknown)?;
    let found = tokio::task::spawn_blocking(move || watched_by(pid)).await;
    match found {
        Ok(Ok(Some(agent))) => Ok(Caller::Watched(agent)),
        Ok(Ok(None)) => Ok(caller),
        Ok(Err(_)) | Err(_) => Err(unknown()),
    }
}

fn bad(why: &str) -> Refusal {
    Refusal::http(HttpError::BadToken, why)
}

/// Turns web pages from elsewhere and rebound names away, before anything else is looked at.
pub(super) async fn check_origin(State(app): State<App>, request: Request, next: Next) -> Response {
    match check_head(request.headers(), request.uri(), &app) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// What can be said of a request before anybody looks at who asks: where it comes from, and how long its head is.
pub(super) fn check_head(headers: &HeaderMap, uri: &Uri, app: &App) -> Result<(), Refusal> {
    from_own_page(headers, uri, app)?;
    let limits = app.traffic.limits();
    let one = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len() + LINE;
    let bytes =
        uri.path_and_query().map_or(0, |path| path.as_str().len()) + headers.iter().map(one).sum::<usize>();
    if headers.len() <= usize::from(limits.headers) && bytes as u64 <= limits.head {
        return Ok(());
    }
    app.traffic.on_refused(Reason::Head);
    let (count, most) = (limits.headers, limits.head);
    let detail = format!("a head of more than {most} bytes or {count} headers is not read");
    Err(Refusal::http(HttpError::HeadTooLarge, detail))
}

/// Whether no web page from elsewhere makes this request, and it was not sent to a rebound name.
fn from_own_page(headers: &HeaderMap, uri: &Uri, app: &App) -> Result<(), Stranger> {
    let header = |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let host = header(HOST).or_else(|| uri.authority().map(|authority| authority.as_str().into()));
    app.origin.check(host.as_deref(), header(ORIGIN).as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_is_found_among_others_and_nothing_else_passes_for_it() {
        let found = |lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(COOKIE, HeaderValue::from_static(line));
            }
            cookie(&headers).map(ToOwned::to_owned)
        };
        assert_eq!(found(&["a=1; verger_session=x; b=2"]).as_deref(), Some("x"));
        assert_eq!(found(&["a=1", "verger_session=x"]).as_deref(), Some("x"));
        assert_eq!(found(&["not_verger_session=x; verger_session"]), None);
        assert_eq!(found(&[]), None);
    }
}
