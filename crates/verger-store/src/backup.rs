//! A copy of everything, made while the monitor works: one file.
//!
//! The copy is a database like the one it was made from, with the large checkpoints inside it. To restore it, put it
//! into an empty data directory as `verger.db`. It is written under a passing name and gets its own once it is
//! complete and synced, so a file of that name is never half a backup.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, params};
use verger_core::recovery::ContentHash;

use crate::archive::Archive;
use crate::connection;
use crate::directory::make_private_file;
use crate::error::Error;

/// A backup that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// How large it is, in bytes.
    pub bytes: u64,
    /// Large checkpoints that were taken into it.
    pub bodies: usize,
    /// Large checkpoints that could not be: their files are damaged or missing.
    pub lost: usize,
}

impl Archive {
    /// Makes a backup. There must be no file of that name yet. Nobody who writes or reads waits for it.
    pub fn backup(&self, to: &Path) -> Result<Backup, Error> {
        let _upkeep = self.upkeep();
        if to.try_exists().map_err(Error::file("look at", to))? {
            return Err(Error::file("make the backup", to)(io::ErrorKind::AlreadyExists.into()));
        }
        let passing = passing_name(to);
        let made = self.copy(&passing).and_then(|backup| put_in_place(&passing, to).map(|()| backup));
        made.inspect_err(|_| drop(fs::remove_file(&passing)))
    }

    fn copy(&self, passing: &Path) -> Result<Backup, Error> {
        let doing = "make the backup";
        let fresh = || {
            if passing.exists() {
                fs::remove_file(passing)?;
            }
            make_private_file(passing)
        };
        fresh().map_err(Error::file(doing, passing))?;
        // SQLite fills a file that is there, if it is empty, and leaves its mode as it is.
        connection::reader(&self.database())?
            .execute("VACUUM INTO ?1", [passing.to_string_lossy()])
            .map_err(Error::sql(doing))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let copy = Connection::open_with_flags(passing, flags).map_err(Error::sql(doing))?;
        let (bodies, lost) = self.take_in_bodies(&copy)?;
        drop(copy);
        let sync = || {
            let file = File::open(passing)?;
            file.sync_all()?;
            file.metadata()
        };
        let bytes = sync().map_err(Error::file(doing, passing))?.len();
        Ok(Backup { bytes, bodies, lost })
    }

    /// Puts the files of large checkpoints into their rows. Answers how many, and how many could not be read.
    fn take_in_bodies(&self, copy: &Connection) -> Result<(usize, usize), Error> {
        let doing = "put a checkpoint into the backup";
        let (mut taken, mut lost) = (0, 0);
        for hash in in_files(copy).map_err(Error::sql(doing))? {
            let body = fs::read(self.bodies().path(&hash)).ok();
            let Some(body) = body.filter(|body| *blake3::hash(body).as_bytes() == hash.0) else {
                lost += 1;
                continue;
            };
            copy.execute("UPDATE checkpoint_bodies SET content = ?2 WHERE hash = ?1", params![hash.0, body])
                .map_err(Error::sql(doing))?;
            taken += 1;
        }
        Ok((taken, lost))
    }
}

fn in_files(copy: &Connection) -> rusqlite::Result<Vec<ContentHash>> {
    copy.prepare("SELECT hash FROM checkpoint_bodies WHERE content IS NULL")?
        .query_map([], |row| row.get(0).map(ContentHash))?
        .collect()
}

fn passing_name(to: &Path) -> PathBuf {
    let mut name = to.as_os_str().to_owned();
    name.push(".tmp");
    name.into()
}

fn put_in_place(passing: &Path, to: &Path) -> Result<(), Error> {
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let rename = || {
        fs::rename(passing, to)?;
        File::open(folder)?.sync_all()
    };
    rename().map_err(Error::file("make the backup", to))
}
