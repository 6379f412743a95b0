//! How fast a batch of heartbeats is read, beside `serde_json` reading the same bytes into the least it could.
//!
//! `cargo run --release -p verger-api --example bench`. Both run in turn, several times; the best of each counts, for
//! whatever else runs on the machine only ever slows down.

#![expect(clippy::print_stdout, reason = "its output is its purpose")]

use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::Deserialize;
use verger_api::ingest::{self, Ingest, Limits};
use verger_api::{CloudEvent, EventData, Time, event, redact};

const HEARTBEATS: usize = 1_000;
const ROUNDS: usize = 200;

/// The least that a reader of heartbeats could read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Minimal<'a> {
    #[serde(borrow)]
    agent_id: &'a str,
    token_count: u64,
}

/// The same fields as ours, by derived code, without limits, aliases or errors that name a field.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "read, and then dropped")]
struct Derived {
    agent_id: String,
    task_id: Option<String>,
    timestamp: Option<String>,
    phase: Option<String>,
    last_tool_call: Option<String>,
    token_count: Option<u64>,
    error_count: Option<u64>,
    progress_indicator: Option<String>,
    status: Option<String>,
}

fn main() {
    let body = body();
    let array = format!("[{}]", body.trim_end().replace('\n', ","));
    let one = body.lines().next().unwrap_or_default();
    let limits = Limits::default();
    println!("{HEARTBEATS} heartbeats, {} bytes each", body.len() / HEARTBEATS);

    let minimal = per_second(HEARTBEATS, || {
        let tokens = |line| {
            serde_json::from_str::<Minimal<'_>>(line)
                .map_or(0, |it| it.token_count + it.agent_id.len() as u64)
        };
        black_box(body.lines().map(tokens).sum::<u64>());
    });
    let derived = per_second(HEARTBEATS, || {
        let read = |line| serde_json::from_str::<Derived>(line).is_ok();
        black_box(body.lines().filter(|line| read(line)).count());
    });
    let ours = per_second(HEARTBEATS, || taken(&body, &limits, HEARTBEATS));
    let ours_array = per_second(HEARTBEATS, || taken(&array, &limits, HEARTBEATS));
    let ours_one = per_second(1, || taken(one, &limits, 1));
    println!("serde_json, minimal struct, NDJSON  {minimal:>12.0} heartbeats/s");
    println!("serde_json, derived struct, NDJSON  {derived:>12.0} heartbeats/s");
    println!(
        "verger-api, NDJSON                  {ours:>12.0} heartbeats/s, {:.2} of minimal, {:.2} of derived",
        ours / minimal,
        ours / derived
    );
    println!("verger-api, array                   {ours_array:>12.0} heartbeats/s");
    println!("verger-api, one object              {ours_one:>12.0} heartbeats/s");
    others();
}

fn others() {
    let line = "The quick brown fox reads tests/it/main.rs and finds token_count=12 in line 4711.\n";
    let text = line.repeat(HEARTBEATS);
    let megabytes = per_second(HEARTBEATS, || drop(black_box(redact(&text)))) * line.len() as f64 / 1e6;
    println!("redact, clean text                  {megabytes:>12.0} MB/s");
    let event = CloudEvent {
        id: "4711".into(),
        source: "/verger".into(),
        subject: Some("agent-0007".into()),
        time: Time::from_millis(1_800_000_000_000),
        incarnation: Some(2),
        task_id: None,
        traceparent: None,
        data: EventData::NudgeDelivered(event::NudgeDelivered {
            agent_id: "agent-0007".to_owned(),
            id: "agent-0007/2/17".to_owned(),
        }),
    };
    let mut into = Vec::with_capacity(1_024);
    let events = per_second(1, || {
        into.clear();
        event.encode(&mut into);
        black_box(&into);
    });
    println!("CloudEvent, encoded                 {events:>12.0} events/s");
}

fn taken(body: &str, limits: &Limits, expected: usize) {
    let count = match black_box(ingest::heartbeats(body.as_bytes(), limits)) {
        Ingest::One(item) => usize::from(item.is_ok()),
        Ingest::Many(batch) => batch.items.len(),
    };
    assert_eq!(count, expected, "all of them are good");
}

/// The best of many rounds, as so many things per second.
fn per_second(things: usize, mut work: impl FnMut()) -> f64 {
    let repeats = HEARTBEATS / things;
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for _ in 0..repeats {
            work();
        }
        best = best.min(begin.elapsed());
    }
    (things * repeats) as f64 / best.as_secs_f64()
}

fn body() -> String {
    let mut body = String::new();
    for number in 0..HEARTBEATS {
        let _ = writeln!(
            body,
            r#"{{"agentId":"agent-{number:05}","taskId":"task-{number:05}","timestamp":"2026-11-16T14:28:00.123Z","phase":"implementing","lastToolCall":"2026-11-16T14:27:58Z","tokenCount":{},"errorCount":{},"progressIndicator":"step {number} of 2000","status":"busy"}}"#,
            number * 731,
            number % 7,
        );
    }
    body
}
