//! Who listens: agents that can be pinged.
//!
//! An agent that waits on its inbox, or holds a stream open, has a channel; the core pings it over that. A long poll
//! ends and begins again, so a channel is closed only when nobody has listened for a few seconds.

use std::sync::Arc;
use std::time::Duration;

use verger_core::id::{AgentId, Incarnation};
use verger_core::signal::{Body, Channel, Content, Signal, Trust};
use verger_engine::Message;

use super::clock::wall_now;
use super::pending::{Listener, Pending};
use super::queue::Queue;

/// How long an agent may take to ask again.
const LINGER: Duration = Duration::from_secs(5);

/// An agent that listens; dropped, it does not any more.
pub struct Presence {
    listener: Option<Listener>,
    way: Way,
}

/// What is needed to tell the loop.
#[derive(Clone)]
struct Way {
    queue: Arc<Queue>,
    pending: Arc<Pending>,
    agent: AgentId,
    life: Incarnation,
}

impl Presence {
    /// This life of an agent listens from now on. To be called within a runtime.
    pub(crate) fn begin(
        queue: &Arc<Queue>,
        pending: &Arc<Pending>,
        agent: &AgentId,
        life: Incarnation,
    ) -> Self {
        let is_first = !pending.is_heard(agent);
        let listener = Some(pending.listen(agent));
        let (queue, pending) = (Arc::clone(queue), Arc::clone(pending));
        let way = Way { queue, pending, agent: agent.clone(), life };
        if is_first {
            way.tell(Channel::Opened);
        }
        Self { listener, way }
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
        drop(self.listener.take());
        let way = self.way.clone();
        if way.pending.is_heard(&way.agent) {
            return;
        }
        tokio::spawn(async move {
            tokio::time::sleep(LINGER).await;
            if !way.pending.is_heard(&way.agent) {
                way.tell(Channel::Closed);
            }
        });
    }
}

impl Way {
    fn tell(&self, channel: Channel) {
        let content = Content {
            incarnation: Some(self.life),
            sent_at: None,
            received_at: wall_now(),
            trust: Trust::Verified,
            body: Body::Channel(channel),
        };
        self.queue.push_own(Message::Signal(Signal { agent: self.agent.clone(), content }));
    }
}
