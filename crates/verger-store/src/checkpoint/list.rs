//! Looking at checkpoints: the chain of a task, and one state with its body.

use rusqlite::{OptionalExtension, Row, params};
use verger_core::id::{AgentId, CheckpointId, TaskId};
use verger_core::recovery::ContentHash;
use verger_core::time::WallTime;

use crate::archive::Archive;
use crate::error::Error;
use crate::journal::count;
use crate::moment::{Moment, timestamp};

const COLUMNS: &str = "number, id, task, agent, parent, phase, hash, observed_ms, wall_ms, size,
    CASE WHEN size <= 1024 THEN content END";
const TABLES: &str = "checkpoints LEFT JOIN checkpoint_bodies USING (hash)";

/// A checkpoint without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointInfo {
    /// Counts checkpoints as they were stored.
    pub number: i64,
    /// Its name.
    pub id: CheckpointId,
    /// What it is a state of.
    pub task: TaskId,
    /// Who made it.
    pub agent: AgentId,
    /// The one it was made after.
    pub parent: Option<CheckpointId>,
    /// What the agent was at.
    pub phase: Option<String>,
    /// The hash of its content.
    pub hash: ContentHash,
    /// When it came in.
    pub at: Moment,
    /// How large its content is, in bytes; not known if that is lost.
    pub size: Option<u64>,
    /// Its content, if that is at most 1 KiB. It is not compared with the hash here.
    pub small: Option<Vec<u8>>,
}

/// A body, and whether it is what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointBody {
    /// It is there, and its hash is right.
    Intact(Vec<u8>),
    /// It is there, and its hash is wrong. Nobody gets to see it.
    Damaged,
    /// It is not there.
    Missing,
}

impl Archive {
    /// The checkpoints of a task that were stored before the one of this number, newest first.
    pub fn checkpoints(
        &self,
        task: &TaskId,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<CheckpointInfo>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE task = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3"
        );
        let before = before.unwrap_or(i64::MAX);
        self.read(|db| {
            db.prepare_cached(&sql)?.query_map(params![task.as_str(), before, count(limit)], read)?.collect()
        })
    }

    /// One checkpoint, without its body.
    pub fn checkpoint_info(&self, id: &CheckpointId) -> Result<Option<CheckpointInfo>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE id = ?1");
        self.read(|db| db.prepare_cached(&sql)?.query_row([id.as_str()], read).optional())
    }

    /// One checkpoint, with its body.
    pub fn checkpoint(&self, id: &CheckpointId) -> Result<Option<(CheckpointInfo, CheckpointBody)>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE id = ?1");
        self.with(|db| {
            let find = || db.prepare_cached(&sql)?.query_row([id.as_str()], read).optional();
            let Some(info) = find().map_err(Error::sql("read a checkpoint"))? else { return Ok(None) };
            let body = self.bodies().read(db, &info.hash)?;
            Ok(Some((info, body)))
        })
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<CheckpointInfo> {
    Ok(CheckpointInfo {
        number: row.get(0)?,
        id: row.get::<_, String>(1)?.into(),
        task: row.get::<_, String>(2)?.into(),
        agent: row.get::<_, String>(3)?.into(),
        parent: row.get::<_, Option<String>>(4)?.map(CheckpointId::from),
        phase: row.get(5)?,
        hash: ContentHash(row.get(6)?),
        at: Moment { observed: timestamp(row.get(7)?), wall: WallTime(row.get(8)?) },
        size: row.get::<_, Option<i64>>(9)?.and_then(|size| u64::try_from(size).ok()),
        small: row.get(10)?,
    })
}
