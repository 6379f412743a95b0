//! Who did what: `GET /v1/audit`.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{AnyJson, Time};

/// One line of the audit log. Lines are sealed one to the next, so that a change shows.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Counts the lines from 1, without gaps.
    pub number: i64,
    /// When.
    pub at: Time,
    /// Who: the name of a token, an agent, or `nobody`.
    pub actor: String,
    /// What, as the method and the address that was called.
    pub action: String,
    /// To whom or what, as the path.
    pub target: String,
    /// From where (`from`), and what came of it (`outcome`, `status`, and the `code` of a refusal). `leftOut` counts
    /// refusals before this one that have no line of their own.
    pub detail: AnyJson<'static>,
    /// Over this line and the seal before it, in hexadecimal digits.
    pub seal: String,
}

/// Which lines are asked for, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(default, rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct AuditQuery {
    /// At most so many.
    pub limit: Option<u32>,
    /// Where the last page ended.
    pub cursor: Option<String>,
}
