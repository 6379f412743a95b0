//! What happened: page by page for one agent, and as a stream that resumes.
//!
//! A stream is a place in the journal, of which the newest part is [ready](super::tail) for all: a slow reader holds
//! nobody up, and one that comes back gets everything after the event that it saw last. If that is no longer all there,
//! it is told so by a `reset` before it gets the rest.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::sync::{broadcast, watch};
use verger_api::{AnyJson, EventQuery, EventType, HttpError, List, Resume, StreamQuery, last_event_id};
use verger_core::id::{AgentId, TaskId};
use verger_core::time::WallTime;
use verger_store::{Archive, JournalEvent};

use super::asker::Asker;
use super::named::Named;
use super::pass::Pass;
use super::routes::Routes;
use super::tail::{Tail, Told as Event, framed};
use super::told::{Told, Who};
use super::{App, Refusal, page};
use crate::access::Right;
use crate::monitor::{HeardBeat, wall_now};
use crate::traffic::Streaming;

/// A stream says that it is there this often: what lies between would cut a silent one off.
const ALIVE: Duration = Duration::from_secs(15);
const HEARTBEAT: &str = EventType::AgentHeartbeat.as_str();

pub(super) fn routes() -> Routes {
    let page =
        Told::new("listAgentEvents", "events", "What happened to an agent, newest first", Who::AgentOrReader);
    let all = Told::new("streamEvents", "events", "What happens, as CloudEvents over SSE", Who::Reader);
    let after = "The event that was seen last; everything after it is sent.";
    Routes::new()
        .get(
            "/v1/agents/{id}/events",
            of_agent,
            page.query::<EventQuery>().answers(200, "A page.", "List_CloudEvent"),
        )
        .get(
            "/v1/events",
            stream,
            all.query::<StreamQuery>().header("Last-Event-ID", after).streams("Events, and `reset`."),
        )
}

async fn of_agent(
    State(app): State<App>,
    Asker(caller): Asker,
    Named(id): Named,
    query: Result<Query<EventQuery>, QueryRejection>,
) -> Result<Json<List<AnyJson<'static>>>, Refusal> {
    caller.may(Right::See(&id.as_str().into()))?;
    let Query(query) = query?;
    let limit = page::limit(query.limit)?;
    let before = match &query.cursor {
        Some(cursor) => {
            let place = app.cursors.open("events", cursor)?;
            Some(
                place
                    .parse()
                    .map_err(|_| Refusal::http(HttpError::WrongCursor, "the cursor cannot be read"))?,
            )
        }
        None => None,
    };
    let asked = verger_store::EventQuery {
        agent: Some(id.into()),
        task: query.task.map(Into::into),
        kind: query.kind.map(|kind| kind.as_str().to_owned()),
        from: query.duration.map(|span| ago(span.as_millis())),
        until: None,
        before,
        limit: limit + 1,
    };
    let archive = app.monitor.archive().clone();
    let mut found = blocking(move || archive.events(&asked)).await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next_cursor =
        found.last().filter(|_| has_more).map(|last| app.cursors.seal("events", &last.id.to_string()));
    let items = found.into_iter().map(body).collect::<Result<_, _>>()?;
    Ok(Json(List { items, next_cursor }))
}

fn ago(millis: u64) -> WallTime {
    WallTime(wall_now().0.saturating_sub(i64::try_from(millis).unwrap_or(i64::MAX)))
}

fn body(event: JournalEvent) -> Result<AnyJson<'static>, Refusal> {
    let damaged = |_| Refusal::http(HttpError::Storage, format!("event {} cannot be read", event.id));
    AnyJson::from_text(event.body).map_err(damaged)
}

/// Reads from the disk without holding anybody up.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, verger_store::Error> + Send + 'static,
) -> Result<T, Refusal> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => Ok(result?),
        Err(_) => Err(Refusal::http(HttpError::Internal, "the journal could not be read")),
    }
}

async fn stream(
    State(app): State<App>,
    Asker(caller): Asker,
    pass: Pass,
    query: Result<Query<StreamQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    caller.may(Right::Read)?;
    let Query(wanted) = query?;
    let seen = match headers.get("last-event-id") {
        Some(id) => {
            let id = last_event_id(id.as_bytes());
            Some(id.map_err(|error| Refusal::http(HttpError::WrongQuery, error.to_string()))?)
        }
        None => None,
    };
    let streaming = app.traffic.stream().ok_or_else(Refusal::too_many_streams)?;
    let archive = app.monitor.archive().clone();
    let reading = blocking(move || Reading::begin(&archive, seen)).await?;
    let beats = wanted.heartbeats.is_some_and(|wanted| wanted > 0).then(|| app.monitor.heard().listen());
    let newest = app.newest.clone();
    let ends = Box::pin(pass.ends(app.clone()));
    let following = Following { app, reading, newest, is_behind: true, wanted, beats, _streaming: streaming };
    let events = stream::unfold(following, |mut following| async {
        // A stream that says nothing says that it is there.
        let next = tokio::time::timeout(ALIVE, following.next()).await;
        let text = next.unwrap_or_else(|_| Some(Bytes::from_static(b":\n\n")))?;
        Some((Ok::<_, Infallible>(text), following))
    });
    let head = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
    Ok((head, Body::from_stream(events.take_until(ends))).into_response())
}

