//! Who listens: agents that can be pinged.
//!
//! An agent that waits on its inbox, or holds a stream open, has a channel; the core pings it over that. A long poll
//! ends and begins again, so an agent that was answered still counts as listening for a few seconds: a ping waits for
//! it meanwhile. One whose connection broke has a moment to come back. A ping that nobody fetched until then was
//! refused, and that is told before the channel is closed.

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

/// How long an agent that was answered may take to ask again.
const ANSWERED: Duration = Duration::from_secs(5);
/// How long an agent whose connection broke may take to connect again. A crash is found within 2 s (H02).
const BROKEN: Duration = Duration::from_millis(500);

/// An agent that listens; dropped, it does not any more.
pub struct Presence {
    listener: Option<Listener>,
    way: Way,
    /// How long it is waited for when this is dropped.
    linger: Duration,
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
    ) -> Self {
        let listener = Some(pending.listen(agent));
        let way = Way { queue: Arc::clone(queue), pending: Arc::clone(pending), agent: agent.clone() };
        if pending.announce(agent, life) {
            way.tell(life, Channel::Opened);
        }
        Self { listener, way, linger: BROKEN }
    }

    /// Waits until something waits for the agent.
    pub async fn ready(&self) {
        if let Some(listener) = &self.listener {
            listener.ready().await;
        }
    }

    /// The agent got its answer, and will ask again.
    pub fn answered(mut self) {
        self.linger = ANSWERED;
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let (listener, way, linger) = (self.listener.take(), self.way.clone(), self.linger);
        tokio::spawn(async move {
            tokio::time::sleep(linger).await;
            drop(listener);
            way.close();
        });
    }
}

impl Way {
    /// Unless somebody else listens by now.
    fn close(&self) {
        let Some((life, ping)) = self.pending.hang_up(&self.agent) else { return };
        if let Some(ping) = ping {
            report(&self.queue, ping, Outcome::Refused);
        }
        self.tell(life, Channel::Closed);
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
        while !all.last().is_some_and(|last: &String| last.starts_with("Closed")) {
            tokio::time::sleep(BROKEN / 50).await;
            all.extend(told(queue));
        }
        assert!(!pending.is_heard(&"a".into()));
        all
    }

    #[tokio::test]
    async fn h01_a_channel_stays_open_between_two_polls_and_a_ping_waits_meanwhile() {
        let (queue, pending) = (Arc::<Queue>::default(), Arc::<Pending>::default());
        let begin = || Presence::begin(&queue, &pending, &"a".into(), Incarnation(1));
        begin().answered();
        assert!(pending.is_heard(&"a".into()), "it may be pinged");
        begin().answered();
        assert_eq!(told(&queue), ["Opened 1"], "that it is still there is no news");
    }

    #[tokio::test]
    async fn h02_a_ping_that_nobody_fetched_was_refused_when_the_connection_broke() {
        let (queue, pending) = (Arc::<Queue>::default(), Arc::<Pending>::default());
        drop(Presence::begin(&queue, &pending, &"a".into(), Incarnation(1)));
        let key = EffectKey { agent: "a".into(), incarnation: Incarnation(1), seq: 7 };
        pending.put(Item { key, kind: Kind::Ping, text: "?".into(), attempt: 1, since: WallTime(0) });
        assert_eq!(closed(&queue, &pending).await, ["Opened 1", "Refused", "Closed 1"]);
        assert!(!pending.has(&"a".into()));
    }

    #[tokio::test]
    async fn x10_the_next_life_has_a_channel_of_its_own() {
        let (queue, pending) = (Arc::<Queue>::default(), Arc::<Pending>::default());
        let first = Presence::begin(&queue, &pending, &"a".into(), Incarnation(1));
        let second = Presence::begin(&queue, &pending, &"a".into(), Incarnation(2));
        drop((first, second));
        assert_eq!(closed(&queue, &pending).await, ["Opened 1", "Opened 2", "Closed 2"]);
    }
}
