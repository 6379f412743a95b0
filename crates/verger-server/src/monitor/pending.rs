//! What waits for an agent until it asks: reminders, questions, pings.
//!
//! An agent gets it with the reply to its next heartbeat, or through a connection on which it listens. It was delivered
//! when it was handed over; what was taken and could not be handed over waits again. It is all in memory: what is on
//! disk is the decision, and after a restart the engine releases it again. Then it may have been handed over before, and
//! that it is about to be is written down first: nobody gets anything more than twice.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use verger_core::effect::EffectKey;
use verger_core::id::{AgentId, Incarnation};
use verger_core::time::WallTime;

/// Items that may wait for one agent. One that never asks is reminded of the newest.
const ITEMS_MAX: usize = 32;

/// What kind of item it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A reminder, or a question.
    Nudge,
    /// It is asked for a sign of life.
    Ping,
    /// It is to stop what it does.
    Cancel,
    /// It is to save its work and stop.
    Handoff,
}

/// One thing that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its effect. It is for this life alone.
    pub key: EffectKey,
    /// What it is.
    pub kind: Kind,
    /// What the agent is told.
    pub text: Arc<str>,
    /// The how manieth it is, where that is counted.
    pub attempt: u8,
    /// Since when it waits.
    pub since: WallTime,
    /// An earlier life of the monitor may have handed it over.
    pub again: bool,
}

/// All that wait.
#[derive(Debug, Default)]
pub struct Pending {
    agents: Mutex<BTreeMap<AgentId, Waiting>>,
}

#[derive(Debug, Default)]
struct Waiting {
    items: VecDeque<Item>,
    listeners: usize,
    /// The life that is known to listen.
    heard_as: Option<Incarnation>,
    bell: Arc<Notify>,
}

impl Waiting {
    fn is_over(&self) -> bool {
        self.items.is_empty() && self.listeners == 0 && self.heard_as.is_none()
    }
}

impl Pending {
    /// Has an item wait. Gives back the one that had to make room for it, which is not delivered any more.
    pub(crate) fn put(&self, item: Item) -> Option<Item> {
        let mut agents = self.lock();
        let waiting = agents.entry(item.key.agent.clone()).or_default();
        let replaced = if item.kind == Kind::Ping {
            // Only the last ping is worth an answer.
            let before = waiting.items.iter().position(|other| other.kind == Kind::Ping);
            before.and_then(|at| waiting.items.remove(at))
        } else if waiting.items.len() >= ITEMS_MAX {
            waiting.items.pop_front()
        } else {
            None
        };
        waiting.items.push_back(item);
        waiting.bell.notify_waiters();
        replaced
    }

    /// Whether anything waits for this agent. Most of the time nothing does.
    pub fn has(&self, agent: &AgentId) -> bool {
        self.lock().get(agent).is_some_and(|waiting| !waiting.items.is_empty())
    }

    /// Whether somebody listens for this agent now.
    pub(crate) fn is_heard(&self, agent: &AgentId) -> bool {
        self.lock().get(agent).is_some_and(|waiting| waiting.listeners > 0)
    }

    /// Takes what waits for this life. What was meant for an earlier one is dropped: it must never reach a later.
    pub fn take(self: &Arc<Self>, agent: &AgentId, life: Incarnation) -> Handover {
        let mut agents = self.lock();
        let mut items = Vec::new();
        if let Some(waiting) = agents.get_mut(agent) {
            waiting.items.retain(|item| life <= item.key.incarnation);
            let (mine, later): (Vec<Item>, Vec<Item>) =
                waiting.items.drain(..).partition(|item| item.key.incarnation == life);
            (items, waiting.items) = (mine, later.into());
            if waiting.is_over() {
                agents.remove(agent);
            }
        }
        drop(agents);
        Handover { pending: Arc::clone(self), items }
    }

    /// Listens for an agent until the listener is dropped.
    pub fn listen(self: &Arc<Self>, agent: &AgentId) -> Listener {
        let mut agents = self.lock();
        let waiting = agents.entry(agent.clone()).or_default();
        waiting.listeners += 1;
        let bell = Arc::clone(&waiting.bell);
        drop(agents);
        Listener { pending: Arc::clone(self), agent: agent.clone(), bell }
    }

