//! A few connections that only read, lent out one at a time.
//!
//! In WAL mode a reader sees the last commit before it began and never blocks the writer. The pool is small and
//! bounded: a reader beyond it waits for another reader, and never for the disk of the writer.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use crate::connection;
use crate::error::Error;

/// The pool.
#[derive(Debug)]
pub(crate) struct Readers {
    path: PathBuf,
    idle: Mutex<Idle>,
    returned: Condvar,
}

#[derive(Debug)]
struct Idle {
    connections: Vec<Connection>,
    /// How many more may be opened.
    unopened: usize,
}

impl Readers {
    /// Opens none yet: a monitor that nobody asks needs none.
    pub(crate) fn new(path: &Path, most: usize) -> Self {
        let idle = Mutex::new(Idle { connections: Vec::new(), unopened: most.max(1) });
        Self { path: path.to_owned(), idle, returned: Condvar::new() }
    }

    /// Reads in one consistent view of the database.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        let mut lent = Lent { pool: self, connection: Some(self.take()?) };
        let result = lent.read(work);
        if result.as_ref().is_err_and(Error::is_damage) {
            // It remembers pages that are wrong; the disk may give the right ones next time.
            lent.discard();
        }
        result
    }

    fn take(&self) -> Result<Connection, Error> {
        let mut idle = self.lock();
        loop {
            if let Some(connection) = idle.connections.pop() {
                return Ok(connection);
            }
            if idle.unopened > 0 {
                idle.unopened -= 1;
                drop(idle);
                return connection::reader(&self.path).inspect_err(|_| {
                    self.lock().unopened += 1;
                    self.returned.notify_one();
                });
            }
            idle = self.returned.wait(idle).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Nothing panics while it is held.
    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that comes back, whatever becomes of the work.
struct Lent<'a> {
    pool: &'a Readers,
    connection: Option<Connection>,
}

impl Lent<'_> {
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        let db = self.connection.as_ref().ok_or(Error::Closed)?;
        let view = db.unchecked_transaction().map_err(Error::sql("read the database"))?;
        work(&view)
    }

    /// Another one may be opened in its place.
    fn discard(&mut self) {
        self.connection = None;
        self.pool.lock().unopened += 1;
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.pool.lock().connections.extend(self.connection.take());
        self.pool.returned.notify_one();
    }
}
