//! From a breaker's name to its slot, fast.
//!
//! The ordered map of names serves pages and agents; a look-up in it compares a dozen texts. This table holds slots
//! alone and cannot be walked, so its order cannot leak into a decision. Its hash is keyed: names come from outside.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::name::BreakerName;
use super::registry::Slot;

/// Finds breakers by name.
#[derive(Debug)]
pub(super) struct NameIndex {
    table: HashTable<u32>,
    hasher: FixedState,
}

impl NameIndex {
    pub(super) fn new(seed: u64) -> Self {
        Self { table: HashTable::new(), hasher: FixedState::with_seed(seed) }
    }

    pub(super) fn get(&self, name: &BreakerName, slots: &[Slot]) -> Option<u32> {
        let hash = self.hasher.hash_one(name.as_str());
        self.table.find(hash, |slot| name_at(*slot, slots) == Some(name)).copied()
    }

    /// Enters the breaker at `slot`, which is in its place and not yet here.
    pub(super) fn insert(&mut self, slot: u32, slots: &[Slot]) {
        let hash_of =
            |slot: &u32| self.hasher.hash_one(name_at(*slot, slots).map_or("", BreakerName::as_str));
        self.table.insert_unique(hash_of(&slot), slot, hash_of);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Removes a breaker that is still in its place.
    pub(super) fn remove(&mut self, slot: u32, slots: &[Slot]) {
        let Some(name) = name_at(slot, slots) else { return };
        let hash = self.hasher.hash_one(name.as_str());
        if let Ok(found) = self.table.find_entry(hash, |found| *found == slot) {
            found.remove();
        }
    }
}

fn name_at(slot: u32, slots: &[Slot]) -> Option<&BreakerName> {
    slots.get(slot as usize)?.entry.as_ref().map(|entry| &entry.name)
}
