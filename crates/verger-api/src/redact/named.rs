//! Credentials that are known by the name before them: `API_KEY=…`, `"password": "…"`, `--token …`.

use super::{Secret, bytes_of, run};

/// How the names end: passwor**d**, secre**t**, toke**n**, ke**y**, credential**s**, passphras**e**, header names.
/// The last bytes of the words in `auth` and `url` are among them.
pub(super) const LAST: [bool; 256] = bytes_of("dtnyserc");

/// How far the end of a value between quotes is looked for.
const VALUE_MAX: usize = 4_096;

/// How much of a header is looked at before it is known to be one.
const HEADER_MAX: usize = 512;

/// How sure a name makes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    /// Whatever it is given is a secret.
    Password,
    /// Something that looks random is one.
    Token,
    /// A header that holds credentials up to the end of its line.
    Header,
}

/// The value that is given to the name in `start..end`.
pub(super) fn value(text: &str, start: usize, end: usize) -> Option<Secret> {
    let word = &text[start..end];
    let bytes = text.as_bytes();
    let quiet = |byte: u8| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'\\');
    let window = |from: usize| &bytes[..bytes.len().min(from + 6)];
    let mut sign = run(window(end), end, quiet);
    let option = word.starts_with("--");
    let assigned = match bytes.get(sign) {
        Some(b'=') => b'=',
        Some(b':') => b':',
        _ if option && bytes.get(end) == Some(&b' ') => {
            sign = end;
            b' '
        }
        _ => return None,
    };
    // Few words are given anything, so the names are looked through last.
    let name = classify(word)?;
    let after = run(window(sign + 1), sign + 1, |byte| quiet(byte) || byte == b'>' || byte == b'=');
    let given = Given::read(text, after, assigned);
    let known = match name {
        Name::Header => return header(text, after),
        Name::Password => given.is_secret(text, start, assigned),
        Name::Token => given.is_secret(text, start, assigned) && looks_random(given.value),
    };
    let kind = if name == Name::Password { "password" } else { "token" };
    known.then(|| Secret { from: given.from, to: given.end(text, assigned), kind })
}

fn classify(word: &str) -> Option<Name> {
    const SURE: [&str; 18] = [
        "password",
        "passwd",
        "passphrase",
        "secret",
        "apikey",
        "accesskey",
        "secretkey",
        "privatekey",
        "authkey",
        "signingkey",
        "encryptionkey",
        "accountkey",
        "masterkey",
        "sharedkey",
        "storagekey",
        "servicekey",
        "credentials",
        "subscriptionkey",
    ];
    const HEADERS: [&str; 5] = ["authorization", "proxyauthorization", "cookie", "setcookie", "xapikey"];
    if HEADERS.iter().any(|name| ends(word, name) == Some(true)) {
        return Some(Name::Header);
    }
    if SURE.iter().any(|name| ends(word, name).is_some())
        || ends(word, "pwd") == Some(true)
        || ends(word, "dbpass").is_some()
    {
        return Some(Name::Password);
    }
    let part = |tail: &str| ends(word, tail) == Some(true) || is_part(word, tail);
    (part("token") || part("pass") || is_env_key(word)).then_some(Name::Token)
}

/// Whether a name ends so, whatever its case and whether its parts are joined by `_`, `-` or nothing; and whether
/// that is all of it.
fn ends(word: &str, tail: &str) -> Option<bool> {
    let mut word = word.bytes().rev().filter(|byte| !matches!(byte, b'_' | b'-'));
    let same =
        tail.bytes().rev().all(|byte| word.next().is_some_and(|given| given.to_ascii_lowercase() == byte));
    same.then(|| word.next().is_none())
}

/// Whether the last part of a name is this: `access_token`, `accessToken`, not `tokentoken`.
fn is_part(word: &str, tail: &str) -> bool {
    let Some(at) = word.len().checked_sub(tail.len()).filter(|at| 0 < *at) else { return false };
    let Some((before, last)) = word.split_at_checked(at) else { return false };
    let camel = last.starts_with(|first: char| first.is_ascii_uppercase())
        && before.ends_with(|end: char| end.is_ascii_lowercase() || end.is_ascii_digit());
    last.eq_ignore_ascii_case(tail) && (camel || before.ends_with(['_', '-']))
}

