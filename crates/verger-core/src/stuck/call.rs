//! What a call says: what it does, to what, and what it carries along.
//!
//! Calls are compared by the values they carry, a path being one token, so ten files of one folder are not ten
//! similar calls. Numbers do not count: line 24 and line 27 are the same question. The keys of a schema say
//! nothing, and what a model remarks about a call while making it does not either.

use super::sketch::Sketch;
use super::vocabulary::{Roles, roles};
use super::words::{self, Form, Sink, Word, chain, digest_of};
use crate::fingerprint::{CallClass, CallPrint};

/// Words from which on what is written can be told from others.
const WORDS_SOLID: u32 = 4;

/// Tokens kept of what a call says.
pub(super) const SAID: usize = 16;
/// Lines kept of what a call writes.
pub(super) const BODY: usize = 12;

/// A call, read.
pub(super) struct Call<'a> {
    /// The command in it, as it is written; empty if there is none.
    command: &'a [u8],
    /// Tool and canonical arguments.
    pub(super) digest: u64,
    /// The word that says what is done.
    pub(super) verb: u32,
    /// The first path it names; 0 if none.
    pub(super) target: u32,
    /// What an edit replaces, and by what; 0 if unknown.
    pub(super) replaced: u32,
    pub(super) written: u32,
    pub(super) said: Sketch<SAID>,
    pub(super) body: Sketch<BODY>,
    pub(super) traits: Traits,
    /// Every word it says, to tell an echo from an answer.
    pub(super) echo: Echo,
}

/// What kind of call it is, judged from its shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traits {
    /// It looks for something: an empty answer is no success.
    pub(super) asks: bool,
    /// It writes: whether that is new is told by what it writes.
    pub(super) changes: bool,
    /// It does nothing else: no command that also runs something.
    pub(super) edits: bool,
    /// It waits or looks whether something is done.
    pub(super) waits: bool,
    /// It runs tests.
    pub(super) tests: bool,
    /// It says something to nobody: a thought.
    pub(super) thinks: bool,
    /// There is nothing to do in it: only a comment.
    pub(super) idles: bool,
    /// What it writes is more than a few words, and all of it was read: only then can it be the same as before.
    pub(super) solid: bool,
}

impl<'a> Call<'a> {
    pub(super) fn read(tool: &str, args: &'a str) -> Self {
        let print = CallPrint::of(tool, args);
        let mut reader = Reader::new(print.digest);
        reader.name(tool);
        let [head, tail] = words::ends(args);
        reader.cut = !tail.is_empty() || has_cut_mark(head);
        let head = head.trim_ascii();
        if head.first().is_some_and(|byte| b"{[".contains(byte)) {
            reader.members(head);
        } else {
            reader.command(head, false);
        }
        reader.finish(print.class)
    }

    /// Whether a sentence stands where a command belongs: many plain words, hardly a sign that shells give a
    /// meaning.
    pub(super) fn is_prose(&self) -> bool {
        let text = &self.command[..self.command.len().min(SENTENCE_MAX)];
        let (mut words, mut plain, mut signs) = (0u32, 0u32, 0u32);
        for word in text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
            let inner = match word {
                [inner @ .., b'.' | b',' | b':' | b'!' | b'?'] => inner,
                _ => word,
            };
            words += 1;
            plain += u32::from(!inner.is_empty() && inner.iter().all(|byte| in_sentence(*byte)));
            signs += u32::from(word.iter().any(|byte| b"=(){};|$<>".contains(byte)));
        }
        !text.starts_with(b"#") && words >= 7 && plain * 100 >= words * 75 && signs * 100 <= words * 10
    }
}

/// Which words were said. Now and then it takes a word for said that was not, which only makes an answer look
/// poorer by a word.
pub(super) struct Echo([u64; 128]);

impl Echo {
    fn insert(&mut self, digest: u32) {
        self.0[(digest >> 6) as usize % 128] |= 1 << (digest % 64);
    }

    pub(super) fn has(&self, digest: u32) -> bool {
        self.0[(digest >> 6) as usize % 128] & (1 << (digest % 64)) != 0
    }
}

struct Reader<'a> {
    call: Call<'a>,
    /// Words of the tool's name, until a command tells better.
    name_asks: bool,
    name_changes: bool,
    /// Members that are more than remarks; and remarks.
    members: u32,
    remarks: u32,
    /// Digest of the present token.
    token: u32,
    /// The present line is part of a body.
    in_body: bool,
    line: u32,
    line_words: u32,
    body_words: u32,
    /// Digest of the present value.
    value: u32,
    /// Something was left out of what is read.
    cut: bool,
}

impl<'a> Reader<'a> {
    fn new(digest: u64) -> Self {
        let call = Call {
            command: &[],
            digest,
            verb: 0,
            target: 0,
            replaced: 0,
            written: 0,
            said: Sketch::default(),
            body: Sketch::default(),
            traits: Traits::default(),
            echo: Echo([0; 128]),
        };
        Self {
            call,
            name_asks: false,
            name_changes: false,
            members: 0,
            remarks: 0,
            token: 0,
            in_body: false,
            line: 0,
            line_words: 0,
            body_words: 0,
            value: 0,
            cut: false,
        }
    }

