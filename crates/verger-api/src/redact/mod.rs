//! Takes credentials out of what agents say, before anything is stored.
//!
//! Arguments, results and messages hold whatever an agent has read: environment dumps, headers, key files. What has
//! the shape of a credential is replaced by `[redacted:kind]`; the rest is left as it is, so that people can still
//! see what happened.
//!
//! The text is looked at once, word by word. Most words are over after a look at their first and last byte, and a
//! text without credentials is handed back without being copied. Nothing looks ahead further than a fixed distance,
//! except for the end of a key file, so the work is linear whatever the text is.
//!
//! What cannot be told by its shape (a password in the middle of a sentence) stays. This stops accidents, not an
//! agent that wants to tell.

mod auth;
mod named;
mod shape;
mod url;

use std::borrow::Cow;

/// Part of a text that is a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Secret {
    from: usize,
    to: usize,
    kind: &'static str,
}

/// The text without credentials; the text itself if there are none.
pub fn redact(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut clean: Option<String> = None;
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        let (secret, next) = look(text, at);
        at = next;
        if let Some(Secret { from, to, kind }) = secret.filter(|secret| copied <= secret.from) {
            let clean = clean.get_or_insert_with(|| String::with_capacity(text.len()));
            clean.push_str(&text[copied..from]);
            clean.extend(["[redacted:", kind, "]"]);
            (at, copied) = (to, to);
        }
    }
    match clean {
        None => Cow::Borrowed(text),
        Some(mut clean) => {
            clean.push_str(&text[copied..]);
            Cow::Owned(clean)
        }
    }
}

/// What begins at this byte, and where to look next.
fn look(text: &str, at: usize) -> (Option<Secret>, usize) {
    let bytes = text.as_bytes();
    if !WORD[usize::from(bytes[at])] {
        let url = bytes[at] == b':' && bytes[at..].starts_with(b"://");
        return (if url { url::password(text, at + 3) } else { None }, at + 1);
    }
    let end = at + bytes[at..].iter().take_while(|byte| WORD[usize::from(**byte)]).count();
    // In JSON, the `n` of `\n` is no part of the word after it.
    let escaped = at.checked_sub(1).is_some_and(|before| bytes[before] == b'\\');
    let start = if escaped { end.min(at + if bytes[at] == b'u' { 5 } else { 1 }) } else { at };
    (word(text, start, end), end)
}

fn word(text: &str, start: usize, end: usize) -> Option<Secret> {
    let word = &text[start..end];
    let (first, last) = (*word.as_bytes().first()?, *word.as_bytes().last()?);
    if shape::FIRST[usize::from(first)]
        && let Some(secret) = shape::token(text, start, end)
    {
        return Some(secret);
    }
    if last == b'N' && word.ends_with("-----BEGIN") {
        return auth::private_key(text, end - "-----BEGIN".len(), end);
    }
    if !named::LAST[usize::from(last)] {
        return None;
    }
    auth::scheme(text, word, end)
        .or_else(|| url::webhook(text, word, start, end))
        .or_else(|| named::value(text, start, end))
}

/// Letters, digits, `_` and `-`.
const WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_' || byte as u8 == b'-';
        byte += 1;
    }
    table
};

/// A table of the bytes of a text, capital letters included.
const fn bytes_of(text: &str) -> [bool; 256] {
    let text = text.as_bytes();
    let mut table = [false; 256];
    let mut at = 0;
    while at < text.len() {
        table[text[at] as usize] = true;
        table[text[at].to_ascii_uppercase() as usize] = true;
        at += 1;
    }
    table
}

/// Where a run of bytes ends that are allowed.
fn run(bytes: &[u8], from: usize, allowed: impl Fn(u8) -> bool) -> usize {
    from + bytes[from..].iter().take_while(|byte| allowed(**byte)).count()
}
