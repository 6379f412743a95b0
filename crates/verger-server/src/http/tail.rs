//! The newest events, made ready to be sent once for all who follow them.
//!
//! ```text
//! journal ──read once──► tail ──shared bytes──► ten thousand streams
//!    └───────────────── a handful at a time ──► who is further behind
//! ```
//!
//! A reader holds a place and a handful of references, however slow it is. Who falls behind the tail goes on from the
//! journal: nothing is skipped, and nobody is waited for.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use tokio::sync::Semaphore;
use verger_core::id::{AgentId, TaskId};
use verger_store::{Archive, Error, JournalEvent};

/// What is kept ready: so many events, and so many bytes of them.
const EVENTS_MAX: usize = 2_048;
const BYTES_MAX: usize = 8 << 20;
/// Events that are read from the journal at once for all.
const READ: usize = 256;
/// Events that one reader is given at once. It holds on to them until they are sent.
const HANDFUL: usize = 16;
/// Readers that look into the journal for themselves at one time.
const CATCH_UP_MAX: usize = 8;

/// The newest events.
#[derive(Debug)]
pub(super) struct Tail {
    ready: Mutex<Ready>,
    /// Held by whoever reads on.
    reading: tokio::sync::Mutex<()>,
    catch_up: Semaphore,
}

#[derive(Debug, Default)]
struct Ready {
    events: VecDeque<Arc<Told>>,
    bytes: usize,
    /// The number of the last one. Numbers have no gaps, except where the journal was shortened.
    last: i64,
}

/// An event as it is sent.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) id: i64,
    pub(super) kind: String,
    pub(super) agent: Option<AgentId>,
    pub(super) task: Option<TaskId>,
    /// With its number and its name, as a stream has it.
    pub(super) text: Bytes,
}

impl From<JournalEvent> for Told {
    fn from(event: JournalEvent) -> Self {
        let id = event.id;
        let text = format!("id: {id}\n{}", framed(&event.kind, &event.body));
        let agent = event.agent.map(|(agent, _)| agent);
        Self { id, kind: event.kind, agent, task: event.task, text: text.into() }
    }
}

/// One event of a stream. No line of its data is taken for another field.
pub(super) fn framed(name: &str, data: &str) -> String {
    format!("event: {name}\ndata: {}\n\n", data.replace("\r\n", "\n").replace(['\n', '\r'], "\ndata: "))
}

impl Default for Tail {
    fn default() -> Self {
        let catch_up = Semaphore::new(CATCH_UP_MAX);
        Self { ready: Mutex::default(), reading: tokio::sync::Mutex::default(), catch_up }
    }
}

impl Tail {
    /// Some events after this one, none if there are none. The first has a later number than the next where the journal
    /// was shortened meanwhile.
    pub(super) async fn after(&self, seen: i64, archive: &Archive) -> Result<Vec<Arc<Told>>, Error> {
        if let Some(found) = self.ready().after(seen) {
            return Ok(found);
        }
        let reading = self.reading.lock().await;
        // Somebody else may have read on meanwhile.
        if let Some(found) = self.ready().after(seen) {
            return Ok(found);
        }
        if !self.ready().begin(seen) {
            drop(reading);
            return self.catch_up(seen, archive).await;
        }
        let read = read(archive, seen, READ).await?;
        let before_first = read.first().map_or(seen, |first| first.id - 1);
        let mut ready = self.ready();
        ready.extend(read);
        Ok(ready.after(before_first).unwrap_or_default())
    }

    async fn catch_up(&self, seen: i64, archive: &Archive) -> Result<Vec<Arc<Told>>, Error> {
        let Ok(_one) = self.catch_up.acquire().await else { return Ok(Vec::new()) };
        Ok(read(archive, seen, HANDFUL).await?.into_iter().map(|event| Arc::new(event.into())).collect())
    }

