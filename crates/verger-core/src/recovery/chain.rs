//! The checkpoints of a task as a chain, walked from the newest to the first that work can resume from.
//!
//! A checkpoint names its parent. From the newest one the walk follows these links; where a link leads
//! nowhere (the parent is unknown, belongs to another task, or was passed already: a cycle), it goes on with
//! the newest checkpoint that it has not seen. So the newest branch of a fork wins, with all its ancestors,
//! and every other branch is still better than beginning anew: as long as one intact checkpoint is left,
//! there is something to resume from.
//!
//! Links count for more than the order of arrival: a checkpoint that was stored after its own child, because
//! its write was queued and tried again, is not taken for newer than that.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::{CheckpointId, TaskId};
use crate::time::Timestamp;

/// Checkpoints to choose from that are kept; a poisoned one makes way for the next.
const CANDIDATES_MAX: usize = 8;
/// Checkpoints passed over, and broken links, that are named; further ones are counted.
const NAMED_MAX: usize = 16;

/// The hash of a checkpoint's content. Two checkpoints that share it hold the same state, and the same
/// poison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContentHash(pub [u8; 32]);

/// Whether a checkpoint's content is what it was: the store compares it with its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// It is there, and its hash is right.
    Intact,
    /// It is there, and its hash is wrong.
    Damaged,
    /// It is not there.
    Missing,
}

/// One saved state of a task, without the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its name.
    pub id: CheckpointId,
    /// What it is a state of.
    pub task: TaskId,
    /// The one it was made after; none for the first.
    pub parent: Option<CheckpointId>,
    /// The hash of its content.
    pub hash: ContentHash,
    /// Whether the content is intact.
    pub content: Content,
    /// Counts the checkpoints as they were stored.
    pub order: u64,
    /// When it was stored.
    pub made_at: Timestamp,
}

/// A checkpoint that work can resume from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub id: CheckpointId,
    /// The hash of its content.
    pub hash: ContentHash,
    /// When it was stored.
    pub made_at: Timestamp,
    /// How many better ones were passed over for it.
    pub ahead: u32,
}

/// A checkpoint that was passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Which.
    pub id: CheckpointId,
    /// Why: its content is damaged or missing.
    pub content: Content,
}

/// Where the chain does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenLink {
    /// The checkpoint whose parent cannot be followed.
    pub child: CheckpointId,
    /// Why not.
    pub why: Break,
}

/// Why a link cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// No such checkpoint is known.
    ParentUnknown,
    /// It belongs to another task, and its state is none of this one's.
    ParentOfAnotherTask,
    /// It was made after this one, by its own word: a cycle.
    Cycle,
}

/// What a walk found: from where to resume, and what stood in the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) skipped_count: u32,
    pub(crate) breaks: Vec<BrokenLink>,
    pub(crate) unseen: u32,
}

impl Chain {
    /// The newest valid checkpoint; none: begin anew.
    pub fn newest(&self) -> Option<&Candidate> {
        self.candidates.first()
    }

    /// All that work can resume from, best first; at most eight.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// What was passed over before the newest valid one, at most sixteen;
    /// [`skipped_count`](Self::skipped_count) says how many there were.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// How many were passed over before the newest valid one.
    pub fn skipped_count(&self) -> u32 {
        self.skipped_count
    }

    /// Where the chain was broken before the newest valid one.
    pub fn breaks(&self) -> &[BrokenLink] {
        &self.breaks
    }

    /// How many checkpoints were too old to be looked at, because the chain is longer than is walked.
    pub fn unseen(&self) -> u32 {
        self.unseen
    }

    /// Passes one checkpoint.
    fn pass(&mut self, checkpoint: &Checkpoint, ahead: usize) {
        let Checkpoint { id, hash, content, made_at, .. } = checkpoint;
        if *content == Content::Intact {
            let ahead = u32::try_from(ahead).unwrap_or(u32::MAX);
            self.candidates.push(Candidate { id: id.clone(), hash: *hash, made_at: *made_at, ahead });
        } else if self.candidates.is_empty() {
            self.skipped_count = self.skipped_count.saturating_add(1);
            if self.skipped.len() < NAMED_MAX {
                self.skipped.push(Skipped { id: id.clone(), content: *content });
            }
        }
    }

