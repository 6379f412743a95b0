//! Saving a checkpoint: its body is safe before anything refers to it, and what does not fit is refused.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};
use verger_core::id::{AgentId, CheckpointId, TaskId};
use verger_core::recovery::ContentHash;
use verger_core::time::WallTime;

use super::{BODY_MAX, Bodies};
use crate::archive::Archive;
use crate::error::Error;
use crate::moment::{Moment, timestamp};
use crate::receipt::Receipt;

/// A state to be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCheckpoint {
    /// Its name; made by the store if none is given.
    pub id: Option<CheckpointId>,
    /// What it is a state of.
    pub task: TaskId,
    /// Who made it.
    pub agent: AgentId,
    /// The one it was made after.
    pub parent: Option<CheckpointId>,
    /// What the agent was at, in its own words.
    pub phase: Option<String>,
    /// When it came in.
    pub at: Moment,
    /// The state itself.
    pub body: Vec<u8>,
}

/// A state that is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Its name.
    pub id: CheckpointId,
    /// The hash of its content.
    pub hash: ContentHash,
    /// When it came in for the first time.
    pub at: Moment,
    /// Whether it was there already: somebody tried again, and nothing was changed.
    pub again: bool,
}

/// Why a checkpoint is not taken. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointRefusal {
    /// Its parent is not there.
    #[error("the parent {0} is not known")]
    ParentUnknown(CheckpointId),
    /// Its parent is a state of something else.
    #[error("the parent {parent} is a checkpoint of task {task}")]
    ParentOfAnotherTask {
        /// The parent.
        parent: CheckpointId,
        /// Whose it is.
        task: TaskId,
    },
    /// The name is taken by another state, another task or another place in the chain.
    #[error("there is another checkpoint {0} already")]
    Differs(CheckpointId),
    /// It is larger than anything that is kept.
    #[error("a checkpoint of {0} bytes is too large; the most is {BODY_MAX}")]
    TooLarge(usize),
}

impl Archive {
    /// Saves a checkpoint. A large body is written and synced here, on the caller's thread; the rest comes with the
    /// receipt. Saving the same once more changes nothing.
    pub fn save_checkpoint(&self, new: NewCheckpoint) -> Result<Receipt<Saved>, Error> {
        if new.body.len() > BODY_MAX {
            return Err(CheckpointRefusal::TooLarge(new.body.len()).into());
        }
        let hash = ContentHash(*blake3::hash(&new.body).as_bytes());
        self.bodies().prepare(&hash, &new.body)?;
        let bodies = Arc::clone(self.bodies());
        Ok(self.submit(move |db, _| save(db, &bodies, &new, hash)))
    }
}

fn save(db: &Connection, bodies: &Bodies, new: &NewCheckpoint, hash: ContentHash) -> Result<Saved, Error> {
    let doing = "write a checkpoint";
    if let Some(id) = &new.id
        && let Some(known) = known(db, id).map_err(Error::sql(doing))?
    {
        return again(id, &known, new, hash);
    }
    if let Some(parent) = &new.parent {
        check_parent(db, parent, &new.task)?;
    }
    bodies.write(db, &hash, &new.body).map_err(Error::sql(doing))?;
    let id = insert(db, new, hash).map_err(Error::sql(doing))?;
    Ok(Saved { id, hash, at: new.at, again: false })
}

/// A checkpoint that has this name already.
struct Known {
    task: String,
    parent: Option<String>,
    hash: [u8; 32],
    at: Moment,
}

fn known(db: &Connection, id: &CheckpointId) -> rusqlite::Result<Option<Known>> {
    db.prepare_cached("SELECT task, parent, hash, observed_ms, wall_ms FROM checkpoints WHERE id = ?1")?
        .query_row([id.as_str()], |row| {
            let at = Moment { observed: timestamp(row.get(3)?), wall: WallTime(row.get(4)?) };
            Ok(Known { task: row.get(0)?, parent: row.get(1)?, hash: row.get(2)?, at })
        })
        .optional()
}

fn again(id: &CheckpointId, known: &Known, new: &NewCheckpoint, hash: ContentHash) -> Result<Saved, Error> {
    let is_same = known.hash == hash.0
        && known.task == new.task.as_str()
        && known.parent.as_deref() == new.parent.as_ref().map(CheckpointId::as_str);
    if is_same {
        Ok(Saved { id: id.clone(), hash, at: known.at, again: true })
    } else {
        Err(CheckpointRefusal::Differs(id.clone()).into())
    }
}

fn check_parent(db: &Connection, parent: &CheckpointId, task: &TaskId) -> Result<(), Error> {
    match known(db, parent).map_err(Error::sql("write a checkpoint"))? {
        None => Err(CheckpointRefusal::ParentUnknown(parent.clone()).into()),
        Some(found) if found.task == task.as_str() => Ok(()),
        Some(found) => {
            let (parent, task) = (parent.clone(), found.task.into());
            Err(CheckpointRefusal::ParentOfAnotherTask { parent, task }.into())
        }
    }
}

/// A name that the store makes holds the number under which it was stored, so it is never made twice.
fn insert(db: &Connection, new: &NewCheckpoint, hash: ContentHash) -> rusqlite::Result<CheckpointId> {
    let named = new.id.as_ref().map(CheckpointId::as_str);
    let passing = blake3::Hash::from_bytes(hash.0).to_hex();
    db.prepare_cached(
        "INSERT INTO checkpoints (id, task, agent, parent, phase, hash, observed_ms, wall_ms)
         VALUES (coalesce(?1, '?' || ?9), ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        named,
        new.task.as_str(),
        new.agent.as_str(),
        new.parent.as_ref().map(CheckpointId::as_str),
        new.phase,
        hash.0,
        new.at.observed_ms(),
        new.at.wall.0,
        passing.as_str(),
    ])?;
    let Some(id) = &new.id else {
        let number = db.last_insert_rowid();
        let id = format!("cp-{number}-{}", &passing.as_str()[..8]);
        db.prepare_cached("UPDATE checkpoints SET id = ?2 WHERE number = ?1")?
            .execute(params![number, id])?;
        return Ok(id.into());
    };
    Ok(id.clone())
}
