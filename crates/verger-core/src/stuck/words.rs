//! Text as words and lines.
//!
//! One pass over the bytes, without memory. A word is a run of letters, digits and underscores in any
//! alphabet; a character of a script that writes no spaces is a word by itself. Each word has two digests, one
//! that knows its digits and one that does not, because `worker-17` and `worker-18` are the same trouble.
//! Ids, which mean nothing a second time, are marked; so are numbers that only say when or where in a text.

use crate::fingerprint::escape_length;

/// Bytes that are read at the beginning of a text …
const HEAD: usize = 6 * 1024;
/// … and, if it is longer, at its end.
const TAIL: usize = 2 * 1024;

/// The two parts of a text that are read.
pub(super) fn ends(text: &str) -> [&[u8]; 2] {
    let bytes = text.as_bytes();
    if bytes.len() <= HEAD + TAIL {
        return [bytes, &[]];
    }
    [&bytes[..HEAD], &bytes[bytes.len() - TAIL..]]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// It has letters.
    Letters,
    /// It is a number that counts or measures something.
    Number,
    /// It is part of a moment, a position in a text, or an id: it differs each time and means nothing.
    Volatile,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    /// Digest without regard to digits and case.
    pub(super) plain: u32,
    /// Digest without regard to case.
    pub(super) exact: u32,
    pub(super) form: Form,
    /// What a number amounts to, without its fraction.
    pub(super) value: u32,
    /// Long enough to carry meaning.
    pub(super) long: bool,
    /// It ends like the name of an error and is followed by a colon.
    pub(super) names_error: bool,
}

/// What is done with the words of a text.
pub(super) trait Sink {
    fn word(&mut self, word: Word);
    /// A token has ended: words joined by nothing but `/ . - ~ + @`.
    fn token(&mut self, path: bool);
    fn line(&mut self);
}

const TMP: u32 = digest_of("tmp");
const TEMP: u32 = digest_of("temp");

/// Digest of a word, as [`read`] makes it; usable in constants.
pub(super) const fn digest_of(word: &str) -> u32 {
    let bytes = word.as_bytes();
    let mut digest = SEED;
    let mut at = 0;
    while at < bytes.len() {
        digest = fold(digest, bytes[at].to_ascii_lowercase());
        at += 1;
    }
    finish(digest)
}

const SEED: u32 = 0x811c_9dc5;

const fn fold(digest: u32, byte: u8) -> u32 {
    (digest ^ byte as u32).wrapping_mul(0x0100_0193)
}

const fn finish(mut digest: u32) -> u32 {
    digest ^= digest >> 15;
    digest = digest.wrapping_mul(0x85eb_ca6b);
    digest ^= digest >> 13;
    digest = digest.wrapping_mul(0xc2b2_ae35);
    digest ^ (digest >> 16)
}

/// Digest of a sequence, one more member at a time.
pub(super) const fn chain(digest: u32, next: u32) -> u32 {
    finish(digest.rotate_left(5) ^ next.wrapping_mul(0x9e37_79b1))
}

#[derive(Clone, Copy, PartialEq)]
enum Class {
    /// A letter of an alphabet, or an underscore.
    Letter,
    Digit,
    /// The first byte of a character that is a word by itself.
    Wide,
    /// The first byte of a three-byte sign that is no word: dashes, arrows, quotes, frames.
    Sign,
    /// It joins words into one token.
    Joint,
    Line,
    Escape,
    Backslash,
    Other,
}

/// What a byte is, in lower case where it is a letter.
#[derive(Clone, Copy)]
struct Byte {
    class: Class,
    lower: u8,
    hex: bool,
}

static BYTES: [Byte; 256] = {
    let mut bytes = [Byte { class: Class::Other, lower: 0, hex: false }; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        let class = match byte {
            b'0'..=b'9' => Class::Digit,
            b'A'..=b'Z' | b'a'..=b'z' | b'_' | 0x80..=0xdf => Class::Letter,
            0xe2 => Class::Sign,
            0xe0..=0xff => Class::Wide,
            b'/' | b'.' | b'-' | b'~' | b'+' | b'@' => Class::Joint,
            b'\n' | b'\r' => Class::Line,
            0x1b => Class::Escape,
            b'\\' => Class::Backslash,
            _ => Class::Other,
        };
        bytes[at] = Byte { class, lower: byte.to_ascii_lowercase(), hex: byte.is_ascii_hexdigit() };
        at += 1;
    }
    bytes
};