    fn name(&mut self, tool: &str) {
        let name = words_cut(tool, 48);
        (self.name_asks, self.name_changes) = name_roles(name.as_bytes());
        self.call.verb = digest_of(name);
        words::read(name.as_bytes(), false, self);
    }

    /// The values of JSON, each with the key it stands under, however deep. What is cut off or odd is read as far
    /// as it goes.
    fn members(&mut self, bytes: &'a [u8]) {
        let (mut key, mut at) = (&b""[..], 0);
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            if byte == b'"' {
                let end = at + string_length(&bytes[at..]);
                let string = &bytes[at..end];
                at = (end + 1).min(bytes.len());
                let after = bytes[at..].trim_ascii_start();
                if after.first() == Some(&b':') {
                    key = string;
                } else {
                    self.member(key, string);
                }
            } else if byte.is_ascii_alphanumeric() || byte == b'-' {
                let length =
                    bytes[at..].iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'.');
                let end = length.map_or(bytes.len(), |length| at + length);
                self.member(key, &bytes[at - 1..end]);
                at = end;
            }
        }
    }

    fn member(&mut self, key: &[u8], value: &'a [u8]) {
        let roles = roles(key_digest(key));
        if roles.has(Roles::REMARK) {
            self.remarks += 1;
            return;
        }
        self.members += 1;
        self.value = 0;
        if roles.has(Roles::COMMAND) {
            self.command(value, true);
        } else {
            self.in_body = roles.has(Roles::WRITTEN);
            words::read(value, true, self);
            self.call.traits.edits |= self.in_body;
            self.in_body = false;
        }
        if roles.has(Roles::WRITTEN) {
            self.call.written = chain(self.value, 1);
        } else if roles.has(Roles::REPLACED) {
            self.call.replaced = chain(self.value, 1);
        }
    }

    /// A command, or a program: what is done stands at its beginning.
    fn command(&mut self, text: &'a [u8], escaped: bool) {
        let command = Command { text, escaped };
        self.call.command = text;
        self.call.traits.idles = command.is_comment();
        let verb = command.verb();
        let writes = command.redirects() || verb.is_some_and(|verb| command.edits_in_place(verb));
        // Signs are no verb: what the tool is called tells more.
        if let Some(verb) = verb.filter(|verb| verb.iter().any(u8::is_ascii_alphanumeric)) {
            self.call.verb = key_digest(verb);
            (self.name_asks, self.name_changes) = name_roles(verb);
        }
        let (first, rest) = command.first_line();
        self.value = 0;
        words::read(first, escaped, self);
        if !rest.is_empty() {
            self.in_body = true;
            words::read(rest, escaped, self);
            self.in_body = false;
        }
        self.call.traits.edits |= self.name_changes && self.body_words > 0;
        self.call.traits.changes |= writes;
        self.members += 1;
    }

    fn finish(mut self, class: CallClass) -> Call<'a> {
        let traits = &mut self.call.traits;
        traits.changes |= traits.edits;
        traits.asks = self.name_asks && !traits.changes;
        traits.waits = class == CallClass::Waiting && !roles(self.call.verb).has(Roles::PAGES);
        traits.thinks = self.members == 0 && self.remarks > 0;
        traits.changes |= self.name_changes && self.members > 0 && !traits.asks;
        traits.solid = self.body_words >= WORDS_SOLID && !self.cut;
        self.call
    }
}

impl Sink for Reader<'_> {
    fn word(&mut self, word: Word) {
        self.call.traits.tests |= !self.in_body && roles(word.plain).has(Roles::TESTS);
        self.value = chain(self.value, word.exact);
        match word.form {
            Form::Letters => {
                self.call.echo.insert(word.plain);
                self.token = chain(self.token, word.plain);
                self.line = chain(self.line, word.plain);
                self.line_words += 1;
                self.body_words += u32::from(self.in_body);
            }
            Form::Number => self.call.echo.insert(word.exact),
            Form::Volatile => {}
        }
    }

    fn token(&mut self, path: bool) {
        let token = std::mem::take(&mut self.token);
        if token == 0 {
            return;
        }
        self.call.said.insert(token);
        if path && self.call.target == 0 && !self.in_body {
            self.call.target = token;
        }
    }

    fn line(&mut self) {
        let (line, count) = (std::mem::take(&mut self.line), std::mem::take(&mut self.line_words));
        if self.in_body && count > 0 {
            self.call.body.insert(line);
        }
    }
}

/// A text that is meant for a shell, or for a tool that is told what to do in words.
struct Command<'a> {
    text: &'a [u8],
    escaped: bool,
}

