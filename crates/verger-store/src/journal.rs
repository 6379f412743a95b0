//! The journal: what happened, in the words in which it is served.
//!
//! Every event has a number, and the numbers have no gaps: retention takes the oldest away and nothing else. So a
//! client that says which number it saw last either gets everything after it, or learns that it has missed something
//! ([`Archive::oldest_event`] is beyond what it asks for).

use std::sync::Arc;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params};
use verger_core::AgentView;
use verger_core::event::Event;
use verger_core::id::{AgentId, Incarnation, TaskId};
use verger_core::time::WallTime;
use verger_engine::{Batch, Blind, Mark};

use crate::archive::Archive;
use crate::error::Error;
use crate::incidents::{self, IncidentChange};
use crate::moment::{Moment, millis, timestamp};

const COLUMNS: &str = "id, type, agent, incarnation, task, observed_ms, wall_ms, body";

/// Puts an event into the words in which it is served. The interfaces own that format, and the store keeps it.
pub trait EncodeEvent: Send + Sync {
    /// Writes one event. The same event at the same place must give the same words. `known` is how its agent is, if
    /// that is of interest.
    fn encode(&self, event: &Event, place: Place, known: Option<&AgentView>) -> EventText;

    /// The same event under the name that another specification has for it.
    fn also(&self, _event: &Event, _place: Place, _known: Option<&AgentView>) -> Option<EventText> {
        None
    }

    /// Writes of a time in which the monitor could not see, if anybody is to be told of it.
    fn blind(&self, _blind: &Blind, _place: Place) -> Option<EventText> {
        None
    }

    /// What the event says of an incident. Most say nothing of one.
    fn incident(&self, _event: &Event, _place: Place, _known: Option<&AgentView>) -> Option<IncidentChange> {
        None
    }
}

/// Where in the journal an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its number, from 1.
    pub id: i64,
    /// When it happened.
    pub at: Moment,
}

/// An event in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventText {
    /// What kind of event it is, as clients know it.
    pub kind: &'static str,
    /// The task that it is about, if it is about one.
    pub task: Option<TaskId>,
    /// All of it, as JSON.
    pub body: String,
}

/// An event out of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEvent {
    /// Its number.
    pub id: i64,
    /// What kind of event it is.
    pub kind: String,
    /// Whom it is about; the fleet if nobody.
    pub agent: Option<(AgentId, Incarnation)>,
    /// The task that it is about.
    pub task: Option<TaskId>,
    /// When it happened.
    pub at: Moment,
    /// All of it, as it was encoded.
    pub body: String,
}

/// Which events are asked for. What is not said does not matter.
#[derive(Clone, Debug, Default)]
pub struct EventQuery {
    /// About this agent.
    pub agent: Option<AgentId>,
    /// About this task.
    pub task: Option<TaskId>,
    /// Of this kind.
    pub kind: Option<String>,
    /// Not earlier than this.
    pub from: Option<WallTime>,
    /// Earlier than this.
    pub until: Option<WallTime>,
    /// With a smaller number than this: the next page.
    pub before: Option<i64>,
    /// At most so many.
    pub limit: usize,
}

impl Archive {
    /// What happened after the event of this number, oldest first.
    pub fn events_after(&self, id: i64, limit: usize) -> Result<Vec<JournalEvent>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM events WHERE id > ?1 ORDER BY id LIMIT ?2");
        self.read(|db| collect(db, &sql, params![id, count(limit)]))
    }

    /// What is asked for, newest first.
    pub fn events(&self, query: &EventQuery) -> Result<Vec<JournalEvent>, Error> {
        let (conditions, values) = conditions(query);
        let sql = format!("SELECT {COLUMNS} FROM events WHERE {conditions} ORDER BY id DESC LIMIT ?");
        self.read(|db| collect(db, &sql, rusqlite::params_from_iter(values)))
    }

    /// One event.
    pub fn event(&self, id: i64) -> Result<Option<JournalEvent>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM events WHERE id = ?1");
        self.read(|db| db.prepare_cached(&sql)?.query_row([id], read).optional())
    }

    /// The oldest event that is still there. Whoever has not seen the one before it has missed something.
    pub fn oldest_event(&self) -> Result<Option<i64>, Error> {
        self.read(|db| db.prepare_cached("SELECT min(id) FROM events")?.query_row([], |row| row.get(0)))
    }

    /// The newest event that is on disk; 0 before the first.
    pub fn newest_event(&self) -> Result<i64, Error> {
        self.read(newest)
    }
}

/// An event that is about to be stored.
#[derive(Debug)]
pub(crate) struct Entry {
    place: Place,
    agent: Option<(AgentId, Incarnation)>,
    text: EventText,
    incident: Option<IncidentChange>,
}

