//! Brings beats and signals to the monitor, on a thread of its own.
//!
//! A beat goes before the signals that wait: that the agent lives is worth more than what it did. While the monitor is
//! away both wait, longer each time; when it is back, one beat tells how things stand, and the signals follow in order.
//! A signal whose acknowledgement was lost is sent again, as calls and totals can bear.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use reqwest::Method;
use tokio::time::{Instant, timeout_at};
use verger_api::PendingKind;
use verger_api::ingest::IngestReport;

use super::AgentOptions;
use super::desk::Desk;
use super::listener::{self, answer_items};
use crate::backoff::Backoff;
use crate::error::Error;
use crate::transport::Transport;

/// Nobody is waited for longer than this: the next beat must not come late.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
const RETRY_FIRST: Duration = Duration::from_millis(250);
const RETRY_LONGEST: Duration = Duration::from_secs(30);
/// The rhythms that a monitor may ask for.
const EVERY_MIN: Duration = Duration::from_millis(100);
const EVERY_MAX: Duration = Duration::from_hours(1);

/// Begins. What cannot begin is told by the tally, and the agent goes on without being watched.
pub(super) fn start(options: AgentOptions, desk: &Arc<Desk>) {
    let own = Arc::clone(desk);
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        match (runtime, Transport::new(&options.access)) {
            (Ok(runtime), Ok(transport)) => {
                runtime.block_on(Courier::new(&options, &own, transport).run());
                // A name that is being looked up is not waited for.
                runtime.shutdown_background();
            }
            (Err(error), _) => own.on_trouble(error.to_string()),
            (_, Err(error)) => own.on_trouble(error.to_string()),
        }
        own.on_end();
    };
    if let Err(error) = thread::Builder::new().name("verger-agent".to_owned()).spawn(run) {
        desk.on_trouble(error.to_string());
        desk.on_end();
    }
}

struct Courier<'a> {
    options: &'a AgentOptions,
    desk: &'a Arc<Desk>,
    transport: Transport,
    every: Duration,
    beat_at: Instant,
    /// Nothing is tried before this.
    hold_until: Instant,
    backoff: Backoff,
}

impl<'a> Courier<'a> {
    fn new(options: &'a AgentOptions, desk: &'a Arc<Desk>, transport: Transport) -> Self {
        let now = Instant::now();
        Self {
            options,
            desk,
            transport,
            every: options.every.clamp(EVERY_MIN, EVERY_MAX),
            beat_at: now,
            hold_until: now,
            backoff: Backoff::new(RETRY_FIRST, RETRY_LONGEST),
        }
    }

    async fn run(mut self) {
        let listener = listener::Listener::new(self.options, self.desk, self.transport.clone());
        tokio::select! {
            () = self.deliver() => {}
            () = listener.run() => {}
        }
    }

    /// Until the agent ends, or another life of it takes over.
    async fn deliver(&mut self) {
        while !self.desk.is_stopping() && !self.desk.is_superseded() {
            let now = Instant::now();
            if self.hold_until <= now && self.is_beat_due(now) {
                self.beat().await;
            } else if self.hold_until <= now && self.desk.has_signals() {
                self.send_batch().await;
            } else {
                let beat_at = if self.options.beats { self.beat_at } else { now + EVERY_MAX };
                let due = if self.desk.has_signals() { now } else { beat_at };
                // Whether something came or the time is up, it is looked at above.
                let _ = timeout_at(due.max(self.hold_until), self.desk.work.notified()).await;
            }
        }
        self.deliver_the_rest().await;
    }

    /// What still waits at the end has one chance.
    async fn deliver_the_rest(&mut self) {
        while !self.desk.is_superseded() && self.desk.has_signals() {
            if !self.send_batch().await {
                return;
            }
        }
    }

    fn is_beat_due(&self, now: Instant) -> bool {
        (self.options.beats && self.beat_at <= now) || self.desk.wants_beat()
    }

    async fn beat(&mut self) {
        let asked = self.transport.ask(Method::POST, &["v1", "heartbeats"], &[]);
        let asked = asked.and_then(|asked| asked.json(&self.desk.heartbeat()));
        let answer = match asked {
            Ok(asked) => asked.within(ANSWER_WITHIN).answer::<IngestReport>().await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(report) => {
                self.on_success();
                self.beat_at = Instant::now() + self.every;
                match report.rejected.first() {
                    Some(rejected) => self.desk.on_trouble(rejected.error.clone()),
                    None => self.desk.on_beat(),
                }
                self.on_items(report).await;
            }
            Err(error) => {
                if !error.is_passing() {
                    // The same beat would be turned down again; the next one may say something else.
                    self.beat_at = Instant::now() + self.every;
                }
                self.on_failure(&error);
            }
        }
    }

    /// Whether the monitor took or refused it; a batch that is refused as a whole is not sent again.
    async fn send_batch(&mut self) -> bool {
        let Some(batch) = self.desk.batch() else { return true };
        let asked = self.transport.ask(Method::POST, &["v1", "signals"], &[]);
        let answer = match asked {
            Ok(asked) => asked.body(batch.body()).within(ANSWER_WITHIN).answer::<IngestReport>().await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(report) => {
                self.on_success();
                let why = report.rejected.first().map(|rejected| rejected.error.clone());
                self.desk.on_sent(&batch, report.rejected.len() as u64, why);
                self.on_items(report).await;
                true
            }
            Err(error) if error.is_passing() => {
                self.on_failure(&error);
                false
            }
            Err(error) => {
                self.desk.on_sent(&batch, batch.count, Some(error.to_string()));
                true
            }
        }
    }

    fn on_success(&mut self) {
        self.backoff.reset();
        self.hold_until = Instant::now();
    }

    fn on_failure(&mut self, error: &Error) {
        let wanted = error.problem().and_then(|problem| problem.retry_after_seconds).map(Duration::from_secs);
        // With the monitor away a beat is tried as often as it would be due, and no less.
        let wait = self.backoff.next(wanted).min(self.every.max(RETRY_FIRST));
        self.hold_until = Instant::now() + wait;
        self.desk.on_trouble(error.to_string());
    }

    async fn on_items(&mut self, report: IngestReport) {
        let items = report.pending.unwrap_or_default();
        let rhythm = items.iter().filter(|item| item.kind == PendingKind::Interval);
        if let Some(seconds) = rhythm.filter_map(|item| item.interval_seconds).next_back() {
            self.every = Duration::from_secs(seconds).clamp(EVERY_MIN, EVERY_MAX);
            self.beat_at = Instant::now() + self.every;
        }
        answer_items(self.options, self.desk, &self.transport, items).await;
    }
}
