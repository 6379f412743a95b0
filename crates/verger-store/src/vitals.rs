//! Vital signs over time: how each agent was, from time to time.
//!
//! These are samples, not facts: whoever takes them need not wait for the disk, and one that is lost is followed by
//! the next. They share the transactions of everything else.
//!
//! ```text
//! place = day (16 bits) │ agent's number (30) │ second of the day (17)
//! ```
//!
//! The place of a sample is its key, so a day of one agent lies together on the disk, the oldest days come first for
//! retention, and there is no index to keep up. A row for each sample in the order of its arrival took a page for
//! each to be read; a key of agent and time alone would spread what is to be forgotten over the whole file.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use rusqlite::{Connection, OptionalExtension, Row, params};
use verger_core::id::AgentId;
use verger_core::time::{Timestamp, WallTime};

use crate::archive::Archive;
use crate::error::Error;
use crate::journal::count;
use crate::moment::{Moment, millis, timestamp};
use crate::receipt::Receipt;
use crate::rows::partition;

const SECOND_BITS: u32 = 17;
const AGENT_BITS: u32 = 30;
const DAY_MAX: i64 = (1 << 16) - 1;
const DAY_MS: i64 = 86_400_000;

/// How an agent was at some moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Which agent.
    pub agent: AgentId,
    /// Its state, as clients know it.
    pub state: &'static str,
    /// All that is shown of it, as JSON.
    pub body: String,
}

/// A sample out of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// When it was taken.
    pub at: Moment,
    /// The state.
    pub state: String,
    /// All of it, as it was given.
    pub body: String,
}

impl Archive {
    /// Keeps samples that were taken at one moment. Of two samples of an agent in one second the later is kept.
    pub fn put_samples(&self, at: Moment, samples: Vec<Sample>) -> Receipt<()> {
        self.record("write vital signs", move |db| samples.iter().try_for_each(|sample| put(db, at, sample)))
    }

    /// How an agent was between two times, oldest first. If there are more than `limit`, the oldest are given: the next
    /// page begins after the last of them.
    pub fn history_page(
        &self,
        agent: &AgentId,
        from: WallTime,
        until: WallTime,
        limit: usize,
    ) -> Result<Vec<Snapshot>, Error> {
        self.read(|db| {
            let Some((number, _)) = known(db, agent)? else { return Ok(Vec::new()) };
            let mut found = Vec::new();
            for day in days(db, from, until)? {
                let left = count(limit.saturating_sub(found.len()));
                let mut query = db.prepare_cached(
                    "SELECT observed_ms, wall_ms, state, body FROM vitals WHERE place BETWEEN ?1 AND ?2
                     AND wall_ms >= ?3 AND wall_ms < ?4 ORDER BY place LIMIT ?5",
                )?;
                let (first, last) = places(day, number).into_inner();
                for sample in query.query_map(params![first, last, from.0, until.0, left], read)? {
                    found.push(sample?);
                }
            }
            Ok(found)
        })
    }

    /// How an agent was between two times, oldest first. If there are more than `limit`, the newest are given.
    pub fn history(
        &self,
        agent: &AgentId,
        from: WallTime,
        until: WallTime,
        limit: usize,
    ) -> Result<Vec<Snapshot>, Error> {
        self.read(|db| {
            let Some((number, _)) = known(db, agent)? else { return Ok(Vec::new()) };
            let mut found = Vec::new();
            for day in days(db, from, until)?.rev() {
                let left = count(limit.saturating_sub(found.len()));
                let mut query = db.prepare_cached(
                    "SELECT observed_ms, wall_ms, state, body FROM vitals WHERE place BETWEEN ?1 AND ?2
                     AND wall_ms >= ?3 AND wall_ms < ?4 ORDER BY place DESC LIMIT ?5",
                )?;
                let (first, last) = places(day, number).into_inner();
                for sample in query.query_map(params![first, last, from.0, until.0, left], read)? {
                    found.push(sample?);
                }
            }
            found.reverse();
            Ok(found)
        })
    }
}