impl Entry {
    /// All that a batch holds, numbered from here. What the monitor could not see came before the rest.
    pub(crate) fn all(batch: &Batch, first: i64, encoder: &Arc<dyn EncodeEvent>) -> Vec<Self> {
        let mut entries = Vec::with_capacity(batch.events.len());
        let mut id = first;
        for blind in &batch.blind {
            let at = Moment { observed: blind.at, wall: batch.mark.taken.wall };
            let place = Place { id, at };
            let text = encoder.blind(blind, place);
            id += i64::from(text.is_some());
            entries.extend(text.map(|text| Self { place, agent: None, text, incident: None }));
        }
        for event in &batch.events {
            let life = event.agent.as_ref();
            // How a later life is says nothing of an earlier one.
            let known = life
                .and_then(|(agent, life)| batch.views.get(agent).filter(|view| view.incarnation == *life));
            let (at, agent) = (moment_of(event, &batch.mark), event.agent.clone());
            let place = Place { id, at };
            let (text, incident) =
                (encoder.encode(event, place, known), encoder.incident(event, place, known));
            entries.push(Self { place, agent: agent.clone(), text, incident });
            id += 1;
            let place = Place { id, at };
            let also = encoder.also(event, place, known);
            id += i64::from(also.is_some());
            entries.extend(also.map(|text| Self { place, agent, text, incident: None }));
        }
        entries
    }

    pub(crate) fn write(&self, db: &Connection) -> rusqlite::Result<()> {
        let Place { id, at } = self.place;
        let agent = self.agent.as_ref();
        db.prepare_cached(
            "INSERT INTO events (id, type, agent, incarnation, task, observed_ms, wall_ms, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            id,
            self.text.kind,
            agent.map(|(agent, _)| agent.as_str()),
            agent.map(|(_, incarnation)| incarnation.0),
            self.text.task.as_ref().map(TaskId::as_str),
            at.observed_ms(),
            at.wall.0,
            self.text.body,
        ])?;
        self.incident.as_ref().map_or(Ok(()), |change| incidents::write(db, self.place, change))
    }
}

/// The newest number that was given out; 0 before the first.
pub(crate) fn newest(db: &Connection) -> rusqlite::Result<i64> {
    db.prepare_cached("SELECT coalesce(max(id), 0) FROM events")?.query_row([], |row| row.get(0))
}

/// When an event happened, by the wall clock: as long before the mark was taken as observed time says.
fn moment_of(event: &Event, mark: &Mark) -> Moment {
    let ago = mark.observed.since(event.at);
    let wall = mark.taken.wall.0.saturating_sub(i64::try_from(ago.as_millis()).unwrap_or(i64::MAX));
    Moment { observed: event.at, wall: WallTime(wall) }
}

fn conditions(query: &EventQuery) -> (String, Vec<Value>) {
    let text = |value: &str| Value::Text(value.to_owned());
    let wall = |at: WallTime| Value::Integer(at.0);
    let given = [
        ("agent = ?", query.agent.as_ref().map(|agent| text(agent.as_str()))),
        ("task = ?", query.task.as_ref().map(|task| text(task.as_str()))),
        ("type = ?", query.kind.as_deref().map(text)),
        ("wall_ms >= ?", query.from.map(wall)),
        ("wall_ms < ?", query.until.map(wall)),
        ("id < ?", query.before.map(Value::Integer)),
    ];
    let mut words = vec!["1"];
    let mut values = Vec::new();
    for (word, value) in given {
        if let Some(value) = value {
            words.push(word);
            values.push(value);
        }
    }
    values.push(Value::Integer(count(query.limit)));
    (words.join(" AND "), values)
}

fn collect(db: &Connection, sql: &str, values: impl rusqlite::Params) -> rusqlite::Result<Vec<JournalEvent>> {
    db.prepare_cached(sql)?.query_map(values, read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<JournalEvent> {
    let agent: Option<String> = row.get(2)?;
    let incarnation: Option<u32> = row.get(3)?;
    Ok(JournalEvent {
        id: row.get(0)?,
        kind: row.get(1)?,
        agent: agent.zip(incarnation).map(|(agent, life)| (agent.into(), Incarnation(life))),
        task: row.get::<_, Option<String>>(4)?.map(TaskId::from),
        at: Moment { observed: timestamp(row.get(5)?), wall: WallTime(row.get(6)?) },
        body: row.get(7)?,
    })
}

/// A limit as `SQLite` takes it.
pub(crate) fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Deletes the oldest that are over, at most so many, and never the newest: its number must not be given out again.
pub(crate) fn forget(
    db: &Connection,
    before: verger_core::Timestamp,
    most: usize,
) -> rusqlite::Result<usize> {
    db.prepare_cached(
        "DELETE FROM events WHERE id <= (
             SELECT max(id) FROM (SELECT id, observed_ms FROM events ORDER BY id LIMIT ?2)
             WHERE observed_ms < ?1 AND id < (SELECT max(id) FROM events))",
    )?
    .execute(params![millis(before), count(most)])
}
