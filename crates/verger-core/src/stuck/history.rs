//! The last steps, as far as they are needed to see that a new one resembles them.

use super::call::{BODY, SAID};
use super::outcome::TOLD;
use super::print::{Marks, StepKind, StepPrint};
use super::sketch::{Narrow, Overlap, Sketch};

/// Steps remembered. The longest lap seen in real runs has 12 steps.
pub(super) const HISTORY: usize = 32;

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
    /// It was issued together with the step before.
    pub(super) batched: bool,
}

impl Past {
    pub(super) fn failed(&self) -> bool {
        self.marks.has(Marks::FAILED)
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

/// Whether two failures are the same once what either call said is taken out.
pub(super) fn same_failure(past: &Past, print: &StepPrint, words: &Narrow<TOLD>) -> bool {
    if past.gist == print.gist && past.gist != 0 {
        return true;
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
