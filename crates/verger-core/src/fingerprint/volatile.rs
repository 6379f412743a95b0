//! The digest of a text without what changes from one time to the next though nothing happened: colours,
//! clock times, durations, hexadecimal ids, names of temporary files, line and process numbers.
//!
//! Plain numbers and percentages stay: a poll that says 10 % and then 20 % made progress. White space counts
//! as one space, and a ruled line as one stroke, because both are drawn to fit what stands between them.
//!
//! The text is read once, byte by byte, into tokens of bounded length; a longer one is nothing volatile.

use super::READ_MAX;
use super::digest::Digest;
use super::shapes::{
    begins_with_digit, is_duration, is_epoch, is_id, is_moment, is_month, is_number, is_unit,
};

/// No uuid, moment or path that is worth recognising is longer.
const TOKEN_MAX: usize = 256;

/// Written in place of what is left out.
const MARK: u8 = 1;

const TEMPORARY: [&[u8]; 5] = [b"/tmp/", b"/var/tmp/", b"/private/tmp/", b"/var/folders/", b"/dev/shm/"];

/// Words that any failure may consist of.
const BARE: [&[u8]; 17] = [
    b"exit",
    b"exited",
    b"code",
    b"status",
    b"error",
    b"errors",
    b"failed",
    b"failure",
    b"command",
    b"with",
    b"returned",
    b"no",
    b"output",
    b"none",
    b"null",
    b"process",
    b"result",
];

/// The digest, and whether the text says nothing that any failure would not say.
pub(super) fn digest(text: &str) -> (u64, bool) {
    let bytes = text.as_bytes();
    let mut scan = Scan::new();
    if bytes.len() <= 2 * READ_MAX {
        scan.read(bytes);
    } else {
        scan.read(&bytes[..READ_MAX]);
        scan.read(&bytes[bytes.len() - READ_MAX..]);
    }
    (scan.out.digest.finish(), !scan.out.informs)
}

/// What the last word announced about a number after it.
#[derive(Clone, Copy, PartialEq)]
enum Announced {
    Nothing,
    /// `line` or `pid`: the number is no content.
    Counter,
    /// A month: the number is its day.
    Day,
}

/// Cuts a text into tokens.
struct Scan {
    out: Writer,
    token: [u8; TOKEN_MAX],
    length: usize,
    /// The token was too long and is written as it is.
    long: bool,
}

impl Scan {
    fn new() -> Self {
        Self { out: Writer::new(), token: [0; TOKEN_MAX], length: 0, long: false }
    }

    fn read(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let rest = &bytes[at + 1..];
            at += 1;
            match byte {
                0x1b => at += escape_length(rest),
                _ if in_token(byte) || (byte == b',' && self.in_number(rest)) => self.push(byte),
                0..=b' ' | 0x7f => {
                    self.end_token();
                    self.out.space = true;
                }
                _ => {
                    self.end_token();
                    self.out.stroke(byte);
                }
            }
        }
        self.end_token();
        self.out.flush_number();
    }

    /// Whether a comma stands between digits, as in `12:34:56,789`.
    fn in_number(&self, rest: &[u8]) -> bool {
        let before = self.token[..self.length].last();
        before.is_some_and(u8::is_ascii_digit) && rest.first().is_some_and(u8::is_ascii_digit)
    }

    fn push(&mut self, byte: u8) {
        if self.length < TOKEN_MAX {
            self.token[self.length] = byte;
            self.length += 1;
            return;
        }
        if !std::mem::replace(&mut self.long, true) {
            self.out.long(&self.token);
        }
        self.out.digest.byte(byte);
    }

    fn end_token(&mut self) {
        let length = std::mem::take(&mut self.length);
        if !std::mem::take(&mut self.long) && length > 0 {
            self.out.token(&self.token[..length]);
        }
    }
}

/// Digests tokens, leaving out what is volatile.
struct Writer {
    digest: Digest,
    /// A number that may turn out to be a duration, as in `0.31 seconds`.
    number: [u8; 32],
    number_length: usize,
    /// White space was read before that number.
    number_space: bool,
    announced: Announced,
    /// Something was written.
    begun: bool,
    /// White space was read since the last thing written.
    space: bool,
    /// The last thing written, if it was a single stroke or [`MARK`].
    last: u8,
    /// The text says something of its own.
    informs: bool,
}

impl Writer {
    fn new() -> Self {
        Self {
            digest: Digest::NEW,
            number: [0; 32],
            number_length: 0,
            number_space: false,
            announced: Announced::Nothing,
            begun: false,
            space: false,
            last: 0,
            informs: false,
        }
    }

    fn token(&mut self, token: &[u8]) {
        let start = token.iter().position(|byte| !b"-+:".contains(byte)).unwrap_or(token.len());
        let end = token.iter().rposition(|byte| !b"-+:.,/".contains(byte)).map_or(start, |last| last + 1);
        for &byte in &token[..start] {
            self.stroke(byte);
        }
        if start < end {
            self.word(&token[start..end]);
        }
        for &byte in &token[end.max(start)..] {
            self.stroke(byte);
        }
    }

