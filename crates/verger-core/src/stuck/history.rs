//! The last steps, as far as they are needed to see that a new one resembles them.

use super::call::{BODY, SAID};
use super::outcome::TOLD;
use super::print::{Marks, StepKind, StepPrint};
use super::sketch::{Narrow, Overlap, Sketch};

/// Steps remembered. The longest lap seen in real runs has 12 steps.
const HISTORY: usize = 32;

/// Pairs of words from which on a message can be told from others.
const PAIRS_MIN: usize = 5;

/// Words from which on one can be told from others where nothing else is said.
const WORDS_MIN: usize = 4;

/// Lines from which on what is written can be told from others.
const LINES_MIN: usize = 3;

/// What two changes have in common. Places whose names differ in nothing but numbers count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rewriting {
    /// Nothing.
    Other,
    /// The same is written into the same place, or what was replaced is put back.
    Same,
    /// The same is written into the same place instead of the same, but it is too little to be sure.
    SameInFewWords,
    /// The same is written under another name.
    Elsewhere,
}

/// One of the last steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Past {
    /// Its number, as the caller counts.
    pub(super) step: u32,
    /// Its place among all steps that count.
    pub(super) place: u32,
    pub(super) call: u64,
    pub(super) told: u32,
    pub(super) gist: u32,
    pub(super) target: u32,
    pub(super) replaced: u32,
    pub(super) written: u32,
    pub(super) count: u32,
    pub(super) said: Narrow<SAID>,
    pub(super) words: Narrow<TOLD>,
    /// Lines written by a call; pairs of words of a message.
    pub(super) body: Sketch<BODY>,
    pub(super) kind: StepKind,
    pub(super) marks: Marks,
    /// It brought something new.
    pub(super) news: bool,
    /// It changed something in a new way.
    pub(super) changed: bool,
    /// It made a change that was made before.
    pub(super) redone: bool,
    /// It was issued together with the step before.
    pub(super) batched: bool,
    /// It failed, and the same call succeeded since.
    pub(super) overcome: bool,
}

impl Past {
    pub(super) fn of(step: u32, place: u32, print: &StepPrint) -> Self {
        Self {
            step,
            place,
            call: print.call,
            told: print.told,
            gist: print.gist,
            target: print.target,
            replaced: print.replaced,
            written: print.written,
            count: print.count,
            said: print.said,
            words: print.words.narrow(),
            body: print.body,
            kind: print.kind,
            marks: print.marks,
            news: false,
            changed: false,
            redone: false,
            batched: false,
            overcome: false,
        }
    }

    pub(super) fn failed(&self) -> bool {
        self.marks.has(Marks::FAILED)
    }

    /// What the change of this step and that of `print` have in common.
    pub(super) fn rewriting(&self, print: &StepPrint) -> Rewriting {
        let changes = |marks: Marks| marks.has(Marks::CHANGES) && !marks.has(Marks::FAILED);
        if !changes(self.marks) || !changes(print.marks) || !print.marks.has(Marks::SOLID) {
            return Rewriting::Other;
        }
        let here = self.target == print.target;
        let lines = print.body.digests().len();
        let equal = print.written != 0 && print.written == self.written;
        let restores = print.written != 0 && print.written == self.replaced;
        let alike = || self.overlap(print).alike(90);
        if here && (restores || (lines >= LINES_MIN && alike())) {
            Rewriting::Same
        } else if here && equal && print.replaced == self.replaced {
            Rewriting::SameInFewWords
        } else if equal || (lines >= 2 * LINES_MIN && alike()) {
            Rewriting::Elsewhere
        } else {
            Rewriting::Other
        }
    }

    /// Whether `print` is a message of the same speaker that says much the same.
    pub(super) fn says_the_same(&self, print: &StepPrint) -> bool {
        self.kind == print.kind && print.body.digests().len() >= PAIRS_MIN && self.overlap(print).alike(60)
    }

    /// Whether `print` is a message of the same speaker in the very same words.
    pub(super) fn says_it_again(&self, print: &StepPrint) -> bool {
        self.kind == print.kind && self.told == print.told
    }

    /// Whether `print` is a message of the same speaker with much the same words in any order.
    pub(super) fn paraphrases(&self, words: &Narrow<TOLD>, kind: StepKind) -> bool {
        let enough = words.digests().len() >= WORDS_MIN;
        self.kind == kind && enough && Overlap::of(self.words.digests(), words.digests(), TOLD).alike(60)
    }

    fn overlap(&self, print: &StepPrint) -> Overlap {
        Overlap::of(self.body.digests(), print.body.digests(), BODY)
    }
}

/// Whether two calls ask much the same; a call wrapped into a longer one is still the same.
pub(super) fn similar_calls(past: &Past, print: &StepPrint) -> bool {
    if past.call == print.call {
        return true;
    }
    let overlap = Overlap::of(past.said.digests(), print.said.digests(), SAID);
    overlap.alike(50) || overlap.contained()
}

/// Whether two failures are much the same, what each call said itself taken out.
pub(super) fn same_failure(past: &Past, print: &StepPrint, words: &Narrow<TOLD>) -> bool {
    if past.gist == print.gist {
        // A failure without a word can be told from others only by its call.
        return past.gist != 0 || past.call == print.call;
    }
    let overlap = Overlap::of(past.words.digests(), words.digests(), TOLD);
    overlap.alike(70) || overlap.contained()
}

/// The last steps, in a ring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct History {
    pub(super) ring: [Option<Past>; HISTORY],
    pub(super) next: usize,
}

impl History {
    pub(super) fn push(&mut self, past: Past) {
        self.ring[self.next] = Some(past);
        self.next = (self.next + 1) % HISTORY;
    }

    /// The call succeeded: that it failed before is over.
    pub(super) fn overcome(&mut self, call: u64) {
        for past in self.ring.iter_mut().flatten().filter(|past| past.call == call && past.failed()) {
            past.overcome = true;
        }
    }

    /// From the latest to the earliest.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Past> {
        let (newer, older) = self.ring.split_at(self.next);
        newer.iter().rev().chain(older.iter().rev()).flatten()
    }
}
