//! One step of an agent as at most 256 bytes, made at the edge from what was said and answered.

use super::call::{BODY, Call, SAID};
use super::outcome::{Outcome, TOLD};
use super::sketch::{Narrow, Sketch};
use super::words::{self, Form, Sink, Word, chain};
use crate::fingerprint::is_outage;

/// A tool call and what came of it, as the source tells it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolStep<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Its arguments: JSON, or plain text as it came.
    pub args: &'a str,
    /// What it answered.
    pub result: &'a str,
    /// Whether it failed, in the source's own word; `None` if it has none.
    pub error: Option<bool>,
    /// The exit code of a command, where known.
    pub exit_code: Option<i32>,
    /// When it began, in milliseconds of the agent's own clock. Only differences matter.
    pub started_ms: Option<i64>,
    /// When it ended.
    pub ended_ms: Option<i64>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The agent.
    Agent,
    /// A person, or whoever gives the agent its work.
    User,
    /// Anything else: the system, the harness.
    Other,
}

/// What kind of step it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepKind {
    Call,
    Said(Role),
    Output,
}

/// The fingerprint of one step: plain data, no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPrint {
    /// Tool and canonical arguments.
    pub(super) call: u64,
    pub(super) started_ms: i64,
    pub(super) took_ms: u32,
    pub(super) told: u32,
    pub(super) gist: u32,
    pub(super) target: u32,
    pub(super) replaced: u32,
    pub(super) written: u32,
    /// The first number told that counts something; [`u32::MAX`] if there is none.
    pub(super) count: u32,
    pub(super) said: Narrow<SAID>,
    /// Lines written by a call; pairs of words of a message.
    pub(super) body: Sketch<BODY>,
    pub(super) lines: Sketch<TOLD>,
    pub(super) words: Sketch<TOLD>,
    pub(super) kind: StepKind,
    pub(super) marks: Marks,
}

/// What is true of a step, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks(u16);

impl Marks {
    pub(super) const ASKS: Self = Self(1);
    pub(super) const CHANGES: Self = Self(1 << 1);
    pub(super) const WAITS: Self = Self(1 << 2);
    /// A thought, an outage, a call cancelled with others: as if it had not been.
    pub(super) const NO_STEP: Self = Self(1 << 3);
    pub(super) const IDLES: Self = Self(1 << 4);
    pub(super) const PROSE: Self = Self(1 << 5);
    pub(super) const SOLID: Self = Self(1 << 6);
    pub(super) const FAILED: Self = Self(1 << 7);
    pub(super) const NOTHING: Self = Self(1 << 8);
    pub(super) const EMPTY: Self = Self(1 << 9);
    /// The answer is long enough to be a page, not a message.
    pub(super) const PAGE: Self = Self(1 << 10);
    pub(super) const TIMED: Self = Self(1 << 11);
    /// It changes something and does nothing else.
    pub(super) const EDITS: Self = Self(1 << 12);
    /// It runs tests: that they fail is what they are for.
    pub(super) const TESTS: Self = Self(1 << 13);
    /// It failed because somebody else holds what is needed, for now.
    pub(super) const HELD: Self = Self(1 << 14);

    pub(super) fn set(&mut self, mark: Self, on: bool) {
        if on {
            self.0 |= mark.0;
        }
    }

    pub(super) fn has(self, mark: Self) -> bool {
        self.0 & mark.0 != 0
    }
}

/// Lines of a call that its answer shows, from which on it is taken to have written them.
const SHOWN_MIN: u32 = 3;

/// An answer from this length on is a page.
const PAGE: usize = 200;

