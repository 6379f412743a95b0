//! What can be wrong with a recording: a part of it, which is passed over, or all of it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::format::Format;

/// A part of a recording that could not be read. The rest was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Where.
    pub place: Place,
    /// What is wrong there, as a fragment of a sentence.
    pub reason: String,
}

/// A place in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line, counted from 1.
    Line(u64),
    /// A row of a table, counted from 1.
    Row(u64),
    /// The recording as a whole.
    Whole,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Line(number) => write!(f, "line {number}: {}", self.reason),
            Place::Row(number) => write!(f, "row {number}: {}", self.reason),
            Place::Whole => write!(f, "{}", self.reason),
        }
    }
}

/// Why a recording could not be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is no such file or folder.
    #[error("{}: no such file or folder", .0.display())]
    NotFound(PathBuf),
    /// It exists and cannot be read.
    #[error("{}: cannot be read: {error}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It holds nothing.
    #[error("{}: the file is empty", .0.display())]
    Empty(PathBuf),
    /// A folder without a recording in it.
    #[error("{}: no recording in this folder (.json, .jsonl, .ndjson, .traj, .db)", .0.display())]
    NothingInside(PathBuf),
    /// Its content looks like none of the formats.
    #[error("{}: looks like none of the known formats; give --format, one of {}", .0.display(), Format::names())]
    UnknownFormat(PathBuf),
    /// Nothing in it is of the format that was given.
    #[error("{}: holds no step of a run in the format `{format}`{}", path.display(), first.as_ref().map(|flaw| format!(" ({flaw})")).unwrap_or_default())]
    NoSteps {
        /// Which.
        path: PathBuf,
        /// The format it was read as.
        format: Format,
        /// The first thing that was wrong with it, if anything was.
        first: Option<Flaw>,
    },
}