    /// This life listens from now on; tells whether that is news.
    pub(crate) fn announce(&self, agent: &AgentId, life: Incarnation) -> bool {
        let mut agents = self.lock();
        let waiting = agents.entry(agent.clone()).or_default();
        waiting.heard_as.replace(life) != Some(life)
    }

    /// If nobody listens any more, tells which life did, and takes the ping back that it did not fetch.
    pub(crate) fn hang_up(&self, agent: &AgentId) -> Option<(Incarnation, Option<EffectKey>)> {
        let mut agents = self.lock();
        let waiting = agents.get_mut(agent).filter(|waiting| waiting.listeners == 0)?;
        let life = waiting.heard_as.take()?;
        let at = waiting.items.iter().position(|item| item.kind == Kind::Ping);
        let ping = at.and_then(|at| waiting.items.remove(at)).map(|ping| ping.key);
        if waiting.is_over() {
            agents.remove(agent);
        }
        Some((life, ping))
    }

    /// An item is for nobody any more.
    pub(crate) fn withdraw(&self, key: &EffectKey) {
        let mut agents = self.lock();
        if let Some(waiting) = agents.get_mut(&key.agent) {
            waiting.items.retain(|item| item.key != *key);
            if waiting.is_over() {
                agents.remove(&key.agent);
            }
        }
    }

