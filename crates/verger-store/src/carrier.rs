//! Carries the write-ahead log into the database file, beside the writer.
//!
//! `SQLite` does it within a commit, when the log has grown long enough, and whoever waits for that commit waits for
//! all pages of the last thousand others. Here another thread does it. It takes no lock that the writer needs; if it
//! cannot keep up, the writer does it after all, later (see `LOG_PAGES`).

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;

use crate::connection;
use crate::error::Error;

/// Changed rows after which the log is carried. About as many pages, for most rows lie far apart.
const ROWS: u64 = 1_000;

/// The way to the thread, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Carrier {
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Rows that had been changed when it was last told.
    told: u64,
}

impl Carrier {
    pub(crate) fn start(path: &Path) -> Result<Self, Error> {
        let db = connection::carrier(path)?;
        let (wake, woken) = sync_channel(1);
        let thread = thread::Builder::new()
            .name("verger-log".to_owned())
            .spawn(move || run(&db, &woken))
            .map_err(Error::file("start a thread for", path))?;
        Ok(Self { wake: Some(wake), thread: Some(thread), told: 0 })
    }

    /// So many rows were changed since the store was opened. Never waits.
    pub(crate) fn on_commit(&mut self, rows: u64) {
        if rows - self.told >= ROWS
            && let Some(wake) = &self.wake
        {
            // If it is at work already it will be told again with the next commit.
            if wake.try_send(()).is_ok() {
                self.told = rows;
            }
        }
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            // Had it panicked, the writer would carry the log itself.
            drop(thread.join());
        }
    }
}

/// An error here loses nothing: what was not carried stays in the log.
fn run(db: &Connection, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        drop(db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())));
    }
}
