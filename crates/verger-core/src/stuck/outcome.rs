//! What came of a call: what was told that the call did not say itself, and whether it failed or found nothing.
//!
//! Words that the call said are no information, so "no match for X in Y" is one answer for every X, whatever
//! tool gives it. Of numbers, those that only say when or where are left out; the others count in an answer,
//! since a build at 35 % and then at 41 % goes on, and do not count in a failure.

use super::call::Echo;
use super::sketch::Sketch;
use super::vocabulary::{Roles, is_failing_pair, is_holding_pair, roles};
use super::words::{self, Form, Sink, Word, chain};

/// Lines and words kept of an answer.
pub(super) const TOLD: usize = 14;

/// An answer up to this long is read as one message; in a longer one only the ends tell how it went.
const SHORT: usize = 400;

/// An answer, read.
#[derive(Default)]
pub(super) struct Outcome {
    /// Everything told, numbers included.
    pub(super) told: u32,
    /// The same without numbers and without what the call said.
    pub(super) gist: u32,
    pub(super) lines: Sketch<TOLD>,
    pub(super) words: Sketch<TOLD>,
    /// Lines that only say again what the call said.
    pub(super) echoes: u32,
    /// The first path named, for edits that do not name what they edit.
    pub(super) path: u32,
    /// It says that the call failed.
    pub(super) fails: bool,
    /// It says that there is nothing.
    pub(super) nothing: bool,
    /// It says that the call was not carried out because of another one.
    pub(super) cancelled: bool,
    /// It says that somebody else holds what is needed.
    pub(super) held: bool,
    /// It has a word that messages about outages have.
    pub(super) hints_outage: bool,
    /// The first number that counts something; [`u32::MAX`] if there is none.
    pub(super) count: u32,
    /// Lines with words.
    rows: u32,
    /// There is not a word in it, of the call's or its own.
    pub(super) empty: bool,
    pub(super) length: usize,
}

impl Outcome {
    pub(super) fn read(text: &str, echo: &Echo) -> Self {
        let mut reader = Reader::new(echo, text.len() <= SHORT);
        for part in words::ends(text) {
            if !part.is_empty() {
                words::read(part, false, &mut reader);
            }
        }
        let mut outcome = reader.finish();
        outcome.length = text.len();
        if outcome.empty {
            let bare = text.trim();
            outcome.nothing |= matches!(bare, "[]" | "{}" | "()" | "\"\"");
        }
        if text.len() > HEAD_AND_TAIL {
            outcome.told = chain(outcome.told, text.len() as u32);
        }
        outcome
    }

    /// Whether it is one short line.
    pub(super) fn is_message(&self) -> bool {
        self.rows <= 1 && self.length <= SHORT
    }
}

/// What is not read of a long text still counts by its length.
const HEAD_AND_TAIL: usize = 8 * 1024;

/// What a line says about how the call went.
#[derive(Clone, Copy, Default)]
struct Saying {
    fails: bool,
    nothing: bool,
    cancelled: bool,
    held: bool,
}

/// The word before.
#[derive(Clone, Copy, Default)]
struct Before {
    word: u32,
    meaning: Roles,
    echo: bool,
}

/// A number: its digest and, if it is small enough, what it amounts to.
#[derive(Clone, Copy, Default)]
struct Number {
    digest: u32,
    value: u32,
}

struct Reader<'a> {
    echo: &'a Echo,
    short: bool,
    out: Outcome,
    /// The present line: digest of its words, how many of them the call did not say, and digest of its numbers.
    line: u32,
    line_words: u32,
    line_numbers: u32,
    /// Words of the line so far, said by the call or not.
    place: u32,
    saying: Saying,
    /// The first and the last line, and any line.
    first: Saying,
    last: Saying,
    any: Saying,
    lines: u32,
    before: Before,
    /// The line began with a number: it is a line of some file, and no message.
    numbered: bool,
    /// A number that is left out if a unit of time follows.
    number: Number,
    /// Digest of the present token, until the first path was found.
    token: u32,
}

impl<'a> Reader<'a> {
    fn new(echo: &'a Echo, short: bool) -> Self {
        Self {
            echo,
            short,
            out: Outcome { empty: true, count: u32::MAX, ..Outcome::default() },
            line: 0,
            line_words: 0,
            line_numbers: 0,
            place: 0,
            saying: Saying::default(),
            first: Saying::default(),
            last: Saying::default(),
            any: Saying::default(),
            lines: 0,
            before: Before::default(),
            numbered: false,
            number: Number::default(),
            token: 0,
        }
    }

