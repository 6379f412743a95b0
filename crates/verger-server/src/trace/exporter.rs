//! Sends spans to a receiver, in batches, for as long as it takes; nothing else ever waits for it.
//!
//! A receiver that is away is tried again and again with growing pauses, and its batch is kept; meanwhile the newest
//! spans wait in the queue, and those that find no room are counted. What a receiver does not want is counted too.

use std::sync::Arc;
use std::time::Duration;

use axum::http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use verger_act::{Delivery, Reply, Target, Webhooks};

use super::otlp;
use super::queue::Loss;
use super::tracer::Tracer;
use crate::carry::{Live, Reach};
use crate::serve::Log;

/// The longest that a span waits for others to be sent with it.
const GATHER: Duration = Duration::from_secs(1);
/// The time that a receiver has.
const SEND_WITHIN: Duration = Duration::from_secs(10);
/// The time that it has at the end of the monitor.
const LAST_WITHIN: Duration = Duration::from_secs(2);
/// The pause after the first failure; it doubles.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// Where traces go.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    pub(crate) target: Target,
    headers: HeaderMap,
    sample_percent: u8,
}

impl Receiver {
    /// Says what is wrong with a header before anything relies on it.
    pub(crate) fn new(
        target: Target,
        headers: &[(String, verger_config::Secret)],
        sample_percent: u8,
    ) -> Result<Self, String> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let wrong = || format!("`{name}` cannot be a header, or not with this value");
            let key = HeaderName::try_from(name.as_str()).map_err(|_| wrong())?;
            let mut value = HeaderValue::from_str(value.reveal()).map_err(|_| wrong())?;
            value.set_sensitive(true);
            map.insert(key, value);
        }
        map.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        Ok(Self { target, headers: map, sample_percent })
    }
}

/// Sends spans.
pub(crate) struct Exporter {
    pub(crate) tracer: Arc<Tracer>,
    pub(crate) webhooks: Webhooks,
    pub(crate) live: Live,
    pub(crate) version: &'static str,
    pub(crate) log: Log,
}

impl Exporter {
    /// Sends what comes until it is dropped. While nobody wants traces it waits for somebody.
    pub(crate) async fn run(mut self) {
        loop {
            let (receiver, agents_max) = {
                let reach = self.live.borrow_and_update();
                (receiver(&reach), reach.agents_max)
            };
            self.tracer.figures.show_agents(agents_max);
            self.tracer.record(receiver.as_ref().map(|receiver| receiver.sample_percent));
            let mut live = self.live.clone();
            tokio::select! {
                () = self.send_to(receiver) => {}
                changed = live.changed() => {
                    if changed.is_err() {
                        return;
                    }
                }
            }
        }
    }

    async fn send_to(&self, receiver: Option<Receiver>) {
        let Some(receiver) = receiver else { return std::future::pending().await };
        loop {
            // Whichever comes first: a whole batch, or time.
            let _ = tokio::time::timeout(GATHER, self.tracer.queue.enough()).await;
            self.send_all(&receiver).await;
        }
    }

    async fn send_all(&self, receiver: &Receiver) {
        loop {
            let mut batch = Batch { tracer: &self.tracer, spans: self.tracer.queue.take() };
            if batch.spans.is_empty() {
                return;
            }
            let body = otlp::encode(batch.spans.clone(), self.version);
            self.send(receiver, &body, &mut batch).await;
        }
    }

    /// Sends one batch until the receiver has it, or does not want it.
    async fn send(&self, receiver: &Receiver, body: &[u8], batch: &mut Batch<'_>) {
        let mut pause = PAUSE_MIN;
        for tries in 1_u32.. {
            let sending =
                self.webhooks.send(&receiver.target, receiver.headers.clone(), body.to_vec(), SEND_WITHIN);
            let delivery = sending.await;
            let Next::Again(wait) = self.on_reply(&delivery, batch, tries) else { return };
            tokio::time::sleep(wait.unwrap_or(pause).min(PAUSE_MAX)).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Only these are worth another try, by the protocol: 429, 502, 503, 504 and silence.
    fn on_reply(&self, delivery: &Delivery, batch: &mut Batch<'_>, tries: u32) -> Next {
        let queue = &self.tracer.queue;
        let wait = match &delivery.reply {
            Reply::Accepted(_) => {
                queue.on_sent(std::mem::take(&mut batch.spans).len());
                if tries > 1 {
                    self.log.warn(&format!("traces arrive again: {delivery}"));
                }
                return Next::Over;
            }
            Reply::Failed(answer) if matches!(answer.status, 429 | 502 | 503 | 504) => answer.retry_after,
            Reply::Unreachable(_) => None,
            Reply::Refused(_) | Reply::Failed(_) => {
                queue.on_failure();
                let spans = std::mem::take(&mut batch.spans).len();
                queue.lose(Loss::Refused, spans);
                self.log.warn(&format!("{spans} spans are lost: {delivery}"));
                return Next::Over;
            }
        };
        queue.on_failure();
        if tries == 1 {
            self.log.warn(&format!("traces do not arrive, and are sent again: {delivery}"));
        }
        Next::Again(wait)
    }
}

/// What becomes of a batch.
enum Next {
    /// It is received, or not wanted.
    Over,
    /// It is tried again, after this pause if the receiver names one.
    Again(Option<Duration>),
}

/// Sends once what is left, at the end of the monitor.
pub(crate) async fn flush(tracer: &Tracer, webhooks: &Webhooks, reach: &Reach, version: &str) {
    let Some(receiver) = receiver(reach) else { return };
    let sends = async {
        loop {
            let spans = tracer.queue.take();
            if spans.is_empty() {
                return;
            }
            let body = otlp::encode(spans, version);
            webhooks.send(&receiver.target, receiver.headers.clone(), body, LAST_WITHIN).await;
        }
    };
    // The end is not held up for it.
    let _ = tokio::time::timeout(LAST_WITHIN, sends).await;
}

fn receiver(reach: &Reach) -> Option<Receiver> {
    reach.traces.clone()
}

/// Spans under way. If they are dropped before they were received they wait on: another receiver may want them.
struct Batch<'a> {
    tracer: &'a Tracer,
    spans: Vec<super::span::Span>,
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.tracer.queue.give_back(std::mem::take(&mut self.spans));
    }
}
