//! Browsers that are signed in.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{Scope, Time};

/// A link that signs a browser in, once: `POST /v1/sessions`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignInLink {
    /// To be opened in a browser. Whoever opens it first is signed in.
    pub url: String,
    /// It does not work any more from then on.
    pub expires_at: Time,
}

/// Without the address: whoever reads it in a log could be faster than who asked for it.
impl std::fmt::Debug for SignInLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignInLink").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// What a link carries.
#[derive(Clone, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(default, rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct SignInQuery {
    /// Works once.
    pub code: String,
}

/// Who asks: `GET /v1/sessions/current`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// The name under which what they do is recorded.
    pub name: String,
    /// What they may do.
    pub scope: Scope,
    /// For `agent`: the agent that they speak for.
    pub agent_id: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_not_printed_by_accident() {
        let link =
            SignInLink { url: "http://x/signin?code=secret".to_owned(), expires_at: Time::from_millis(0) };
        assert!(!format!("{link:?}").contains("secret"), "{link:?}");
    }
}
