//! How far each of those who are told of events has been told, so that a restart neither repeats nor skips any.

use rusqlite::{OptionalExtension, params};

use crate::archive::Archive;
use crate::error::Error;
use crate::receipt::Receipt;

impl Archive {
    /// The last event that this follower was told of; none if it was never told anything.
    pub fn seen_by(&self, follower: &str) -> Result<Option<i64>, Error> {
        self.read(|db| {
            db.prepare_cached("SELECT seen FROM followers WHERE name = ?1")?
                .query_row([follower], |row| row.get(0))
                .optional()
        })
    }

    /// This follower was told of everything up to this event.
    pub fn set_seen_by(&self, follower: &'static str, event: i64) -> Receipt<()> {
        self.record("note what was told", move |db| {
            db.prepare_cached("INSERT OR REPLACE INTO followers VALUES (?1, ?2)")?
                .execute(params![follower, event])
                .map(drop)
        })
    }
}
