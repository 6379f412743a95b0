//! The arguments of a call, canonical: JSON without regard to the order of keys and to space; anything else
//! as text with runs of white space as one space.
//!
//! An object's digest is the sum of its members' digests, so nothing needs to be sorted or stored. Text that
//! is not JSON, nests too deep or is too long is text.

use super::digest::{Digest, mix};
use super::{READ_MAX, waiting};

/// How deep JSON may nest before it is taken as text.
const DEPTH_MAX: u32 = 32;

/// What a model says about a call while making it. The same command with another thought is the same.
const THOUGHTS: [&[u8]; 6] =
    [b"thought", b"thoughts", b"thinking", b"reasoning", b"explanation", b"justification"];

pub(super) fn digest(args: &str) -> u64 {
    let bytes = args.as_bytes();
    let json = if bytes.len() <= READ_MAX { Json { rest: bytes }.document() } else { None };
    json.unwrap_or_else(|| text(bytes))
}

fn text(bytes: &[u8]) -> u64 {
    let read = &bytes[..bytes.len().min(READ_MAX)];
    let mut digest = Digest::NEW;
    for word in read.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
        digest.write(word);
        digest.byte(b' ');
    }
    if bytes.len() > READ_MAX { mix(digest.finish(), bytes.len() as u64) } else { digest.finish() }
}

/// A reader of JSON that keeps nothing but digests. It is lenient about what is between quotes and strict
/// about structure; on anything odd it gives up.
struct Json<'a> {
    rest: &'a [u8],
}

impl<'a> Json<'a> {
    fn document(mut self) -> Option<u64> {
        let digest = self.value(0)?;
        self.space();
        self.rest.is_empty().then_some(digest)
    }

    fn value(&mut self, depth: u32) -> Option<u64> {
        self.space();
        match self.rest.first()? {
            b'{' if depth < DEPTH_MAX => self.object(depth),
            b'[' if depth < DEPTH_MAX => self.array(depth),
            b'"' => Some(mix(1, Digest::of(self.string()?))),
            _ => self.scalar(),
        }
    }

    fn object(&mut self, depth: u32) -> Option<u64> {
        self.eat(b'{')?;
        let (mut sum, mut described, mut commands) = (0u64, 0u64, false);
        while !self.ends(b'}') {
            self.space();
            let key = self.string()?;
            self.space();
            self.eat(b':')?;
            let member = mix(Digest::of(key), self.value(depth + 1)?);
            commands |= waiting::is_command_key(key);
            match key {
                _ if THOUGHTS.contains(&key) => {}
                b"description" => described = described.wrapping_add(member),
                _ => sum = sum.wrapping_add(member),
            }
            self.comma(b'}')?;
        }
        self.eat(b'}')?;
        // Beside a command, a description is the model's remark on it; elsewhere it may be what the call is about.
        Some(mix(2, if commands { sum } else { sum.wrapping_add(described) }))
    }

    fn array(&mut self, depth: u32) -> Option<u64> {
        self.eat(b'[')?;
        let mut digest = 3;
        while !self.ends(b']') {
            digest = mix(digest, self.value(depth + 1)?);
            self.comma(b']')?;
        }
        self.eat(b']')?;
        Some(digest)
    }

    /// What is between two quotes, as it is written.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.eat(b'"')?;
        let mut escaped = false;
        let end = self.rest.iter().position(|&byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        })?;
        let (string, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        Some(string)
    }

    /// A number or a word.
    fn scalar(&mut self) -> Option<u64> {
        let in_scalar = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let end = self.rest.iter().position(|byte| !in_scalar(byte)).unwrap_or(self.rest.len());
        let (scalar, rest) = self.rest.split_at(end);
        self.rest = rest;
        let json = scalar == b"true" || scalar == b"false" || scalar == b"null" || is_number(scalar);
        json.then(|| mix(4, Digest::of(scalar)))
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn ends(&mut self, with: u8) -> bool {
        self.space();
        self.rest.first() == Some(&with)
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        self.rest = self.rest.strip_prefix(&[byte])?;
        Some(())
    }

    /// A comma with something after it, or the end.
    fn comma(&mut self, end: u8) -> Option<()> {
        if self.ends(end) {
            return Some(());
        }
        self.eat(b',')?;
        (!self.ends(end)).then_some(())
    }
}

fn is_number(scalar: &[u8]) -> bool {
    scalar.strip_prefix(b"-").unwrap_or(scalar).first().is_some_and(u8::is_ascii_digit)
}
