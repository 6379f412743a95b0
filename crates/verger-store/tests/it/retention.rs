//! L46: what is old goes in chunks; what work may have to resume from stays.

use std::fs;

use verger_core::time::{Span, Timestamp};
use verger_engine::Store;
use verger_store::{Archive, INLINE_MAX, MessageText, Moment, NewCheckpoint, Retention, Sample};

use crate::desk::{Desk, at, batch, checkpoint, day, interrupted, nudge, save};

const HOUR: u64 = 3_600_000;

fn checkpoint_on(day: u64, id: &str, task: &str, parent: Option<&str>, body: &[u8]) -> NewCheckpoint {
    NewCheckpoint { at: at(day * 24 * HOUR), ..checkpoint(id, task, parent, body) }
}

fn ids(archive: &Archive, task: &str) -> Vec<String> {
    let list = archive.checkpoints(&task.into(), None, 999).expect("listed");
    list.iter().rev().map(|info| info.id.to_string()).collect()
}

fn sweep(archive: &Archive, now: Timestamp) {
    let swept = archive.sweep(&Retention::default(), now, 1_000).expect("swept");
    assert!(swept.complete);
}

#[test]
fn l46_thirty_days_are_kept_of_everything_and_not_more() {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    for number in 1..=40_u64 {
        let millis = number * 24 * HOUR;
        let mut daily = batch(number, millis);
        daily.events = vec![interrupted("a", millis)];
        daily.effects = vec![nudge("a", number as u32)];
        daily.finished = if number > 1 { vec![nudge("a", number as u32 - 1).key] } else { vec![] };
        store.commit(&daily).expect("committed");
        let sample = Sample { agent: "a".into(), state: "HEALTHY", body: "{}".into() };
        archive.put_samples(at(millis), vec![sample]).wait().expect("kept");
        let (id, text) = (format!("m{number}").into(), "hello".to_owned());
        let message = MessageText { id, sender: "a".into(), receiver: "b".into(), text, at: at(millis) };
        archive.put_message(message).wait().expect("kept");
    }
    sweep(&archive, day(40));
    let rows = |table: &str| -> (u32, u64) {
        let hand = rusqlite::Connection::open(desk.path("verger.db")).expect("a person with sqlite3");
        let column = if table == "effects" { "finished_observed_ms" } else { "observed_ms" };
        let sql = format!("SELECT count(*), min({column}) / 86400000 FROM {table}");
        hand.query_row(&sql, [], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))
            .expect("a count")
    };
    for table in ["events", "vitals", "messages"] {
        assert_eq!(rows(table), (31, 10), "{table}: what is just thirty days old is kept");
    }
    assert_eq!(rows("effects"), (32, 10), "and the one that is not finished");
    assert_eq!(archive.oldest_event().expect("read"), Some(10));
    sweep(&archive, day(400));
    assert_eq!(store.load().expect("loaded").unfinished.len(), 1, "what is to be done stays for ever");
    let hand = rusqlite::Connection::open(desk.path("verger.db")).expect("a person with sqlite3");
    let named: u32 = hand.query_row("SELECT count(*) FROM agents", [], |row| row.get(0)).expect("a count");
    assert_eq!(named, 0, "no agent is left of whom there is no sample");
}

#[test]
fn l46_each_kind_has_its_own_time_and_audit_is_kept_apart() {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    for number in 1..=3_u64 {
        let mut daily = batch(number, number * 24 * HOUR);
        daily.events = vec![interrupted("a", number * 24 * HOUR)];
        store.commit(&daily).expect("committed");
        let sample = Sample { agent: "a".into(), state: "HEALTHY", body: "{}".into() };
        archive.put_samples(at(number * 24 * HOUR), vec![sample]).wait().expect("kept");
    }
    let line = verger_store::AuditLine {
        actor: "ops".into(),
        action: "stop".into(),
        target: "a".into(),
        detail: "{}".into(),
        at: at(0),
    };
    archive.add_audit(line).wait().expect("kept");
    let short = Retention { vitals: Span::hours(24), ..Retention::default() };
    archive.sweep(&short, day(3), 99).expect("swept");
    assert_eq!(archive.events_after(0, 9).expect("read").len(), 3);
    let all = archive.history(&"a".into(), at(0).wall, at(99 * 24 * HOUR).wall, 9).expect("read");
    assert_eq!(all.len(), 2);
    sweep(&archive, day(4_000));
    assert_eq!(archive.audit_after(0, 9).expect("read").len(), 1);
}