impl StepPrint {
    /// The fingerprint of a call and what came of it.
    pub fn of_call(step: &ToolStep<'_>) -> Self {
        let call = Call::read(step.tool, step.args);
        let outcome = Outcome::read(step.result, &call.echo);
        let flagged = step.error == Some(true) || step.exit_code.is_some_and(|code| code != 0);
        let failed = flagged || outcome.fails;
        // Whoever shows a text that was sent has written it somewhere.
        let shown = call.traits.solid && outcome.echoes >= SHOWN_MIN && !failed;
        let mut marks = Marks::default();
        marks.set(Marks::ASKS, call.traits.asks);
        marks.set(Marks::CHANGES, call.traits.changes || shown);
        marks.set(Marks::EDITS, call.traits.edits || shown);
        marks.set(Marks::WAITS, call.traits.waits);
        marks.set(Marks::HELD, failed && outcome.held);
        marks.set(Marks::TESTS, call.traits.tests);
        let out = outcome.hints_outage && (failed || outcome.is_message()) && is_outage(step.result);
        marks.set(Marks::NO_STEP, call.traits.thinks || out || (failed && outcome.cancelled));
        marks.set(Marks::IDLES, call.traits.idles);
        marks.set(Marks::PROSE, failed && call.is_prose());
        marks.set(Marks::SOLID, call.traits.solid);
        marks.set(Marks::FAILED, failed);
        marks.set(Marks::NOTHING, outcome.nothing);
        marks.set(Marks::EMPTY, outcome.empty);
        marks.set(Marks::PAGE, outcome.length >= PAGE);
        let mut print = Self {
            call: call.digest,
            started_ms: 0,
            took_ms: 0,
            told: outcome.told,
            gist: outcome.gist,
            target: if call.target == 0 { outcome.path } else { call.target },
            replaced: call.replaced,
            written: call.written,
            count: outcome.count,
            said: call.said.narrow(),
            body: call.body,
            lines: outcome.lines,
            words: outcome.words,
            kind: StepKind::Call,
            marks,
        };
        if let (Some(started_ms), Some(ended_ms)) = (step.started_ms, step.ended_ms) {
            print.date(started_ms, ended_ms);
        }
        print
    }

    /// Says when the step was taken, in milliseconds of the agent's own clock.
    pub fn date(&mut self, started_ms: i64, ended_ms: i64) {
        let took_ms = ended_ms.saturating_sub(started_ms).max(0);
        (self.started_ms, self.took_ms) = (started_ms, u32::try_from(took_ms).unwrap_or(u32::MAX));
        self.marks.set(Marks::TIMED, true);
    }

    /// The fingerprint of something that was said.
    pub fn of_message(role: Role, text: &str) -> Self {
        let mut message = Message::default();
        for part in words::ends(text) {
            words::read(part, false, &mut message);
        }
        Self {
            told: message.told,
            body: message.pairs,
            words: message.words,
            ..Self::blank(StepKind::Said(role))
        }
    }

    /// The fingerprint of what the agent's work amounts to so far.
    pub fn of_output(
        files_changed: Option<u32>,
        tests_passed: Option<u32>,
        tests_failed: Option<u32>,
    ) -> Self {
        let [files, passed, failed] = [files_changed, tests_passed, tests_failed]
            .map(|count| count.map_or(0, |count| count.saturating_add(1)));
        Self { told: files, gist: passed, target: failed, ..Self::blank(StepKind::Output) }
    }

    /// How many files had been changed, if it tells that.
    pub(crate) fn files_changed(&self) -> Option<u32> {
        (self.kind == StepKind::Output).then(|| self.told.checked_sub(1)).flatten()
    }

    pub(super) fn ended_ms(&self) -> i64 {
        self.started_ms.saturating_add(i64::from(self.took_ms))
    }

    fn blank(kind: StepKind) -> Self {
        Self {
            call: 0,
            started_ms: 0,
            took_ms: 0,
            told: 0,
            gist: 0,
            target: 0,
            replaced: 0,
            written: 0,
            count: u32::MAX,
            said: Narrow::default(),
            body: Sketch::default(),
            lines: Sketch::default(),
            words: Sketch::default(),
            kind,
            marks: Marks::default(),
        }
    }
}

/// Pairs of words, by which messages are compared: single ones are much the same in any two. Where nothing else was
/// said in between, single ones will do.
#[derive(Default)]
struct Message {
    told: u32,
    pairs: Sketch<BODY>,
    words: Sketch<TOLD>,
    before: u32,
}

impl Sink for Message {
    fn word(&mut self, word: Word) {
        self.told = chain(self.told, word.exact);
        if word.form == Form::Letters {
            if word.long {
                self.words.insert(word.plain);
            }
            let before = std::mem::replace(&mut self.before, word.plain);
            if before != 0 {
                self.pairs.insert(chain(before, word.plain));
            }
        }
    }

    fn token(&mut self, _path: bool) {}

    fn line(&mut self) {}
}
