//! From an agent's name to its place in the table.
//!
//! A hash table of 32-bit slots: the names themselves are only in the table. It is for look-ups alone and cannot
//! be walked, so that its order cannot leak into a decision. The hash is keyed, because agents choose their names.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::table::Table;
use crate::id::AgentId;

/// Finds agents by name.
#[derive(Debug)]
pub(crate) struct IdIndex {
    slots: HashTable<u32>,
    hasher: FixedState,
}

impl IdIndex {
    pub(crate) fn new(seed: u64) -> Self {
        Self { slots: HashTable::new(), hasher: FixedState::with_seed(seed) }
    }

    pub(crate) fn get(&self, id: &AgentId, table: &Table) -> Option<u32> {
        let hash = self.hasher.hash_one(id.as_str());
        self.slots.find(hash, |slot| table.has_id(*slot, id)).copied()
    }

    /// Enters the agent at `slot`, which is in the table and not yet here.
    pub(crate) fn insert(&mut self, slot: u32, table: &Table) {
        let hash_of = |slot: &u32| self.hasher.hash_one(table.id(*slot).map_or("", AgentId::as_str));
        let hash = hash_of(&slot);
        self.slots.insert_unique(hash, slot, hash_of);
    }

    /// Removes an agent that is still in the table.
    pub(crate) fn remove(&mut self, id: &AgentId, table: &Table) {
        let hash = self.hasher.hash_one(id.as_str());
        if let Ok(entry) = self.slots.find_entry(hash, |slot| table.has_id(*slot, id)) {
            entry.remove();
        }
    }
}
