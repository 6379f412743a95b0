//! The journal: numbered without gaps, readable by agent, task and time.

use std::sync::mpsc;

use verger_core::time::WallTime;
use verger_engine::Store;
use verger_store::{EventQuery, JournalEvent, Retention, open};

use crate::desk::{Desk, WALL, at, batch, day, interrupted, registered};

fn ids(events: &[JournalEvent]) -> Vec<i64> {
    events.iter().map(|event| event.id).collect()
}

#[test]
fn a_client_resumes_after_any_event_and_skips_none() {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    for number in 1..=10_u64 {
        let mut batch = batch(number, number * 100);
        batch.events = vec![interrupted("a", number * 100), interrupted("b", number * 100)];
        store.commit(&batch).expect("committed");
    }
    assert_eq!(ids(&archive.events_after(0, 99).expect("read")), (1..=20).collect::<Vec<_>>());
    assert_eq!(ids(&archive.events_after(13, 3).expect("read")), [14, 15, 16]);
    assert_eq!(ids(&archive.events_after(20, 3).expect("read")), [0_i64; 0]);
    assert_eq!(archive.oldest_event().expect("read"), Some(1));
}

#[test]
fn an_event_bears_the_time_at_which_it_happened_on_both_clocks() {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    let mut late = batch(1, 5_000);
    late.events = vec![registered("a", "t", 3_800)];
    store.commit(&late).expect("committed");
    let event = archive.event(1).expect("read").expect("there");
    assert_eq!(event.at, at(3_800), "the batch was taken 1.2 s later");
    assert_eq!(event.agent.expect("an agent").0.as_str(), "a");
    assert_eq!((event.kind.as_str(), event.task), ("REGISTERED", Some("t".into())));
}

#[test]
fn events_are_found_by_agent_task_kind_and_time() {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    for number in 1..=6_u64 {
        let mut batch = batch(number, number * 1_000);
        batch.events = vec![interrupted("a", number * 1_000), registered("b", "t", number * 1_000)];
        store.commit(&batch).expect("committed");
    }
    let found = |query| ids(&archive.events(&query).expect("read"));
    let all = || EventQuery { limit: 99, ..EventQuery::default() };
    assert_eq!(found(EventQuery { agent: Some("a".into()), ..all() }), [11, 9, 7, 5, 3, 1]);
    assert_eq!(found(EventQuery { task: Some("t".into()), limit: 2, ..all() }), [12, 10]);
    assert_eq!(found(EventQuery { task: Some("t".into()), before: Some(10), limit: 2, ..all() }), [8, 6]);
    assert_eq!(found(EventQuery { kind: Some("REGISTERED".into()), limit: 1, ..all() }), [12]);
    let (from, until) = (Some(WallTime(WALL + 2_000)), Some(WallTime(WALL + 4_000)));
    assert_eq!(found(EventQuery { agent: Some("b".into()), from, until, ..all() }), [6, 4]);
    assert_eq!(found(EventQuery { agent: Some("nobody".into()), ..all() }), [0_i64; 0]);
}

#[test]
fn l46_a_number_is_never_given_out_again_though_all_was_forgotten() {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    let mut old = batch(1, 10);
    old.events = vec![interrupted("a", 10), interrupted("a", 10)];
    store.commit(&old).expect("committed");
    archive.sweep(&Retention::default(), day(90), 10).expect("swept");
    assert_eq!(archive.oldest_event().expect("read"), Some(2), "the newest stays, for its number");
    drop((store, archive));
    let (mut store, archive) = desk.open();
    let mut new = batch(2, 20);
    new.events = vec![interrupted("a", 20)];
    store.commit(&new).expect("committed");
    assert_eq!(archive.newest_event().expect("read"), 3);
}

#[test]
fn who_follows_the_journal_is_told_of_the_newest_event_after_its_commit() {
    let desk = Desk::new();
    let (tell, told) = mpsc::channel();
    let mut options = desk.options();
    options.on_events = Some(Box::new(move |newest| tell.send(newest).expect("the test listens")));
    let (mut store, archive) = open(options).expect("it opens");
    store.commit(&batch(1, 10)).expect("committed");
    let mut some = batch(2, 20);
    some.events = vec![interrupted("a", 20), interrupted("a", 20)];
    store.commit(&some).expect("committed");
    assert_eq!(told.recv(), Ok(2), "a batch without events tells nothing");
    assert_eq!(archive.newest_event().expect("read"), 2);
}
