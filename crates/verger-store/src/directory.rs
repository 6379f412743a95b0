//! The data directory: who may use it, and where in it everything lies.
//!
//! ```text
//! verger.db (-wal, -shm)   the database, 0600
//! verger.lock              held by the one monitor that works here; says its process id
//! checkpoints/             bodies of large checkpoints, 0700, named by their hash
//! ```

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::error::Error;

/// A data directory that this process alone writes to.
///
/// The lock is advisory and ends with the process, however that ends; a stale file locks nobody out.
#[derive(Debug)]
pub(crate) struct Directory {
    root: PathBuf,
    lock: File,
}

impl Directory {
    /// Makes the directory if there is none, and takes the lock.
    pub(crate) fn open(root: &Path) -> Result<Self, Error> {
        make_private(root)?;
        let lock = take_lock(root)?;
        let directory = Self { root: root.to_owned(), lock };
        make_private(&directory.checkpoints())?;
        Ok(directory)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the names of all files durable, not only what is in them.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        let sync = || File::open(&self.root)?.sync_all();
        sync().map_err(Error::file("sync the directory", &self.root))
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.root.join("verger.db")
    }

    pub(crate) fn checkpoints(&self) -> PathBuf {
        self.root.join("checkpoints")
    }
}

impl Drop for Directory {
    /// A process that is being started has all open files of this one for a moment, the lock too; so it is given back
    /// and not merely closed. If that fails, it ends with the last who has it.
    fn drop(&mut self) {
        let _ = flock(&self.lock, FlockOperation::Unlock);
    }
}

/// Makes an empty file that nobody else may read. `SQLite` gives its other files the same mode.
pub(crate) fn make_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// What a file is, whatever it is called: its device and number there.
pub(crate) fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|found| (found.dev(), found.ino()))
}

fn make_private(path: &Path) -> Result<(), Error> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(Error::file("create the directory", path))
}

fn take_lock(root: &Path) -> Result<File, Error> {
    let path = root.join("verger.lock");
    let mut lock = make_private_file(&path).map_err(Error::file("open the lock", &path))?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => {
            return Err(Error::Locked { path: root.to_owned(), pid: holder(&mut lock) });
        }
        Err(errno) => return Err(Error::file("take the lock", &path)(errno.into())),
    }
    let mut sign = || {
        lock.set_len(0)?;
        lock.rewind()?;
        writeln!(lock, "{}", std::process::id())
    };
    sign().map_err(Error::file("write the lock", &path))?;
    Ok(lock)
}

/// Says who works in a directory, if somebody does. Nothing is made or changed.
pub(crate) fn is_free(root: &Path) -> Result<(), Error> {
    let Ok(mut lock) = File::open(root.join("verger.lock")) else { return Ok(()) };
    match flock(&lock, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => Err(Error::Locked { path: root.to_owned(), pid: holder(&mut lock) }),
        // It is given back as the file is closed.
        _ => Ok(()),
    }
}

fn holder(lock: &mut File) -> Option<u32> {
    let mut text = String::new();
    lock.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