fn class(byte: u8) -> Class {
    BYTES[usize::from(byte)].class
}

/// Reads `bytes`. `escaped` says that they stand between the quotes of JSON.
pub(super) fn read(bytes: &[u8], escaped: bool, sink: &mut impl Sink) {
    let mut token = Token::default();
    let (mut id_before, mut below_temp) = (false, false);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match class(byte) {
            Class::Letter | Class::Digit => {
                let (mut word, end) = scan(bytes, at);
                id_before = (id_before && continues_id(bytes, at, end)) || word.form == Form::Volatile;
                // What lies in a folder for temporary things has a name of its own each time.
                if id_before || (below_temp && word.plain != word.exact) {
                    word.form = Form::Volatile;
                }
                below_temp = matches!(word.plain, TMP | TEMP) && bytes.get(end) == Some(&b'/');
                sink.word(word);
                token.words = true;
                at = end;
                continue;
            }
            Class::Wide => {
                let end = (at + if byte >= 0xf0 { 4 } else { 3 }).min(bytes.len());
                let digest = finish(bytes[at..end].iter().fold(SEED, |digest, &byte| fold(digest, byte)));
                let word = Word {
                    plain: digest,
                    exact: digest,
                    form: Form::Letters,
                    value: 0,
                    long: true,
                    names_error: false,
                };
                sink.word(word);
                token.words = true;
                at = end;
                continue;
            }
            Class::Joint => {
                let inside = bytes
                    .get(at + 1)
                    .is_some_and(|&next| matches!(class(next), Class::Letter | Class::Digit));
                token.path |= byte == b'/' || (byte == b'.' && token.words && inside);
            }
            Class::Sign => {
                token.end(sink);
                at += 2;
            }
            Class::Line => {
                token.end(sink);
                sink.line();
            }
            Class::Escape => at += escape_length(&bytes[at + 1..]),
            Class::Backslash if escaped => {
                token.end(sink);
                match bytes.get(at + 1) {
                    Some(b'n') => sink.line(),
                    Some(b'u') => at += 4,
                    _ => {}
                }
                at += 1;
            }
            Class::Backslash | Class::Other => token.end(sink),
        }
        if class(byte) != Class::Joint {
            id_before = false;
        }
        at += 1;
    }
    token.end(sink);
    sink.line();
}

#[derive(Default)]
struct Token {
    words: bool,
    path: bool,
}

impl Token {
    fn end(&mut self, sink: &mut impl Sink) {
        if self.words {
            sink.token(self.path);
        }
        *self = Self::default();
    }
}

/// The word that begins at `start`, and where it ends.
fn scan(bytes: &[u8], start: usize) -> (Word, usize) {
    let (mut digest, mut hex, mut end) = (SEED, true, bytes.len());
    for (at, &raw) in bytes.iter().enumerate().skip(start) {
        let byte = BYTES[usize::from(raw)];
        match byte.class {
            Class::Letter => {
                digest = fold(digest, byte.lower);
                hex &= byte.hex;
            }
            Class::Digit => return scan_with_digits(bytes, start, at, digest, hex),
            _ => {
                end = at;
                break;
            }
        }
    }
    let plain = finish(digest);
    let letters = end - start;
    let names_error = letters > 5 && bytes.get(end) == Some(&b':') && ends_like_error(&bytes[start..end]);
    (Word { plain, exact: plain, form: Form::Letters, value: 0, long: letters >= 3, names_error }, end)
}

