//! Whether the database still is what was written.
//!
//! ```text
//! sound --a read or write meets damage--> suspected --looked through--> damaged --looked through, whole--> sound
//! ```
//!
//! `SQLite` notices a damaged page when it comes across it. From then on the whole file is under suspicion; once it was
//! looked through and damage was found, nothing is written any more: what is built on a damaged page spreads it. A disk
//! that gives the right bytes again, or a page that was put back, ends that.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use crate::error::Error;
use crate::{connection, schema};

/// Findings that are told at most.
const FINDINGS: usize = 20;

/// What is known about the file.
#[derive(Debug)]
pub(crate) struct Soundness {
    path: PathBuf,
    suspected: AtomicBool,
    damage: Mutex<Option<String>>,
}

impl Soundness {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), suspected: AtomicBool::new(false), damage: Mutex::new(None) }
    }

    /// Refuses to write to a file that is known to be damaged.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match &*self.lock() {
            Some(what) => Err(Error::Damaged { path: self.path.clone(), what: what.clone() }),
            None => Ok(()),
        }
    }

    /// Something failed: was it damage?
    pub(crate) fn suspect_if(&self, error: &Error) {
        if error.is_damage() {
            self.suspected.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it should be looked through now.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.suspected.load(Ordering::Relaxed) || self.lock().is_some()
    }

    /// Looks through the whole file, and remembers what was found.
    pub(crate) fn look_through(&self) -> Result<Vec<String>, Error> {
        // By a connection of its own: what others remember may be right where the disk is not any more.
        let found = look_through(&connection::reader(&self.path)?, &self.path)?;
        self.suspected.store(false, Ordering::Relaxed);
        *self.lock() = found.first().map(|first| match found.len() {
            1 => first.clone(),
            count => format!("{first} (the first of {count} findings)"),
        });
        Ok(found)
    }

    /// Nothing panics while it is held.
    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.damage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is wrong with a database; nothing if all is well.
pub(crate) fn look_through(db: &Connection, path: &Path) -> Result<Vec<String>, Error> {
    match findings(db).map_err(|error| schema::unreadable(error, path)) {
        Ok(lines) => Ok(lines.into_iter().filter(|line| line != "ok").collect()),
        // Too damaged to be looked through is a finding too.
        Err(Error::Damaged { what, .. }) => Ok(vec![what]),
        Err(error) => Err(error),
    }
}

/// `SQLite` says several things about one page in one text; each of its lines is a finding.
fn findings(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut query = db.prepare(&format!("PRAGMA quick_check({FINDINGS})"))?;
    let texts = query.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    let lines = texts.iter().flat_map(|text| text.lines());
    Ok(lines.filter(|line| !line.starts_with("***")).map(str::to_owned).collect())
}
