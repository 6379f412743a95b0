//! Bodies of checkpoints, in rows and in files.
//!
//! A file is written under a passing name, synced, renamed to its hash, and its directory synced, all before the row
//! that refers to it is committed. So a crash leaves a file without a row at worst, never a row without a file.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OptionalExtension, params};
use verger_core::recovery::{Content, ContentHash};

use super::{INLINE_MAX, list::CheckpointBody};
use crate::directory::make_private_file;
use crate::error::Error;
use crate::writer::After;

/// The end of the passing name of a file that is being written.
const UNFINISHED: &str = "tmp";
/// How old a file without a row must be before it is taken for a leftover: longer than any save takes.
const LEFTOVER_AFTER: Duration = Duration::from_hours(1);

/// Where the bodies are.
#[derive(Debug)]
pub(crate) struct Bodies {
    directory: PathBuf,
    written: AtomicU64,
}

/// What the row of a body holds: the body, or nothing if it is a file.
struct Stored(Option<Vec<u8>>);

impl Bodies {
    /// Removes what an earlier life of the monitor did not finish.
    pub(crate) fn open(directory: PathBuf) -> Result<Self, Error> {
        let tidy_up = || {
            for entry in fs::read_dir(&directory)? {
                let path = entry?.path();
                if path.extension() == Some(OsStr::new(UNFINISHED)) {
                    fs::remove_file(path)?;
                }
            }
            Ok(())
        };
        tidy_up().map_err(Error::file("tidy up", &directory))?;
        Ok(Self { directory, written: AtomicU64::new(0) })
    }

    /// Where the body of this hash is, if it is a file.
    pub(crate) fn path(&self, hash: &ContentHash) -> PathBuf {
        self.directory.join(blake3::Hash::from_bytes(hash.0).to_hex().as_str())
    }

    /// Puts a large body on disk, unless it is there already. Small ones go with their row.
    pub(crate) fn prepare(&self, hash: &ContentHash, body: &[u8]) -> Result<(), Error> {
        let path = self.path(hash);
        let is_there = || fs::metadata(&path).is_ok_and(|found| found.len() == body.len() as u64);
        if body.len() <= INLINE_MAX || is_there() && hash_of_file(&path).ok() == Some(*hash) {
            return Ok(());
        }
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let passing = self.directory.join(format!("{number}.{UNFINISHED}"));
        let write = || {
            let mut file = make_private_file(&passing)?;
            file.write_all(body)?;
            file.sync_all()?;
            fs::rename(&passing, &path)?;
            File::open(&self.directory)?.sync_all()
        };
        write().inspect_err(|_| drop(fs::remove_file(&passing))).map_err(Error::file("write", &path))
    }

    /// Within a transaction: makes the row of a body, unless there is one.
    ///
    /// If retention has removed the file since it was prepared, the row takes the body: it cannot vanish from there.
    pub(crate) fn write(&self, db: &Connection, hash: &ContentHash, body: &[u8]) -> rusqlite::Result<()> {
        let in_file = body.len() > INLINE_MAX && self.path(hash).exists();
        let content = (!in_file).then_some(body);
        db.prepare_cached(
            "INSERT INTO checkpoint_bodies (hash, size, content) VALUES (?1, ?2, ?3)
             ON CONFLICT (hash) DO UPDATE SET content = excluded.content
             WHERE content IS NULL AND excluded.content IS NOT NULL",
        )?
        .execute(params![hash.0, i64::try_from(body.len()).unwrap_or(i64::MAX), content])
        .map(drop)
    }

    /// Within a transaction: drops a body that no checkpoint has any more.
    pub(crate) fn forget(
        &self,
        db: &Connection,
        hash: &ContentHash,
        after: &mut After,
    ) -> rusqlite::Result<()> {
        let gone = db
            .prepare_cached(
                "DELETE FROM checkpoint_bodies WHERE hash = ?1
                 AND NOT EXISTS (SELECT 1 FROM checkpoints WHERE hash = ?1)",
            )?
            .execute([hash.0])?;
        if gone > 0 {
            after.unlink.push(self.path(hash));
        }
        Ok(())
    }