    /// A link beyond the chosen checkpoint is nobody's concern: old ones are pruned every day.
    fn report(&mut self, child: &Checkpoint, why: Break) {
        if self.candidates.is_empty() && self.breaks.len() < NAMED_MAX {
            self.breaks.push(BrokenLink { child: child.id.clone(), why });
        }
    }
}

/// Walks the checkpoints of a task, in whatever order they are given; the newest `chain_max` are looked at.
///
/// Checkpoints of other tasks may be among them, so that a link to one of them is known for what it is.
pub fn walk(task: &TaskId, checkpoints: &[Checkpoint], chain_max: usize) -> Chain {
    let links = Links::new(task, checkpoints, chain_max);
    let mut chain = Chain { unseen: links.unseen, ..Chain::default() };
    let mut passed = BTreeSet::new();
    for newest in &links.own {
        if passed.contains(&newest.id) {
            continue;
        }
        let mut line = BTreeSet::new();
        let mut next = Some(links.head(newest, &passed));
        while let Some(checkpoint) = next {
            chain.pass(checkpoint, passed.len());
            if chain.candidates.len() == CANDIDATES_MAX {
                return chain;
            }
            passed.insert(&checkpoint.id);
            line.insert(&checkpoint.id);
            next = match links.parent(checkpoint) {
                Ok(Some(parent)) if line.contains(&parent.id) => {
                    chain.report(checkpoint, Break::Cycle);
                    None
                }
                Ok(parent) => parent.filter(|parent| !passed.contains(&parent.id)),
                Err(why) => {
                    chain.report(checkpoint, why);
                    None
                }
            };
        }
    }
    chain
}

/// The checkpoints of one task and how they hang together.
struct Links<'a> {
    /// Newest first.
    own: Vec<&'a Checkpoint>,
    by_id: BTreeMap<&'a CheckpointId, &'a Checkpoint>,
    newest_child: BTreeMap<&'a CheckpointId, &'a Checkpoint>,
    of_others: BTreeSet<&'a CheckpointId>,
    unseen: u32,
}

impl<'a> Links<'a> {
    fn new(task: &TaskId, checkpoints: &'a [Checkpoint], chain_max: usize) -> Self {
        let (mut own, others): (Vec<_>, Vec<_>) =
            checkpoints.iter().partition(|checkpoint| checkpoint.task == *task);
        own.sort_by(|a, b| (b.order, &b.id).cmp(&(a.order, &a.id)));
        let unseen = u32::try_from(own.len().saturating_sub(chain_max)).unwrap_or(u32::MAX);
        own.truncate(chain_max);
        let (mut by_id, mut newest_child) = (BTreeMap::new(), BTreeMap::new());
        for checkpoint in &own {
            by_id.entry(&checkpoint.id).or_insert(*checkpoint);
            if let Some(parent) = checkpoint.parent.as_ref().filter(|parent| **parent != checkpoint.id) {
                newest_child.entry(parent).or_insert(*checkpoint);
            }
        }
        let of_others = others.into_iter().map(|checkpoint| &checkpoint.id).take(chain_max).collect();
        Self { own, by_id, newest_child, of_others, unseen }
    }

    fn parent(&self, checkpoint: &Checkpoint) -> Result<Option<&'a Checkpoint>, Break> {
        let Some(parent) = &checkpoint.parent else { return Ok(None) };
        match self.by_id.get(parent) {
            Some(parent) => Ok(Some(*parent)),
            None if self.of_others.contains(parent) => Err(Break::ParentOfAnotherTask),
            // It may be one of those that were not looked at.
            None if self.unseen > 0 => Ok(None),
            None => Err(Break::ParentUnknown),
        }
    }

    /// Where the branch of the checkpoint that arrived last really ends: with a child that arrived before it.
    fn head(&self, newest: &'a Checkpoint, passed: &BTreeSet<&CheckpointId>) -> &'a Checkpoint {
        let mut line = BTreeSet::new();
        let mut below = Some(newest);
        while let Some(checkpoint) = below.filter(|below| line.insert(&below.id)) {
            below = self.parent(checkpoint).ok().flatten();
        }
        let mut head = newest;
        while let Some(child) = self.newest_child.get(&head.id) {
            if passed.contains(&child.id) || !line.insert(&child.id) {
                break;
            }
            head = child;
        }
        head
    }
}
