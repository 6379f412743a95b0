//! What an agent was told and did before: digests in tables of fixed size.
//!
//! A digest belongs to one row; when the row is full, its oldest makes room. So the tables forget, in time, what
//! was long ago: to a model it is gone too.

use super::print::{Marks, StepPrint};
use super::words::chain;

/// Digests in a row.
const WAYS: usize = 8;
/// Rows of a table. Both tables together hold what the last sixty steps or so told.
const ROWS: usize = 128;

/// What was told and done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    /// Lines told or written, whole answers, changes made.
    pub(super) seen: Seen,
    /// Words told.
    pub(super) words: Seen,
}

impl Memory {
    pub(super) fn knows_line(&self, line: u32) -> bool {
        self.seen.has(line)
    }

    pub(super) fn knows_word(&self, word: u32) -> bool {
        self.words.has(word)
    }

    pub(super) fn knows_answer(&self, print: &StepPrint) -> bool {
        self.seen.has(answer(print))
    }

    pub(super) fn knows_change(&self, print: &StepPrint) -> bool {
        self.seen.has(change(print))
    }

    pub(super) fn learn(&mut self, print: &StepPrint) {
        for line in print.lines.digests().iter().chain(print.body.digests()) {
            self.seen.insert(*line);
        }
        for word in print.words.digests() {
            self.words.insert(*word);
        }
        self.seen.insert(answer(print));
        // A change that was refused, sent again and then accepted is made for the first time.
        if print.marks.has(Marks::CHANGES) && !print.marks.has(Marks::FAILED) {
            self.seen.insert(change(print));
        }
    }
}

fn answer(print: &StepPrint) -> u32 {
    chain(print.told, 1)
}

fn change(print: &StepPrint) -> u32 {
    chain(chain(print.call as u32 ^ (print.call >> 32) as u32, print.target), 2)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) rows: [[u32; WAYS]; ROWS],
}

impl Default for Seen {
    fn default() -> Self {
        Self { rows: [[0; WAYS]; ROWS] }
    }
}

impl Seen {
    fn has(&self, digest: u32) -> bool {
        self.rows[digest as usize % ROWS].contains(&digest)
    }

    fn insert(&mut self, digest: u32) {
        let row = &mut self.rows[digest as usize % ROWS];
        if !row.contains(&digest) {
            row.copy_within(..WAYS - 1, 1);
            row[0] = digest;
        }
    }
}
