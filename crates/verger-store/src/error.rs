//! What can go wrong between the monitor and its disk, in words for the person who has to mend it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    #[error("{} is damaged: {what}; restore it from a backup", path.display())]
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
    #[error("{} has schema {found}, and this version reads up to {known}", path.display())]
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
    /// More is waiting to be written than the queue holds; trying again helps.
    #[error("the disk cannot keep up: too much waits to be written")]
    Busy,
    /// The writer is gone: the store was closed.
    #[error("the store is closed")]
    Closed,
}

impl Error {
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
    move |cause| StoreError { doing, cause: Box::new(cause) }
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
}