/// Where a reader is in the journal.
pub(super) struct Reading {
    pub(super) seen: i64,
    /// It has missed something, and is to be told.
    pub(super) reset: bool,
    pub(super) read: VecDeque<Arc<Event>>,
}

impl Reading {
    /// After the event that was seen last; without one, after the newest.
    pub(super) fn begin(archive: &Archive, seen: Option<i64>) -> Result<Self, verger_store::Error> {
        let (newest, oldest) = (archive.newest_event()?, archive.oldest_event()?);
        let Resume { after, reset } = Resume::of(seen, oldest, newest);
        Ok(Self { seen: after, reset, read: VecDeque::new() })
    }

    /// Reads on. A reader who was so slow that what it had not seen was forgotten meanwhile is told so: numbers have no
    /// gaps.
    pub(super) async fn on(&mut self, tail: &Tail, archive: &Archive) -> Option<()> {
        // A journal that cannot be read ends the stream: its reader comes back and resumes.
        let read = tail.after(self.seen, archive).await.ok()?;
        if let Some(first) = read.first().filter(|first| first.id > self.seen + 1) {
            (self.reset, self.seen) = (true, first.id - 1);
        }
        self.read = read.into();
        Some(())
    }
}

/// A reader that waits for more.
struct Following {
    app: App,
    reading: Reading,
    newest: watch::Receiver<i64>,
    /// There may be events in the journal that were not read.
    is_behind: bool,
    wanted: StreamQuery,
    /// Heartbeats, if they are wanted.
    beats: Option<broadcast::Receiver<HeardBeat>>,
    _streaming: Streaming,
}

impl Following {
    /// The next event as it is sent; nothing when the monitor ends. Whoever gives up waiting for it loses nothing.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if std::mem::take(&mut self.reading.reset) {
                let from = json!({ "from": (self.reading.seen + 1).to_string() });
                return Some(framed("reset", &from.to_string()).into());
            }
            if let Some(event) = self.reading.read.pop_front() {
                self.reading.seen = event.id;
                if self.is_wanted(&event) {
                    return Some(event.text.clone());
                }
                continue;
            }
            if self.is_behind {
                // What is committed after this is noticed by the wait below.
                self.newest.mark_unchanged();
                self.reading.on(self.app.tail(), self.app.monitor.archive()).await?;
                self.is_behind = !self.reading.read.is_empty();
                continue;
            }
            let beat = tokio::select! {
                changed = self.newest.changed() => {
                    changed.ok()?;
                    self.is_behind = true;
                    continue;
                }
                beat = next_beat(&mut self.beats) => beat,
            };
            if self.is_wanted_beat(&beat) {
                // Without a number: nobody resumes after it.
                return Some(framed(HEARTBEAT, &beat.body).into());
            }
        }
    }

    fn is_wanted(&self, event: &Event) -> bool {
        is(self.wanted.agent.as_deref(), event.agent.as_ref().map(AgentId::as_str))
            && is(self.wanted.task.as_deref(), event.task.as_ref().map(TaskId::as_str))
            && is(self.wanted.kind.map(EventType::as_str), Some(&event.kind))
    }

    fn is_wanted_beat(&self, beat: &HeardBeat) -> bool {
        is(self.wanted.agent.as_deref(), Some(&beat.agent))
            && is(self.wanted.task.as_deref(), beat.task.as_deref())
            && is(self.wanted.kind.map(EventType::as_str), Some(HEARTBEAT))
    }
}

/// Whether it is what is asked for, if anything is.
fn is(wanted: Option<&str>, found: Option<&str>) -> bool {
    wanted.is_none() || wanted == found
}

/// The next heartbeat, for ever none if they are not wanted. Who was too slow goes on with those that come.
async fn next_beat(beats: &mut Option<broadcast::Receiver<HeardBeat>>) -> HeardBeat {
    let Some(beats) = beats else { return std::future::pending().await };
    loop {
        match beats.recv().await {
            Ok(beat) => return beat,
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return std::future::pending().await,
        }
    }
}
