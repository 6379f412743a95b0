//! Reading the body of one request, with errors that name the field.

use serde::Deserialize;
use serde_json::error::Category;

use crate::codes::HttpError;
use crate::problem::{FieldError, Problem};
use crate::scan;

/// Reads a body. An empty one counts as `{}`, because `curl -X POST …/nudge` is a complete order.
///
/// What is borrowed (`AnyJson`) points into the body.
pub fn read_body<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, BodyError> {
    let start = body.iter().find(|byte| !byte.is_ascii_whitespace());
    // Readers that are derived would take an array for an object whose names were left out.
    if start == Some(&b'[') {
        return Err(BodyError::Field {
            field: String::new(),
            detail: "the body must be an object".to_owned(),
        });
    }
    let body = if start.is_none() { b"{}" } else { body };
    serde_json::from_slice(body).map_err(|error| BodyError::new(body, &error))
}

/// Why a body was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It is no JSON.
    #[error("not valid JSON: {0}")]
    Unreadable(String),
    /// A field is missing or wrong.
    #[error("{}{detail}", named(field))]
    Field {
        /// Which one; empty for the body as a whole.
        field: String,
        /// What is wrong with it.
        detail: String,
    },
}

impl BodyError {
    fn new(body: &[u8], error: &serde_json::Error) -> Self {
        match error.classify() {
            Category::Data => {
                let end = offset(body, error.line(), error.column());
                Self::Field { field: scan::field_at(body, end), detail: without_place(error) }
            }
            Category::Syntax | Category::Eof | Category::Io => Self::Unreadable(error.to_string()),
        }
    }
}

impl From<BodyError> for Problem {
    fn from(error: BodyError) -> Self {
        let text = error.to_string();
        match error {
            BodyError::Unreadable(_) => Self::http(HttpError::UnreadableBody, text),
            BodyError::Field { field, detail } => {
                Self::http(HttpError::WrongField, text).with_errors(vec![FieldError { field, detail }])
            }
        }
    }
}

fn named(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!("`{field}`: ") }
}

/// What an error says, without where.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

fn offset(body: &[u8], line: usize, column: usize) -> usize {
    let before: usize =
        body.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    before + column
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AgentSettings, DecisionRequest, NudgeRequest, TaskUpdate};

    fn refusal<T: for<'a> Deserialize<'a> + std::fmt::Debug>(body: &str) -> String {
        read_body::<T>(body.as_bytes()).expect_err("refused").to_string()
    }

    #[test]
    fn an_error_names_the_field() {
        assert_eq!(
            refusal::<AgentSettings>("{\"role\": \"a\",\n \"limits\": {\"tokens\": \"many\"}}"),
            "`limits.tokens`: invalid type: string \"many\", expected u64"
        );
        assert_eq!(
            refusal::<DecisionRequest>(r#"{"decision":"kill"}"#),
            "`decision`: `kill` is none of allow-more-time, force-handoff, terminate-and-recover"
        );
        assert_eq!(refusal::<DecisionRequest>("{}"), "missing field `decision`");
        assert_eq!(refusal::<TaskUpdate>("[]"), "the body must be an object");
    }

    #[test]
    fn what_is_no_json_is_told_with_its_place() {
        assert_eq!(
            refusal::<NudgeRequest>("{\"message\" 1}"),
            "not valid JSON: expected `:` at line 1 column 12"
        );
        let problem = Problem::from(read_body::<NudgeRequest>(b"{").expect_err("refused"));
        assert_eq!((problem.status, problem.code.as_str()), (400, "VG0401"));
    }

    #[test]
    fn no_body_is_an_empty_one_and_unknown_fields_are_ignored() {
        assert_eq!(read_body(b" \n"), Ok(NudgeRequest::default()));
        assert_eq!(read_body(br#"{"surprise":[{}]}"#), Ok(NudgeRequest::default()));
    }
}
