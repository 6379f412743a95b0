//! The audit log: who did what, each line sealed together with the one before it.
//!
//! A line that is changed, removed or put in between breaks every seal from there on. This shows accidents and
//! careless hands. Whoever can write the whole file can also seal it anew; only a copy elsewhere tells then.

use rusqlite::{Connection, OptionalExtension, Row, params};
use verger_core::id::Actor;
use verger_core::time::WallTime;

use crate::archive::Archive;
use crate::error::Error;
use crate::journal::count;
use crate::moment::{Moment, timestamp};
use crate::receipt::Receipt;

const COLUMNS: &str = "number, actor, action, target, detail, observed_ms, wall_ms, seal";

/// Something that somebody did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditLine {
    /// Who.
    pub actor: Actor,
    /// What, as a word.
    pub action: String,
    /// To whom or what.
    pub target: String,
    /// The rest, as JSON.
    pub detail: String,
    /// When.
    pub at: Moment,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Counts the lines from 1, without gaps.
    pub number: i64,
    /// What was done.
    pub line: AuditLine,
    /// Over this line and the seal before it.
    pub seal: [u8; 32],
}

/// What a check of the whole log found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditCheck {
    /// All lines are what they were.
    Whole {
        /// How many there are.
        lines: u64,
    },
    /// The first line that is not in its place, or not what it was.
    Broken {
        /// The number that it should have.
        number: i64,
    },
}

impl Archive {
    /// Adds a line. Answers its number.
    pub fn add_audit(&self, line: AuditLine) -> Receipt<i64> {
        self.record("write to the audit log", move |db| {
            let (last, before) = last(db)?;
            let number = last + 1;
            let AuditLine { actor, action, target, detail, at } = &line;
            db.prepare_cached(
                "INSERT INTO audit (number, actor, action, target, detail, observed_ms, wall_ms, seal)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                number,
                actor.as_str(),
                action,
                target,
                detail,
                at.observed_ms(),
                at.wall.0,
                seal(&before, number, &line)
            ])?;
            Ok(number)
        })
    }

    /// Lines after the one of this number, oldest first.
    pub fn audit_after(&self, number: i64, limit: usize) -> Result<Vec<AuditEntry>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM audit WHERE number > ?1 ORDER BY number LIMIT ?2");
        self.read(|db| db.prepare_cached(&sql)?.query_map(params![number, count(limit)], read)?.collect())
    }

    /// Lines before the one of this number, or the last of all, newest first.
    pub fn audit_before(&self, number: Option<i64>, limit: usize) -> Result<Vec<AuditEntry>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM audit WHERE number < ?1 ORDER BY number DESC LIMIT ?2");
        let before = number.unwrap_or(i64::MAX);
        self.read(|db| db.prepare_cached(&sql)?.query_map(params![before, count(limit)], read)?.collect())
    }

    /// Looks through the whole log.
    pub fn verify_audit(&self) -> Result<AuditCheck, Error> {
        let sql = format!("SELECT {COLUMNS} FROM audit ORDER BY number");
        self.read(|db| {
            let mut query = db.prepare(&sql)?;
            let mut before = [0; 32];
            let mut lines = 0;
            for entry in query.query_map([], read)? {
                let entry = entry?;
                let number = lines + 1;
                if entry.number != number || entry.seal != seal(&before, number, &entry.line) {
                    return Ok(AuditCheck::Broken { number });
                }
                (before, lines) = (entry.seal, number);
            }
            Ok(AuditCheck::Whole { lines: lines.cast_unsigned() })
        })
    }
}

fn last(db: &Connection) -> rusqlite::Result<(i64, [u8; 32])> {
    let last = db
        .prepare_cached("SELECT number, seal FROM audit ORDER BY number DESC LIMIT 1")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(last.unwrap_or((0, [0; 32])))
}

/// Each part with its length, so that no two lines read the same.
fn seal(before: &[u8; 32], number: i64, line: &AuditLine) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before);
    for number in [number, line.at.observed_ms(), line.at.wall.0] {
        hasher.update(&number.to_le_bytes());
    }
    for text in [line.actor.as_str(), &line.action, &line.target, &line.detail] {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

fn read(row: &Row<'_>) -> rusqlite::Result<AuditEntry> {
    let line = AuditLine {
        actor: row.get::<_, String>(1)?.into(),
        action: row.get(2)?,
        target: row.get(3)?,
        detail: row.get(4)?,
        at: Moment { observed: timestamp(row.get(5)?), wall: WallTime(row.get(6)?) },
    };
    Ok(AuditEntry { number: row.get(0)?, line, seal: row.get(7)? })
}