    /// The beginning of a token too long to be anything volatile.
    fn long(&mut self, token: &[u8]) {
        self.flush_number();
        self.announced = Announced::Nothing;
        self.informs = true;
        self.plain(token);
    }

    fn word(&mut self, word: &[u8]) {
        if self.number_length > 0 && is_unit(word) {
            self.number_length = 0;
            self.space = self.number_space;
            return self.mark();
        }
        self.flush_number();
        let number = is_number(word);
        if number
            && self.announced == Announced::Nothing
            && word.len() <= self.number.len()
            && !is_epoch(word)
        {
            self.number[..word.len()].copy_from_slice(word);
            self.number_length = word.len();
            self.number_space = std::mem::take(&mut self.space);
        } else if begins_with_digit(word) && (is_moment(word) || is_duration(word)) {
            self.mark();
        } else if let Some(root) = temporary_root(word) {
            self.plain(root);
            self.parts(&word[root.len()..], b"/", is_temporary);
        } else {
            self.parts(word, b"/:", |_| false);
        }
    }

    /// Writes a word part by part, leaving out those that are volatile.
    fn parts(&mut self, word: &[u8], separators: &[u8], volatile: fn(&[u8]) -> bool) {
        for part in word.split_inclusive(|byte| separators.contains(byte)) {
            let (name, separator) = match part.split_last() {
                Some((last, name)) if separators.contains(last) => (name, Some(*last)),
                _ => (part, None),
            };
            if volatile(name) || is_id(name) || self.is_time_or_counter(name) {
                self.mark();
            } else if separators != b"-_." {
                self.announced = announces(name);
                self.parts(name, b"-_.", |_| false);
            } else {
                self.informs = self.informs || informs(name);
                self.plain(name);
            }
            if let Some(separator) = separator {
                self.plain(&[separator]);
            }
        }
    }

    fn is_time_or_counter(&self, part: &[u8]) -> bool {
        let announced = self.announced != Announced::Nothing;
        begins_with_digit(part) && (is_duration(part) || is_epoch(part) || (announced && is_number(part)))
    }

    fn flush_number(&mut self) {
        if self.number_length > 0 {
            let (number, length) = (self.number, std::mem::take(&mut self.number_length));
            let space_after = std::mem::replace(&mut self.space, self.number_space);
            self.plain(&number[..length]);
            self.space = space_after;
        }
    }

    fn plain(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.gap();
            self.digest.write(bytes);
            self.last = 0;
        }
    }

    fn mark(&mut self) {
        self.announced = Announced::Nothing;
        if self.last != MARK {
            self.gap();
            self.digest.byte(MARK);
        }
        (self.last, self.space) = (MARK, false);
    }

    fn stroke(&mut self, byte: u8) {
        self.flush_number();
        if byte == self.last && matches!(byte, b'=' | b'-') {
            return;
        }
        self.gap();
        self.digest.byte(byte);
        self.last = byte;
    }

    fn gap(&mut self) {
        if std::mem::take(&mut self.space) && self.begun {
            self.digest.byte(b' ');
        }
        self.begun = true;
    }
}

/// How much of `after`, which follows an escape character, belongs to it.
pub(crate) fn escape_length(after: &[u8]) -> usize {
    let until = |ends: fn(&u8) -> bool| after.iter().skip(1).position(ends).map_or(after.len(), |at| at + 2);
    match after.first() {
        Some(b'[') => until(|byte| (0x40..=0x7e).contains(byte)),
        Some(b']') => until(|byte| *byte == 7 || *byte == 0x1b),
        Some(_) => 1,
        None => 0,
    }
}

fn in_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'_' | b'.' | b':' | b'/' | b'-' | b'+')
}

fn temporary_root(word: &[u8]) -> Option<&'static [u8]> {
    let absolute = word.first() == Some(&b'/');
    TEMPORARY.into_iter().find(|root| absolute && word.starts_with(root))
}

fn announces(word: &[u8]) -> Announced {
    if word.eq_ignore_ascii_case(b"line") || word.eq_ignore_ascii_case(b"pid") {
        Announced::Counter
    } else if is_month(word) {
        Announced::Day
    } else {
        Announced::Nothing
    }
}

fn informs(word: &[u8]) -> bool {
    word.iter().any(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80)
        && !BARE.iter().any(|bare| word.eq_ignore_ascii_case(bare))
}

/// A part of a path below a temporary directory that some program made up.
fn is_temporary(part: &[u8]) -> bool {
    let digits = part.iter().any(u8::is_ascii_digit);
    part.starts_with(b"tmp") || (digits && (part.len() >= 6 || part.iter().all(u8::is_ascii_digit)))
}