/// `OPENAI_KEY`, and not `primary_key`.
fn is_env_key(word: &str) -> bool {
    word.ends_with("_KEY") && !word.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// A header's value, to the end of its line.
fn header(text: &str, from: usize) -> Option<Secret> {
    let bytes = text.as_bytes();
    let in_line = |byte: u8| !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'\\');
    let window = &bytes[..bytes.len().min(from + HEADER_MAX)];
    let to = run(window, from.min(window.len()), in_line);
    let to = (0..4).map(|less| to - less).find(|to| text.is_char_boundary(*to))?;
    let value = text[from..to].trim_end();
    let announced = value.split_once(' ').is_some_and(|(scheme, rest)| {
        let known = ["bearer", "basic", "token", "digest", "apikey", "negotiate"];
        known.iter().any(|name| scheme.eq_ignore_ascii_case(name))
            && 8 <= rest.trim().len()
            && !rest.trim().contains(' ')
    });
    let pairs = value.contains('=') && 12 <= value.len();
    let alone = !value.contains(' ') && looks_random(value);
    let shown = value.contains("[redacted:") || value.starts_with(['$', '<', '{']);
    let secret = (announced || pairs || alone) && !shown;
    let end = if to < window.len() { from + value.len() } else { run(bytes, to, in_line) };
    secret.then_some(Secret { from, to: end, kind: "header" })
}

/// What is given to a name.
struct Given<'a> {
    value: &'a str,
    from: usize,
    quoted: bool,
}

impl<'a> Given<'a> {
    fn read(text: &'a str, from: usize, assigned: u8) -> Self {
        let bytes = text.as_bytes();
        let quote = from.checked_sub(1).map(|at| bytes[at]).filter(|byte| matches!(byte, b'"' | b'\''));
        let window = &bytes[..bytes.len().min(from + VALUE_MAX)];
        if let Some(to) = quote.and_then(|quote| closing(window, from, quote)) {
            return Self { value: &text[from..to], from, quoted: true };
        }
        let mut to = run(window, from.min(window.len()), |byte| !ends_value(byte, assigned));
        while !text.is_char_boundary(to) {
            to -= 1;
        }
        Self { value: &text[from..to], from, quoted: false }
    }

    /// Where it ends. What is longer than was looked at is taken out as a whole.
    fn end(&self, text: &str, assigned: u8) -> usize {
        let end = self.from + self.value.len();
        if self.quoted { end } else { run(text.as_bytes(), end, |byte| !ends_value(byte, assigned)) }
    }

    /// Whether this can be a secret at all, and is no word of a sentence or of a program.
    fn is_secret(&self, text: &str, name_at: usize, assigned: u8) -> bool {
        const NONE: [&str; 12] = [
            "null",
            "none",
            "true",
            "false",
            "undefined",
            "nil",
            "string",
            "str",
            "password",
            "secret",
            "token",
            "required",
        ];
        let value = self.value;
        if value.is_empty() || NONE.iter().any(|none| value.eq_ignore_ascii_case(none)) {
            return false;
        }
        if value.starts_with(['$', '%', '{', '[', '<', '*', '(', '@']) || value.contains("[redacted:") {
            return false;
        }
        if self.quoted {
            return !value.contains(' ') || looks_random(value);
        }
        // Numbers in JSON, calls and look-ups in programs.
        if value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && value.len() < 16
            || value.contains(['(', '['])
        {
            return false;
        }
        match assigned {
            b':' => {
                value.bytes().any(|byte| byte.is_ascii_digit()) && 6 <= value.len()
                    || self.is_setting(text, name_at)
            }
            _ => 4 <= value.len() && !is_path_of_names(value),
        }
    }

    /// Whether name and value have a line to themselves, as in YAML.
    fn is_setting(&self, text: &str, name_at: usize) -> bool {
        let blank = |part: &str| part.trim_matches([' ', '\t', '-']).is_empty();
        // A line that is longer than this is none with one name and one value.
        let near = name_at.saturating_sub(40);
        let near = (near..=name_at).find(|at| text.is_char_boundary(*at)).unwrap_or(name_at);
        let before = &text[near..name_at];
        let before = before.rsplit_once('\n').map(|(_, line)| line).or((near == 0).then_some(before));
        let after = &text.as_bytes()[self.from + self.value.len()..];
        let after_ends = after.first().is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
        6 <= self.value.len() && before.is_some_and(blank) && after_ends
    }
}

/// What ends a value without quotes.
fn ends_value(byte: u8, assigned: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'\\`<>)}]&;".contains(&byte) || byte == b',' && assigned != b' '
}

/// Where a value between quotes ends. Quotes that are escaped themselves (JSON within JSON) end at such a one.
fn closing(window: &[u8], from: usize, quote: u8) -> Option<usize> {
    let escaped = 2 <= from && window[from - 2] == b'\\';
    let mut at = from;
    loop {
        match *window.get(at)? {
            byte if byte == quote => return Some(at),
            b'\\' if escaped && window.get(at + 1) == Some(&quote) => return Some(at),
            b'\\' => at += 2,
            b'\n' => return None,
            _ => at += 1,
        }
    }
}

/// `config.password` and `self.token` are names, not values.
fn is_path_of_names(value: &str) -> bool {
    value.contains('.')
        && value.split('.').all(|part| part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

fn looks_random(value: &str) -> bool {
    8 <= value.len()
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        || 20 <= value.len() && !value.contains(' ') && !value.contains('.')
}
