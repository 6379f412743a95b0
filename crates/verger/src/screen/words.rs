//! Times as people say them, and texts of others made safe to show.

use verger_api::{HumanDuration, Time};

/// A text that may come from anybody, on one line and without what a terminal would obey.
pub(crate) fn safe(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, letter| {
        if letter == '\n' {
            shown.push('⏎');
        } else if letter.is_control()
            || matches!(letter, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        {
            shown.extend(letter.escape_unicode());
        } else {
            shown.push(letter);
        }
        shown
    })
}

fn millis_between(from: Time, to: Time) -> u64 {
    u64::try_from(to.as_millis().saturating_sub(from.as_millis())).unwrap_or(0)
}

/// A length of time in words: `12 minutes`.
pub(crate) fn lasting(millis: u64) -> String {
    let seconds = millis / 1_000;
    let (count, unit) = match seconds {
        0..=119 => (seconds, "second"),
        120..=7_199 => (seconds / 60, "minute"),
        7_200..=172_799 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    if seconds == 0 {
        return "less than a second".to_owned();
    }
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// How long ago, in words.
pub(crate) fn ago(then: Time, now: Time) -> String {
    match millis_between(then, now) {
        0..=999 => "just now".to_owned(),
        millis => format!("{} ago", lasting(millis)),
    }
}

/// How long until then, in words.
pub(crate) fn until(then: Time, now: Time) -> String {
    match millis_between(now, then) {
        0 => "at any moment".to_owned(),
        millis => format!("in {}", lasting(millis)),
    }
}

/// How long ago, in a column: `3m12s`.
pub(crate) fn short(then: Time, now: Time) -> String {
    let seconds = millis_between(then, now) / 1_000;
    let rounded = match seconds {
        0..=3_599 => seconds,
        3_600..=86_399 => seconds / 60 * 60,
        _ => seconds / 3_600 * 3_600,
    };
    HumanDuration::from_secs(rounded).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_said_as_people_say_them() {
        let said = |seconds: u64| lasting(seconds * 1_000);
        assert_eq!(
            [0, 1, 90, 120, 7_199, 7_200, 172_799, 172_800].map(said),
            [
                "less than a second",
                "1 second",
                "90 seconds",
                "2 minutes",
                "119 minutes",
                "2 hours",
                "47 hours",
                "2 days"
            ]
        );
        let at = Time::from_millis;
        assert_eq!(
            (ago(at(0), at(500)), ago(at(0), at(5_000))),
            ("just now".to_owned(), "5 seconds ago".to_owned())
        );
        assert_eq!(
            (until(at(5), at(9)), until(at(60_000), at(0))),
            ("at any moment".to_owned(), "in 60 seconds".to_owned())
        );
        assert_eq!(
            (short(at(0), at(192_000)), short(at(0), at(90_061_000))),
            ("3m12s".to_owned(), "1d1h".to_owned())
        );
    }

    proptest! {
        #[test]
        fn nothing_that_a_terminal_obeys_is_shown(text in "\\PC{0,10}[\\x00-\\x1f\\x7f-\\x9f]{0,5}\\PC{0,10}") {
            prop_assert!(!safe(&text).chars().any(char::is_control));
        }
    }
}