/// The same from the first digit on, which is at `from`; `digest` and `hex` are of the letters before.
fn scan_with_digits(bytes: &[u8], start: usize, from: usize, digest: u32, mut hex: bool) -> (Word, usize) {
    let (mut plain, mut exact) = (digest, digest);
    let (mut letters, mut digits, mut turns) = (from - start, 0, u32::from(from > start));
    let mut was_digit = true;
    let mut end = bytes.len();
    for (at, &raw) in bytes.iter().enumerate().skip(from) {
        let byte = BYTES[usize::from(raw)];
        let digit = byte.class == Class::Digit;
        if digit {
            digits += 1;
        } else if byte.class == Class::Letter {
            plain = fold(plain, byte.lower);
            letters += 1;
        } else if letters > 0 || !goes_on(bytes, at) {
            end = at;
            break;
        }
        exact = fold(exact, byte.lower);
        hex &= byte.hex;
        turns += u32::from(digit != was_digit);
        was_digit = digit;
    }
    let form = match letters {
        0 if digits >= 10 || tells_place(bytes, start, end) => Form::Volatile,
        0 => Form::Number,
        _ if (hex && letters + digits >= 7) || (letters + digits >= 10 && turns >= 4) => Form::Volatile,
        _ => Form::Letters,
    };
    let text = &bytes[start..end];
    let stem = if form == Form::Letters { stem_before_id(text) } else { None };
    let plain = finish(stem.unwrap_or(plain));
    // A moment or a duration written with its unit means nothing; how large something is does.
    let measured = letters > 0 && letters <= 2 && from == start && !is_size(text);
    let exact = if measured || stem.is_some() { plain } else { finish(exact) };
    let value = if letters == 0 { amount(text) } else { 0 };
    (Word { plain, exact, form, value, long: letters >= 3, names_error: false }, end)
}

/// Digest of `exec_` in `exec_5f3a9c1e`: what comes before an id is the name.
fn stem_before_id(word: &[u8]) -> Option<u32> {
    let joint = word.iter().rposition(|byte| *byte == b'_')?;
    let id = &word[joint + 1..];
    let is_id = id.len() >= 7 && id.iter().all(u8::is_ascii_hexdigit) && id.iter().any(u8::is_ascii_digit);
    (joint > 0 && is_id).then(|| {
        let letters = word[..joint].iter().filter(|byte| !byte.is_ascii_digit());
        letters.fold(SEED, |digest, byte| fold(digest, byte.to_ascii_lowercase()))
    })
}

/// Whether a number is followed by a unit of size. A small `m` is a minute.
fn is_size(word: &[u8]) -> bool {
    let unit = word.iter().rposition(u8::is_ascii_digit).map_or(word, |last| &word[last + 1..]);
    matches!(unit, b"B" | b"k" | b"K" | b"M" | b"G" | b"kB" | b"KB" | b"MB" | b"GB" | b"TB")
}

/// What a number amounts to, without its fraction.
fn amount(number: &[u8]) -> u32 {
    let whole = number.iter().take_while(|byte| **byte != b'.').filter(|byte| byte.is_ascii_digit());
    whole.fold(0, |amount: u32, digit| amount.saturating_mul(10).saturating_add(u32::from(digit - b'0')))
}

/// Whether a number goes on after this byte: with its fraction, or with the next group of three digits.
fn goes_on(bytes: &[u8], at: usize) -> bool {
    matches!(bytes[at], b'.' | b',') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
}

/// Whether a number is part of a moment (`12:34:56`, `2024-05-01`) or of a position (`main.c:12:5`).
fn tells_place(bytes: &[u8], start: usize, end: usize) -> bool {
    let joins = |byte: u8| matches!(byte, b':' | b'-' | b'/');
    let digit_at = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let follows = bytes.get(end).is_some_and(|&byte| joins(byte)) && digit_at(end + 1);
    let precedes = start >= 2 && joins(bytes[start - 1]) && digit_at(start - 2);
    follows || precedes
}

/// Whether the word goes on with an id that was cut at a hyphen.
fn continues_id(bytes: &[u8], start: usize, end: usize) -> bool {
    start > 0
        && bytes[start - 1] == b'-'
        && matches!(end - start, 4 | 12)
        && bytes[start..end].iter().all(u8::is_ascii_hexdigit)
}

fn ends_like_error(word: &[u8]) -> bool {
    let ends = |suffix: &[u8]| {
        word.len() > suffix.len() && word[word.len() - suffix.len()..].eq_ignore_ascii_case(suffix)
    };
    ends(b"error") || ends(b"exception")
}
