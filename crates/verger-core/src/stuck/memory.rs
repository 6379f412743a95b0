//! What an agent has seen before: digests in a table of fixed size.
//!
//! A digest belongs to one row; when the row is full, its oldest makes room. So the table forgets, in time,
//! what was long ago: to a model it is gone too.

const WAYS: usize = 8;

/// A set of digests that forgets the oldest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen<const ROWS: usize> {
    rows: [[u32; WAYS]; ROWS],
}

impl<const ROWS: usize> Default for Seen<ROWS> {
    fn default() -> Self {
        Self { rows: [[0; WAYS]; ROWS] }
    }
}

impl<const ROWS: usize> Seen<ROWS> {
    pub(super) fn has(&self, digest: u32) -> bool {
        self.rows[digest as usize % ROWS].contains(&digest)
    }

    pub(super) fn insert(&mut self, digest: u32) {
        let row = &mut self.rows[digest as usize % ROWS];
        if !row.contains(&digest) {
            row.copy_within(..WAYS - 1, 1);
            row[0] = digest;
        }
    }
}
