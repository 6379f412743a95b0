//! The last steps, as far as they are needed to see that a new one resembles them.

use super::call::{BODY, SAID};
use super::outcome::TOLD;
use super::print::{Marks, StepKind, StepPrint};
use super::sketch::{Narrow, Overlap, Sketch};

/// Steps remembered. The longest lap seen in real runs has 12 steps.
const HISTORY: usize = 32;

/// Pairs of words from which on a message can be told from others.
const PAIRS_MIN: usize = 5;

/// Lines from which on what is written can be told from others.
const LINES_MIN: usize = 3;

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
    target: u32,
    replaced: u32,
    said: Narrow<SAID>,
    pub(super) words: Narrow<TOLD>,
    /// Lines written by a call; pairs of words of a message.
    body: Sketch<BODY>,
    pub(super) kind: StepKind,
    marks: Marks,
    /// It brought something new.
    pub(super) news: bool,
    /// It changed something in a new way.
    pub(super) changed: bool,
    /// It made a change that was made before.
    pub(super) redone: bool,
    /// It was issued together with the step before.
    pub(super) batched: bool,
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
            said: print.said,
            words: Narrow::default(),
            body: print.body,
            kind: print.kind,
            marks: print.marks,
            news: false,
            changed: false,
            redone: false,
            batched: false,
        }
    }

    pub(super) fn failed(&self) -> bool {
        self.marks.has(Marks::FAILED)
    }

    /// Whether `print` makes the change of this step again: writes the same into the same place, or puts back what
    /// this step replaced. The same under a new name counts if something `failed` since; else it is work done in
    /// many places.
    pub(super) fn is_redone_by(&self, print: &StepPrint, failed: bool) -> bool {
        let changes = |marks: Marks| marks.has(Marks::CHANGES) && !marks.has(Marks::FAILED);
        if !changes(self.marks) || !changes(print.marks) || !print.marks.has(Marks::SOLID) {
            return false;
        }
        let here = self.target == print.target;
        let restores = print.written != 0 && print.written == self.replaced;
        let lines = print.body.digests().len();
        let enough = if here { lines >= LINES_MIN } else { failed && lines >= 2 * LINES_MIN };
        (here && restores) || (enough && self.overlap(print).alike(90))
    }

    /// Whether `print` is a message of the same speaker that says much the same.
    pub(super) fn says_the_same(&self, print: &StepPrint) -> bool {
        self.kind == print.kind && print.body.digests().len() >= PAIRS_MIN && self.overlap(print).alike(60)
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
    ring: [Option<Past>; HISTORY],
    next: usize,
}

impl History {
    pub(super) fn push(&mut self, past: Past) {
        self.ring[self.next] = Some(past);
        self.next = (self.next + 1) % HISTORY;
    }

    /// From the latest to the earliest.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Past> {
        let (newer, older) = self.ring.split_at(self.next);
        newer.iter().rev().chain(older.iter().rev()).flatten()
    }
}