    /// The body of a hash, and whether it is what it was.
    pub(crate) fn read(&self, db: &Connection, hash: &ContentHash) -> Result<CheckpointBody, Error> {
        let Some(Stored(content)) = stored(db, hash)? else { return Ok(CheckpointBody::Missing) };
        let body = match content {
            Some(content) => content,
            None => match fs::read(self.path(hash)) {
                Ok(body) => body,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(CheckpointBody::Missing),
                Err(error) => return Err(Error::file("read", &self.path(hash))(error)),
            },
        };
        let is_intact = *blake3::hash(&body).as_bytes() == hash.0;
        Ok(if is_intact { CheckpointBody::Intact(body) } else { CheckpointBody::Damaged })
    }

    /// Whether a body is what it was, by its hash.
    pub(crate) fn verify(&self, db: &Connection, hash: &ContentHash) -> Result<Content, Error> {
        let Some(Stored(content)) = stored(db, hash)? else { return Ok(Content::Missing) };
        let found = match content {
            Some(content) => ContentHash(*blake3::hash(&content).as_bytes()),
            None => match hash_of_file(&self.path(hash)) {
                Ok(found) => found,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::Missing),
                // A disk that cannot read it has lost it as surely as one that reads something else.
                Err(_) => return Ok(Content::Damaged),
            },
        };
        Ok(if found == *hash { Content::Intact } else { Content::Damaged })
    }

    /// Whether there is a body of the right size, without reading it.
    pub(crate) fn glance(&self, hash: &ContentHash, size: Option<u64>, in_row: bool) -> Content {
        let Some(size) = size else { return Content::Missing };
        if in_row {
            return Content::Intact;
        }
        match fs::metadata(self.path(hash)) {
            Ok(found) if found.len() == size => Content::Intact,
            Ok(_) => Content::Damaged,
            Err(_) => Content::Missing,
        }
    }

    /// Files that no row refers to, left by a save that failed. They must be older than any save takes.
    pub(crate) fn leftovers(&self, db: &Connection, most: usize) -> Result<Vec<ContentHash>, Error> {
        let now = SystemTime::now();
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(Error::file("look through", &self.directory))? {
            let Some((hash, modified)) = entry.ok().and_then(|entry| body_file(&entry)) else { continue };
            let is_old = now.duration_since(modified).is_ok_and(|age| age > LEFTOVER_AFTER);
            if is_old && found.len() < most && stored(db, &hash)?.is_none() {
                found.push(hash);
            }
        }
        Ok(found)
    }

    /// Within a transaction: has them removed, unless something refers to them by now.
    pub(crate) fn unlink_leftovers(
        &self,
        db: &Connection,
        leftovers: &[ContentHash],
        after: &mut After,
    ) -> Result<usize, Error> {
        for hash in leftovers {
            if stored(db, hash)?.is_none() {
                after.unlink.push(self.path(hash));
            }
        }
        Ok(after.unlink.len())
    }
}

/// The body that a file holds by its name, and when it was written.
fn body_file(entry: &fs::DirEntry) -> Option<(ContentHash, SystemTime)> {
    let hash = blake3::Hash::from_hex(entry.file_name().to_str()?).ok()?;
    let modified = entry.metadata().ok()?.modified().ok()?;
    Some((ContentHash(*hash.as_bytes()), modified))
}

fn hash_of_file(path: &Path) -> io::Result<ContentHash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(ContentHash(*hasher.finalize().as_bytes()))
}

fn stored(db: &Connection, hash: &ContentHash) -> Result<Option<Stored>, Error> {
    let query = || {
        db.prepare_cached("SELECT content FROM checkpoint_bodies WHERE hash = ?1")?
            .query_row([hash.0], |row| row.get(0).map(Stored))
            .optional()
    };
    query().map_err(Error::sql("read a checkpoint"))
}
