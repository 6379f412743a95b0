//! What was shown at the door, kept by whoever stays: a stream must not outlive the token that opened it.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;

use super::App;
use super::asker::{bearer, cookie};
use crate::monitor::wall_now;

/// A token may also end by its time, which nobody announces.
const LOOK_EVERY: Duration = Duration::from_secs(15);

/// What was shown at the door.
pub(super) enum Pass {
    Token(String),
    Cookie(String),
    Nothing,
}

impl FromRequestParts<App> for Pass {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let token = parts.headers.get(AUTHORIZATION).and_then(bearer).map(str::to_owned).map(Self::Token);
        let shown = token.or_else(|| cookie(&parts.headers).map(str::to_owned).map(Self::Cookie));
        Ok(shown.unwrap_or(Self::Nothing))
    }
}

impl Pass {
    /// Waits until it opens nothing any more.
    pub(super) async fn ends(self, app: App) {
        let mut changes = app.doorkeeper.changes();
        while self.opens(&app).await {
            // Whichever comes first, it is looked at again.
            let _ = tokio::time::timeout(LOOK_EVERY, changes.changed()).await;
        }
    }

    /// A disk that cannot be read ends nothing: it was let in.
    async fn opens(&self, app: &App) -> bool {
        match self {
            Self::Token(token) => {
                app.doorkeeper.caller(token, wall_now()).await.map_or(true, |caller| caller.is_some())
            }
            Self::Cookie(cookie) => app.doorkeeper.in_browser(cookie).is_some(),
            Self::Nothing => true,
        }
    }
}
