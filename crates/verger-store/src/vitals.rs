//! Vital signs over time: how each agent was, from time to time.
//!
//! These are samples, not facts: whoever takes them need not wait for the disk, and one that is lost is followed by
//! the next. They share the transactions of everything else.

use rusqlite::{Connection, OptionalExtension, params};
use verger_core::id::AgentId;
use verger_core::time::WallTime;

use crate::archive::Archive;
use crate::error::Error;
use crate::journal::count;
use crate::moment::{Moment, timestamp};
use crate::receipt::Receipt;
use crate::rows::partition;

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
    /// Keeps samples that were taken at one moment.
    pub fn put_samples(&self, at: Moment, samples: Vec<Sample>) -> Receipt<()> {
        self.record("write vital signs", move |db| samples.iter().try_for_each(|sample| put(db, at, sample)))
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
            let Some(number) = number(db, agent)? else { return Ok(Vec::new()) };
            let mut found: Vec<_> = db
                .prepare_cached(
                    "SELECT observed_ms, wall_ms, state, body FROM vitals
                     WHERE agent_number = ?1 AND wall_ms >= ?2 AND wall_ms < ?3
                     ORDER BY wall_ms DESC LIMIT ?4",
                )?
                .query_map(params![number, from.0, until.0, count(limit)], |row| {
                    let at = Moment { observed: timestamp(row.get(0)?), wall: WallTime(row.get(1)?) };
                    Ok(Snapshot { at, state: row.get(2)?, body: row.get(3)? })
                })?
                .collect::<Result<_, _>>()?;
            found.reverse();
            Ok(found)
        })
    }
}

fn put(db: &Connection, at: Moment, sample: &Sample) -> rusqlite::Result<()> {
    let number = match number(db, &sample.agent)? {
        Some(number) => number,
        None => add(db, &sample.agent)?,
    };
    db.prepare_cached(
        "INSERT INTO vitals (agent_number, state, observed_ms, wall_ms, body) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![number, sample.state, at.observed_ms(), at.wall.0, sample.body])
    .map(drop)
}

fn number(db: &Connection, agent: &AgentId) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached("SELECT number FROM agents WHERE agent = ?1")?
        .query_row([agent.as_str()], |row| row.get(0))
        .optional()
}

fn add(db: &Connection, agent: &AgentId) -> rusqlite::Result<i64> {
    let name = agent.as_str();
    db.prepare_cached("INSERT INTO agents (agent, partition) VALUES (?1, ?2)")?
        .execute(params![name, partition(name)])?;
    Ok(db.last_insert_rowid())
}
