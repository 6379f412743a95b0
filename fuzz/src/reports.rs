//! What agents send: heartbeats and signals, one, an array, or a line each, all the way into the fleet.

use std::fmt::Debug;

use serde::Serialize;
use verger_api::ingest::{self, Ingest, IngestReport, Limits};
use verger_api::{Heartbeat, Signal};
use verger_core::policy::Policies;
use verger_core::signal::{self, Trust};
use verger_core::time::WallTime;
use verger_core::{Collector, Fleet, Span, Timestamp};
use verger_server::wire;

use crate::{assert_alike, assert_told};

/// Limits that a case of a few bytes reaches.
const TIGHT: Limits =
    Limits { items: 3, item_bytes: 160, depth: 3, name_bytes: 12, label_bytes: 24, text_bytes: 40 };

/// When everything arrives: 2026-09-21.
const RECEIVED: WallTime = WallTime(1_790_000_000_000);

/// `POST /v1/signals`.
pub fn signals(bytes: &[u8]) {
    for limits in [Limits::default(), TIGHT] {
        let heard = ingest::signals(bytes, &limits);
        assert_eq!(heard, ingest::signals(bytes, &limits), "the same bytes, another answer");
        let (items, report) = heard.into_parts();
        assert_orderly(&items, &report, &limits);
        let calls = wire::Calls::default();
        let mut told = Vec::new();
        for (_, item) in &items {
            assert_name(&item.agent_id, &limits);
            assert_same_again(item, |text| match ingest::signals(text, &Limits::default()) {
                Ingest::One(again) => again.map(Signal::into_owned),
                Ingest::Many(_) => Err("one became many".to_owned()),
            });
            told.extend(wire::signal(item, RECEIVED, Trust::Verified, &calls));
        }
        borne(&told);
    }
}

/// `POST /v1/heartbeats`.
pub fn heartbeats(bytes: &[u8]) {
    for limits in [Limits::default(), TIGHT] {
        let heard = ingest::heartbeats(bytes, &limits);
        assert_eq!(heard, ingest::heartbeats(bytes, &limits), "the same bytes, another answer");
        let (items, report) = heard.into_parts();
        assert_orderly(&items, &report, &limits);
        for (_, item) in &items {
            assert_name(&item.agent_id, &limits);
            assert_same_again(item, |text| {
                serde_json::from_slice::<Heartbeat<'static>>(text).map_err(|error| error.to_string())
            });
        }
        let told: Vec<_> =
            items.iter().map(|(_, item)| wire::heartbeat(item, RECEIVED, Trust::Unverified)).collect();
        borne(&told);
    }
}

/// A body of lines means what its lines mean, one by one.
pub fn lines(bytes: &[u8]) {
    let limits = Limits::default();
    let Ingest::Many(together) = ingest::signals(bytes, &limits) else { return };
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    if start.starts_with(b"[") {
        return;
    }
    let alone: Vec<_> = start
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.iter().all(u8::is_ascii_whitespace))
        .map(|line| match ingest::signals(line, &limits) {
            Ingest::One(read) => read.ok(),
            // A line that is an array is no item.
            Ingest::Many(_) => None,
        })
        .collect();
    assert_eq!(together.items.len() + together.rejected.len(), alone.len());
    for (index, item) in &together.items {
        assert_eq!(alone[*index].as_ref(), Some(item), "line {index} means something else alone");
    }
    for rejected in &together.rejected {
        let is_marked = alone[rejected.index].is_some();
        assert!(!is_marked || has_mark(start, rejected.index), "line {} was good alone", rejected.index);
    }
}

/// Only a body as a whole may begin with a byte order mark.
fn has_mark(body: &[u8], index: usize) -> bool {
    let mut lines =
        body.split(|byte| *byte == b'\n').filter(|line| !line.iter().all(u8::is_ascii_whitespace));
    lines.nth(index).is_some_and(|line| line.starts_with(b"\xef\xbb\xbf"))
}

/// Each item has one place and one answer, in order, and they are no more than may be.
fn assert_orderly<T>(items: &[(usize, T)], report: &IngestReport, limits: &Limits) {
    assert_eq!(report.accepted, items.len());
    // One more tells that the rest was not read, and one that the array had no end.
    assert!(items.len() <= limits.items && report.rejected.len() <= limits.items + 2);
    let mut places: Vec<_> = items.iter().map(|(index, _)| *index).collect();
    places.extend(report.rejected.iter().map(|rejected| rejected.index));
    places.sort_unstable();
    assert!(places.iter().copied().eq(0..places.len()), "each item is told once: {places:?}");
    report.rejected.iter().for_each(|rejected| assert_told(&rejected.error));
}

fn assert_name(name: &str, limits: &Limits) {
    assert!((1..=limits.name_bytes).contains(&name.len()), "a name of {} bytes", name.len());
    assert!(!name.chars().any(char::is_control), "control characters in a name: {name:?}");
}

/// What was accepted is written as it can be read.
fn assert_same_again<T: Serialize + Debug, U: PartialEq<T> + Debug + Serialize>(
    item: &T,
    read: impl Fn(&[u8]) -> Result<U, String>,
) {
    let text = serde_json::to_vec(item).expect("what came as JSON can be written as JSON");
    let again = read(&text)
        .unwrap_or_else(|error| panic!("{error}; it was written as {}", String::from_utf8_lossy(&text)));
    assert_alike(&again, item);
}

/// The fleet takes it in, and lives on with it.
fn borne(told: &[signal::Signal]) {
    if told.is_empty() {
        return;
    }
    let mut fleet = Fleet::new(Policies::default(), 1);
    let mut out = Collector::default();
    let mut now = Timestamp::from_millis(60_000);
    for signal in told {
        let _ = fleet.observe(now, signal, &mut out);
        now += Span::millis(10);
    }
    for later in [Span::secs(1), Span::hours(1)] {
        fleet.wake(now + later, &mut out);
        let _ = fleet.view(now + later, &told[0].agent);
    }
    fleet.take_all_rows(&mut |_| {});
}
