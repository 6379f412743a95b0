//! State rows: what a restart reads, instead of replaying a journal.
//!
//! One row for each agent and one for the fleet's own books. A row names its role rather than numbering it, for
//! the configuration may have changed between writing and reading.

use super::desk::DeskRows;
use super::errands::Errands;
use super::gates::GateRows;
use super::steps::StepRows;
use super::{Fleet, FleetBudgets};
use crate::agent::Agent;
use crate::breaker::BreakerName;
use crate::id::{AgentId, RoleName, TaskId, TicketId};
use crate::intervention::Budget;
use crate::messages;
use crate::policy::Policies;
use crate::record::{Damaged, Stored, from_row};
use crate::recovery;
use crate::time::Timestamp;

/// The layout of rows. A change of layout raises it, and keeps a reader for the one before.
const VERSION: u8 = 1;

/// Most rows beside those of agents are shorter: a step is the longest of which there are many.
const USUAL_BYTES: usize = 384;

/// Agents whose rows are written together.
const AT_ONCE: usize = 4;

/// Where rows are written before their size is known, again and again.
pub(super) type Drafts = [Vec<u8>; AT_ONCE];

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowKey {
    /// One agent.
    Agent(AgentId),
    /// The fleet's own books.
    Fleet,
    /// Failures that belong together.
    Correlation,
    /// Recoveries.
    Recovery(recovery::RowKey),
    /// Effects whose outcome is waited for by none of the agents.
    Errands,
    /// One task.
    Task(TaskId),
    /// A message, or what was done because of one.
    Message(messages::RowKey),
    /// One circuit breaker.
    Breaker(BreakerName),
    /// The checkpoints that wait behind one.
    Checkpoints(BreakerName),
    /// What the fleet uses, and what was used in vain.
    Usage,
    /// What the judge knows of a worker.
    Worker(AgentId),
    /// A ticket about a worker.
    Ticket(TicketId),
    /// One of the last steps of an agent, by its place in the ring.
    Step(AgentId, u8),
    /// What the steps of an agent came to until the ring last went round.
    StepsBefore(AgentId),
}

/// One row to be written, or deleted if it holds nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it is about.
    pub key: RowKey,
    /// Its content.
    pub bytes: Option<Vec<u8>>,
}

/// Why the fleet could not be restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// The row is damaged.
    #[error("the state row of {0} cannot be read")]
    Damaged(String),
    /// A newer version wrote it.
    #[error("the state row of {row} has layout {found}, and this version reads up to {known}")]
    Newer {
        /// Which row.
        row: String,
        /// Its layout.
        found: u8,
        /// The newest layout that this version reads.
        known: u8,
    },
}

impl RestoreError {
    /// Stable code; `docs/src/errors/<code>.md` tells the operator what to do.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Damaged(_) => "VG0201",
            Self::Newer { .. } => "VG0202",
        }
    }
}

impl Fleet {
    /// Whether [`take_changed_rows`](Self::take_changed_rows) has something to give.
    pub fn has_changes(&self) -> bool {
        !self.changed.is_empty()
            || !self.forgotten.is_empty()
            || self.budgets.changed
            || self.machines.has_changes()
    }

    /// Agents whose rows changed since they were last taken.
    pub fn agents_changed(&self) -> usize {
        self.changed.len()
    }

    /// Gives the rows of all that changed since the last call.
    pub fn take_changed_rows(&mut self, push: &mut dyn FnMut(Row)) {
        for id in self.forgotten.drain(..) {
            push(Row { key: RowKey::Agent(id), bytes: None });
        }
        self.machines.followed.drop_rows(push);
        self.take_agent_rows(push);
        if std::mem::take(&mut self.budgets.changed) {
            let FleetBudgets { spent, storm, first_effect, .. } = &self.budgets;
            push(row(RowKey::Fleet, &((spent.to_vec(), *storm), *first_effect)));
        }
        if std::mem::take(&mut self.machines.correlation_changed) {
            push(row(RowKey::Correlation, &self.machines.correlation));
        }
        if std::mem::take(&mut self.machines.errands.changed) {
            push(row(RowKey::Errands, &self.machines.errands.out));
        }
        self.machines.recoveries.take_changed_rows(&mut |key, bytes| {
            push(Row { key: RowKey::Recovery(key), bytes: bytes.map(versioned) });
        });
        self.take_desk_rows(push);
        self.machines.gates.take_changed_rows(push);
        self.take_verdict_rows(push);
    }

