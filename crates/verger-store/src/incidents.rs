//! What is wrong and what was, one row each; and which alarms people called false.
//!
//! The journal tells when something began and when it was over. Whoever asks what is wrong now would have to read all
//! of it, so each incident also has a row, which the event that opens it makes and the one that resolves it completes,
//! in the same transaction. An open one is kept however old it is.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params};
use verger_core::id::{Actor, AgentId};
use verger_core::time::{Timestamp, WallTime};

use crate::archive::Archive;
use crate::error::Error;
use crate::journal::{Place, count};
use crate::moment::{Moment, millis};
use crate::receipt::Receipt;

/// What an event says of an incident. `key` tells it from others that are open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IncidentChange {
    /// It began. One of this key that is open already goes on.
    Opened {
        /// Which one.
        key: String,
        /// Whom it is about; the fleet if nobody.
        agent: Option<AgentId>,
        /// What is shown of it, as JSON.
        body: String,
    },
    /// More is known of it.
    Changed {
        /// Which one.
        key: String,
        /// What is shown of it from now on.
        body: String,
    },
    /// It is over.
    Resolved {
        /// Which one.
        key: String,
    },
}

/// An incident out of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptIncident {
    /// The number of the event that opened it.
    pub id: i64,
    /// Whom it is about; the fleet if nobody.
    pub agent: Option<AgentId>,
    /// What is shown of it, as it was given.
    pub body: String,
    /// When it was told.
    pub opened: WallTime,
    /// When it was over.
    pub resolved: Option<WallTime>,
    /// A person called it a false alarm.
    pub wrong: bool,
}

/// Which incidents are asked for. What is not said does not matter.
#[derive(Clone, Debug, Default)]
pub struct IncidentQuery {
    /// Open ones, or those that are over.
    pub open: Option<bool>,
    /// About this agent.
    pub agent: Option<AgentId>,
    /// With a smaller number than this: the next page.
    pub before: Option<i64>,
    /// At most so many.
    pub limit: usize,
}

/// An event that somebody called a false alarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongMark {
    /// Which event.
    pub event: i64,
    /// Who said so.
    pub by: Actor,
    /// Why.
    pub reason: Option<String>,
    /// When.
    pub at: Moment,
}

/// The event that was marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// Whom it is about; the fleet if nobody.
    pub agent: Option<AgentId>,
}

impl Archive {
    /// What is asked for, newest first.
    pub fn incidents(&self, query: &IncidentQuery) -> Result<Vec<KeptIncident>, Error> {
        let mut words = vec!["1"];
        let mut values = Vec::new();
        match query.open {
            Some(true) => words.push("resolved_observed_ms IS NULL"),
            Some(false) => words.push("resolved_observed_ms IS NOT NULL"),
            None => {}
        }
        if let Some(agent) = &query.agent {
            words.push("agent = ?");
            values.push(Value::Text(agent.as_str().to_owned()));
        }
        if let Some(before) = query.before {
            words.push("id < ?");
            values.push(Value::Integer(before));
        }
        values.push(Value::Integer(count(query.limit)));
        let sql = format!(
            "SELECT id, agent, body, wall_ms, resolved_wall_ms,
             EXISTS (SELECT 1 FROM wrong_marks WHERE event = incidents.id)
             FROM incidents WHERE {} ORDER BY id DESC LIMIT ?",
            words.join(" AND ")
        );
        self.read(|db| {
            let mut query = db.prepare_cached(&sql)?;
            query.query_map(rusqlite::params_from_iter(values), read)?.collect()
        })
    }

    /// How many are open.
    pub fn open_incidents(&self) -> Result<u64, Error> {
        let sql = "SELECT count(*) FROM incidents WHERE resolved_observed_ms IS NULL";
        let open: i64 = self.read(|db| db.prepare_cached(sql)?.query_row([], |row| row.get(0)))?;
        Ok(u64::try_from(open).unwrap_or(0))
    }

    /// Keeps that an event was a false alarm; who says it last is kept. Nothing is marked if there is no such event.
    pub fn mark_wrong(&self, mark: WrongMark) -> Receipt<Option<Marked>> {
        self.record("write a mark", move |db| {
            let Some(marked) = event_of(db, mark.event)? else { return Ok(None) };
            let WrongMark { event, by, reason, at } = &mark;
            db.prepare_cached(
                "INSERT OR REPLACE INTO wrong_marks (event, agent, actor, reason, observed_ms, wall_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                event,
                marked.agent.as_ref().map(AgentId::as_str),
                by.as_str(),
                reason,
                at.observed_ms(),
                at.wall.0
            ])?;
            Ok(Some(marked))
        })
    }
}

/// An event, if there is such a one: in the journal, or because its incident is still open.
fn event_of(db: &Connection, event: i64) -> rusqlite::Result<Option<Marked>> {
    db.prepare_cached(
        "SELECT agent FROM events WHERE id = ?1 UNION ALL SELECT agent FROM incidents WHERE id = ?1 LIMIT 1",
    )?
    .query_row([event], |row| Ok(Marked { agent: row.get::<_, Option<String>>(0)?.map(Into::into) }))
    .optional()
}

/// Writes what the event at this place says of an incident.
pub(crate) fn write(db: &Connection, place: Place, change: &IncidentChange) -> rusqlite::Result<()> {
    let Place { id, at } = place;
    let done = match change {
        IncidentChange::Opened { key, agent, body } => db
            .prepare_cached(
                "INSERT INTO incidents (id, key, agent, body, wall_ms) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT DO NOTHING",
            )?
            .execute(params![id, key, agent.as_ref().map(AgentId::as_str), body, at.wall.0]),
        IncidentChange::Changed { key, body } => db
            .prepare_cached("UPDATE incidents SET body = ?2 WHERE key = ?1 AND resolved_observed_ms IS NULL")?
            .execute(params![key, body]),
        IncidentChange::Resolved { key } => db
            .prepare_cached(
                "UPDATE incidents SET resolved_wall_ms = ?2, resolved_observed_ms = ?3
                 WHERE key = ?1 AND resolved_observed_ms IS NULL",
            )?
            .execute(params![key, at.wall.0, at.observed_ms()]),
    };
    done.map(drop)
}

/// Deletes those that are over since long ago, at most so many, and marks as old as these.
pub(crate) fn forget(db: &Connection, before: Timestamp, most: usize) -> rusqlite::Result<usize> {
    let gone = db
        .prepare_cached(
            "DELETE FROM incidents WHERE id IN (
                 SELECT id FROM incidents WHERE resolved_observed_ms < ?1 LIMIT ?2)",
        )?
        .execute(params![millis(before), count(most)])?;
    // The mark of an incident that goes on is still shown with it.
    let marks = db
        .prepare_cached(
            "DELETE FROM wrong_marks WHERE event IN (
                 SELECT event FROM wrong_marks WHERE observed_ms < ?1
                 AND NOT EXISTS (SELECT 1 FROM incidents WHERE id = event) LIMIT ?2)",
        )?
        .execute(params![millis(before), count(most)])?;
    Ok(gone.max(marks))
}

fn read(row: &Row<'_>) -> rusqlite::Result<KeptIncident> {
    Ok(KeptIncident {
        id: row.get(0)?,
        agent: row.get::<_, Option<String>>(1)?.map(Into::into),
        body: row.get(2)?,
        opened: WallTime(row.get(3)?),
        resolved: row.get::<_, Option<i64>>(4)?.map(WallTime),
        wrong: row.get(5)?,
    })
}
