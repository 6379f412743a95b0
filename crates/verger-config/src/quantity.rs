//! Durations, sizes, shares and limits as people write them, and back.
//!
//! What [`Span`] prints can be read here, so a value that `verger config show` prints can be pasted into the file.

use std::fmt::Write as _;

use verger_core::intervention::Limit;
use verger_core::time::Span;

/// Units of time, in milliseconds.
const TIME: [(&str, u64); 5] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
/// Units of memory, in bytes.
const MEMORY: [(&str, u64); 9] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// `90s`, `10m`, `1h30m`, `250ms`, `1.5h`.
pub(crate) fn duration(text: &str) -> Result<Span, String> {
    let mut rest = text.trim();
    if rest.starts_with('-') {
        return Err("a duration cannot be negative".into());
    }
    if rest.is_empty() {
        return Err("a duration is empty".into());
    }
    let mut millis = 0_u64;
    while !rest.is_empty() {
        let (number, unit, after) = term(rest);
        let of_unit = TIME.iter().find(|(name, _)| *name == unit);
        let (Some(number), Some((_, size))) = (number, of_unit) else { return Err(no_duration(text, unit)) };
        let part = whole(number * *size as f64).ok_or_else(|| too_long(text))?;
        millis = millis.checked_add(part).ok_or_else(|| too_long(text))?;
        rest = after.trim_start();
    }
    Ok(Span::millis(millis))
}

fn no_duration(text: &str, unit: &str) -> String {
    if unit.is_empty() && text.trim().parse::<f64>().is_ok() {
        return format!("`{text}` has no unit; write `{}s`, or the number without quotes", text.trim());
    }
    format!("`{}` is no duration; write one such as `90s`, `10m`, `2h` or `1d`", cut(text))
}

fn too_long(text: &str) -> String {
    format!("`{}` is longer than can be waited for", cut(text))
}

/// Seconds as a number.
pub(crate) fn seconds(number: f64) -> Result<Span, String> {
    if number < 0.0 {
        return Err("a duration cannot be negative".into());
    }
    let millis = whole(number * 1_000.0).ok_or("a duration must be a finite number of seconds")?;
    Ok(Span::millis(millis))
}

/// `512MiB`, `2 GB`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let (number, unit, after) = term(text.trim());
    let of_unit = MEMORY.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit) && after.is_empty());
    let (Some(number), Some((_, size))) = (number, of_unit) else {
        return Err(format!("`{}` is no size; write one such as `512MiB` or `2GB`", cut(text)));
    };
    whole(number * *size as f64).ok_or_else(|| format!("`{}` is too large", cut(text)))
}

/// `25%` or `2.5 %`, in percent.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let number = number.filter(|number| number.is_finite());
    number.ok_or_else(|| format!("`{}` is no percentage; write one such as `25%`", cut(text)))
}

/// `6 in 1h`: at most six within any hour.
pub(crate) fn limit(text: &str) -> Result<Limit, String> {
    let no_limit = || format!("`{}` is no limit; write one such as `6 in 1h`", cut(text));
    let (count, window) = text.split_once(" in ").ok_or_else(no_limit)?;
    let count = count.trim().parse::<u16>().map_err(|_| no_limit())?;
    let window = duration(window)?;
    if window == Span::ZERO {
        return Err("the time of a limit cannot be zero".into());
    }
    Ok(Limit { count, window })
}

/// The largest unit that divides it: `512MiB`, `2GB`, `1000B`.
pub(crate) fn shown_size(bytes: u64) -> String {
    let fits = |(_, size): &&(&str, u64)| 0 < bytes && bytes.is_multiple_of(*size);
    let (unit, size) = MEMORY.iter().rev().find(fits).unwrap_or(&MEMORY[0]);
    format!("{}{unit}", bytes / size)
}

/// Every unit that it has, where [`Span`]'s own way shows only the largest two.
pub(crate) fn shown_span(span: Span) -> String {
    let short = span.to_string();
    if duration(&short) == Ok(span) {
        return short;
    }
    let mut rest = span.as_millis();
    let mut shown = String::new();
    for (unit, size) in TIME.iter().rev() {
        if 0 < rest / size {
            let _ = write!(shown, "{}{unit}", rest / size);
        }
        rest %= size;
    }
    shown
}

/// A number, the letters that follow it, and what follows those.
fn term(text: &str) -> (Option<f64>, &str, &str) {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(digits);
    let rest = rest.trim_start();
    let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (unit, after) = rest.split_at(letters);
    (number.parse().ok(), unit, after)
}

/// The nearest whole number, if 64 bits hold it.
fn whole(number: f64) -> Option<u64> {
    let fits = number.is_finite() && (0.0..9e18).contains(&number);
    #[expect(clippy::cast_sign_loss, reason = "it was just seen not to be negative")]
    fits.then_some(number.round() as u64)
}

fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        let millis = |text| duration(text).map(Span::as_millis);
        assert_eq!(millis("90s"), Ok(90_000));
        assert_eq!(millis("10m"), Ok(600_000));
        assert_eq!(millis("1h30m"), Ok(5_400_000));
        assert_eq!(millis("1.5h"), Ok(5_400_000));
        assert_eq!(millis("2 d"), Ok(172_800_000));
        assert_eq!(millis("250ms"), Ok(250));
        for wrong in ["", "-5s", "5", "5 minutes", "s", "1..5s", "99999999999999999999d", "1h 5", "٣s"] {
            assert!(millis(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_shares_and_limits_are_read_as_people_write_them() {
        assert_eq!(size("512MiB"), Ok(512 << 20));
        assert_eq!(size("2 gb"), Ok(2_000_000_000));
        assert!(
            size("5").is_err() && size("5 XB").is_err() && size("-1MB").is_err() && size("1MB 2").is_err()
        );
        assert_eq!(percent("2.5 %"), Ok(2.5));
        assert!(percent("25").is_err() && percent("%").is_err() && percent("inf%").is_err());
        assert_eq!(limit("6 in 1h"), Ok(Limit { count: 6, window: Span::hours(1) }));
        assert!(limit("6").is_err() && limit("6 in 0s").is_err() && limit("-1 in 1h").is_err());
    }

    proptest! {
        #[test]
        fn what_is_shown_can_be_read(millis in 0_u64..9_000_000_000_000_000, bytes in 0_u64..1 << 52) {
            let span = Span::millis(millis);
            prop_assert_eq!(duration(&shown_span(span)), Ok(span));
            prop_assert_eq!(size(&shown_size(bytes)), Ok(bytes));
        }

        #[test]
        fn no_text_is_too_strange(text in ".{0,80}", number in any::<f64>()) {
            let _ = (duration(&text), size(&text), percent(&text), limit(&text), seconds(number));
        }
    }
}