    fn take_agent_rows(&mut self, push: &mut dyn FnMut(Row)) {
        let mut changed = std::mem::take(&mut self.changed);
        let mut drafts = std::mem::take(&mut self.drafts);
        for slots in changed.chunks(AT_ONCE) {
            drafts.iter_mut().for_each(Vec::clear);
            for (draft, slot) in drafts.iter_mut().zip(slots) {
                let Some(agent) = self.table.take_changed(*slot) else { continue };
                draft.push(VERSION);
                self.policies.at(agent.role).name.put(draft);
                agent.put(draft);
            }
            let sums = checksums(drafts.each_ref().map(Vec::as_slice));
            for ((draft, sum), slot) in drafts.iter().zip(sums).zip(slots) {
                let Some(id) = self.table.id(*slot) else { continue };
                // Of exactly its size: after a restart the rows of all agents are held at once.
                let bytes = [draft.as_slice(), &sum.to_le_bytes()].concat();
                push(Row { key: RowKey::Agent(id.clone()), bytes: Some(bytes) });
                self.take_step_rows(*slot, push);
            }
        }
        changed.clear();
        (self.changed, self.drafts) = (changed, drafts);
    }

    /// Gives the rows of everybody, changed or not. Steps are given once: nobody holds them any longer than that.
    pub fn take_all_rows(&mut self, push: &mut dyn FnMut(Row)) {
        for slot in 0..self.table.slots() {
            if self.table.agent(slot).is_some() && self.table.mark_changed(slot) {
                self.changed.push(slot);
            }
        }
        self.budgets.changed = true;
        self.machines.correlation_changed = true;
        self.machines.errands.changed = true;
        self.machines.recoveries.touch_all();
        self.machines.tasks.mark_all_changed();
        self.machines.messages.mark_all_changed();
        self.machines.gates.mark_all();
        self.mark_all_verdicts();
        self.take_changed_rows(push);
    }

    /// A fleet from its rows. What is due by `now` is done at the next [`wake`](Self::wake).
    pub fn restore(
        policies: Policies,
        seed: u64,
        rows: impl IntoIterator<Item = (RowKey, Vec<u8>)>,
        now: Timestamp,
    ) -> Result<Self, RestoreError> {
        let mut fleet = Self::new(policies, seed);
        fleet.ring = super::DeadlineRing::new(now);
        let mut desk = DeskRows::default();
        let mut gates = GateRows::default();
        let mut steps = StepRows::default();
        for (key, bytes) in rows {
            match key {
                RowKey::Agent(id) => fleet.restore_agent(&id, &bytes, now)?,
                RowKey::Fleet => {
                    let content = checked("the fleet", &bytes)?;
                    let damaged = |_: Damaged| RestoreError::Damaged("the fleet".to_owned());
                    restore_books(&mut fleet.budgets, content).map_err(damaged)?;
                }
                RowKey::Correlation => {
                    fleet.machines.correlation = read("the failures that belong together", &bytes)?;
                }
                RowKey::Errands => fleet.machines.errands = Errands::recall(read("the errands", &bytes)?),
                RowKey::Recovery(key) => {
                    let content = checked("a recovery", &bytes)?;
                    let damaged = |_: Damaged| RestoreError::Damaged("a recovery".to_owned());
                    fleet.machines.recoveries.restore(key, content).map_err(damaged)?;
                }
                RowKey::Task(id) => desk.task(id, &bytes)?,
                RowKey::Message(key) => desk.message(key, &bytes)?,
                RowKey::Breaker(name) => gates.add_breaker(name, &bytes)?,
                RowKey::Checkpoints(name) => gates.add_line(name, &bytes)?,
                RowKey::Usage => gates.set_books(&bytes)?,
                RowKey::Worker(id) => fleet.restore_worker(id, &bytes)?,
                RowKey::Ticket(id) => fleet.restore_ticket(&id, &bytes)?,
                RowKey::Step(id, place) => steps.add(id, place, &bytes)?,
                RowKey::StepsBefore(id) => steps.add_before(id, &bytes)?,
            }
        }
        fleet.restore_desk(desk)?;
        fleet.restore_gates(seed, gates, now)?;
        fleet.restore_steps(steps);
        fleet.recall(now);
        fleet.recall_gone();
        Ok(fleet)
    }

