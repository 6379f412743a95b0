//! Times as people say them, and texts of others made safe to show.

use jiff::Timestamp;
use jiff::tz::TimeZone;
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

/// A length of time in words, rounded: `12 minutes`.
pub(crate) fn lasting(millis: u64) -> String {
    let seconds = millis / 1_000;
    let (number, unit) = match seconds {
        0 => return "less than a second".to_owned(),
        1..=119 => (seconds, "second"),
        120..=7_199 => ((seconds + 30) / 60, "minute"),
        7_200..=172_799 => ((seconds + 1_800) / 3_600, "hour"),
        _ => ((seconds + 43_200) / 86_400, "day"),
    };
    count(number, unit)
}

/// So many of them: `1 agent`, `1,200 agents`.
pub(crate) fn count(number: u64, one: &str) -> String {
    format!("{} {one}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A number that can be read at a glance: `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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

/// The time of day where the reader is; with the date if that is another day than today.
pub(crate) fn clock(at: Time, now: Time) -> String {
    clock_in(&TimeZone::system(), at, now)
}

fn clock_in(zone: &TimeZone, at: Time, now: Time) -> String {
    let there =
        |time: Time| Timestamp::from_millisecond(time.as_millis()).map(|time| time.to_zoned(zone.clone()));
    match (there(at), there(now)) {
        (Ok(at), Ok(now)) if at.date() == now.date() => at.strftime("%H:%M:%S").to_string(),
        (Ok(at), _) => at.strftime("%b %d %H:%M:%S").to_string(),
        // No clock of this world shows it.
        (Err(_), _) => at.to_string(),
    }
}

/// A name as a shell takes it.
pub(crate) fn quoted(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.:/@".contains(letter);
    if !name.is_empty() && name.chars().all(is_plain) {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\'', r"'\''"))
    }
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
                "120 minutes",
                "2 hours",
                "48 hours",
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

    #[test]
    fn a_time_of_day_has_a_date_where_it_is_another_day() {
        let at = |text: &str| text.parse().expect("a time");
        let now = at("2026-11-17T03:30:00Z");
        let read = |zone: &TimeZone, text| clock_in(zone, at(text), now);
        assert_eq!(read(&TimeZone::UTC, "2026-11-17T01:02:03Z"), "01:02:03");
        assert_eq!(read(&TimeZone::UTC, "2026-11-16T23:02:03Z"), "Nov 16 23:02:03");
        let east = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(read(&east, "2026-11-16T23:02:03Z"), "01:02:03", "it is today where the reader is");
    }

    #[test]
    fn numbers_and_names_are_easy_on_the_eye_and_on_the_shell() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!((count(1, "agent"), count(1_200, "agent")), ("1 agent".into(), "1,200 agents".into()));
        assert_eq!(["a-1", "it's", ""].map(quoted), ["a-1", r"'it'\''s'", "''"]);
    }

    proptest! {
        #[test]
        fn nothing_that_a_terminal_obeys_is_shown(text in "\\PC{0,10}[\\x00-\\x1f\\x7f-\\x9f]{0,5}\\PC{0,10}") {
            prop_assert!(!safe(&text).chars().any(char::is_control));
        }
    }
}
