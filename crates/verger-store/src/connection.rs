//! How the database is opened: what is looked at before `SQLite` touches it, and how connections are set.

use std::fs::File;
use std::io::{self, Read};
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::directory::make_private_file;
use crate::error::Error;
use crate::log;

/// How long a writer or reader waits for a lock that somebody else holds, as a person with `sqlite3`.
const BUSY: Duration = Duration::from_secs(2);
/// Pages in the write-ahead log after which the writer itself carries them into the file, 64 MB. Reached only if the
/// carrier cannot keep up, or a reader looks at an old state for long.
const LOG_PAGES: u32 = 16_384;
/// Bytes to which the write-ahead log is cut when it has grown beyond them.
const LOG_BYTES_MAX: u32 = 64 << 20;

/// The one connection that writes.
pub(crate) fn writer(path: &Path) -> Result<Connection, Error> {
    look_at(path)?;
    make_private_file(path).map_err(Error::file("open the database", path))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).map_err(Error::sql("open the database"))
}

/// After it is known that the file is ours: every commit reaches the disk before it is acknowledged.
///
/// `synchronous` stays at FULL for vital signs too. They come with a task's report or the outcome of an effect in
/// the same batch, and nothing in a batch tells which of its rows somebody relies on.
pub(crate) fn set_up_writer(db: &Connection) -> Result<(), Error> {
    let pragmas = || {
        db.busy_timeout(BUSY)?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", "FULL")?;
        db.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
        db.pragma_update(None, "journal_size_limit", LOG_BYTES_MAX)?;
        db.pragma_update(None, "temp_store", "MEMORY")?;
        db.pragma_update(None, "cache_size", -8_192)?;
        db.set_prepared_statement_cache_capacity(64);
        Ok(())
    };
    pragmas().map_err(Error::sql("set up the database"))
}

/// The largest file that the database may become; `SQLite` says that the disk is full beyond it.
pub(crate) fn limit_size(db: &Connection, bytes: u64) -> Result<(), Error> {
    let limit = || {
        let page: u32 = db.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = u32::try_from(bytes / u64::from(page)).unwrap_or(u32::MAX - 1);
        db.pragma_update(None, "max_page_count", pages)
    };
    limit().map_err(Error::sql("set up the database"))
}

/// The connection that carries the write-ahead log into the file, and does nothing else.
pub(crate) fn carrier(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || {
        let db = Connection::open_with_flags(path, flags)?;
        db.pragma_update(None, "synchronous", "FULL")?;
        Ok(db)
    };
    open().map_err(Error::sql("open the database"))
}

/// A connection that only reads.
pub(crate) fn reader(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || {
        let db = Connection::open_with_flags(path, flags)?;
        db.busy_timeout(BUSY)?;
        db.pragma_update(None, "cache_size", -4_096)?;
        db.set_prepared_statement_cache_capacity(32);
        Ok(db)
    };
    open().map_err(Error::sql("open the database for reading"))
}

/// A connection that reads a file which nobody uses, and leaves no file beside it: where there is no log, none is made.
pub(crate) fn examiner(path: &Path) -> Result<Connection, Error> {
    if log::is_beside(path) {
        return reader(path);
    }
    let escaped = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)
        .map_err(Error::sql("open the database for reading"))
}

/// Refuses what is no database, or only a part of one, before anything is changed about it. Answers whether there is one.
///
/// `SQLite` itself would find a missing end only when it needs it, perhaps after a week of further writing.
pub(crate) fn look_at(path: &Path) -> Result<bool, Error> {
    let damaged = |what: &str| Error::Damaged { path: path.to_owned(), what: what.to_owned() };
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Error::file("open the database", path)(error)),
    };
    let size = file.metadata().map_err(Error::file("open the database", path))?.len();
    if size == 0 {
        return Ok(false);
    }
    let mut header = [0; 100];
    if file.read_exact(&mut header).is_err() {
        return Err(damaged("it ends within its header"));
    }
    if !header.starts_with(b"SQLite format 3\0") {
        return Err(damaged("its header is not that of a database"));
    }
    // A checkpoint that was cut short has written the header and not yet the end, which the log beside it still has.
    if !missing_pages(&header, size).is_none_or(|pages| log::holds(path, pages)) {
        return Err(damaged("its end is missing"));
    }
    Ok(true)
}

/// The pages that a header says there are, and that a file of this size is too short for.
fn missing_pages(header: &[u8; 100], size: u64) -> Option<RangeInclusive<u32>> {
    let word = |at| log::word(header, at);
    let page_size = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        size => u64::from(size),
    };
    // The count of pages is right only if the version that wrote it also wrote the change counter.
    let stated = if word(24) == word(92) { word(28) } else { 0 };
    let whole = size.checked_div(page_size).and_then(|pages| u32::try_from(pages).ok())?;
    (whole < stated).then_some(whole + 1..=stated)
}
