//! Times in which the monitor could not see, for people who ask what it missed.

use rusqlite::{Connection, params};
use verger_core::time::{Span, WallTime};
use verger_engine::{Blind, BlindCause, Mark};

use crate::archive::Archive;
use crate::error::Error;
use crate::journal::count;
use crate::moment::{Moment, millis, timestamp};

/// One of them, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlindTime {
    /// When it was over.
    pub until: Moment,
    /// How long it was.
    pub lasted: Span,
    /// `down`, `paused`, `behind` or `store`.
    pub cause: String,
}

impl Archive {
    /// The latest, newest first.
    pub fn blind_times(&self, limit: usize) -> Result<Vec<BlindTime>, Error> {
        self.read(|db| {
            db.prepare_cached(
                "SELECT observed_ms, wall_ms, lasted_ms, cause FROM blind_times ORDER BY id DESC LIMIT ?1",
            )?
            .query_map([count(limit)], |row| {
                Ok(BlindTime {
                    until: Moment { observed: timestamp(row.get(0)?), wall: WallTime(row.get(1)?) },
                    lasted: Span::millis(u64::try_from(row.get::<_, i64>(2)?).unwrap_or(0)),
                    cause: row.get(3)?,
                })
            })?
            .collect()
        })
    }
}

/// The mark that comes with it was taken when the monitor could see again.
pub(crate) fn write(db: &Connection, blind: &Blind, mark: &Mark) -> rusqlite::Result<()> {
    let cause = match blind.cause {
        BlindCause::Down => "down",
        BlindCause::Paused => "paused",
        BlindCause::Behind => "behind",
        BlindCause::Store => "store",
    };
    let lasted = i64::try_from(blind.lasted.as_millis()).unwrap_or(i64::MAX);
    db.prepare_cached(
        "INSERT INTO blind_times (cause, lasted_ms, observed_ms, wall_ms) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(params![cause, lasted, millis(blind.at), mark.taken.wall.0])
    .map(drop)
}
