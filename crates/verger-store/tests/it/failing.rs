//! A disk that fails: a clear error, nothing acknowledged, and the same batch works once it is mended.

use std::fs;
use std::os::unix::fs::FileExt;

use rusqlite::Connection;
use verger_engine::Store;
use verger_store::{Retention, open};

use crate::desk::{Desk, batch, checkpoint, day, interrupted, row, save, told};

#[test]
fn nothing_is_acknowledged_that_goes_into_a_removed_file() {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    store.commit(&batch(1, 10)).expect("committed");
    let (here, away) = (desk.path("verger.db"), desk.path("away"));
    fs::rename(&here, &away).expect("somebody moves it");
    let error = store.commit(&batch(2, 20)).expect_err("it would be lost");
    let expected = format!("{} was removed or replaced while the monitor runs", here.display());
    assert_eq!(told(&error), format!("could not write to the store: {expected}"));
    assert!(save(&archive, checkpoint("c1", "t", None, b"one")).is_err());
    fs::write(&here, b"").expect("somebody puts another in its place");
    assert!(store.commit(&batch(2, 20)).is_err());
    fs::rename(&away, &here).expect("and back");
    store.commit(&batch(2, 20)).expect("the engine tries again, and it works");
    assert_eq!(store.load().expect("loaded").mark, Some(batch(2, 20).mark));
}

#[test]
fn nothing_is_acknowledged_that_goes_into_a_removed_log() {
    let desk = Desk::new();
    let (mut store, _archive) = desk.open();
    store.commit(&batch(1, 10)).expect("committed");
    fs::rename(desk.path("verger.db-wal"), desk.path("away")).expect("somebody moves it");
    let error = store.commit(&batch(2, 20)).expect_err("it would be lost");
    assert!(told(&error).contains("verger.db-wal was removed or replaced"), "{}", told(&error));
    fs::rename(desk.path("away"), desk.path("verger.db-wal")).expect("and back");
    store.commit(&batch(2, 20)).expect("the engine tries again, and it works");
}

#[test]
fn l41_a_disk_that_takes_long_is_asked_again_and_the_batch_is_there_once() {
    let desk = Desk::new();
    let (mut store, _archive) = desk.open();
    store.commit(&batch(1, 10)).expect("committed");
    let held = Connection::open(desk.path("verger.db")).expect("a person with sqlite3");
    held.execute_batch("BEGIN IMMEDIATE").expect("it holds the database");
    let error = store.commit(&batch(2, 20)).expect_err("it cannot be had");
    assert!(error.is_slow, "{}", told(&error));
    assert!(told(&error).contains("the disk has not taken a write"), "{}", told(&error));
    held.execute_batch("ROLLBACK").expect("it lets go");
    while let Err(error) = store.commit(&batch(2, 20)) {
        assert!(error.is_slow, "{}", told(&error));
    }
    assert_eq!(store.load().expect("loaded").mark, Some(batch(2, 20).mark));
}

#[test]
fn nothing_is_written_to_a_file_that_was_found_to_be_damaged_until_it_is_whole() {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    for number in 1..=50 {
        let mut next = batch(number, number);
        next.events = (0..20).map(|_| interrupted("a", number)).collect();
        store.commit(&next).expect("committed");
    }
    move_into_the_file(&desk);
    let flip = || {
        let mut bytes = fs::read(desk.path("verger.db")).expect("a file");
        let at = bytes.len() / 4_096 / 2 * 4_096;
        bytes[at..at + 64].iter_mut().for_each(|byte| *byte = !*byte);
        let file = fs::OpenOptions::new().write(true).open(desk.path("verger.db")).expect("a file");
        file.write_all_at(&bytes[at..at + 64], at as u64).expect("flipped");
    };
    assert!(!archive.is_doubtful());
    flip();
    assert_ne!(archive.check().expect("checked"), Vec::<String>::new());
    assert!(archive.is_doubtful(), "it is looked through again");
    let error = store.commit(&batch(51, 51)).expect_err("it would spread");
    assert!(told(&error).contains("is damaged: ") && told(&error).contains("VG0203"), "{}", told(&error));
    flip();
    assert_eq!(archive.check().expect("checked"), Vec::<String>::new());
    store.commit(&batch(51, 51)).expect("it is whole again");
    assert!(!archive.is_doubtful());
}

/// Nothing is left in the log. The store may be at it itself, and only one can at a time.
fn move_into_the_file(desk: &Desk) {
    let db = Connection::open(desk.path("verger.db")).expect("a connection");
    let is_busy =
        || db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).expect("it is tried");
    while is_busy() {}
}

#[test]
fn l46_a_full_disk_refuses_a_batch_whole_and_takes_it_once_there_is_room() {
    let desk = Desk::new();
    let mut options = desk.options();
    options.size_max = Some(1 << 20);
    let (mut store, archive) = open(options).expect("it opens");
    let mut number = 0;
    let full = loop {
        number += 1;
        let mut next = batch(number, number);
        next.events = (0..200).map(|_| interrupted("a", number)).collect();
        next.rows = vec![row("a", &number.to_le_bytes())].into();
        if let Err(error) = store.commit(&next) {
            assert!(told(&error).contains("full"), "{}", told(&error));
            break next;
        }
        assert!(number < 10_000, "the limit is never reached");
    };
    let error = store.commit(&full).expect_err("it is still full");
    assert!(told(&error).contains("full"), "{}", told(&error));
    let kept = store.load().expect("loaded");
    assert_eq!(kept.mark.expect("a mark").number, number - 1);
    assert_eq!(kept.rows[0].1, (number - 1).to_le_bytes(), "nothing of the refused batch is there");
    assert_eq!(archive.newest_event().expect("read"), 200 * (number - 1).cast_signed());
    archive.sweep(&Retention::default(), day(90), 1_000).expect("forgetting works on a full disk");
    store.commit(&full).expect("there is room now");
    assert_eq!(archive.newest_event().expect("read"), 200 * number.cast_signed());
}