impl<'a> Command<'a> {
    fn first_line(&self) -> (&'a [u8], &'a [u8]) {
        let mut breaks = self.text.iter().enumerate().filter(|(_, byte)| matches!(**byte, b'\n' | b'\\'));
        let end =
            breaks.find(
                |(at, byte)| {
                    if self.escaped { self.text.get(at + 1) == Some(&b'n') } else { **byte == b'\n' }
                },
            );
        let end = end.map(|(at, _)| at);
        let width = if self.escaped { 2 } else { 1 };
        end.map_or((self.text, &[][..]), |end| (&self.text[..end], &self.text[end + width..]))
    }

    fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = Self { text: self.text, escaped: self.escaped };
        std::iter::from_fn(move || {
            if rest.text.is_empty() {
                return None;
            }
            let (line, after) = rest.first_line();
            rest.text = after;
            Some(line.trim_ascii())
        })
        .filter(|line| !line.is_empty())
    }

    fn is_comment(&self) -> bool {
        let mut lines = self.lines().peekable();
        lines.peek().is_some() && lines.all(|line| line.starts_with(b"#"))
    }

    /// The first word that says what is done, after what only says how or where.
    fn verb(&self) -> Option<&'a [u8]> {
        let commands = self.lines().take(8).filter(|line| !line.starts_with(b"#")).flat_map(|line| {
            line.split(|byte| matches!(byte, b';' | b'&' | b'|')).filter(|part| !part.is_empty())
        });
        let mut spare = None;
        for command in commands.take(8) {
            let mut words =
                command.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).skip_while(|word| {
                    word.contains(&b'=')
                        || word.starts_with(b"-")
                        || roles(key_digest(word)).has(Roles::PREFIX) && *word != b"cd" && *word != b"export"
                });
            let Some(word) = words.next() else { continue };
            spare = spare.or(Some(word));
            if !roles(key_digest(word)).has(Roles::PREFIX) {
                return Some(word);
            }
        }
        spare
    }

    /// Whether it sends something into a file: `> file`, `>> file`.
    fn redirects(&self) -> bool {
        let text = &self.text[..self.text.len().min(COMMAND_MAX)];
        let mut signs = text.iter().enumerate().filter(|(_, byte)| **byte == b'>');
        signs.any(|(at, _)| leads_into_file(text, at))
    }

    /// Whether it is one of the commands that print what they edit, told to write it back.
    fn edits_in_place(&self, verb: &[u8]) -> bool {
        let text = &self.text[..self.text.len().min(COMMAND_MAX)];
        let mut words = text.split(u8::is_ascii_whitespace);
        matches!(verb, b"sed" | b"perl" | b"ruby")
            && words.any(|word| word == verb)
            && words.take(4).any(|word| word.first() == Some(&b'-') && word.contains(&b'i'))
    }
}

/// Bytes of a command that are looked at to tell whether it is a sentence.
const SENTENCE_MAX: usize = 400;

/// Bytes of a command that are looked at for where it writes.
const COMMAND_MAX: usize = 2048;

/// Whether the `>` at this place sends output into a file.
fn leads_into_file(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map_or(b' ', |at| text[at]);
    let after = text[at + 1..].trim_ascii_start();
    let after = after.strip_prefix(b">").unwrap_or(after).trim_ascii_start();
    matches!(before, b' ' | b'\t' | b'"' | b'\'' | b'1')
        && !after.starts_with(b"/dev/null")
        && after.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"./~$_\"'".contains(byte))
}

/// Whether someone who recorded the text left something out, as in `…[1200 chars cut]…` or `[…]`.
fn has_cut_mark(text: &[u8]) -> bool {
    let dots = "…".as_bytes();
    text.iter().enumerate().filter(|(_, byte)| **byte == dots[0]).any(|(at, _)| {
        text[at..].starts_with(dots) && (text.get(at + 3) == Some(&b'[') || (at > 0 && text[at - 1] == b'['))
    })
}

/// Whether a name tells that something is asked, and that something is changed.
fn name_roles(name: &[u8]) -> (bool, bool) {
    let (mut asks, mut changes) = (false, false);
    let mut take = |word: &[u8]| {
        let roles = roles(key_digest(word));
        asks |= roles.has(Roles::ASKS);
        changes |= roles.has(Roles::CHANGES);
    };
    let name = &name[..name.len().min(48)];
    let mut start = 0;
    for at in 1..=name.len() {
        let ends = at == name.len()
            || !name[at].is_ascii_alphanumeric()
            || (name[at].is_ascii_uppercase() && name[at - 1].is_ascii_lowercase());
        if ends {
            let word = &name[start..at];
            let skip = word.iter().take_while(|byte| !byte.is_ascii_alphanumeric()).count();
            take(&word[skip..]);
            start = at;
        }
    }
    (asks, changes)
}

fn in_sentence(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80 || byte == b'\''
}

fn key_digest(key: &[u8]) -> u32 {
    std::str::from_utf8(&key[..key.len().min(48)]).map_or(0, digest_of)
}

fn words_cut(text: &str, length: usize) -> &str {
    &text[..text.floor_char_boundary(length)]
}

fn string_length(text: &[u8]) -> usize {
    let mut escaped = false;
    let end = text.iter().position(|&byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.unwrap_or(text.len())
}
