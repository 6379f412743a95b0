//! Credentials that are announced: HTTP's schemes and key files.

use super::{Secret, run};

/// How far the name of a key file is looked for.
const LABEL_MAX: usize = 64;

/// What follows `Bearer`, `Basic`, `Token` or `ApiKey`.
pub(super) fn scheme(text: &str, word: &str, end: usize) -> Option<Secret> {
    let is = |name| word.eq_ignore_ascii_case(name);
    let (bearer, basic) = (is("bearer") || is("token") || is("apikey"), is("basic"));
    if !bearer && !basic {
        return None;
    }
    let bytes = text.as_bytes();
    let from = run(bytes, end, |byte| byte == b' ');
    let to = run(bytes, from, |byte| super::WORD[usize::from(byte)] || b"+/=.~".contains(&byte));
    let value = text[from..to].trim_end_matches('.');
    if from == end || value.len() < 8 {
        return None;
    }
    let secret = |kind| Some(Secret { from, to: from + value.len(), kind });
    if basic {
        return if holds_password(value) { secret("basic-auth") } else { None };
    }
    let random = value.bytes().any(|byte| byte.is_ascii_digit()) || 24 <= value.len();
    // A word that only `token` announces may be any word.
    if random && (!is("token") || 16 <= value.len()) { secret("bearer") } else { None }
}

/// Whether this is `name:password` in Base64.
fn holds_password(value: &str) -> bool {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(u32::from(byte - b'A')),
        b'a'..=b'z' => Some(u32::from(byte - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(byte - b'0') + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let (mut bits, mut count, mut colon) = (0_u32, 0, false);
    for byte in value.trim_end_matches('=').bytes() {
        let Some(digit) = digit(byte) else { return false };
        bits = (bits << 6 | digit) & 0xffff;
        count += 6;
        if 8 <= count {
            count -= 8;
            let byte = (bits >> count & 0xff) as u8;
            colon |= byte == b':';
            // Words that happen to be Base64 decode to noise.
            if byte < b' ' || byte == 0x7f {
                return false;
            }
        }
    }
    colon
}

/// A private key, from its first line to its last; to the end of the text if that was cut off. Certificates and
/// public keys are no secrets.
pub(super) fn private_key(text: &str, from: usize, end: usize) -> Option<Secret> {
    let bytes = text.as_bytes();
    let label_end = run(&bytes[..bytes.len().min(end + LABEL_MAX)], end, |byte| {
        byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
    });
    if !text[end..label_end].contains("PRIVATE KEY") || !text[label_end..].starts_with("-----") {
        return None;
    }
    let rest = &text[label_end + 5..];
    let to = rest.find("-----END").map_or(text.len(), |at| {
        let last = label_end + 5 + at + "-----END".len();
        text[last..].find("-----").map_or(text.len(), |at| last + at + 5)
    });
    Some(Secret { from, to, kind: "private-key" })
}
