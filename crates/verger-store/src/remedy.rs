//! What a person can do about a store that cannot be opened or written.

use std::io;

use rusqlite::ErrorCode;

use crate::error::Error;

impl Error {
    /// What to do about it, if anybody can do anything.
    pub fn remedy(&self) -> Option<String> {
        let text = match self {
            Self::File { path, source, .. } => return of_file(source.kind(), &path.display().to_string()),
            Self::Locked { pid: Some(pid), .. } => {
                return Some(format!(
                    "one directory has one monitor: ask that one, or end it with `kill {pid}`"
                ));
            }
            Self::Locked { pid: None, .. } => "one directory has one monitor: ask that one, or end it",
            Self::Damaged { .. } | Self::Effect { .. } => DAMAGED,
            Self::Foreign(_) => "name another directory by --data-dir",
            Self::Newer { .. } | Self::UnknownRow { .. } => {
                "start the version that wrote it, or restore the backup that was made before the upgrade"
            }
            Self::Removed(_) => {
                "put it back where it was; or start the monitor again, and it begins with what is there"
            }
            Self::Database { source, .. } => of_database(source.sqlite_error_code()?)?,
            Self::Slow { .. } => "look at the disk: it may be overloaded, frozen or gone",
            Self::Busy => "the disk is slower than what is to be written; give it less or a faster disk",
            Self::Checkpoint(_) | Self::Closed => return None,
        };
        Some(text.to_owned())
    }
}

const DAMAGED: &str = "repair it or restore a backup: the runbook on damaged data says how";
const NOT_OURS: &str =
    "the monitor's user must own the data directory and all files in it, and be able to write there";

fn of_file(kind: io::ErrorKind, path: &str) -> Option<String> {
    Some(match kind {
        io::ErrorKind::PermissionDenied => {
            format!("{NOT_OURS}: `chown -R USER` it, or name another by --data-dir")
        }
        io::ErrorKind::NotFound => {
            format!("is its disk mounted? A directory above {path} is missing, or a link leads nowhere")
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            format!("{path} is a file where a directory must be: name another by --data-dir")
        }
        io::ErrorKind::ReadOnlyFilesystem => "mount the disk for writing".to_owned(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => FULL.to_owned(),
        _ => return None,
    })
}

const FULL: &str = "make room on the disk";

fn of_database(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::DiskFull => FULL,
        ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
            "mount the disk for writing; the monitor's user must own the data directory and all files in it"
        }
        ErrorCode::SystemIoFailure => {
            "the disk reports errors: the kernel's log (`dmesg`) says which; it may be read-only"
        }
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            "another program holds the database, perhaps `sqlite3`: let it finish"
        }
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => DAMAGED,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn whoever_can_mend_something_is_told_how() {
        let file = |kind: io::ErrorKind| Error::file("open", "/data".as_ref())(kind.into());
        let cases = [
            (file(io::ErrorKind::PermissionDenied), "own"),
            (file(io::ErrorKind::ReadOnlyFilesystem), "for writing"),
            (file(io::ErrorKind::StorageFull), "room"),
            (Error::Locked { path: "/data".into(), pid: Some(7) }, "kill 7"),
            (Error::Newer { path: "/data".into(), found: 9, known: 3 }, "the version that wrote it"),
            (Error::Removed(PathBuf::from("/data")), "put it back"),
            (Error::Slow { seconds: 30 }, "frozen"),
        ];
        for (error, expected) in cases {
            let remedy = error.remedy().unwrap_or_default();
            assert!(remedy.contains(expected), "{error}: {remedy}");
        }
    }
}
