//! Waits at the agent's inbox, so that a ping or a reminder arrives at once and not with the next beat.
//!
//! Only who has a token may take what is for an agent; without one everything comes with the replies to beats.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use tokio::time::{Instant, sleep, sleep_until};
use verger_api::ingest::IngestReport;
use verger_api::signal::Pong;
use verger_api::{List, PendingItem, PendingKind, SignalBody};

use super::AgentOptions;
use super::desk::Desk;
use crate::backoff::Backoff;
use crate::error::Error;
use crate::transport::Transport;

/// How long the monitor is asked to hold the question.
const WAIT: Duration = Duration::from_secs(30);
/// And how long after that its answer may take.
const GRACE: Duration = Duration::from_secs(10);
/// Something that answers at once with nothing is not asked more often than this.
const ROUND_MIN: Duration = Duration::from_secs(1);
const RETRY_FIRST: Duration = Duration::from_millis(500);
const RETRY_LONGEST: Duration = Duration::from_secs(30);
/// A ping is answered soon or in vain.
const PONG_WITHIN: Duration = Duration::from_secs(5);
/// The reply to a pong may hold another ping, and so on; a monitor that never ends is left waiting.
const ROUNDS_MAX: usize = 8;

pub(super) struct Listener<'a> {
    options: &'a AgentOptions,
    desk: &'a Arc<Desk>,
    transport: Transport,
}

impl<'a> Listener<'a> {
    pub(super) fn new(options: &'a AgentOptions, desk: &'a Arc<Desk>, transport: Transport) -> Self {
        Self { options, desk, transport }
    }

    /// For ever: whoever delivers ends it.
    pub(super) async fn run(&self) {
        let mut backoff = Backoff::new(RETRY_FIRST, RETRY_LONGEST);
        if !self.transport.has_token() {
            return std::future::pending().await;
        }
        loop {
            let earliest = Instant::now() + ROUND_MIN;
            match self.ask().await {
                Ok(List { items, .. }) if items.is_empty() => {
                    backoff.reset();
                    sleep_until(earliest).await;
                }
                Ok(List { items, .. }) => {
                    backoff.reset();
                    answer_items(self.options, self.desk, &self.transport, items).await;
                    if self.desk.is_superseded() {
                        self.desk.work.notify_one();
                        return std::future::pending().await;
                    }
                }
                // An agent that is not registered yet is after its first beat.
                Err(_) => sleep(backoff.next(None)).await,
            }
        }
    }

    async fn ask(&self) -> Result<List<PendingItem>, Error> {
        let mut query = vec![("wait", format!("{}s", WAIT.as_secs()))];
        query.extend(self.options.incarnation.map(|life| ("incarnation", life.to_string())));
        let path = ["v1", "agents", &self.options.agent_id, "inbox"];
        self.transport.ask(Method::GET, &path, &query)?.within(WAIT + GRACE).answer().await
    }
}

/// Takes in what came, and answers pings at once, ahead of everything that waits.
pub(super) async fn answer_items(
    options: &AgentOptions,
    desk: &Arc<Desk>,
    transport: &Transport,
    items: Vec<PendingItem>,
) {
    let mut items = items;
    for _ in 0..ROUNDS_MAX {
        let mut more = Vec::new();
        for item in items {
            match (item.kind, item.seq) {
                (PendingKind::Ping, Some(seq)) if options.answers_pings => {
                    more.extend(pong(desk, transport, seq).await.unwrap_or_default());
                }
                // It is obeyed where it came.
                (PendingKind::Interval, _) => {}
                _ => drop(desk.on_item(item)),
            }
        }
        if more.is_empty() {
            return;
        }
        items = more;
    }
}

/// A pong that does not arrive is as good as none: another ping will come.
async fn pong(desk: &Desk, transport: &Transport, seq: u32) -> Result<Vec<PendingItem>, Error> {
    let signal = desk.signal(SignalBody::Pong(Pong { seq, status: None }));
    let asked = transport.ask(Method::POST, &["v1", "signals"], &[])?.json(&signal)?;
    let report: IngestReport = asked.within(PONG_WITHIN).answer().await?;
    Ok(report.pending.unwrap_or_default())
}
