//! Data of an earlier version opens in this one; data of a later one is refused and left as it is.
//!
//! `data/before-steps.sql` is what `sqlite3 verger.db .dump` printed of a monitor of commit 42567b1, which did not yet
//! keep the steps of agents.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::program::Place;

/// Makes a database of a dump.
fn restored(dump: &str, data: &Path) {
    fs::create_dir_all(data).expect("a folder");
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("cargo and nextest set it for every test");
    let dump = fs::File::open(Path::new(&own).join("tests/disk/data").join(dump)).expect("it is there");
    let status =
        Command::new("sqlite3").arg(data.join("verger.db")).stdin(dump).stdout(Stdio::null()).status();
    assert!(status.expect("sqlite3 is there").success());
}

/// Has `sqlite3` change a database.
fn change(database: &Path, sql: &str) {
    let status = Command::new("sqlite3").arg(database).arg(sql).status();
    assert!(status.expect("sqlite3 is there").success());
}

#[test]
fn data_of_the_version_before_opens_with_all_that_is_in_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::new(folder.path(), None);
    restored("before-steps.sql", &place.data());
    let database = place.doctor("database");
    assert_eq!(database["status"], "ok", "{database}");
    let program = place.start();
    let at = |path: &str| {
        let answer = program.http().get(path).expect("it answers");
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    };
    assert_eq!(at("/v1/tasks/issue-42")["description"], "mend the parser");
    assert_eq!(at("/v1/checkpoints/c1")["state"]["step"], 7);
    assert_eq!(at("/v1/agents/coder-2")["state"], "TERMINATED");
    assert!(at("/v1/agents/coder-1/events").to_string().contains("ESCALATION_TRIGGERED"));
    let agent = at("/v1/agents/coder-1");
    assert_eq!((&agent["incarnation"], &agent["taskId"]), (&1.into(), &"issue-42".into()), "{agent}");
    let counted = agent["metrics"]["toolCallCount"].as_u64().expect("a count");
    // It goes on where it was: counts, lives and limits.
    let call =
        json!({"kind": "toolCall", "agentId": "coder-1", "callId": "new", "tool": "ls", "phase": "finished"});
    assert_eq!(program.http().ask("POST", "/v1/signals", Some(&call)).expect("it answers").status, 202);
    assert_eq!(at("/v1/agents/coder-1")["metrics"]["toolCallCount"], counted + 1);
    assert!(program.end().success(), "{}", place.log());
    place.start().ready();
}

#[test]
fn data_of_a_later_version_is_refused_with_what_to_do_and_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::new(folder.path(), None);
    let database = place.data().join("verger.db");
    assert!(place.start().end().success());
    change(&database, "UPDATE meta SET value = value + 1 WHERE name = 'schema'");
    let before = fs::read(&database).expect("it can be read");
    let said = place.refused();
    for expected in
        ["was written by a newer version", "nothing was changed", "start the version that wrote it", "VG0204"]
    {
        assert!(said.contains(expected), "{expected} is not in\n{said}");
    }
    let database_check = place.doctor("database");
    assert_eq!(database_check["status"], "fail", "{database_check}");
    assert!(before == fs::read(&database).expect("it can be read"), "nothing was changed");
    change(&database, "UPDATE meta SET value = value - 1 WHERE name = 'schema'");
    place.start().ready();
}
