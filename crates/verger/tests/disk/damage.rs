//! A page of the database that is not what was written.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use super::load::Ledger;
use super::program::Place;
use super::until;

/// Bytes of a page.
const PAGE: u64 = 4_096;

/// The first page that holds rows of this table, among the oldest there are.
fn page_of(database: &Path, table: &str) -> u64 {
    let query = format!(
        "SELECT pageno FROM dbstat WHERE name = '{table}' AND pagetype = 'leaf' ORDER BY path LIMIT 1"
    );
    let output = Command::new("sqlite3").arg(database).arg(query).output().expect("sqlite3 is there");
    let said = String::from_utf8_lossy(&output.stdout);
    said.trim().parse().unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Turns the bits at the beginning of a page around; once more, and they are as they were.
fn flip(database: &Path, page: u64) {
    let file: File = OpenOptions::new().read(true).write(true).open(database).expect("it is there");
    let (mut bytes, at) = ([0; 8], (page - 1) * PAGE);
    file.read_exact_at(&mut bytes, at).expect("the page is there");
    file.write_all_at(&bytes.map(|byte| !byte), at).expect("it is ours");
}

/// Makes data that is on disk and in no log, and ends.
fn filled(place: &Place<'_>, ledger: &Ledger) {
    let program = place.start();
    ledger.load(program.http(), 1, || ledger.await_more(400));
    assert!(program.end().success(), "{}", place.log());
}

#[test]
fn l41_a_flipped_page_is_found_and_named_nothing_is_built_on_it_and_it_is_got_over_without_a_hand() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::new(folder.path(), None);
    let (ledger, database) = (Ledger::default(), place.data().join("verger.db"));
    filled(&place, &ledger);
    let page = page_of(&database, "events");
    let program = place.start();
    ledger.load(program.http(), 2, || {
        ledger.await_more(60);
        flip(&database, page);
        // Somebody reads through what happened, and comes across it.
        let read = || program.http().events(0, 1).is_err();
        let store = until("the damage is named", || {
            read();
            program.unready_now("is damaged")
        });
        let text = store["text"].as_str().unwrap_or_default();
        assert!(text.contains(&format!("page {page}")) || text.contains("malformed"), "{store}");
        assert!(store["remedy"].as_str().is_some_and(|text| text.contains("repair")), "{store}");
        ledger.await_refusals();
        flip(&database, page);
        program.ready();
        ledger.await_more(60);
    });
    ledger.check(program.http(), "after the disk gave the right bytes again");
    program.kill();
    let program = place.start();
    ledger.check(program.http(), "after a crash");
    let log = place.log();
    assert!(log.contains("the database is damaged, nothing is written to it (VG0203)"), "{log}");
    assert!(log.contains("the database is whole again"), "{log}");
    eprintln!("a flipped page: {}", ledger.tally());
}

#[test]
fn a_page_that_was_flipped_while_no_monitor_ran_is_found_by_the_doctor_and_by_the_next_monitor() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::new(folder.path(), None);
    let database = place.data().join("verger.db");
    filled(&place, &Ledger::default());
    let whole = place.doctor("database");
    assert_eq!(whole["status"], "ok", "{whole}");
    let page = page_of(&database, "events");
    flip(&database, page);
    let found = place.doctor("database");
    assert_eq!(found["status"], "fail", "{found}");
    assert!(found["text"].as_str().is_some_and(|text| text.contains("VG0203")), "{found}");
    // History is not needed to watch; nothing is written to it either.
    let program = place.start();
    program.unready("is damaged");
    program.kill();
    flip(&database, page);
    place.start().ready();
}

#[test]
fn a_monitor_whose_memory_is_damaged_does_not_start_and_says_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::new(folder.path(), None);
    let database = place.data().join("verger.db");
    filled(&place, &Ledger::default());
    let page = page_of(&database, "state_rows");
    flip(&database, page);
    let before = std::fs::read(&database).expect("it can be read");
    let said = place.refused();
    for expected in ["malformed", "repair it or restore a backup", "VG0203"] {
        assert!(said.contains(expected), "{expected} is not in\n{said}");
    }
    assert!(before == std::fs::read(&database).expect("it can be read"), "nothing was changed");
    flip(&database, page);
    place.start().ready();
}

#[test]
fn the_repair_of_the_runbook_keeps_all_but_what_stood_on_the_damaged_page() {
    let (folder, new) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let (place, repaired) = (Place::new(folder.path(), None), Place::new(new.path(), None));
    filled(&place, &Ledger::default());
    let database = place.data().join("verger.db");
    flip(&database, page_of(&database, "events"));
    std::fs::create_dir(repaired.data()).expect("a folder");
    // As the page shows it.
    let script =
        "sqlite3 \"$0\" .dump | sed 's/^ROLLBACK; -- due to errors$/COMMIT;/' | sqlite3 \"$1/verger.db\"";
    let mut repair = Command::new("bash");
    repair.args(["-c", script]).arg(&database).arg(repaired.data()).output().expect("a shell");
    let found = repaired.doctor("database");
    assert_eq!(found["status"], "ok", "{found}");
    let program = repaired.start();
    program.ready();
    for path in ["/v1/tasks/work-1000000", "/v1/checkpoints/save-1000000", "/v1/agents/dies-1000000"] {
        let answer = program.http().get(path).expect("it answers");
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    }
}
