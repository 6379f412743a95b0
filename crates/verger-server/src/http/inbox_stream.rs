//! An inbox as a stream: whatever is for the agent goes out at once, over a connection that stays open.
//!
//! This is the channel over which pings catch a frozen process (H02): they reach a connection that is alive, and nobody
//! answers. An answer, `pong`, comes back as a signal like any other. What was put onto the connection is delivered;
//! what could not be put there any more waits for the next one.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use verger_api::PendingItem;
use verger_core::effect::Outcome;
use verger_core::id::{AgentId, Incarnation};

use super::inbox::{life, pending_item, superseded_item};
use super::pass::Pass;
use super::{App, Refusal};
use crate::monitor::{Handover, Manner, Presence};
use crate::traffic::Streaming;

/// A stream says that it is there this often, and looks whether its life is over.
const ALIVE: Duration = Duration::from_secs(15);
/// The pause when the loop has too much to do.
const BUSY_PAUSE: Duration = Duration::from_secs(1);

/// Streams what is for this life of an agent. One that said which it is ends with its life; one that did not goes on
/// with the next. It ends with the token that opened it, too.
pub(super) fn stream(
    app: App,
    pass: Pass,
    agent: AgentId,
    life: Incarnation,
    said_which: bool,
) -> Result<Response, Refusal> {
    let streaming = app.traffic.stream().ok_or_else(Refusal::too_many_streams)?;
    let presence = Some(app.monitor.listen(&agent, life, Manner::Stream));
    let ends = Box::pin(pass.ends(app.clone()));
    let (on_its_way, items) = (None, VecDeque::new());
    let feed = Feed { app, agent, life, said_which, presence, on_its_way, items, _streaming: streaming };
    let events = stream::unfold(feed, |mut feed| async {
        let item = feed.next().await?;
        let event = Event::default().event(item.kind.as_str()).json_data(&item).ok()?;
        Some((Ok::<_, Infallible>(event), feed))
    });
    Ok(Sse::new(events.take_until(ends)).keep_alive(KeepAlive::new().interval(ALIVE)).into_response())
}

struct Feed {
    app: App,
    agent: AgentId,
    life: Incarnation,
    said_which: bool,
    /// Nothing more comes once there is none.
    presence: Option<Presence>,
    on_its_way: Option<Handover>,
    items: VecDeque<PendingItem>,
    _streaming: Streaming,
}

impl Feed {
    /// The next item; nothing when the agent, its life or the monitor has ended.
    async fn next(&mut self) -> Option<PendingItem> {
        loop {
            if let Some(item) = self.items.pop_front() {
                return Some(item);
            }
            // Who asks for more has put the last onto the connection.
            for key in self.on_its_way.take().map(Handover::done).into_iter().flatten() {
                self.app.monitor.report(key, Outcome::Delivered);
            }
            // Something comes, or it is time to see whether the life is over.
            let _ = tokio::time::timeout(ALIVE, self.presence.as_ref()?.ready()).await;
            self.fetch().await?;
            // What waits for a life that is still to begin is not waited for in a circle.
            tokio::task::yield_now().await;
        }
    }

    async fn fetch(&mut self) -> Option<()> {
        let present = match life(&self.app, &self.agent).await {
            Ok(present) => present?,
            // Whoever looks on while too much is to be done looks again; ten thousand that came back would be more to do.
            Err(busy) if busy.is_overload() => {
                tokio::time::sleep(BUSY_PAUSE).await;
                return Some(());
            }
            Err(_) => return None,
        };
        if self.life < present {
            if self.said_which {
                self.presence = None;
                self.items.push_back(superseded_item());
                return Some(());
            }
            self.life = present;
            self.presence = Some(self.app.monitor.listen(&self.agent, present, Manner::Stream));
        }
        let handover = self.app.monitor.hand_over(&self.agent, present).await;
        self.items.extend(handover.items().iter().map(pending_item));
        self.on_its_way = Some(handover);
        Some(())
    }
}
