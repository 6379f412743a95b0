//! A report that is sent again counts once (L43).
//!
//! Whoever gets no answer cannot know whether its report arrived, and sends it again. While the monitor stands still the
//! system keeps every one of these requests, and hands all of them over when it goes on: the same calls again and again
//! would look like a loop. So a report may bear a name (`Idempotency-Key`). The first one of a name is taken, and those
//! that follow get its answer. What was refused is forgotten: it was not taken, and is welcome later.
//!
//! Names are kept in memory, the newest of them. A monitor that dies between taking a report and answering it takes it
//! again when it is back.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Json;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::sync::OnceCell;
use verger_api::HttpError;
use verger_api::ingest::IngestReport;

use super::{App, Refusal};
use crate::access::Caller;

/// The header that names a report.
pub(super) const HEADER: &str = "Idempotency-Key";
/// The longest name.
const NAME_MAX: usize = 128;
/// Reports that are remembered. An agent has one under way at a time, so these are as many agents as have connections.
const REMEMBERED: usize = 16_384;
/// Bytes of their answers, which are a hundred each as a rule.
const ANSWERS_MAX: usize = 8 << 20;

/// Whose it is, and what it is called: nobody answers for somebody else.
type Key = (Option<String>, String);
/// The answer, once it is known.
type Answer = Arc<OnceCell<Bytes>>;

/// Reports that bore a name.
#[derive(Debug, Default)]
pub(super) struct Reports {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// With the bytes of each answer.
    known: HashMap<Key, (Answer, usize)>,
    /// In the order in which they came.
    order: VecDeque<Key>,
    /// Bytes of all answers.
    bytes: usize,
}

impl Reports {
    /// The place of this report's answer.
    fn place(&self, key: Key) -> Answer {
        let mut inner = self.lock();
        if let Some((known, _)) = inner.known.get(&key) {
            return Arc::clone(known);
        }
        let answer = Answer::default();
        inner.known.insert(key.clone(), (Arc::clone(&answer), 0));
        inner.order.push_back(key);
        inner.forget_some();
        answer
    }

    /// An answer is known from now on.
    fn on_answered(&self, key: &Key, bytes: usize) {
        let mut inner = self.lock();
        // It may have been forgotten meanwhile.
        let Some((_, held)) = inner.known.get_mut(key) else { return };
        let before = std::mem::replace(held, bytes);
        inner.bytes = inner.bytes - before + bytes;
        inner.forget_some();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn forget_some(&mut self) {
        while REMEMBERED < self.order.len() || ANSWERS_MAX < self.bytes {
            let Some(oldest) = self.order.pop_front() else { return };
            self.bytes -= self.known.remove(&oldest).map_or(0, |(_, bytes)| bytes);
        }
    }
}

/// The name that a report bears.
pub(super) fn name(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let Some(name) = headers.get(HEADER) else { return Ok(None) };
    let name = name.to_str().ok().filter(|name| !name.is_empty() && name.len() <= NAME_MAX);
    let wrong = || format!("`{HEADER}` must have 1 to {NAME_MAX} characters that can be printed");
    name.map(|name| Some(name.to_owned())).ok_or_else(|| Refusal::http(HttpError::WrongQuery, wrong()))
}

/// Takes a report, unless it was taken before.
pub(super) async fn taken(
    app: App,
    caller: &Caller,
    name: Option<String>,
    take: impl Future<Output = Result<IngestReport, Refusal>> + Send + 'static,
) -> Result<Response, Refusal> {
    let Some(name) = name else {
        return Ok((StatusCode::ACCEPTED, Json(take.await?)).into_response());
    };
    let whose = caller.actor().map(|actor| actor.to_string());
    let key = (whose, name);
    let answer = app.reports().place(key.clone());
    let monitor = app.monitor.clone();
    // On a task of its own: of one that was begun by somebody who hung up nobody would know how far it came.
    let taking = tokio::spawn(async move {
        let first = answer.get_or_try_init(|| async {
            let report = serde_json::to_vec(&take.await?).unwrap_or_default();
            let report = Bytes::from(report);
            app.reports().on_answered(&key, report.len());
            Ok::<_, Refusal>(report)
        });
        first.await.cloned()
    });
    let failed = |_| Refusal::http(HttpError::Internal, "the report could not be taken");
    let report = monitor.within(taking).await?.map_err(failed)??;
    Ok((StatusCode::ACCEPTED, [(header::CONTENT_TYPE, "application/json")], report).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> Key {
        (None, number.to_string())
    }

    #[test]
    fn x13_the_newest_names_are_remembered_and_no_more() {
        let reports = Reports::default();
        for number in 0..REMEMBERED + 10 {
            reports.place(key(number));
        }
        let known = &reports.lock().known;
        assert_eq!(known.len(), REMEMBERED);
        assert!(!known.contains_key(&key(9)) && known.contains_key(&key(10)));
    }

    #[test]
    fn x13_large_answers_do_not_fill_the_memory() {
        let reports = Reports::default();
        for number in 0..20 {
            reports.place(key(number));
            reports.on_answered(&key(number), 1 << 20);
            reports.on_answered(&key(0), 1 << 20);
        }
        let inner = reports.lock();
        assert_eq!((inner.known.len(), inner.bytes), (8, ANSWERS_MAX));
    }
}
