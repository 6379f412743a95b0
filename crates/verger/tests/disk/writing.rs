//! A disk that cannot be written, for a while: full, read-only, frozen, gone.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use super::disk::{Disk, ReadOnly};
use super::load::Ledger;
use super::program::{Place, Program};
use super::{leave_out, pass, say, until};

/// Facts that are acknowledged before and after a fault.
const SOME: usize = 60;

/// Takes the program through a fault under load, and looks for all that was acknowledged: as it runs on, and after a
/// crash.
fn suffer<'a>(
    place: &Place<'_>,
    words: &str,
    remedy: &str,
    fault: impl FnOnce(&Program) -> Option<Box<dyn FnOnce() + 'a>>,
) {
    let (ledger, program) = (Ledger::default(), place.start());
    let mut was_tried = false;
    ledger.load(program.http(), 1, || {
        ledger.await_more(SOME);
        hear_once(&program, "falls-silent");
        let Some(mend) = fault(&program) else { return };
        was_tried = true;
        let store = program.unready(words);
        assert!(store["since"].is_string(), "{store}");
        assert!(store["meaning"].as_str().is_some_and(|text| text.contains("judged from memory")), "{store}");
        assert!(store["remedy"].as_str().is_some_and(|text| text.contains(remedy)), "{store}");
        ledger.await_refusals();
        judged_from_memory(&program);
        let ready = place.doctor_of("ready", &["--url", &program.url]);
        assert_eq!(ready["status"], "fail", "{ready}");
        assert!(ready["text"].as_str().is_some_and(|text| text.contains(words)), "{ready}");
        assert!(ready["advice"].as_str().is_some_and(|text| text.contains(remedy)), "{ready}");
        mend();
        program.ready();
        ledger.await_more(SOME);
    });
    if !was_tried {
        return;
    }
    assert_eq!(ledger.unheard(), 0, "every heartbeat is heard, whatever the disk does");
    ledger.check(program.http(), "after it was mended");
    let events = program.http().get("/v1/agents/falls-silent/events").expect("it answers").body.to_string();
    assert!(events.contains("DEGRADED"), "what was judged meanwhile is on disk: {events}");
    program.kill();
    let program = place.start();
    ledger.check(program.http(), "after a crash");
    let log = place.log();
    assert_eq!(log.matches("; facts and orders are refused").count(), 1, "it is said once: {log}");
    assert!(log.contains("the store can be written again, after"), "{log}");
    say(&format!("{words}: {}", ledger.tally()));
}

fn hear_once(program: &Program, agent: &str) {
    let beat = json!({"agentId": agent});
    let answer = program.http().ask("POST", "/v1/heartbeats", Some(&beat)).expect("it answers");
    assert_eq!(answer.status, 202, "{}", answer.body);
}

/// Somebody who falls silent is noticed, and people are told that what they see is not on disk.
fn judged_from_memory(program: &Program) {
    until("silence is noticed", || {
        let health = program.http().get("/v1/agents/falls-silent").ok()?;
        (health.body["state"] == "DEGRADED").then_some(())
    });
    let fleet = program.http().get("/v1/fleet").expect("it answers").body;
    assert_eq!(fleet["monitor"]["missing"][0]["part"], "store", "{}", fleet["monitor"]);
}

#[test]
fn l41_a_full_disk_refuses_facts_loses_none_and_is_got_over_without_a_hand() {
    let folder = tempfile::tempdir().expect("a folder");
    let disk = match Disk::small(folder.path(), 24) {
        Ok(disk) => disk,
        Err(why) => return leave_out("a full disk", &why),
    };
    let place = Place::new(folder.path(), Some(&disk));
    suffer(&place, "full", "make room", |_| {
        disk.fill();
        Some(Box::new(|| disk.free()))
    });
}

#[test]
fn l41_a_disk_that_turns_read_only_refuses_facts_loses_none_and_is_got_over_without_a_hand() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::new(folder.path(), None);
    suffer(&place, "could not write to the store", "read-only", |program| {
        match ReadOnly::begin(program.id()) {
            Ok(read_only) => Some(Box::new(|| read_only.end())),
            Err(why) => {
                leave_out("a disk that turns read-only", &why);
                None
            }
        }
    });
}

#[test]
fn l41_a_file_system_that_the_kernel_made_read_only_loses_nothing_and_is_used_again_when_it_was_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let disk = match Disk::freezable(folder.path()) {
        Ok(disk) => disk,
        Err(why) => return leave_out("a file system that the kernel made read-only", &why),
    };
    let place = Place::new(folder.path(), Some(&disk));
    let (ledger, program) = (Ledger::default(), place.start());
    ledger.load(program.http(), 1, || {
        ledger.await_more(SOME);
        disk.break_down();
        program.unready("could not write to the store");
        ledger.await_refusals();
    });
    assert_eq!(ledger.unheard(), 0, "every heartbeat is heard, whatever the disk does");
    assert_eq!(program.end().code(), Some(1), "it could not write what it judged lately: {}", place.log());
    disk.check_and_mount_again();
    let program = place.start();
    ledger.check(program.http(), "after the disk was checked");
    say(&format!("made read-only by the kernel: {}", ledger.tally()));
}

/// How long the disk answers nobody who writes.
const BLOCKED: Duration = Duration::from_secs(30);

#[test]
fn l41_a_disk_that_blocks_for_30_s_holds_up_nobody_who_is_alive_and_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let disk = match Disk::freezable(folder.path()) {
        Ok(disk) => disk,
        Err(why) => return leave_out("a disk that blocks", &why),
    };
    let place = Place::new(folder.path(), Some(&disk));
    suffer(&place, "has not taken a write for", "frozen", |_| {
        disk.freeze();
        let (began, disk) = (Instant::now(), &disk);
        Some(Box::new(move || {
            pass(BLOCKED.saturating_sub(began.elapsed()));
            disk.thaw();
        }))
    });
}

#[test]
fn l41_a_data_directory_that_is_gone_is_named_and_taken_up_again_when_it_is_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::new(folder.path(), None);
    let (here, away) = (place.data(), folder.path().join("away"));
    suffer(&place, "was removed or replaced while the monitor runs", "put it back", |_| {
        fs::rename(&here, &away).expect("it is ours");
        Some(Box::new(|| fs::rename(&away, &here).expect("it is ours")))
    });
}
