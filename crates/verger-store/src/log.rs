//! What is in a write-ahead log, as far as it must be known before `SQLite` opens it.
//!
//! Its form is documented by `SQLite`: a header of 32 bytes, then frames, each of 24 bytes that begin with the number
//! of a page, and that page. Frames of the log's present life carry the two numbers ("salts") of its header.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

const HEADER: usize = 32;
const FRAME: usize = 24;
/// Where the salts stand, in the header and in each frame.
const HEADER_SALTS: RangeInclusive<usize> = 16..=23;
const FRAME_SALTS: RangeInclusive<usize> = 8..=15;

/// Whether the log beside a database holds each of these pages. One that cannot be read holds none.
pub(crate) fn holds(database: &Path, mut pages: RangeInclusive<u32>) -> bool {
    let mut held = BTreeSet::new();
    // An end that comes too early is that of a write cut short, which `SQLite` passes over too.
    drop(each_page(&beside(database), |page| held.insert(page)));
    pages.all(|page| held.contains(&page))
}

/// Whether there is one.
pub(crate) fn is_beside(database: &Path) -> bool {
    beside(database).exists()
}

pub(crate) fn beside(database: &Path) -> PathBuf {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

fn each_page(log: &Path, mut visit: impl FnMut(u32) -> bool) -> io::Result<()> {
    let mut log = BufReader::new(File::open(log)?);
    let mut header = [0; HEADER];
    log.read_exact(&mut header)?;
    let page_size = i64::from(word(&header, 8));
    let mut frame = [0; FRAME];
    loop {
        log.read_exact(&mut frame)?;
        if frame[FRAME_SALTS] != header[HEADER_SALTS] {
            return Ok(());
        }
        visit(word(&frame, 0));
        log.seek_relative(page_size)?;
    }
}

/// The four bytes there, as `SQLite` writes numbers.
pub(crate) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
