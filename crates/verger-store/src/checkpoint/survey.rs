//! Looking through the checkpoints of a task before it is recovered, or before old ones are dropped.
//!
//! Hashing every state that a task ever saved could take minutes. So all bodies are glanced at (are they there, of
//! the right size?), and those that the core would choose from are read and hashed, until all of its choices are
//! proven. What is reported as intact and was not hashed, the core does not look at.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, params};
use verger_core::id::{CheckpointId, TaskId};
use verger_core::recovery::{Checkpoint, Content, ContentHash, walk};

use super::Bodies;
use crate::archive::Archive;
use crate::error::Error;
use crate::moment::timestamp;

impl Archive {
    /// All checkpoints of a task, for [`Body::Surveyed`](verger_core::signal::Body::Surveyed).
    ///
    /// `chain_max` is how many the core will walk, as its policy says.
    pub fn survey(&self, task: &TaskId, chain_max: usize) -> Result<Vec<Checkpoint>, Error> {
        self.with(|db| survey(db, self.bodies(), task, chain_max))
    }
}

/// The checkpoints of a task that recovery could begin with; retention leaves them alone.
pub(crate) fn keepers(
    db: &Connection,
    bodies: &Bodies,
    task: &TaskId,
) -> Result<BTreeSet<CheckpointId>, Error> {
    let checkpoints = survey(db, bodies, task, usize::MAX)?;
    let chain = walk(task, &checkpoints, usize::MAX);
    Ok(chain.candidates().iter().map(|candidate| candidate.id.clone()).collect())
}

fn survey(
    db: &Connection,
    bodies: &Bodies,
    task: &TaskId,
    chain_max: usize,
) -> Result<Vec<Checkpoint>, Error> {
    let mut checkpoints = all_of(db, bodies, task).map_err(Error::sql("read the checkpoints of a task"))?;
    let mut proven = BTreeMap::new();
    loop {
        let chain = walk(task, &checkpoints, chain_max);
        let unproven: BTreeSet<ContentHash> = chain
            .candidates()
            .iter()
            .map(|candidate| candidate.hash)
            .filter(|hash| !proven.contains_key(hash))
            .collect();
        if unproven.is_empty() {
            return Ok(checkpoints);
        }
        for hash in unproven {
            proven.insert(hash, bodies.verify(db, &hash)?);
        }
        for checkpoint in &mut checkpoints {
            if let Some(content) = proven.get(&checkpoint.hash) {
                checkpoint.content = *content;
            }
        }
    }
}

fn all_of(db: &Connection, bodies: &Bodies, task: &TaskId) -> rusqlite::Result<Vec<Checkpoint>> {
    let mut seen = BTreeMap::<ContentHash, Content>::new();
    db.prepare_cached(
        "SELECT c.id, c.parent, c.hash, c.number, c.observed_ms, b.size, b.content IS NOT NULL
         FROM checkpoints c LEFT JOIN checkpoint_bodies b ON b.hash = c.hash
         WHERE c.task = ?1 ORDER BY c.number",
    )?
    .query_map(params![task.as_str()], |row| {
        let hash = ContentHash(row.get(2)?);
        let size = row.get::<_, Option<i64>>(5)?.and_then(|size| u64::try_from(size).ok());
        let in_row = row.get(6)?;
        Ok(Checkpoint {
            id: row.get::<_, String>(0)?.into(),
            task: task.clone(),
            parent: row.get::<_, Option<String>>(1)?.map(CheckpointId::from),
            hash,
            content: *seen.entry(hash).or_insert_with(|| bodies.glance(&hash, size, in_row)),
            order: u64::try_from(row.get::<_, i64>(3)?).unwrap_or(0),
            made_at: timestamp(row.get(4)?),
        })
    })?
    .collect()
}
