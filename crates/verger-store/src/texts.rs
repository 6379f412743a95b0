//! What people and agents wrote: about tasks, and to each other.
//!
//! The core decides about tasks and messages and knows them by name; their words are kept here and go through no
//! decision. Whoever hands them in has taken credentials out of them.

use rusqlite::{OptionalExtension, Row, params};
use verger_core::id::{AgentId, MessageId, TaskId};
use verger_core::time::WallTime;

use crate::archive::Archive;
use crate::error::Error;
use crate::journal::count;
use crate::moment::{Moment, timestamp};
use crate::receipt::Receipt;

/// What is written about a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskText {
    /// Which task.
    pub task: TaskId,
    /// Its words, in whatever form the interface gave them.
    pub text: Option<String>,
    /// When they were last changed.
    pub at: Moment,
    /// Whether the task is over.
    pub ended: bool,
}

/// A message and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageText {
    /// Which message.
    pub id: MessageId,
    /// Who wrote it.
    pub sender: AgentId,
    /// For whom.
    pub receiver: AgentId,
    /// Its words.
    pub text: String,
    /// When it was sent.
    pub at: Moment,
}

/// Which side of its messages an agent asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Those that it wrote.
    Sent,
    /// Those that were written to it.
    Inbox,
}

impl Archive {
    /// Keeps what is written about a task; it is open from then on.
    pub fn put_task(&self, task: TaskId, text: Option<String>, at: Moment) -> Receipt<()> {
        self.record("write a task", move |db| {
            db.prepare_cached(
                "INSERT INTO tasks (task, text, observed_ms, wall_ms) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (task) DO UPDATE SET text = coalesce(excluded.text, text), ended_observed_ms = NULL,
                 observed_ms = excluded.observed_ms, wall_ms = excluded.wall_ms",
            )?
            .execute(params![task.as_str(), text, at.observed_ms(), at.wall.0])
            .map(drop)
        })
    }

    /// A task is over: its words and checkpoints may go when their time is up. Before this is said its newest
    /// checkpoints are kept, however old they are.
    pub fn end_task(&self, task: TaskId, at: Moment) -> Receipt<()> {
        self.record("write a task", move |db| {
            db.prepare_cached(
                "INSERT INTO tasks (task, observed_ms, wall_ms, ended_observed_ms) VALUES (?1, ?2, ?3, ?2)
                 ON CONFLICT (task) DO UPDATE SET ended_observed_ms = coalesce(ended_observed_ms, ?2)",
            )?
            .execute(params![task.as_str(), at.observed_ms(), at.wall.0])
            .map(drop)
        })
    }

    /// What is written about a task.
    pub fn task(&self, task: &TaskId) -> Result<Option<TaskText>, Error> {
        self.read(|db| {
            db.prepare_cached(
                "SELECT text, observed_ms, wall_ms, ended_observed_ms IS NOT NULL FROM tasks WHERE task = ?1",
            )?
            .query_row([task.as_str()], |row| {
                let at = Moment { observed: timestamp(row.get(1)?), wall: WallTime(row.get(2)?) };
                Ok(TaskText { task: task.clone(), text: row.get(0)?, at, ended: row.get(3)? })
            })
            .optional()
        })
    }

    /// Keeps what a message says. The first words of a name hold: sending it again changes nothing.
    pub fn put_message(&self, message: MessageText) -> Receipt<()> {
        self.record("write a message", move |db| {
            let MessageText { id, sender, receiver, text, at } = &message;
            db.prepare_cached(
                "INSERT INTO messages (id, sender, receiver, text, observed_ms, wall_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO NOTHING",
            )?
            .execute(params![
                id.as_str(),
                sender.as_str(),
                receiver.as_str(),
                text,
                at.observed_ms(),
                at.wall.0
            ])
            .map(drop)
        })
    }

    /// What a message says.
    pub fn message(&self, id: &MessageId) -> Result<Option<MessageText>, Error> {
        self.read(|db| {
            db.prepare_cached(
                "SELECT id, sender, receiver, text, observed_ms, wall_ms FROM messages WHERE id = ?1",
            )?
            .query_row([id.as_str()], read_message)
            .optional()
        })
    }

    /// The messages of an agent, newest first.
    pub fn messages_of(&self, agent: &AgentId, side: Side, limit: usize) -> Result<Vec<MessageText>, Error> {
        let column = match side {
            Side::Sent => "sender",
            Side::Inbox => "receiver",
        };
        let sql = format!(
            "SELECT id, sender, receiver, text, observed_ms, wall_ms FROM messages
             WHERE {column} = ?1 ORDER BY number DESC LIMIT ?2"
        );
        self.read(|db| {
            db.prepare_cached(&sql)?.query_map(params![agent.as_str(), count(limit)], read_message)?.collect()
        })
    }
}

fn read_message(row: &Row<'_>) -> rusqlite::Result<MessageText> {
    Ok(MessageText {
        id: row.get::<_, String>(0)?.into(),
        sender: row.get::<_, String>(1)?.into(),
        receiver: row.get::<_, String>(2)?.into(),
        text: row.get(3)?,
        at: Moment { observed: timestamp(row.get(4)?), wall: WallTime(row.get(5)?) },
    })
}
