//! Opening: one monitor, private files, and nothing touched that is not understood.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rusqlite::Connection;
use verger_engine::Store;
use verger_store::Error;

use crate::desk::{Desk, batch, told};

fn refused(desk: &Desk) -> Error {
    desk.try_open().map(drop).expect_err("it must not open")
}

/// Makes a store, changes its file and says what it then holds.
fn changed(change: impl FnOnce(&mut Vec<u8>)) -> (Desk, Vec<u8>) {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    store.commit(&batch(1, 10)).expect("committed");
    drop((store, archive));
    let mut bytes = fs::read(desk.path("verger.db")).expect("a file");
    change(&mut bytes);
    fs::write(desk.path("verger.db"), &bytes).expect("changed");
    (desk, bytes)
}

#[test]
fn a_second_monitor_is_told_who_is_there() {
    let desk = Desk::new();
    let first = desk.open();
    let error = refused(&desk);
    let (path, pid) = (desk.root().display().to_string(), std::process::id());
    assert_eq!(error.to_string(), format!("{path} is in use by another monitor (process {pid})"));
    drop(first);
    drop(desk.open());
}

#[test]
fn nobody_else_may_read_what_is_kept() {
    let desk = Desk::new();
    let (mut store, _archive) = desk.open();
    store.commit(&batch(1, 10)).expect("committed");
    let mode = |name: &str| fs::metadata(desk.path(name)).expect(name).permissions().mode() & 0o777;
    assert_eq!([mode(""), mode("checkpoints")], [0o700; 2]);
    let files = ["verger.db", "verger.db-wal", "verger.db-shm", "verger.lock"];
    assert_eq!(files.map(mode), [0o600; 4]);
}

#[test]
fn every_commit_reaches_the_disk() {
    let desk = Desk::new();
    let (mut store, _archive) = desk.open();
    store.commit(&batch(1, 10)).expect("committed");
    let hand = Connection::open(desk.path("verger.db")).expect("a person with sqlite3");
    let mode: String = hand.pragma_query_value(None, "journal_mode", |row| row.get(0)).expect("a mode");
    assert_eq!(mode, "wal");
}

#[test]
fn a_file_of_a_newer_version_is_refused_and_left_as_it_is() {
    let desk = Desk::new();
    drop(desk.open());
    let hand = Connection::open(desk.path("verger.db")).expect("a newer version");
    hand.execute("UPDATE meta SET value = 99 WHERE name = 'schema'", []).expect("raised");
    drop(hand);
    let before = fs::read(desk.path("verger.db")).expect("a file");
    let error = refused(&desk);
    let path = desk.path("verger.db").display().to_string();
    assert_eq!(
        error.to_string(),
        format!(
            "{path} was written by a newer version: it has schema 99, and this one reads up to 3; nothing was changed"
        )
    );
    assert_eq!(fs::read(desk.path("verger.db")).expect("a file"), before);
}

#[test]
fn a_file_of_another_program_is_refused_and_left_as_it_is() {
    let desk = Desk::new();
    fs::create_dir_all(desk.root()).expect("a directory");
    let theirs = Connection::open(desk.path("verger.db")).expect("a database");
    theirs.execute_batch("CREATE TABLE theirs (x)").expect("a table");
    drop(theirs);
    let before = fs::read(desk.path("verger.db")).expect("a file");
    assert!(matches!(refused(&desk), Error::Foreign(_)));
    assert_eq!(fs::read(desk.path("verger.db")).expect("a file"), before);
}

#[test]
fn a_damaged_file_is_refused_and_left_as_it_is() {
    type Change = fn(&mut Vec<u8>);
    let cases: [(Change, &str); 4] = [
        (|bytes| bytes[..16].fill(b'x'), "its header is not that of a database"),
        (|bytes| bytes.truncate(60), "it ends within its header"),
        (|bytes| bytes.truncate(bytes.len() - 4_096), "its end is missing"),
        (|bytes| bytes[100..108].fill(0xff), "malformed"),
    ];
    for (change, expected) in cases {
        let (desk, before) = changed(change);
        let error = refused(&desk);
        assert!(matches!(error, Error::Damaged { .. }), "{expected}: {}", told(&error));
        assert!(error.to_string().contains(expected), "{}", told(&error));
        assert_eq!(fs::read(desk.path("verger.db")).expect("a file"), before);
    }
}

