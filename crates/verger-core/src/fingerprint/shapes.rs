//! What numbers, durations, moments and ids look like.

pub(super) fn begins_with_digit(word: &[u8]) -> bool {
    word.first().is_some_and(u8::is_ascii_digit)
}

pub(super) fn is_number(word: &[u8]) -> bool {
    begins_with_digit(word) && word.iter().all(|byte| byte.is_ascii_digit() || b".,".contains(byte))
}

/// Seconds with a fraction, or milliseconds, since 1970; from 2017 on.
pub(super) fn is_epoch(word: &[u8]) -> bool {
    let whole = word.split(|byte| *byte == b'.').next().unwrap_or(word);
    let fits = whole.len() == 13 || (whole.len() == 10 && word.len() > 10);
    fits && is_number(word) && (b"15"[..] <= whole[..2] && whole[..2] <= b"20"[..])
}

pub(super) fn is_unit(word: &[u8]) -> bool {
    let word = word.strip_suffix(b"s").filter(|word| !word.is_empty()).unwrap_or(word);
    matches!(
        word,
        b"s" | b"m"
            | b"n"
            | b"u"
            | b"sec"
            | b"second"
            | b"millisecond"
            | b"min"
            | b"minute"
            | b"hour"
            | b"day"
    )
}

/// `0.31s`, `12ms`, `1h30m`.
pub(super) fn is_duration(word: &[u8]) -> bool {
    let mut rest = word;
    while !rest.is_empty() {
        let number =
            rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.').unwrap_or(rest.len());
        let (digits, after) = rest.split_at(number);
        let unit = after.iter().position(u8::is_ascii_digit).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let short =
            matches!(unit, b"ns" | b"us" | b"ms" | b"m" | b"h" | b"d" | b"hr" | b"hrs" | b"\xc2\xb5s");
        if !is_number(digits) || !(short || is_unit(unit)) {
            return false;
        }
        rest = after;
    }
    !word.is_empty()
}

/// A date, a clock time, or both, with a zone.
pub(super) fn is_moment(word: &[u8]) -> bool {
    let clock_only = clock(word).is_some_and(is_zone);
    clock_only
        || date(word).is_some_and(|rest| match rest {
            [] => true,
            [b'T' | b't' | b'_' | b':', rest @ ..] => clock(rest).is_some_and(is_zone),
            _ => false,
        })
}

fn date(word: &[u8]) -> Option<&[u8]> {
    if let Some(rest) = digits(word, 4, 4) {
        return match rest.first() {
            Some(b'-' | b'/') => {
                let rest = digits(&rest[1..], 1, 2)?.strip_prefix(&rest[..1])?;
                digits(rest, 1, 2)
            }
            _ => digits(rest, 4, 4).filter(|rest| rest.first() == Some(&b'T')),
        };
    }
    let rest = digits(word, 1, 2)?;
    let separator = rest.first().filter(|byte| b"-/.".contains(byte))?;
    let rest = &rest[1..];
    let month = rest.get(..3).is_some_and(is_month);
    let rest = if month { &rest[3..] } else { digits(rest, 1, 2)? };
    digits(rest.strip_prefix(&[*separator])?, 4, 4)
}

fn clock(word: &[u8]) -> Option<&[u8]> {
    if let Some(rest) = digits(word, 6, 6) {
        return Some(rest);
    }
    let rest = digits(word, 1, 2)?.strip_prefix(b":")?;
    let rest = digits(rest, 2, 2)?;
    let Some(rest) = rest.strip_prefix(b":").and_then(|rest| digits(rest, 2, 2)) else { return Some(rest) };
    match rest {
        [b'.' | b',', fraction @ ..] => digits(fraction, 1, 9),
        _ => Some(rest),
    }
}

fn is_zone(rest: &[u8]) -> bool {
    let named = [&b""[..], b"z", b"am", b"pm"].iter().any(|zone| rest.eq_ignore_ascii_case(zone));
    let hours = |rest| digits(rest, 2, 2).map(|rest| rest.strip_prefix(b":").unwrap_or(rest));
    named
        || matches!(rest, [b'+' | b'-', rest @ ..] if hours(rest).is_some_and(|rest| rest.is_empty() || rest.len() == 2))
}

/// What follows `min` to `max` digits, if there are no more.
fn digits(word: &[u8], min: usize, max: usize) -> Option<&[u8]> {
    let count = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (min <= count && count <= max).then(|| &word[count..])
}

/// A uuid, or at least eight hexadecimal digits with both letters and digits among them.
pub(super) fn is_id(part: &[u8]) -> bool {
    if part.len() < 8 {
        return false;
    }
    let uuid = part.len() == 36 && [8, 13, 18, 23].iter().all(|&at| part[at] == b'-');
    if uuid {
        return part.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    }
    let (hex, pointer) = part.strip_prefix(b"0x").map_or((part, false), |hex| (hex, true));
    let mixed = hex.iter().any(u8::is_ascii_digit) && hex.iter().any(u8::is_ascii_alphabetic);
    hex.len() >= 8 && (mixed || pointer) && hex.iter().all(u8::is_ascii_hexdigit)
}

pub(super) fn is_month(word: &[u8]) -> bool {
    const MONTHS: &[u8] = b"janfebmaraprmayjunjulaugsepoctnovdec";
    word.len() == 3 && MONTHS.chunks(3).any(|month| word.eq_ignore_ascii_case(month))
}
