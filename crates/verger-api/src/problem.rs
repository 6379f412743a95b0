//! What went wrong, as RFC 9457 has it, with a code that keeps its meaning for ever.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::codes::{self, HttpError};

/// The media type of a problem document.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// Why a request was refused, for programs (`code`, `type`, `status`) and for people (`title`, `detail`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The kind of problem, as `urn:verger:error:VG0101`. It never changes.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind of problem, in a few words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What was wrong this time, and where.
    pub detail: String,
    /// The request, as its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// The code. The book has a page on each.
    pub code: String,
    /// After how many seconds it is worth trying again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u64>,
    /// All that is wrong, where there are several things.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
}

/// One field that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldError {
    /// Which one, as in `limits.tokens`.
    pub field: String,
    /// What is wrong with it.
    pub detail: String,
}

impl Problem {
    /// The problem of a code. One that is not known is an internal error: it should have been added here.
    pub fn new(code: &str, detail: impl Into<String>) -> Self {
        let known = codes::find(code);
        Self {
            kind: format!("urn:verger:error:{code}"),
            title: known.map_or("internal error", |known| known.title).to_owned(),
            status: known.map_or(500, |known| known.status),
            detail: detail.into(),
            instance: None,
            code: code.to_owned(),
            retry_after_seconds: None,
            errors: Vec::new(),
        }
    }

    /// The problem of something that HTTP itself adds.
    pub fn http(error: HttpError, detail: impl Into<String>) -> Self {
        Self::new(error.code(), detail)
    }

    /// About this request.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.instance = Some(path.into());
        self
    }

    /// Worth trying again after so many seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_seconds = Some(seconds);
        self
    }

    /// With all that is wrong.
    #[must_use]
    pub fn with_errors(mut self, errors: Vec<FieldError>) -> Self {
        self.errors = errors;
        self
    }
}

impl std::error::Error for Problem {}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.detail, self.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_a_problem_document() {
        let problem = Problem::new("VG0101", "no agent `a` is registered").at("/v1/agents/a");
        assert_eq!(
            serde_json::to_string(&problem).expect("JSON"),
            r#"{"type":"urn:verger:error:VG0101","title":"unknown agent","status":404,"detail":"no agent `a` is registered","instance":"/v1/agents/a","code":"VG0101"}"#
        );
        assert_eq!(problem.to_string(), "no agent `a` is registered (VG0101)");
    }

    #[test]
    fn a_code_that_nobody_knows_is_an_internal_error() {
        assert_eq!(Problem::new("VG9", "odd").status, 500);
    }
}
