//! Agents in a dense table of fixed pages: an agent never moves, and a growing fleet copies nothing.

use crate::agent::Agent;
use crate::id::{AgentId, Handle};

/// Agents on one page. A page is allocated at once, so this is also the smallest step of growth.
const PAGE: usize = 256;

/// Where agents live.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pages: Vec<Vec<Slot>>,
    free: Vec<u32>,
    used: u32,
    len: usize,
}

#[derive(Debug)]
struct Slot {
    /// Counts the agents that lived here, so that a handle of an earlier one finds nobody.
    generation: u32,
    changed: bool,
    agent: Option<Agent>,
}

impl Table {
    pub(crate) fn insert(&mut self, agent: Agent) -> u32 {
        self.len += 1;
        if let Some(slot) = self.free.pop() {
            self.slot_mut(slot).agent = Some(agent);
            return slot;
        }
        let slot = self.used;
        self.used = self.used.checked_add(1).expect("a fleet has fewer than 2^32 agents");
        if (slot as usize).is_multiple_of(PAGE) {
            self.pages.push(Vec::with_capacity(PAGE));
        }
        let page = self.pages.last_mut().expect("a page was pushed for the first slot on it");
        page.push(Slot { generation: 0, changed: false, agent: Some(agent) });
        slot
    }

    pub(crate) fn remove(&mut self, slot: u32) -> Option<Agent> {
        let place = self.slot_mut(slot);
        let agent = place.agent.take()?;
        place.generation = place.generation.wrapping_add(1);
        self.free.push(slot);
        self.len -= 1;
        Some(agent)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// One more than the last slot ever used.
    pub(crate) fn slots(&self) -> u32 {
        self.used
    }

    pub(crate) fn agent(&self, slot: u32) -> Option<&Agent> {
        self.pages.get(slot as usize / PAGE)?.get(slot as usize % PAGE)?.agent.as_ref()
    }

    /// The agent at a slot that is known to be taken.
    pub(crate) fn agent_mut(&mut self, slot: u32) -> &mut Agent {
        self.slot_mut(slot).agent.as_mut().expect("the caller looked this slot up")
    }

    pub(crate) fn handle(&self, slot: u32) -> Handle {
        Handle { slot, generation: self.slot(slot).generation }
    }

    pub(crate) fn resolve(&self, handle: Handle) -> Option<u32> {
        let place = self.pages.get(handle.slot as usize / PAGE)?.get(handle.slot as usize % PAGE)?;
        (place.generation == handle.generation && place.agent.is_some()).then_some(handle.slot)
    }

    pub(crate) fn id(&self, slot: u32) -> Option<&AgentId> {
        self.agent(slot).map(|agent| &agent.id)
    }

    pub(crate) fn has_id(&self, slot: u32, id: &AgentId) -> bool {
        self.id(slot) == Some(id)
    }

    /// Marks a row as changed; tells whether it was not marked before.
    pub(crate) fn mark_changed(&mut self, slot: u32) -> bool {
        !std::mem::replace(&mut self.slot_mut(slot).changed, true)
    }

    /// Takes the mark off and gives the agent, if there still is one.
    pub(crate) fn take_changed(&mut self, slot: u32) -> Option<&Agent> {
        let place = self.slot_mut(slot);
        place.changed = false;
        place.agent.as_ref()
    }

    fn slot(&self, slot: u32) -> &Slot {
        &self.pages[slot as usize / PAGE][slot as usize % PAGE]
    }

    fn slot_mut(&mut self, slot: u32) -> &mut Slot {
        &mut self.pages[slot as usize / PAGE][slot as usize % PAGE]
    }
}
