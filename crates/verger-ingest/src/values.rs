//! Texts, times and codes out of JSON that may be anything.

use jiff::Timestamp;
use serde_json::{Map, Value};

/// Seconds since 1970 stay below this for 3,000 years, milliseconds have been above it since 1973.
const MILLIS_MIN: f64 = 1e11;
/// Milliseconds stay below this for 3,000 years, nanoseconds have been above it since 1970.
const NANOS_MIN: f64 = 1e16;

pub(crate) type Object = Map<String, Value>;

/// The text of a field, if it holds one.
pub(crate) fn str<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    object.get(name)?.as_str()
}

/// The first of several fields that holds a text that is not empty.
pub(crate) fn first_str<'a>(object: &'a Object, names: &[&str]) -> Option<&'a str> {
    names.iter().filter_map(|name| str(object, name)).find(|text| !text.is_empty())
}

/// An object below an object.
pub(crate) fn object<'a>(object: &'a Object, name: &str) -> Option<&'a Object> {
    object.get(name)?.as_object()
}

/// The elements of an array below an object; none if there is no array.
pub(crate) fn list<'a>(object: &'a Object, name: &str) -> &'a [Value] {
    object.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A value as text: itself if it is one, the texts in a list of parts, else JSON.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) if parts.iter().any(|part| part_text(part).is_some()) => {
            parts.iter().filter_map(part_text).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

/// The text of a part of a message: `{"type":"text","text":…}`, or a text alone.
fn part_text(part: &Value) -> Option<&str> {
    part.as_str().or_else(|| part.get("text")?.as_str())
}

/// The arguments of a call: JSON, or the text as it came.
pub(crate) fn args(value: Option<&Value>) -> String {
    value.map_or_else(String::new, text)
}

/// The field as a truth, also where it is written as a text.
pub(crate) fn truth(object: &Object, name: &str) -> Option<bool> {
    match object.get(name)? {
        Value::Bool(it) => Some(*it),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// The field as a small whole number.
pub(crate) fn int(object: &Object, name: &str) -> Option<i32> {
    match object.get(name)? {
        Value::Number(number) => i32::try_from(number.as_i64()?).ok(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// The field as a count.
pub(crate) fn count(object: &Object, name: &str) -> Option<u32> {
    object.get(name)?.as_u64().and_then(|count| u32::try_from(count).ok())
}

/// The field as a point in time, in milliseconds since 1970: RFC 3339, or a number of seconds, milliseconds or
/// nanoseconds, which differ so much that the number itself tells.
pub(crate) fn millis(object: &Object, name: &str) -> Option<i64> {
    match object.get(name)? {
        Value::Number(number) => number.as_f64().and_then(scaled),
        Value::String(text) => {
            let number = text.parse().ok().and_then(scaled);
            number
                .or_else(|| text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond))
                .or_else(|| naive(text))
        }
        _ => None,
    }
}

/// A time without a zone, as Python writes it; read as UTC, since only differences matter.
fn naive(text: &str) -> Option<i64> {
    format!("{text}Z").parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

fn scaled(number: f64) -> Option<i64> {
    let millis = if number < MILLIS_MIN {
        number * 1e3
    } else if number < NANOS_MIN {
        number
    } else {
        number / 1e6
    };
    (millis.is_finite() && 0.0 < millis).then_some(millis as i64)
}

/// The exit code in a text such as `Exit code 2`, `Exit Code: 2` or `exited with code 2`, at the start of a line.
pub(crate) fn exit_code(text: &str) -> Option<i32> {
    text.lines().find_map(exit_code_of_line)
}

pub(crate) fn exit_code_of_line(line: &str) -> Option<i32> {
    let line = line.trim();
    let start = ["Exit code:", "Exit Code:", "Exit code", "Process exited with code", "exit code:"]
        .iter()
        .find_map(|start| line.strip_prefix(start))?;
    start.trim().trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_understood_in_every_unit() {
        let at = |value: Value| millis(json!({"t": value}).as_object().unwrap(), "t");
        let expected = Some(1_794_766_546_663);
        assert_eq!(at(json!(1_794_766_546.663)), expected);
        assert_eq!(at(json!(1_794_766_546_663_u64)), expected);
        assert_eq!(at(json!("1794766546663000000")), expected);
        assert_eq!(at(json!("2026-11-15T18:15:46.663Z")), expected);
        assert_eq!(at(json!("2026-11-15T18:15:46.663000")), expected);
        for nonsense in [json!("yesterday"), json!(-3), json!(null), json!([1]), json!(f64::MAX)] {
            let read = at(nonsense.clone());
            assert!(read.is_none() || nonsense == json!(f64::MAX), "{nonsense}: {read:?}");
        }
    }

    #[test]
    fn texts_are_found_in_parts() {
        assert_eq!(text(&json!("a")), "a");
        assert_eq!(text(&json!([{"type": "text", "text": "a"}, {"type": "image"}, "b"])), "a\nb");
        assert_eq!(text(&json!({"a": 1})), r#"{"a":1}"#);
        assert_eq!(text(&json!(null)), "");
    }

    #[test]
    fn exit_codes_are_found_in_the_words_around_a_result() {
        assert_eq!(exit_code("Exit code 2\nls: no"), Some(2));
        assert_eq!(exit_code("Output: x\nExit Code: 130\n"), Some(130));
        assert_eq!(exit_code("Wall time: 0 s\nProcess exited with code 1"), Some(1));
        assert_eq!(exit_code("the exit code 2 is bad"), None);
    }
}
