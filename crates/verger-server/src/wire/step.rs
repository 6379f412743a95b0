//! A step of an agent as the fingerprint by which near repeats are seen, made of its text without credentials.
//!
//! A call is judged by what was asked and what came of it. Where a sender tells only one of the two, nothing is made
//! of it: calls without their arguments would all look alike, and calls without results as if they found nothing.

use std::borrow::Cow;

use serde_json::Value;
use verger_api::redact;
use verger_api::signal::ToolCall;
use verger_core::signal::Author;
use verger_core::stuck::{Role, StepPrint, ToolStep};
use verger_core::time::AgentTime;

/// As much of a text as can matter: the core reads less than that, at both of its ends.
const HEAD_MAX: usize = 64 * 1024;
const TAIL_MAX: usize = 16 * 1024;

/// A call that ended, with these arguments, having begun at this time of its agent's clock if that is known.
pub(super) fn of_call(
    call: &ToolCall<'_>,
    args: Option<&str>,
    ended: Option<AgentTime>,
    began: Option<AgentTime>,
) -> Option<Box<StepPrint>> {
    let args = args?;
    let result = match (&call.error, &call.result) {
        (Some(error), None) => Cow::Borrowed(error.as_ref()),
        (None, Some(result)) => plain(result.get()),
        // A command that failed says more than its exit code.
        (Some(error), Some(result)) => Cow::Owned(format!("{}\n{error}", plain(result.get()))),
        (None, None) => return None,
    };
    let ended_ms = ended.map(|at| at.0);
    let took = call.duration_ms.and_then(|took| i64::try_from(took).ok());
    let started_ms = ended_ms.zip(took).map(|(at, took)| at.saturating_sub(took));
    let started_ms =
        started_ms.or(began.map(|at| at.0)).filter(|began| ended_ms.is_some_and(|at| *began <= at));
    Some(Box::new(StepPrint::of_call(&ToolStep {
        tool: &call.tool,
        args,
        result: &clean(result),
        // What no error is said of may have failed all the same.
        error: call.error.is_some().then_some(true),
        exit_code: None,
        started_ms,
        ended_ms,
    })))
}

/// What was said.
pub(super) fn of_words(author: Author, text: &str) -> Option<Box<StepPrint>> {
    let role = match author {
        Author::Agent => Role::Agent,
        Author::Person => Role::User,
        Author::System => return None,
    };
    Some(Box::new(StepPrint::of_message(role, &clean(text.into()))))
}

/// The arguments of a call as they are remembered and judged.
pub(super) fn arguments(json: &str) -> String {
    clean(plain(json)).into_owned()
}

/// JSON as the text that a person would see: a text itself, the texts of a list of parts, else JSON as it came.
fn plain(json: &str) -> Cow<'_, str> {
    let json = json.trim();
    if json.starts_with('"') {
        return serde_json::from_str(json).map_or(Cow::Borrowed(json), Cow::Owned);
    }
    let parts: Vec<Value> =
        if json.starts_with('[') { serde_json::from_str(json).unwrap_or_default() } else { Vec::new() };
    let texts: Vec<&str> = parts.iter().filter_map(text_of_part).collect();
    match json {
        "null" => Cow::Borrowed(""),
        _ if texts.is_empty() => Cow::Borrowed(json),
        _ => Cow::Owned(texts.join("\n")),
    }
}

/// `{"type":"text","text":…}`, or a text alone.
fn text_of_part(part: &Value) -> Option<&str> {
    part.as_str().or_else(|| part.get("text")?.as_str())
}

/// Without credentials, and without a middle that nobody reads.
fn clean(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.len() <= HEAD_MAX + TAIL_MAX {
        return match redact(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(redacted) => Cow::Owned(redacted),
        };
    }
    let head = &text[..text.floor_char_boundary(HEAD_MAX)];
    let tail = &text[text.ceil_char_boundary(text.len() - TAIL_MAX)..];
    Cow::Owned(redact(head).into_owned() + &redact(tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x20_a_text_is_read_as_a_person_would_see_it() {
        assert_eq!(plain(r#""a\nb""#), "a\nb");
        assert_eq!(plain(r#"[{"type":"text","text":"a"},"b",{"type":"image"}]"#), "a\nb");
        assert_eq!(plain(r#"{"stdout":"a"}"#), r#"{"stdout":"a"}"#);
        assert_eq!(plain("[1,2]"), "[1,2]");
        assert_eq!(plain("null"), "");
    }

    #[test]
    fn x20_a_huge_text_is_cut_where_letters_begin() {
        let huge = "ä".repeat(200_000);
        let cut = clean(Cow::Borrowed(&huge));
        assert!(cut.len() <= HEAD_MAX + TAIL_MAX && cut.chars().all(|letter| letter == 'ä'));
    }

    #[test]
    fn x20_a_credential_is_no_part_of_a_step() {
        let key = format!("sk-ant-api03-{}", "Ab1".repeat(31));
        assert_eq!(arguments(&format!(r#""call it with {key}""#)), redact(&format!("call it with {key}")));
        assert!(!arguments(&format!(r#""call it with {key}""#)).contains(&key));
    }
}