/// A file as `kill -9` leaves it within a checkpoint: its header is carried, its end is still in the log alone.
fn cut_short(desk: &Desk) -> (Vec<u8>, Vec<u8>) {
    drop(desk.open());
    let [file, log] = ["verger.db", "verger.db-wal"].map(|name| desk.path(name));
    let hand = Connection::open(&file).expect("a connection");
    hand.execute_batch("PRAGMA wal_autocheckpoint = 0; CREATE TABLE filler (body BLOB)").expect("a table");
    hand.execute("INSERT INTO filler VALUES (randomblob(100000))", []).expect("filled");
    let (mut before, pages) = (fs::read(&file).expect("a file"), fs::read(&log).expect("a log"));
    hand.execute_batch("PRAGMA wal_checkpoint(FULL)").expect("carried");
    let after = fs::read(&file).expect("a file");
    assert!(before.len() < after.len(), "it has grown");
    before[..4_096].copy_from_slice(&after[..4_096]);
    drop(hand);
    (before, pages)
}

#[test]
fn a_checkpoint_that_was_cut_short_is_no_damage() {
    let desk = Desk::new();
    let (file, log) = cut_short(&desk);
    fs::write(desk.path("verger.db"), &file).expect("put back");
    fs::write(desk.path("verger.db-wal"), &log).expect("put back");
    let (_store, archive) = desk.open();
    assert_eq!(archive.check().expect("checked"), Vec::<String>::new());
    let hand = Connection::open(desk.path("verger.db")).expect("a connection");
    let held: u32 = hand.query_row("SELECT length(body) FROM filler", [], |row| row.get(0)).expect("a row");
    assert_eq!(held, 100_000);
}

#[test]
fn an_end_that_the_log_does_not_hold_is_missing() {
    type Change = fn(&mut Vec<u8>);
    let cases: [(Change, &str); 4] = [
        (Vec::clear, "an empty log"),
        (|log| log.truncate(log.len() / 2), "half a log"),
        (|log| log[16] ^= 1, "a log of another life"),
        (|log| log[8..12].fill(0), "a log that says that its pages are empty"),
    ];
    for (change, what) in cases {
        let desk = Desk::new();
        let (file, mut log) = cut_short(&desk);
        change(&mut log);
        fs::write(desk.path("verger.db"), &file).expect("put back");
        fs::write(desk.path("verger.db-wal"), &log).expect("put back");
        assert!(refused(&desk).to_string().contains("its end is missing"), "{what}");
        assert_eq!(fs::read(desk.path("verger.db")).expect("a file"), file, "{what}");
        assert_eq!(fs::read(desk.path("verger.db-wal")).expect("a log"), log, "{what}");
    }
}

#[test]
fn damage_in_the_middle_is_found_by_the_check() {
    let (desk, _) = changed(|bytes| {
        let middle = bytes.len() / 2 / 4_096 * 4_096;
        bytes[middle..middle + 64].fill(0xff);
    });
    let (_store, archive) = desk.open();
    assert_ne!(archive.check().expect("checked"), Vec::<String>::new());
    let whole = Desk::new();
    let (_store, archive) = whole.open();
    assert_eq!(archive.check().expect("checked"), Vec::<String>::new());
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let desk = Desk::new();
    fs::write(desk.root(), b"a file").expect("a file in its place");
    let error = refused(&desk);
    let path = desk.root().display().to_string();
    assert!(
        told(&error).starts_with(&format!("could not create the directory {path}: ")),
        "{}",
        told(&error)
    );
}
