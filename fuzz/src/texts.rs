//! Small texts that stand in many places: moments, lengths of time, names of breakers; and credentials in any text.

use verger_api::{HumanDuration, Time, redact};
use verger_core::breaker::BreakerName;

use crate::assert_told;

/// The text as each of them.
pub fn texts(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match text.parse::<Time>() {
        Ok(time) => {
            assert!((Time::MIN..=Time::MAX).contains(&time));
            assert_eq!(time.to_string().parse(), Ok(time));
        }
        Err(error) => assert_told(&error.to_string()),
    }
    match text.parse::<HumanDuration>() {
        Ok(span) => assert_eq!(span.to_string().parse(), Ok(span)),
        Err(error) => assert_told(&error.to_string()),
    }
    match text.parse::<BreakerName>() {
        Ok(name) => {
            assert_eq!(name.as_str().parse().as_ref(), Ok(&name));
            let _ = (name.agent(), name.kind(), name.target());
        }
        Err(error) => assert_told(&error.to_string()),
    }
    let clean = redact(&text);
    assert_eq!(clean, redact(&text), "the same text, another answer");
    assert!(clean.len() <= 4 * text.len() + 64, "taking out must not multiply: {} bytes", clean.len());
    let _ = redact(&clean);
}
