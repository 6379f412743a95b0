//! How fast the store keeps things, beside `SQLite` alone with the same rows, and how fast it finds them again.
//!
//! `cargo run --release -p verger-store --example store [HISTORY_ROWS]` prints one line for each figure. What is
//! compared takes turns in the same run, for the disk of a busy machine is never the same twice. The history has a
//! million rows unless another number is given; ten million take five gigabytes below the temporary directory.
#![expect(clippy::print_stdout, reason = "it is a program that prints")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use verger_core::AgentView;
use verger_core::event::{Event, Fact};
use verger_core::id::{AgentId, Incarnation};
use verger_core::time::{Timestamp, WallTime};
use verger_engine::{Batch, Mark, Reading, Store};
use verger_store::{
    Archive, EncodeEvent, EngineStore, EventText, Moment, NewCheckpoint, Options, Place, Retention, Sample,
    open,
};

type Measured<T> = Result<T, Box<dyn Error>>;

const ROUNDS: u64 = 5;
const BATCHES: u64 = 40;
const EVENTS: u64 = 500;
const WRITERS: u64 = 64;
const SAVES: u64 = 40;
const BODY: usize = 2_048;
const DAY_MS: u64 = 86_400_000;
const MINUTE_MS: u64 = 60_000;
/// Minutes of the thirty days that a history is kept.
const MINUTES: u64 = 30 * 24 * 60;

struct Words;

impl EncodeEvent for Words {
    fn encode(&self, _: &Event, place: Place, _: Option<&AgentView>) -> EventText {
        let body = format!("{{\"id\":\"{}\",\"data\":\"{:0>300}\"}}", place.id, place.id);
        EventText { kind: "HEALTH_STATE_CHANGED", task: None, body }
    }
}

fn main() -> Measured<()> {
    let rows = std::env::args().nth(1).map_or(Ok(1_000_000), |rows| rows.parse())?;
    let directory = tempfile::tempdir()?;
    let (mut engine, archive) = open(Options::new(directory.path().join("store"), Arc::new(Words)))?;
    let mut raw = raw(&directory.path().join("raw.db"))?;
    events(&mut engine, &mut raw)?;
    checkpoints(&archive, &mut raw)?;
    history(&archive, rows)?;
    forgetting(&archive)
}

/// The same tables with the same indices, and the same promise to be on disk.
fn raw(path: &Path) -> Measured<Connection> {
    let raw = Connection::open(path)?;
    raw.pragma_update(None, "journal_mode", "WAL")?;
    raw.pragma_update(None, "synchronous", "FULL")?;
    raw.execute_batch(include_str!("../src/schema/0001_first.sql"))?;
    Ok(raw)
}

fn events(engine: &mut EngineStore, raw: &mut Connection) -> Measured<()> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let begin = Instant::now();
        for number in 1..=BATCHES {
            engine.commit(&batch(round * BATCHES + number))?;
        }
        ours.push(begin.elapsed());
        let begin = Instant::now();
        for number in 1..=BATCHES {
            insert_events(raw, round * BATCHES + number)?;
        }
        theirs.push(begin.elapsed());
    }
    let rate = |took: Duration| (BATCHES * EVENTS) as f64 / took.as_secs_f64();
    let (ours, theirs) = (rate(median(ours)), rate(median(theirs)));
    println!("durable events in batches of {EVENTS}   {ours:>9.0}/s");
    println!("the same rows by SQLite alone      {theirs:>9.0}/s   ratio {:.2}", ours / theirs);
    Ok(())
}

fn batch(number: u64) -> Batch {
    let now = Timestamp::from_millis(number);
    let event = |seq: u64| Event {
        at: now,
        agent: Some((AgentId::from(name(seq)), Incarnation(1))),
        fact: Fact::Interrupted { repeats: 1 },
    };
    let taken = Reading { boot: number, wall: WallTime(number.cast_signed()) };
    let mark = Mark { number, observed: now, taken };
    Batch { mark, events: (0..EVENTS).map(event).collect(), ..Batch::default() }
}

fn insert_events(raw: &mut Connection, number: u64) -> Measured<()> {
    let transaction = raw.transaction()?;
    for seq in 0..EVENTS {
        let id = (number - 1) * EVENTS + seq + 1;
        let body = format!("{{\"id\":\"{id}\",\"data\":\"{id:0>300}\"}}");
        transaction
            .prepare_cached(
                "INSERT INTO events VALUES (?1, 'HEALTH_STATE_CHANGED', ?2, 1, NULL, ?3, ?3, ?4)",
            )?
            .execute(params![id.cast_signed(), name(seq), number.cast_signed(), body])?;
    }
    Ok(transaction.commit()?)
}

fn name(seq: u64) -> String {
    format!("agent-{:04}", seq * 7 % 1_000)
}