#[test]
fn l46_a_sweep_is_bounded_and_the_next_one_goes_on() {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    let mut many = batch(1, HOUR);
    many.events = (0..1_200).map(|_| interrupted("a", HOUR)).collect();
    store.commit(&many).expect("committed");
    let mut left = Vec::new();
    loop {
        let swept = archive.sweep(&Retention::default(), day(90), 1).expect("swept");
        left.push(1_200 - archive.oldest_event().expect("read").expect("one") + 1);
        if swept.complete {
            break;
        }
    }
    assert_eq!(left, [700, 200, 1], "five hundred at a time, and the newest stays");
}

#[test]
fn a_clock_that_is_set_to_another_year_deletes_nothing() {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    let mut today = batch(1, HOUR);
    today.events = vec![interrupted("a", HOUR), interrupted("a", HOUR)];
    store.commit(&today).expect("committed");
    let in_ten_years = verger_core::time::WallTime(at(0).wall.0 + 10 * 366 * 24 * HOUR.cast_signed());
    let now: Moment = archive.moment(in_ten_years).expect("a moment");
    sweep(&archive, now.observed);
    assert_eq!(archive.oldest_event().expect("read"), Some(1));
}

#[test]
fn l46_what_an_open_task_can_resume_from_stays_however_old_it_is() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    let large = |number: u8| vec![number; INLINE_MAX + 1];
    let mut parent: Option<String> = None;
    for number in 1..=12 {
        let id = format!("c{number}");
        let new = checkpoint_on(u64::from(number), &id, "open", parent.as_deref(), &large(number));
        save(&archive, new).expect("saved");
        parent = Some(id);
    }
    let damaged = desk.path("checkpoints").join(blake3::hash(&large(12)).to_hex().as_str());
    fs::write(damaged, b"rubbish").expect("a disk that lies");
    sweep(&archive, day(400));
    let kept: Vec<_> = (4..=11).map(|number| format!("c{number}")).collect();
    assert_eq!(ids(&archive, "open"), kept, "the eight newest that are intact, as recovery chooses");
    let files = || fs::read_dir(desk.path("checkpoints")).expect("a directory").count();
    assert_eq!(files(), 8, "bodies go with their checkpoints");

    archive.end_task("open".into(), at(500 * 24 * HOUR)).wait().expect("kept");
    sweep(&archive, day(501));
    assert_eq!(ids(&archive, "open"), [""; 0]);
    assert_eq!(files(), 0);
    assert!(archive.task(&"open".into()).expect("read").is_some(), "what is written of it has its own time");
    sweep(&archive, day(531));
    assert!(archive.task(&"open".into()).expect("read").is_none());
}

#[test]
fn l46_a_body_that_another_checkpoint_shares_stays() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    let body = vec![1; INLINE_MAX + 1];
    save(&archive, checkpoint_on(1, "old", "over", None, &body)).expect("saved");
    save(&archive, checkpoint_on(50, "new", "going on", None, &body)).expect("saved");
    archive.end_task("over".into(), at(0)).wait().expect("kept");
    sweep(&archive, day(60));
    assert!(archive.checkpoint(&"old".into()).expect("read").is_none());
    let (_, found) = archive.checkpoint(&"new".into()).expect("read").expect("there");
    assert_eq!(found, verger_store::CheckpointBody::Intact(body));
}

#[test]
fn l46_more_open_tasks_than_a_chunk_holds_starve_nobody() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    let receipts: Vec<_> = (0..700)
        .map(|number| {
            let new = checkpoint_on(1, &format!("c{number}"), &format!("t{number}"), None, b"state");
            archive.save_checkpoint(new).expect("handed in")
        })
        .collect();
    for receipt in receipts {
        receipt.wait().expect("saved");
    }
    save(&archive, checkpoint_on(2, "last", "over", None, b"last")).expect("saved");
    archive.end_task("over".into(), at(0)).wait().expect("kept");
    sweep(&archive, day(60));
    assert!(archive.checkpoint(&"last".into()).expect("read").is_none());
    assert!(archive.checkpoint(&"c0".into()).expect("read").is_some());
    assert!(archive.checkpoint(&"c699".into()).expect("read").is_some());
}