    /// However many wait by now: what was taken had its place, and nobody would hear that it lost it.
    fn put_back(&self, items: Vec<Item>) {
        let mut agents = self.lock();
        for item in items.into_iter().rev().filter(|item| item.kind != Kind::Ping) {
            let waiting = agents.entry(item.key.agent.clone()).or_default();
            waiting.items.push_front(item);
            waiting.bell.notify_waiters();
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<AgentId, Waiting>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Items on their way to an agent. Dropped before they were [handed over](Self::done), they wait again.
#[derive(Debug)]
pub struct Handover {
    pending: Arc<Pending>,
    items: Vec<Item>,
}

impl Handover {
    /// What is handed over.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// What must be written down before it is handed over.
    pub(crate) fn again(&self) -> Vec<EffectKey> {
        self.items.iter().filter(|item| item.again).map(|item| item.key.clone()).collect()
    }

    /// It is written down of these; they are not to be handed over if they are over by now.
    pub(crate) fn on_written(&mut self, keys: &[(EffectKey, bool)]) {
        let is_over = |item: &Item| keys.iter().any(|(key, is_out)| *key == item.key && !is_out);
        self.items.retain(|item| !is_over(item));
        for item in &mut self.items {
            item.again &= !keys.iter().any(|(key, _)| *key == item.key);
        }
    }

    /// What could not be written down waits on.
    pub(crate) fn leave_again(&mut self) {
        let (again, now) = std::mem::take(&mut self.items).into_iter().partition(|item| item.again);
        self.items = now;
        self.pending.put_back(again);
    }

    /// The agent has them.
    pub fn done(mut self) -> Vec<EffectKey> {
        std::mem::take(&mut self.items).into_iter().map(|item| item.key).collect()
    }
}

impl Drop for Handover {
    fn drop(&mut self) {
        if !self.items.is_empty() {
            self.pending.put_back(std::mem::take(&mut self.items));
        }
    }
}

/// Somebody who listens for an agent.
#[derive(Debug)]
pub struct Listener {
    pending: Arc<Pending>,
    agent: AgentId,
    bell: Arc<Notify>,
}

impl Listener {
    /// Waits until something waits for the agent.
    pub async fn ready(&self) {
        loop {
            let rung = self.bell.notified();
            tokio::pin!(rung);
            // Whoever rings from here on is heard.
            rung.as_mut().enable();
            if self.pending.has(&self.agent) {
                return;
            }
            rung.await;
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut agents = self.pending.lock();
        if let Some(waiting) = agents.get_mut(&self.agent) {
            waiting.listeners = waiting.listeners.saturating_sub(1);
            if waiting.is_over() {
                agents.remove(&self.agent);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(agent: &str, life: u32, seq: u32, kind: Kind) -> Item {
        let key = EffectKey { agent: agent.into(), incarnation: Incarnation(life), seq };
        Item { key, kind, text: "go on".into(), attempt: 1, since: WallTime(0), again: false }
    }

    fn taken(pending: &Arc<Pending>, life: u32) -> Vec<u32> {
        pending.take(&"a".into(), Incarnation(life)).done().iter().map(|key| key.seq).collect()
    }

    #[test]
    fn x09_what_waits_is_handed_over_once_and_in_order() {
        let pending = Arc::new(Pending::default());
        pending.put(item("a", 1, 1, Kind::Nudge));
        pending.put(item("a", 1, 2, Kind::Handoff));
        pending.put(item("b", 1, 1, Kind::Nudge));
        assert_eq!(taken(&pending, 1), [1, 2]);
        assert!(!pending.has(&"a".into()) && pending.has(&"b".into()));
    }

    #[test]
    fn x09_what_could_not_be_handed_over_waits_again_in_its_place() {
        let pending = Arc::new(Pending::default());
        pending.put(item("a", 1, 1, Kind::Nudge));
        pending.put(item("a", 1, 2, Kind::Ping));
        let lost = pending.take(&"a".into(), Incarnation(1));
        pending.put(item("a", 1, 3, Kind::Nudge));
        drop(lost);
        assert_eq!(taken(&pending, 1), [1, 3], "a ping that was lost is not worth repeating");
    }

    #[test]
    fn x09_what_could_not_be_handed_over_has_its_place_however_many_came_meanwhile() {
        let pending = Arc::new(Pending::default());
        pending.put(item("a", 1, 0, Kind::Nudge));
        let lost = pending.take(&"a".into(), Incarnation(1));
        for seq in 1..=ITEMS_MAX as u32 {
            assert_eq!(pending.put(item("a", 1, seq, Kind::Nudge)), None);
        }
        drop(lost);
        assert_eq!(taken(&pending, 1), (0..=ITEMS_MAX as u32).collect::<Vec<_>>());
    }

    #[test]
    fn x10_what_was_meant_for_an_earlier_life_reaches_no_later_one() {
        let pending = Arc::new(Pending::default());
        pending.put(item("a", 1, 1, Kind::Nudge));
        pending.put(item("a", 2, 2, Kind::Nudge));
        pending.put(item("a", 3, 3, Kind::Nudge));
        assert_eq!(taken(&pending, 2), [2]);
        assert_eq!(taken(&pending, 3), [3], "what was meant for a later life waited for it");
    }

    #[test]
    fn who_never_asks_does_not_fill_the_memory() {
        let pending = Arc::new(Pending::default());
        let dropped = (0..100).filter_map(|seq| pending.put(item("a", 1, seq, Kind::Nudge))).count();
        assert_eq!(dropped, 100 - ITEMS_MAX);
        assert_eq!(taken(&pending, 1), (68..100).collect::<Vec<_>>());
        assert!(pending.lock().is_empty());
    }

    #[test]
    fn of_pings_only_the_last_one_waits() {
        let pending = Arc::new(Pending::default());
        for seq in 0..3 {
            pending.put(item("a", 1, seq, Kind::Ping));
        }
        assert_eq!(taken(&pending, 1), [2]);
    }

    #[tokio::test]
    async fn who_listens_is_woken_and_is_heard_as_long_as_it_listens() {
        let pending = Arc::new(Pending::default());
        let listener = pending.listen(&"a".into());
        assert!(pending.is_heard(&"a".into()) && !pending.is_heard(&"b".into()));
        let (other, ready) = (Arc::clone(&pending), listener.ready());
        let ((), ()) = tokio::join!(ready, async move {
            tokio::task::yield_now().await;
            other.put(item("a", 1, 1, Kind::Ping));
        });
        assert_eq!(taken(&pending, 1), [1]);
        drop(listener);
        assert!(!pending.is_heard(&"a".into()) && pending.lock().is_empty());
    }
}
