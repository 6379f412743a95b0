//! Who listens: agents that can be pinged.
//!
//! An agent that holds a stream open, or waits on its inbox, has a channel; the core pings it over that. A stream is meant
//! to stay: when it breaks the agent has a moment to come back, then its channel is closed, and a ping that it did not
//! fetch was refused. Who waits on its inbox comes back if it likes: for a few seconds a ping waits for it, and when it
//! does not come, it merely no longer listens. That says nothing about its life.

use std::sync::Arc;
use std::time::Duration;

use verger_core::effect::Outcome;
use verger_core::id::{AgentId, Incarnation};
use verger_core::signal::{Body, Channel, Content, Signal, Trust};
use verger_engine::Message;

use super::clock::wall_now;
use super::outlet::report;
use super::pending::{Listener, Pending};
use super::queue::Queue;

/// How long an agent that waited on its inbox may take to ask again.
const ASKS_AGAIN: Duration = Duration::from_secs(5);
/// How long an agent whose stream broke may take to connect again. A crash is found within 2 s (H02).
const BROKEN: Duration = Duration::from_millis(500);

/// How an agent listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Over a connection that is to stay open.
    Stream,
    /// By asking from time to time.
    Poll,
}

/// An agent that listens; dropped, it does not any more.
pub struct Presence {
    listener: Option<Listener>,
    way: Way,
    manner: Manner,
}

/// What is needed to tell the loop.
#[derive(Clone)]
struct Way {
    queue: Arc<Queue>,
    pending: Arc<Pending>,
    agent: AgentId,
}

impl Presence {
    /// This life of an agent listens from now on. To be called within a runtime.
    pub(crate) fn begin(
        queue: &Arc<Queue>,
        pending: &Arc<Pending>,
        agent: &AgentId,
        life: Incarnation,
        manner: Manner,
    ) -> Self {
        let listener = Some(pending.listen(agent));
        let way = Way { queue: Arc::clone(queue), pending: Arc::clone(pending), agent: agent.clone() };
        if pending.announce(agent, life) {
            way.tell(life, Channel::Opened);
        }
        Self { listener, way, manner }
    }

    /// Waits until something waits for the agent.
    pub async fn ready(&self) {
        if let Some(listener) = &self.listener {
            listener.ready().await;
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let (listener, way, manner) = (self.listener.take(), self.way.clone(), self.manner);
        tokio::spawn(async move {
            tokio::time::sleep(if manner == Manner::Stream { BROKEN } else { ASKS_AGAIN }).await;
            drop(listener);
            way.close(manner);
        });
    }
}

impl Way {
    /// Unless somebody else listens by now.
    fn close(&self, manner: Manner) {
        let Some((life, ping)) = self.pending.hang_up(&self.agent) else { return };
        let (outcome, channel) = match manner {
            Manner::Stream => (Outcome::Refused, Channel::Closed),
            Manner::Poll => (Outcome::Failed, Channel::Left),
        };
        if let Some(ping) = ping {
            report(&self.queue, ping, outcome);
        }
        self.tell(life, channel);
    }

    fn tell(&self, life: Incarnation, channel: Channel) {
        let content = Content {
            incarnation: Some(life),
            sent_at: None,
            received_at: wall_now(),
            trust: Trust::Verified,
            body: Body::Channel(channel),
        };
        self.queue.push_own(Message::Signal(Signal { agent: self.agent.clone(), content }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::{Item, Kind};
    use verger_core::effect::EffectKey;
    use verger_core::time::WallTime;

    /// What the loop is told.
    fn told(queue: &Queue) -> Vec<String> {
        let messages = queue.drain().into_iter().flat_map(|delivery| delivery.messages);
        let bodies = messages.filter_map(|message| match message {
            Message::Signal(signal) => Some(signal.content),
            _ => None,
        });
        let shown = bodies.map(|content| match content.body {
            Body::Channel(channel) => format!("{channel:?} {}", content.incarnation.map_or(0, |life| life.0)),
            Body::Outcome { outcome, .. } => format!("{outcome:?}"),
            _ => "something else".to_owned(),
        });
        shown.collect()
    }

    /// Waits until nobody counts as listening, and the loop was told.
    async fn closed(queue: &Queue, pending: &Arc<Pending>) -> Vec<String> {
        let mut all = Vec::new();
        while !all.last().is_some_and(|last: &String| last.starts_with("Closed") || last.starts_with("Left"))
        {
            tokio::time::sleep(BROKEN / 50).await;
            all.extend(told(queue));
        }
        assert!(!pending.is_heard(&"a".into()));
        all
    }

    #[tokio::test]
    async fn h01_a_channel_stays_open_between_two_polls_and_a_ping_waits_meanwhile() {
        let (queue, pending) = (Arc::<Queue>::default(), Arc::<Pending>::default());
        let begin = || Presence::begin(&queue, &pending, &"a".into(), Incarnation(1), Manner::Poll);
        drop(begin());
        assert!(pending.is_heard(&"a".into()), "it may be pinged");
        drop(begin());
        assert_eq!(told(&queue), ["Opened 1"], "that it is still there is no news");
    }

    #[test]
    fn h02_who_does_not_ask_again_no_longer_listens_and_that_is_all() {
        let (queue, pending) = (Arc::<Queue>::default(), Arc::<Pending>::default());
        let way = Way { queue: Arc::clone(&queue), pending: Arc::clone(&pending), agent: "a".into() };
        assert!(pending.announce(&"a".into(), Incarnation(1)));
        pending.put(ping());
        way.close(Manner::Poll);
        assert_eq!(told(&queue), ["Failed", "Left 1"]);
    }

    fn ping() -> Item {
        let key = EffectKey { agent: "a".into(), incarnation: Incarnation(1), seq: 7 };
        Item { key, kind: Kind::Ping, text: "?".into(), attempt: 1, since: WallTime(0), again: false }
    }

    #[tokio::test]
    async fn h02_a_ping_that_nobody_fetched_was_refused_when_the_connection_broke() {
        let (queue, pending) = (Arc::<Queue>::default(), Arc::<Pending>::default());
        drop(Presence::begin(&queue, &pending, &"a".into(), Incarnation(1), Manner::Stream));
        pending.put(ping());
        assert_eq!(closed(&queue, &pending).await, ["Opened 1", "Refused", "Closed 1"]);
        assert!(!pending.has(&"a".into()));
    }

    #[tokio::test]
    async fn x10_the_next_life_has_a_channel_of_its_own() {
        let (queue, pending) = (Arc::<Queue>::default(), Arc::<Pending>::default());
        let first = Presence::begin(&queue, &pending, &"a".into(), Incarnation(1), Manner::Stream);
        let second = Presence::begin(&queue, &pending, &"a".into(), Incarnation(2), Manner::Stream);
        drop((first, second));
        assert_eq!(closed(&queue, &pending).await, ["Opened 1", "Opened 2", "Closed 2"]);
    }
}
