//! Why a request was refused, as a problem document.

use axum::extract::rejection::QueryRejection;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use verger_api::{BodyError, CursorError, HttpError, PROBLEM_JSON, Problem};
use verger_core::Refusal as Turned;
use verger_core::command::CommandError;
use verger_core::notice::NoticeError;

use crate::access::{Denied, Stranger};
use crate::monitor::{Unavailable, told};
use crate::traffic::{NoSeat, TooOften};

/// Seconds after which it is worth trying a store again that failed: whoever looks after the disk needs a moment.
const STORE_AGAIN: u64 = 5;
/// Seconds after which a connection may have ended.
const CONNECT_AGAIN: u64 = 2;
/// Seconds after which an agent may have ended in a full fleet.
const AGENT_AGAIN: u64 = 60;

/// A request was refused, and nothing was changed.
#[derive(Debug)]
pub(crate) struct Refusal(Box<Problem>);

impl Refusal {
    pub(crate) fn http(error: HttpError, detail: impl Into<String>) -> Self {
        Self(Box::new(Problem::http(error, detail)))
    }

    /// By the code of one of the core's own refusals.
    pub(crate) fn code(code: &str, detail: impl Into<String>) -> Self {
        Self(Box::new(Problem::new(code, detail)))
    }

    /// The status of the answer.
    pub(crate) fn status(&self) -> u16 {
        self.0.status
    }

    /// What was wrong.
    pub(crate) fn detail(&self) -> &str {
        &self.0.detail
    }

    /// Whether it is because too much is to be done now.
    pub(crate) fn is_overload(&self) -> bool {
        self.0.code == HttpError::Overloaded.code()
    }

    /// There are as many streams as may be.
    pub(crate) fn too_many_streams() -> Self {
        let detail = "there are as many streams as may be";
        Problem::http(HttpError::TooManyConnections, detail).retry_after(CONNECT_AGAIN).into()
    }

    pub(crate) fn unknown_agent(id: &str) -> Self {
        Self::code("VG0101", format!("no agent `{id}` is registered"))
    }
}

/// The code of a refusal, for whoever records it.
#[derive(Clone)]
pub(super) struct ProblemCode(pub(super) String);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self(problem) = self;
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        let mut response = (status, [(header::CONTENT_TYPE, PROBLEM_JSON)], body).into_response();
        if let Some(seconds) = problem.retry_after_seconds {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(ProblemCode(problem.code));
        response
    }
}

impl From<Unavailable> for Refusal {
    fn from(error: Unavailable) -> Self {
        let (kind, seconds) = match error {
            Unavailable::Overloaded => (HttpError::Overloaded, 1),
            Unavailable::Stopping => (HttpError::NotReady, 1),
            Unavailable::Unwritable | Unavailable::Late => (HttpError::Storage, STORE_AGAIN),
        };
        Self(Box::new(Problem::http(kind, error.to_string()).retry_after(seconds)))
    }
}

impl From<Denied> for Refusal {
    fn from(denied: Denied) -> Self {
        let kind = match denied {
            Denied::NoToken => HttpError::NoToken,
            Denied::NotAllowed | Denied::AnotherAgent => HttpError::NotAllowed,
            Denied::Watched => HttpError::WatchedTree,
        };
        Self::http(kind, denied.to_string())
    }
}

impl From<Stranger> for Refusal {
    fn from(stranger: Stranger) -> Self {
        Self::http(HttpError::WrongOrigin, stranger.to_string())
    }
}

impl From<CommandError> for Refusal {
    fn from(error: CommandError) -> Self {
        Self::code(error.code(), error.to_string())
    }
}

impl From<NoticeError> for Refusal {
    fn from(error: NoticeError) -> Self {
        let problem = Problem::new(error.code(), error.to_string());
        match error {
            NoticeError::Denied(denied) => {
                let millis = denied.refusal.retry_after.as_millis();
                problem.retry_after(millis.div_ceil(1_000).max(1)).into()
            }
            _ => problem.into(),
        }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self(Box::new(problem))
    }
}

impl From<BodyError> for Refusal {
    fn from(error: BodyError) -> Self {
        Self(Box::new(error.into()))
    }
}

impl From<TooOften> for Refusal {
    fn from(TooOften { rate, again }: TooOften) -> Self {
        let detail = format!("more than {rate} in a second came from this side, over some time");
        let seconds = again.as_secs() + u64::from(again.subsec_nanos() > 0);
        Problem::http(HttpError::TooManyRequests, detail).retry_after(seconds.max(1)).into()
    }
}

impl From<NoSeat> for Refusal {
    fn from(none: NoSeat) -> Self {
        Problem::http(HttpError::TooManyConnections, none.to_string()).retry_after(CONNECT_AGAIN).into()
    }
}

/// That there is no room for one more agent, if that is why it was turned away.
pub(super) fn no_room(turned: &Turned) -> Option<Refusal> {
    let again = match turned {
        Turned::Full { .. } => AGENT_AGAIN,
        Turned::Strangers { again, .. } => again.as_millis().div_ceil(1_000).max(1),
        _ => return None,
    };
    Some(Problem::new("VG0108", turned.to_string()).retry_after(again).into())
}

impl From<QueryRejection> for Refusal {
    fn from(error: QueryRejection) -> Self {
        Self::http(HttpError::WrongQuery, error.body_text())
    }
}

impl From<CursorError> for Refusal {
    fn from(error: CursorError) -> Self {
        Self::http(HttpError::WrongCursor, error.to_string())
    }
}

impl From<verger_store::Error> for Refusal {
    fn from(error: verger_store::Error) -> Self {
        Problem::http(HttpError::Storage, told(&error)).retry_after(STORE_AGAIN).into()
    }
}

pub(super) async fn no_such_address(uri: Uri) -> Refusal {
    Refusal::http(HttpError::NoSuchAddress, format!("nothing is served at {}", uri.path()))
}

pub(super) async fn wrong_method(uri: Uri) -> Refusal {
    Refusal::http(HttpError::WrongMethod, format!("{} is not served by this method", uri.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l41_who_cannot_be_answered_now_is_told_when_to_ask_again() {
        for error in
            [Unavailable::Overloaded, Unavailable::Stopping, Unavailable::Unwritable, Unavailable::Late]
        {
            let response = Refusal::from(error).into_response();
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "{error}");
            assert!(response.headers().contains_key(header::RETRY_AFTER), "{error}");
        }
        let response = Refusal::from(verger_store::Error::Busy).into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(response.headers().contains_key(header::RETRY_AFTER));
    }
}