    fn ready(&self) -> MutexGuard<'_, Ready> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn read(archive: &Archive, seen: i64, count: usize) -> Result<Vec<JournalEvent>, Error> {
    let archive = archive.clone();
    let read = tokio::task::spawn_blocking(move || archive.events_after(seen, count)).await;
    read.unwrap_or(Err(Error::Closed))
}

impl Ready {
    /// A handful after this one, if it is here.
    fn after(&self, seen: i64) -> Option<Vec<Arc<Told>>> {
        let first = self.events.front()?.id;
        let skip = usize::try_from(seen.checked_add(1)?.checked_sub(first)?).ok()?;
        if self.events.len() <= skip {
            return None;
        }
        Some(self.events.range(skip..).take(HANDFUL).cloned().collect())
    }

    /// Whether it is read on here for who has seen this one. Who is ahead of everything here begins anew: what lies
    /// between is wanted by nobody, or read from the journal, as it is by whoever is behind.
    fn begin(&mut self, seen: i64) -> bool {
        if self.last < seen || self.events.is_empty() {
            *self = Self { last: seen, ..Self::default() };
        }
        self.last == seen
    }

    fn extend(&mut self, read: Vec<JournalEvent>) {
        for event in read {
            if event.id != self.last + 1 {
                (self.events, self.bytes) = (VecDeque::new(), 0);
            }
            let told = Arc::new(Told::from(event));
            self.last = told.id;
            self.bytes += told.text.len();
            self.events.push_back(told);
            while EVENTS_MAX < self.events.len() || BYTES_MAX < self.bytes && 1 < self.events.len() {
                self.bytes -= self.events.pop_front().map_or(0, |oldest| oldest.text.len());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use verger_core::time::{Timestamp, WallTime};
    use verger_store::Moment;

    fn events(ids: std::ops::RangeInclusive<i64>, body: &str) -> Vec<JournalEvent> {
        let event = |id| JournalEvent {
            id,
            at: Moment { observed: Timestamp::ZERO, wall: WallTime(0) },
            agent: None,
            task: None,
            kind: "x".to_owned(),
            body: body.to_owned(),
        };
        ids.map(event).collect()
    }

    fn ids(found: Option<Vec<Arc<Told>>>) -> Vec<i64> {
        found.into_iter().flatten().map(|told| told.id).collect()
    }

    #[test]
    fn x13_what_is_kept_ready_is_bounded_in_number_and_in_bytes() {
        let mut ready = Ready::default();
        ready.extend(events(1..=10_000, "{}"));
        assert_eq!((ready.events.len(), ready.last), (EVENTS_MAX, 10_000));
        assert_eq!(ids(ready.after(9_998)), [9_999, 10_000]);
        assert_eq!(ready.after(10_000 - 2_049).map(|_| ()), None, "that is in the journal");
        ready.extend(events(10_001..=10_012, &"x".repeat(1 << 20)));
        assert!(ready.bytes <= BYTES_MAX && ready.events.len() == 7, "{}", ready.events.len());
        ready.extend(events(10_013..=10_013, &"x".repeat(2 * BYTES_MAX)));
        assert_eq!(ids(ready.after(10_012)), [10_013], "however large, the newest is sent");
    }

    #[test]
    fn who_is_ahead_begins_anew_and_gaps_are_not_bridged() {
        let mut ready = Ready::default();
        assert!(ready.begin(5));
        ready.extend(events(6..=8, "{}"));
        assert_eq!((ready.begin(8), ready.begin(3), ids(ready.after(6))), (true, false, vec![7, 8]));
        ready.extend(events(20..=21, "{}"));
        assert_eq!((ids(ready.after(19)), ready.after(8).map(|_| ())), (vec![20, 21], None));
        assert_eq!((ready.begin(90), ready.events.len()), (true, 0));
    }

    #[test]
    fn x19_no_line_of_an_event_is_taken_for_a_field_of_the_stream() {
        let told = framed("x", "a\nid: 7\r\nevent: y\rz");
        assert_eq!(told, "event: x\ndata: a\ndata: id: 7\ndata: event: y\ndata: z\n\n");
    }
}
