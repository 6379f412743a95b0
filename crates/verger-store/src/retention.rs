//! Forgetting: what is older than it is kept for goes, a little at a time (L46).
//!
//! Each kind of data has its own time. A chunk is small enough that nobody who writes meanwhile notices, and what is
//! left for the next call is found there again: nothing is remembered between calls but how far the checkpoints were
//! looked through. The audit log stays.
//!
//! Times are spans of observed time. A monitor that was off for a month has kept what it had, and a clock that is set
//! to another year deletes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use rusqlite::{Connection, params};
use verger_core::id::{CheckpointId, TaskId};
use verger_core::recovery::ContentHash;
use verger_core::time::{Span, Timestamp};

use crate::archive::Archive;
use crate::checkpoint::keepers;
use crate::error::Error;
use crate::incidents;
use crate::journal::{self, count};
use crate::moment::{millis, timestamp};
use crate::vitals;

/// Rows that go at once: a few milliseconds of the writer's time.
const CHUNK: usize = 500;
const DEFAULT: Span = Span::hours(30 * 24);

/// How long each kind of data is kept. Default: 30 days each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// What happened. Incidents are counted from their end.
    pub events: Span,
    /// How agents were.
    pub vitals: Span,
    /// What was done, counted from when it was done with. What is not done with stays.
    pub effects: Span,
    /// Checkpoints. Those that an open task could be recovered from stay.
    pub checkpoints: Span,
    /// What agents wrote to each other.
    pub messages: Span,
    /// What is written about tasks, counted from their end.
    pub tasks: Span,
    /// When the monitor could not see.
    pub blind_times: Span,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            events: DEFAULT,
            vitals: DEFAULT,
            effects: DEFAULT,
            checkpoints: DEFAULT,
            messages: DEFAULT,
            tasks: DEFAULT,
            blind_times: DEFAULT,
        }
    }
}

/// What was forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Rows, of all kinds.
    pub rows: usize,
    /// Checkpoints among them.
    pub checkpoints: usize,
    /// Nothing is left that should go. If not, the rest goes with the next calls.
    pub complete: bool,
}

/// What is looked through, in each round.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Events,
    Incidents,
    Vitals,
    Effects,
    Messages,
    Tasks,
    BlindTimes,
    Checkpoints,
}

impl Archive {
    /// Forgets what is over at this moment, in at most so many rounds; each takes one chunk of every kind.
    ///
    /// To be called from time to time, on a thread that may wait for the disk. While a backup is made it does
    /// nothing, for that must find everything that it has seen.
    pub fn sweep(&self, retention: &Retention, now: Timestamp, rounds_max: usize) -> Result<Swept, Error> {
        let mut swept = Swept::default();
        let Some(_upkeep) = self.try_upkeep() else { return Ok(swept) };
        let mut open = vec![
            Kind::Events,
            Kind::Incidents,
            Kind::Vitals,
            Kind::Effects,
            Kind::Messages,
            Kind::Tasks,
            Kind::BlindTimes,
            Kind::Checkpoints,
        ];
        for _ in 0..rounds_max {
            let mut left = Vec::new();
            for kind in open {
                if self.sweep_chunk(kind, retention, now, &mut swept)? {
                    left.push(kind);
                }
            }
            open = left;
            if open.is_empty() {
                break;
            }
        }
        swept.complete = open.is_empty();
        Ok(swept)
    }

    /// Removes files of checkpoints that nothing refers to, left by a save that failed. Answers how many.
    pub fn sweep_files(&self) -> Result<usize, Error> {
        let Some(_upkeep) = self.try_upkeep() else { return Ok(0) };
        let leftovers = self.with(|db| self.bodies().leftovers(db, CHUNK))?;
        let bodies = std::sync::Arc::clone(self.bodies());
        self.run(move |db, after| bodies.unlink_leftovers(db, &leftovers, after))
    }

    /// Answers whether there may be more of this kind.
    fn sweep_chunk(
        &self,
        kind: Kind,
        retention: &Retention,
        now: Timestamp,
        swept: &mut Swept,
    ) -> Result<bool, Error> {
        let (keep, forget): (_, fn(&Connection, Timestamp) -> rusqlite::Result<usize>) = match kind {
            Kind::Events => (retention.events, |db, before| journal::forget(db, before, CHUNK)),
            Kind::Incidents => (retention.events, |db, before| incidents::forget(db, before, CHUNK)),
            Kind::Vitals => (retention.vitals, |db, before| vitals::forget(db, before, CHUNK)),
            Kind::Effects => (retention.effects, forget_effects),
            Kind::Messages => (retention.messages, forget_messages),
            Kind::Tasks => (retention.tasks, forget_tasks),
            Kind::BlindTimes => (retention.blind_times, forget_blind_times),
            Kind::Checkpoints => return self.sweep_checkpoints(now - retention.checkpoints, swept),
        };
        let before = now - keep;
        if before == Timestamp::ZERO {
            return Ok(false);
        }
        let gone = self.run(move |db, _| forget(db, before).map_err(Error::sql("delete what is over")))?;
        swept.rows += gone;
        Ok(gone >= CHUNK)
    }