    fn finish(mut self) -> Outcome {
        self.flush_number();
        self.out.fails = self.first.fails || self.last.fails || (self.short && self.any.fails);
        self.out.nothing = self.short && self.any.nothing;
        self.out.cancelled = self.short && self.any.cancelled;
        self.out.held = self.short && self.any.held;
        self.out.rows = self.lines;
        self.out
    }

    fn flush_number(&mut self) {
        let number = std::mem::take(&mut self.number);
        if number.digest != 0 {
            self.out.told = chain(self.out.told, number.digest);
            self.line_numbers = chain(self.line_numbers, number.digest);
            if self.out.count == u32::MAX {
                self.out.count = number.value;
            }
        }
    }

    fn letters(&mut self, word: Word) {
        let meaning = roles(word.plain);
        if meaning.has(Roles::UNIT) {
            self.number = Number::default();
        }
        self.out.hints_outage |= meaning.has(Roles::OUTAGE);
        self.flush_number();
        self.line = chain(self.line, word.plain);
        let echo = self.echo.has(word.plain);
        if !self.numbered {
            self.judge(word, meaning, echo);
        }
        self.before = Before { word: word.plain, meaning, echo };
        self.out.told = chain(self.out.told, word.exact);
        if echo {
            return;
        }
        self.line_words += 1;
        self.out.gist = chain(self.out.gist, word.plain);
        if word.long {
            self.out.words.insert(word.plain);
        }
    }

    /// Words that the call said itself tell nothing, unless the answer joins them with others.
    fn judge(&mut self, word: Word, meaning: Roles, echo: bool) {
        let before = &self.before;
        let denied = before.meaning.has(Roles::DENIES) && meaning.has(Roles::FAILS_DENIED);
        let paired = meaning.has(Roles::PAIRED) && is_failing_pair(before.word, word.plain);
        let leads = meaning.has(Roles::LEADS_FAILURE) && self.place <= 1;
        self.saying.fails |= (denied || paired) && !(echo && before.echo);
        self.saying.fails |= (meaning.has(Roles::FAILURE) || word.names_error || leads) && !echo;
        self.saying.cancelled |= meaning.has(Roles::CANCELLED) && !echo;
        self.saying.held |= meaning.has(Roles::PAIRED) && is_holding_pair(before.word, word.plain);
        self.saying.nothing |= meaning.has(Roles::NOTHING) && self.place == 0 && !echo;
    }
}

impl Sink for Reader<'_> {
    fn word(&mut self, word: Word) {
        self.out.empty = false;
        match word.form {
            Form::Letters => self.letters(word),
            Form::Number => {
                self.flush_number();
                if !self.before.meaning.has(Roles::COUNTER) && !self.echo.has(word.exact) {
                    self.number = Number { digest: word.exact, value: word.value };
                }
                self.numbered |= self.place == 0;
                self.before = Before::default();
            }
            Form::Volatile => self.flush_number(),
        }
        if word.form == Form::Letters {
            self.place += 1;
        }
        if self.out.path == 0 && word.form == Form::Letters {
            self.token = chain(self.token, word.plain);
        }
    }

    fn token(&mut self, path: bool) {
        let token = std::mem::take(&mut self.token);
        if path && self.out.path == 0 {
            self.out.path = token;
        }
    }

    fn line(&mut self) {
        self.flush_number();
        let said = self.place > 0;
        if self.line_words > 0 {
            self.out.lines.insert(self.line);
        } else if self.place > 1 {
            self.out.echoes += 1;
        } else if self.line_numbers != 0 && !said {
            // A line of nothing but numbers is told apart by them.
            self.out.lines.insert(self.line_numbers);
        }
        if said {
            if self.lines == 0 {
                self.first = self.saying;
            }
            self.last = self.saying;
            self.any.fails |= self.saying.fails;
            self.any.nothing |= self.saying.nothing;
            self.any.cancelled |= self.saying.cancelled;
            self.any.held |= self.saying.held;
            self.lines += 1;
        }
        self.saying = Saying::default();
        (self.line, self.line_words, self.line_numbers, self.place) = (0, 0, 0, 0);
        (self.before, self.numbered) = (Before::default(), false);
    }
}