/// Many who save one state after another and wait for each, beside groups of as many rows.
fn checkpoints(archive: &Archive, raw: &mut Connection) -> Measured<()> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut waits, mut groups) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let begin = Instant::now();
        let writer = |writer| {
            let archive = archive.clone();
            thread::spawn(move || save(&archive, round, writer).map_err(|error| error.to_string()))
        };
        for writer in (0..WRITERS).map(writer).collect::<Vec<_>>() {
            waits.extend(writer.join().map_err(|_| "a writer panicked")??);
        }
        ours.push(begin.elapsed());
        let begin = Instant::now();
        for group in 0..SAVES {
            let begin = Instant::now();
            insert_checkpoints(raw, round * SAVES + group)?;
            groups.push(begin.elapsed());
        }
        theirs.push(begin.elapsed());
    }
    let rate = |took: Duration| (WRITERS * SAVES) as f64 / took.as_secs_f64();
    let (ours, theirs) = (rate(median(ours)), rate(median(theirs)));
    println!("durable checkpoints, {WRITERS} writers    {ours:>9.0}/s   {}", quantiles(waits));
    println!("SQLite alone, {WRITERS} in a transaction  {theirs:>9.0}/s   {}", quantiles(groups));
    println!("                                   ratio {:.2}", ours / theirs);
    Ok(())
}

fn save(archive: &Archive, round: u64, writer: u64) -> Result<Vec<Duration>, verger_store::Error> {
    let mut waits = Vec::new();
    for number in 0..SAVES {
        let id = format!("{round}-{writer}-{number}");
        let new = NewCheckpoint {
            body: body(&id),
            id: Some(id.into()),
            task: format!("{round}-{writer}").into(),
            agent: name(writer).into(),
            parent: None,
            phase: None,
            at: Moment::default(),
        };
        let begin = Instant::now();
        archive.save_checkpoint(new)?.wait()?;
        waits.push(begin.elapsed());
    }
    Ok(waits)
}

fn insert_checkpoints(raw: &mut Connection, group: u64) -> Measured<()> {
    let transaction = raw.transaction()?;
    for writer in 0..WRITERS {
        let id = format!("{group}-{writer}");
        let body = body(&id);
        let hash = *blake3::hash(&body).as_bytes();
        transaction.prepare_cached("INSERT INTO checkpoint_bodies VALUES (?1, ?2, ?3)")?.execute(params![
            hash,
            BODY.cast_signed() as i64,
            body
        ])?;
        transaction
            .prepare_cached("INSERT INTO checkpoints VALUES (NULL, ?1, ?2, ?3, NULL, NULL, ?4, 0, 0)")?
            .execute(params![id, format!("{writer}"), name(writer), hash])?;
    }
    Ok(transaction.commit()?)
}

fn body(id: &str) -> Vec<u8> {
    id.bytes().cycle().take(BODY).collect()
}

/// One sample of each agent in each minute of thirty days; then a day of one of them, again and again.
fn history(archive: &Archive, rows: u64) -> Measured<()> {
    let agents = rows.div_ceil(MINUTES).max(1);
    let begin = Instant::now();
    for minute in 0..MINUTES.min(rows) {
        let sample = |number| Sample { agent: name(number).into(), state: "HEALTHY", body: "x".repeat(400) };
        let receipt = archive.put_samples(moment(minute * MINUTE_MS), (0..agents).map(sample).collect());
        if minute % 64 == 0 {
            receipt.wait()?;
        }
    }
    archive.put_samples(Moment::default(), Vec::new()).wait()?;
    let rate = rows as f64 / begin.elapsed().as_secs_f64();
    println!("vital signs sampled                {rate:>9.0}/s   {agents} agents");
    let (mut waits, mut found) = (Vec::new(), 0);
    for query in 0..1_000_u64 {
        let agent = AgentId::from(name(query * 31 % agents));
        let from = query * 37 % 29 * DAY_MS;
        let (from, until) = (moment(from).wall, moment(from + DAY_MS).wall);
        let begin = Instant::now();
        found = archive.history(&agent, from, until, 10_000)?.len();
        waits.push(begin.elapsed());
    }
    println!("24 h out of {rows:>10} rows ({found} of them)      {}", quantiles(waits));
    Ok(())
}

/// What others feel of it when old samples are dropped.
fn forgetting(archive: &Archive) -> Measured<()> {
    let sweeper = thread::spawn({
        let archive = archive.clone();
        let now = Timestamp::from_millis(60 * DAY_MS);
        move || archive.sweep(&Retention::default(), now, 200)
    });
    let mut waits = Vec::new();
    loop {
        waits.extend(save(archive, ROUNDS, waits.len() as u64)?);
        if sweeper.is_finished() {
            break;
        }
    }
    let swept = sweeper.join().map_err(|_| "the sweeper panicked")??;
    println!("one checkpoint while {} rows are dropped   {}", swept.rows, quantiles(waits));
    Ok(())
}

fn moment(millis: u64) -> Moment {
    Moment { observed: Timestamp::from_millis(millis), wall: WallTime(millis.cast_signed()) }
}

fn median(mut values: Vec<Duration>) -> Duration {
    values.sort();
    values[values.len() / 2]
}

fn quantiles(mut values: Vec<Duration>) -> String {
    values.sort();
    let at = |share: usize| values[(values.len() - 1) * share / 1_000].as_secs_f64() * 1_000.0;
    format!("p50 {:.2} ms  p99 {:.2} ms  max {:.2} ms", at(500), at(990), at(1_000))
}