    fn restore_agent(&mut self, id: &AgentId, bytes: &[u8], now: Timestamp) -> Result<(), RestoreError> {
        let damaged = |_: Damaged| RestoreError::Damaged(format!("agent `{id}`"));
        let content = checked(id.as_str(), bytes)?;
        let (role, mut agent): (RoleName, Agent) = from_row(content).map_err(damaged)?;
        if agent.id != *id {
            return Err(damaged(Damaged));
        }
        if self.index.get(id, &self.table).is_some() {
            return Err(damaged(Damaged));
        }
        agent.role = self.policies.index_of(&role).unwrap_or_default();
        let slot = self.table.insert(agent);
        self.index.insert(slot, &self.table);
        self.ring.grow(self.table.slots());
        // Everybody is looked at once: what came due while the row was written is not forgotten.
        self.ring.arm(slot, now);
        Ok(())
    }
}

/// A row of one value.
pub(super) fn row(key: RowKey, value: &impl Stored) -> Row {
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    bytes.push(VERSION);
    value.put(&mut bytes);
    Row { key, bytes: Some(sealed(bytes)) }
}

pub(super) fn versioned(content: Vec<u8>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(content.len() + size_of_val(&VERSION) + size_of::<u32>());
    bytes.push(VERSION);
    bytes.extend(content);
    sealed(bytes)
}

/// A row of what a machine wrote itself, or the end of one.
pub(super) fn content_row(key: RowKey, content: Option<Vec<u8>>) -> Row {
    Row { key, bytes: content.map(versioned) }
}

pub(super) fn read<T: Stored>(what: &str, bytes: &[u8]) -> Result<T, RestoreError> {
    from_row(checked(what, bytes)?).map_err(|_: Damaged| RestoreError::Damaged(what.to_owned()))
}

/// A row with its checksum: what a disk or a hand has changed is refused, not half believed.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = checksum(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

pub(super) fn checked<'a>(row: &str, bytes: &'a [u8]) -> Result<&'a [u8], RestoreError> {
    let damaged = || RestoreError::Damaged(format!("`{row}`"));
    let (&found, _) = bytes.split_first().ok_or_else(damaged)?;
    if found > VERSION {
        return Err(RestoreError::Newer { row: format!("`{row}`"), found, known: VERSION });
    }
    let (sealed, sum) = bytes.split_last_chunk::<4>().ok_or_else(damaged)?;
    match sealed.split_first() {
        Some((&VERSION, content)) if checksum(sealed) == u32::from_le_bytes(*sum) => Ok(content),
        _ => Err(damaged()),
    }
}

/// FNV-1a: it need not withstand malice, only accidents.
fn checksum(bytes: &[u8]) -> u32 {
    add_up(EMPTY_SUM, bytes)
}

/// The checksum of nothing.
const EMPTY_SUM: u32 = 0x811c_9dc5;

fn add_up(sum: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(sum, |sum, byte| add(sum, *byte))
}

fn add(sum: u32, byte: u8) -> u32 {
    (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

/// The checksums of several rows side by side: in each, a byte must wait for the one before, but not for the others.
fn checksums<const N: usize>(rows: [&[u8]; N]) -> [u32; N] {
    let shared = rows.iter().map(|row| row.len()).min().unwrap_or(0);
    let heads = rows.map(|row| &row[..shared]);
    let mut sums = [EMPTY_SUM; N];
    for at in 0..shared {
        for (sum, head) in sums.iter_mut().zip(heads) {
            *sum = add(*sum, head[at]);
        }
    }
    for (sum, row) in sums.iter_mut().zip(rows) {
        *sum = add_up(*sum, &row[shared..]);
    }
    sums
}

fn restore_books(budgets: &mut FleetBudgets, content: &[u8]) -> Result<(), Damaged> {
    type Books = ((Vec<Budget>, Option<(Timestamp, Timestamp)>), u32);
    let ((spent, storm), first_effect): Books = from_row(content)?;
    budgets.first_effect = first_effect;
    budgets.spent = spent.try_into().map_err(|_| Damaged)?;
    budgets.storm = storm;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_added_up_side_by_side_have_the_sums_that_they_have_alone() {
        let bytes: Vec<u8> = (0..=255).collect();
        let lengths = [[0, 0, 0], [0, 7, 256], [31, 31, 31], [256, 3, 90], [5, 6, 7]];
        for lengths in lengths {
            let rows = lengths.map(|length| &bytes[..length]);
            assert_eq!(checksums(rows), rows.map(checksum), "{lengths:?}");
        }
        assert_eq!(checksum(b"foobar"), 0xbf9c_f968, "as published");
    }
}
