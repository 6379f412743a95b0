//! Credentials inside of addresses.

use super::{Secret, run};

/// Longer ones are no names of hosts.
const AUTHORITY_MAX: usize = 1_024;

/// The password in `scheme://user:password@host`, whose part after `//` begins at `from`.
pub(super) fn password(text: &str, from: usize) -> Option<Secret> {
    let bytes = text.as_bytes();
    let window = &bytes[..bytes.len().min(from + AUTHORITY_MAX)];
    let end = run(window, from.min(window.len()), |byte| {
        !byte.is_ascii_whitespace() && !b"/?#\"'<>\\()`".contains(&byte)
    });
    let at = from + bytes[from..end].iter().rposition(|byte| *byte == b'@')?;
    let colon = from + bytes[from..at].iter().position(|byte| *byte == b':')?;
    let secret = Secret { from: colon + 1, to: at, kind: "password" };
    let value = &bytes[secret.from..secret.to];
    let filled_in = value.starts_with(b"$") || value.starts_with(b"{") || value.starts_with(b"[redacted");
    (!value.is_empty() && !filled_in).then_some(secret)
}

/// Addresses that are credentials themselves: whoever knows them may post.
pub(super) fn webhook(text: &str, word: &str, start: usize, end: usize) -> Option<Secret> {
    let before = match word {
        "services" => "hooks.slack.com/",
        "webhooks" => "/api/",
        _ => return None,
    };
    if !text[..start].ends_with(before) || !text[end..].starts_with('/') {
        return None;
    }
    let to = run(text.as_bytes(), end + 1, |byte| super::WORD[usize::from(byte)] || byte == b'/');
    (end + 9 < to).then_some(Secret { from: end + 1, to, kind: "webhook" })
}