    fn sweep_checkpoints(&self, before: Timestamp, swept: &mut Swept) -> Result<bool, Error> {
        let from = self.swept().load(Ordering::Relaxed);
        let (page, more) = self.read(|db| old_checkpoints(db, from, before))?;
        self.swept().store(page.last().filter(|_| more).map_or(0, |old| old.number), Ordering::Relaxed);
        let over = self.over(page)?;
        let bodies = std::sync::Arc::clone(self.bodies());
        let gone = self.run(move |db, after| {
            let mut gone = 0;
            for (old, only_if_ended) in &over {
                gone += old.forget(db, *only_if_ended).map_err(Error::sql("delete a checkpoint"))?;
                bodies.forget(db, &old.hash, after).map_err(Error::sql("delete a checkpoint"))?;
            }
            Ok(gone)
        })?;
        swept.rows += gone;
        swept.checkpoints += gone;
        Ok(more)
    }

    /// Those that may go, and whether that is so only because their task is over.
    fn over(&self, page: Vec<OldCheckpoint>) -> Result<Vec<(OldCheckpoint, bool)>, Error> {
        let mut kept = BTreeMap::<TaskId, Option<BTreeSet<CheckpointId>>>::new();
        let mut over = Vec::new();
        for old in page {
            if !kept.contains_key(&old.task) {
                kept.insert(old.task.clone(), self.with(|db| kept_of(db, self, &old.task))?);
            }
            match &kept[&old.task] {
                Some(keepers) if keepers.contains(&old.id) => {}
                Some(_) => over.push((old, false)),
                None => over.push((old, true)),
            }
        }
        Ok(over)
    }
}

/// What recovery of a task could begin with; none if the task is over.
fn kept_of(
    db: &Connection,
    archive: &Archive,
    task: &TaskId,
) -> Result<Option<BTreeSet<CheckpointId>>, Error> {
    let is_over = is_over(db, task).map_err(Error::sql("read a task"))?;
    if is_over { Ok(None) } else { keepers(db, archive.bodies(), task).map(Some) }
}

fn is_over(db: &Connection, task: &TaskId) -> rusqlite::Result<bool> {
    db.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM tasks WHERE task = ?1 AND ended_observed_ms IS NOT NULL)",
    )?
    .query_row([task.as_str()], |row| row.get(0))
}

/// A checkpoint that is older than checkpoints are kept.
#[derive(Debug)]
struct OldCheckpoint {
    number: i64,
    id: CheckpointId,
    task: TaskId,
    hash: ContentHash,
}

impl OldCheckpoint {
    /// A task that was begun anew since it was looked at keeps what it has.
    fn forget(&self, db: &Connection, only_if_ended: bool) -> rusqlite::Result<usize> {
        if only_if_ended && !is_over(db, &self.task)? {
            return Ok(0);
        }
        db.prepare_cached("DELETE FROM checkpoints WHERE number = ?1")?.execute([self.number])
    }
}

/// The next page of old checkpoints, and whether there may be more behind it.
fn old_checkpoints(
    db: &Connection,
    from: i64,
    before: Timestamp,
) -> rusqlite::Result<(Vec<OldCheckpoint>, bool)> {
    let mut query = db.prepare_cached(
        "SELECT number, id, task, hash, observed_ms FROM checkpoints WHERE number > ?1 ORDER BY number LIMIT ?2",
    )?;
    let mut rows = query.query(params![from, count(CHUNK)])?;
    let mut page = Vec::new();
    while let Some(row) = rows.next()? {
        if timestamp(row.get(4)?) >= before {
            return Ok((page, false));
        }
        page.push(OldCheckpoint {
            number: row.get(0)?,
            id: row.get::<_, String>(1)?.into(),
            task: row.get::<_, String>(2)?.into(),
            hash: ContentHash(row.get(3)?),
        });
    }
    let more = page.len() == CHUNK;
    Ok((page, more))
}

fn forget_effects(db: &Connection, before: Timestamp) -> rusqlite::Result<usize> {
    let sql = "DELETE FROM effects WHERE rowid IN (
                   SELECT rowid FROM effects WHERE finished_observed_ms < ?1 LIMIT ?2)";
    db.prepare_cached(sql)?.execute(params![millis(before), count(CHUNK)])
}

fn forget_messages(db: &Connection, before: Timestamp) -> rusqlite::Result<usize> {
    let sql = "DELETE FROM messages WHERE number <= (
                   SELECT max(number) FROM (SELECT number, observed_ms FROM messages ORDER BY number LIMIT ?2)
                   WHERE observed_ms < ?1)";
    db.prepare_cached(sql)?.execute(params![millis(before), count(CHUNK)])
}

/// As long as a task has checkpoints, what is known of its end decides about them.
fn forget_tasks(db: &Connection, before: Timestamp) -> rusqlite::Result<usize> {
    let sql = "DELETE FROM tasks WHERE rowid IN (
                   SELECT rowid FROM tasks WHERE ended_observed_ms < ?1
                   AND NOT EXISTS (SELECT 1 FROM checkpoints WHERE checkpoints.task = tasks.task) LIMIT ?2)";
    db.prepare_cached(sql)?.execute(params![millis(before), count(CHUNK)])
}

fn forget_blind_times(db: &Connection, before: Timestamp) -> rusqlite::Result<usize> {
    let sql = "DELETE FROM blind_times WHERE id <= (
                   SELECT max(id) FROM (SELECT id, observed_ms FROM blind_times ORDER BY id LIMIT ?2)
                   WHERE observed_ms < ?1)";
    db.prepare_cached(sql)?.execute(params![millis(before), count(CHUNK)])
}
