//! What can go wrong between the monitor and its disk, in words for the person who has to mend it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::ErrorCode;
use verger_core::record::EffectError;
use verger_engine::StoreError;

use crate::checkpoint::CheckpointRefusal;

/// Why the store could not be opened, read or written.
///
/// One failed commit fails everybody who shared it, so an error can be handed out more than once.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory of the store cannot be used.
    #[error("could not {doing} {}", path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: Arc<io::Error>,
    },
    /// Another monitor works here.
    #[error("{} is in use by another monitor{}", path.display(), holder(*pid))]
    Locked {
        /// The data directory.
        path: PathBuf,
        /// Who holds it, as far as it said.
        pid: Option<u32>,
    },
    /// The database is not what was written.
    #[error("{} is damaged: {what}; repair it or restore a backup (VG0203)", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// There is a database, and it is not Verger's.
    #[error("{} is a database of another program", .0.display())]
    Foreign(PathBuf),
    /// A newer version of Verger wrote it.
    #[error(
        "{} was written by a newer version: it has schema {found}, and this one reads up to {known}; nothing was changed",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u32,
        /// The newest schema that this version knows.
        known: u32,
    },
    /// What was opened lies no longer where it was: what is written now would be lost at the next start.
    #[error("{} was removed or replaced while the monitor runs", .0.display())]
    Removed(PathBuf),
    /// `SQLite` refuses.
    #[error("could not {doing}")]
    Database {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        #[source]
        source: Arc<rusqlite::Error>,
    },
    /// A kept effect cannot be read.
    #[error("the effect {key} cannot be read")]
    Effect {
        /// Which one.
        key: String,
        /// Why.
        #[source]
        source: EffectError,
    },
    /// A state row is about something that this version does not know.
    #[error("there is a state row of an unknown kind: `{kind}` `{name}`")]
    UnknownRow {
        /// Its kind.
        kind: String,
        /// Its name.
        name: String,
    },
    /// A checkpoint that must not be stored.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointRefusal),
    /// A batch was handed over, and the disk has not taken it yet. It may still be written.
    #[error("the disk has not taken a write for {seconds} s")]
    Slow {
        /// For how long.
        seconds: u64,
    },
    /// More is waiting to be written than the queue holds; trying again helps.
    #[error("the disk cannot keep up: too much waits to be written")]
    Busy,
    /// The writer is gone: the store was closed.
    #[error("the store is closed")]
    Closed,
}

impl Error {
    /// Stable code; `docs/src/errors/<code>.md` tells the operator what to do.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Damaged { .. } => Some("VG0203"),
            Self::Newer { .. } | Self::UnknownRow { .. } => Some("VG0204"),
            Self::Locked { .. } => Some("VG0205"),
            Self::File { .. } | Self::Removed(_) | Self::Foreign(_) => Some("VG0206"),
            Self::Database { .. } if self.is_damage() => Some("VG0203"),
            Self::Database { .. }
            | Self::Effect { .. }
            | Self::Checkpoint(_)
            | Self::Slow { .. }
            | Self::Busy
            | Self::Closed => None,
        }
    }

    /// Whether what was read is not what was written.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Damaged { .. } => true,
            Self::Database { source, .. } => matches!(
                source.sqlite_error_code(),
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
            ),
            _ => false,
        }
    }

    /// For `map_err`: something could not be done to a file.
    pub(crate) fn file<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + use<'a> {
        move |source| Self::File { doing, path: path.to_owned(), source: Arc::new(source) }
    }

    /// For `map_err`: something could not be done to the database.
    pub(crate) fn sql(doing: &'static str) -> impl FnOnce(rusqlite::Error) -> Self {
        move |source| Self::Database { doing, source: Arc::new(source) }
    }
}

/// As the engine hears of it.
pub(crate) fn for_engine(doing: &'static str) -> impl FnOnce(Error) -> StoreError {
    move |cause| StoreError { doing, is_slow: matches!(cause, Error::Slow { .. }), cause: Box::new(cause) }
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
}
