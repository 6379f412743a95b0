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

use super::App;
use super::inbox::{life, pending_item, superseded_item};
use super::pass::Pass;
use crate::monitor::{Handover, Manner, Presence};

/// A stream says that it is there this often, and looks whether its life is over.
const ALIVE: Duration = Duration::from_secs(15);

/// Streams what is for this life of an agent. One that said which it is ends with its life; one that did not goes on
/// with the next. It ends with the token that opened it, too.
pub(super) fn stream(app: App, pass: Pass, agent: AgentId, life: Incarnation, said_which: bool) -> Response {
    let presence = Some(app.monitor.listen(&agent, life, Manner::Stream));
    let ends = Box::pin(pass.ends(app.clone()));
    let feed = Feed { app, agent, life, said_which, presence, on_its_way: None, items: VecDeque::new() };
    let events = stream::unfold(feed, |mut feed| async {
        let item = feed.next().await?;
        let event = Event::default().event(item.kind.as_str()).json_data(&item).ok()?;
        Some((Ok::<_, Infallible>(event), feed))
    });
    Sse::new(events.take_until(ends)).keep_alive(KeepAlive::new().interval(ALIVE)).into_response()
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
        let present = life(&self.app, &self.agent).await.ok()??;
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