/// Deletes the oldest that are over, at most so many. With the last sample of an agent its number goes too.
///
/// A clock that was wrong has put samples into the wrong days; they go when what lies before them has gone.
pub(crate) fn forget(db: &Connection, before: Timestamp, most: usize) -> rusqlite::Result<usize> {
    let over: Vec<(i64, i64)> = db
        .prepare_cached(
            "SELECT place, agent_number FROM (SELECT * FROM vitals ORDER BY place LIMIT ?2)
             WHERE observed_ms < ?1",
        )?
        .query_map(params![millis(before), count(most)], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let mut last_days = BTreeMap::new();
    for (place, agent) in &over {
        db.prepare_cached("DELETE FROM vitals WHERE place = ?1")?.execute([place])?;
        last_days.insert(*agent, place >> (AGENT_BITS + SECOND_BITS));
    }
    for (agent, day) in last_days {
        let (first, last) = places(day, agent).into_inner();
        db.prepare_cached(
            "DELETE FROM agents WHERE number = ?1 AND last_day <= ?2
             AND NOT EXISTS (SELECT 1 FROM vitals WHERE place BETWEEN ?3 AND ?4)",
        )?
        .execute(params![agent, day, first, last])?;
    }
    Ok(over.len())
}

fn put(db: &Connection, at: Moment, sample: &Sample) -> rusqlite::Result<()> {
    let day = day_of(at.wall);
    let number = match known(db, &sample.agent)? {
        Some((number, last_day)) if last_day >= day => number,
        Some((number, _)) => {
            db.prepare_cached("UPDATE agents SET last_day = ?2 WHERE number = ?1")?.execute([number, day])?;
            number
        }
        None => add(db, &sample.agent, day)?,
    };
    let second = at.wall.0.rem_euclid(DAY_MS) / 1_000;
    db.prepare_cached(
        "INSERT OR REPLACE INTO vitals (place, agent_number, state, observed_ms, wall_ms, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        places(day, number).start() + second,
        number,
        sample.state,
        at.observed_ms(),
        at.wall.0,
        sample.body
    ])
    .map(drop)
}

/// The number of an agent, and the last day of which there is a sample.
fn known(db: &Connection, agent: &AgentId) -> rusqlite::Result<Option<(i64, i64)>> {
    db.prepare_cached("SELECT number, last_day FROM agents WHERE agent = ?1")?
        .query_row([agent.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

fn add(db: &Connection, agent: &AgentId, day: i64) -> rusqlite::Result<i64> {
    let name = agent.as_str();
    db.prepare_cached("INSERT INTO agents (agent, partition, last_day) VALUES (?1, ?2, ?3)")?
        .execute(params![name, partition(name), day])?;
    Ok(db.last_insert_rowid())
}

fn read(row: &Row<'_>) -> rusqlite::Result<Snapshot> {
    let at = Moment { observed: timestamp(row.get(0)?), wall: WallTime(row.get(1)?) };
    Ok(Snapshot { at, state: row.get(2)?, body: row.get(3)? })
}

/// The days of a time of which there are samples at all.
fn days(db: &Connection, from: WallTime, until: WallTime) -> rusqlite::Result<RangeInclusive<i64>> {
    let day = |place: i64| place >> (AGENT_BITS + SECOND_BITS);
    let (first, last): (Option<i64>, Option<i64>) = db
        .prepare_cached("SELECT (SELECT min(place) FROM vitals), (SELECT max(place) FROM vitals)")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (first, last) = (first.map_or(DAY_MAX, day), last.map_or(0, day));
    Ok(day_of(from).max(first)..=day_of(until).min(last))
}

/// Days before 1970 count as the first, those after 2149 as the last.
fn day_of(wall: WallTime) -> i64 {
    wall.0.div_euclid(DAY_MS).clamp(0, DAY_MAX)
}

/// All places of an agent's samples of one day.
fn places(day: i64, agent: i64) -> RangeInclusive<i64> {
    let first = (day << AGENT_BITS | agent) << SECOND_BITS;
    first..=first | ((1 << SECOND_BITS) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_go_by_day_then_agent_and_never_overlap() {
        let last = (1 << AGENT_BITS) - 1;
        let corners = [(0, 0), (0, 1), (0, last), (1, 0), (20_600, 7), (DAY_MAX, 0), (DAY_MAX, last)];
        let ranges = corners.map(|(day, agent)| places(day, agent));
        assert!(ranges.windows(2).all(|pair| pair[0].end() < pair[1].start()), "{ranges:?}");
        assert_eq!(*ranges[6].end(), i64::MAX);
        let (first, end) = places(1, 1).into_inner();
        assert!(end - first >= DAY_MS / 1_000 - 1, "every second of a day has its place");
    }
}
