//! Checkpoints that wait to be written (L26): on disk as a whole, so that nothing of them is lost meanwhile.
//!
//! Who waits behind whom is the core's business. Here is only what is to be written, by its name.

use rusqlite::{OptionalExtension, Row, params};
use verger_core::id::CheckpointId;
use verger_core::time::WallTime;

use super::NewCheckpoint;
use crate::archive::Archive;
use crate::error::Error;
use crate::moment::{Moment, timestamp};
use crate::receipt::Receipt;

impl Archive {
    /// Keeps a checkpoint until it can be written, and answers its name. Keeping it twice changes nothing.
    pub fn queue_checkpoint(&self, new: NewCheckpoint) -> Receipt<CheckpointId> {
        self.record("keep a checkpoint that waits", move |db| {
            let NewCheckpoint { id, task, agent, parent, phase, at, body } = &new;
            let id = id.clone().unwrap_or_else(|| name_for(body, *at));
            db.prepare_cached(
                "INSERT INTO checkpoint_queue (id, task, agent, parent, phase, observed_ms, wall_ms, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (id) DO NOTHING",
            )?
            .execute(params![
                id.as_str(),
                task.as_str(),
                agent.as_str(),
                parent.as_ref().map(CheckpointId::as_str),
                phase,
                at.observed_ms(),
                at.wall.0,
                body
            ])?;
            Ok(id)
        })
    }

    /// A checkpoint that waits.
    pub fn queued_checkpoint(&self, id: &CheckpointId) -> Result<Option<NewCheckpoint>, Error> {
        self.read(|db| {
            db.prepare_cached(
                "SELECT id, task, agent, parent, phase, observed_ms, wall_ms, body
                 FROM checkpoint_queue WHERE id = ?1",
            )?
            .query_row([id.as_str()], read)
            .optional()
        })
    }

    /// A checkpoint waits no longer: it is written, or nobody wants it.
    pub fn forget_queued_checkpoint(&self, id: CheckpointId) -> Receipt<()> {
        self.record("drop a checkpoint that waits", move |db| {
            db.prepare_cached("DELETE FROM checkpoint_queue WHERE id = ?1")?.execute([id.as_str()]).map(drop)
        })
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<NewCheckpoint> {
    Ok(NewCheckpoint {
        id: Some(row.get::<_, String>(0)?.into()),
        task: row.get::<_, String>(1)?.into(),
        agent: row.get::<_, String>(2)?.into(),
        parent: row.get::<_, Option<String>>(3)?.map(CheckpointId::from),
        phase: row.get(4)?,
        at: Moment { observed: timestamp(row.get(5)?), wall: WallTime(row.get(6)?) },
        body: row.get(7)?,
    })
}

/// The same state at the same moment is the same checkpoint.
fn name_for(body: &[u8], at: Moment) -> CheckpointId {
    format!("cp-w{}-{}", at.wall.0, &blake3::hash(body).to_hex()[..8]).into()
}
