//! `kill -9` at any moment: whatever was acknowledged is there, and nothing is half.
//!
//! The test starts itself once more as its own victim. The victim commits and saves from several threads and says on
//! its standard output what was acknowledged; it is killed after a random number of lines, in the middle of whatever
//! it does then.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use verger_core::id::CheckpointId;
use verger_engine::{Batch, Store};
use verger_store::{Archive, CheckpointBody, INLINE_MAX, NewCheckpoint, open};

use crate::desk::{Desk, batch, checkpoint, interrupted, nudge, options, row};

const ROUNDS: usize = 20;
const SAVERS: u64 = 3;
/// The variable that makes a run of the test the victim, in this data directory.
const VICTIM: &str = "VERGER_STORE_VICTIM";

#[test]
fn l41_nothing_acknowledged_is_lost_and_nothing_is_half_after_kill_9() {
    let desk = Desk::new();
    let (mut batches, mut checkpoints) = (0, BTreeSet::new());
    for round in 0..ROUNDS {
        let lines = 1 + RandomState::new().build_hasher().finish() % 60;
        for line in killed_after(lines, &desk.root()) {
            match line.split_once(' ') {
                Some(("batch", number)) => batches = batches.max(number.parse::<u64>().expect("a number")),
                Some(("checkpoint", id)) => assert!(checkpoints.insert(CheckpointId::from(id))),
                _ => panic!("the victim said `{line}`"),
            }
        }
        examine(&desk, batches, &checkpoints, &format!("round {round}, killed after {lines} lines"));
    }
    assert!(batches > 20 && checkpoints.len() > 20, "{batches} batches, {} checkpoints", checkpoints.len());
}

/// By itself this is a short life that ends well; as the victim it has no end of its own.
#[test]
fn victim() {
    let Some(directory) = std::env::var_os(VICTIM) else {
        let desk = Desk::new();
        live(desk.root(), 5);
        return examine(&desk, 5, &BTreeSet::new(), "a life that ended well");
    };
    live(directory.into(), u64::MAX);
}

/// Starts a victim, kills it after so many acknowledgements, and gives all that it got to say.
fn killed_after(lines: u64, directory: &Path) -> Vec<String> {
    let mut victim = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "crash::victim", "--nocapture", "--quiet"])
        .env(VICTIM, directory)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a victim");
    let said = BufReader::new(victim.stdout.take().expect("its output"));
    let mut heard = Vec::new();
    for line in said.lines().map_while(Result::ok) {
        // What the test harness itself says is of no interest.
        if !line.starts_with("batch ") && !line.starts_with("checkpoint ") {
            continue;
        }
        heard.push(line);
        if heard.len() as u64 == lines {
            victim.kill().expect("it is killed");
        }
    }
    let ended = victim.wait().expect("it has ended");
    assert!(heard.len() as u64 >= lines, "the victim ended by itself: {ended}");
    heard
}

/// What batch `number` holds: all of its parts tell which it is, so that half a batch is seen.
fn numbered(number: u64) -> Batch {
    let mut batch = batch(number, number);
    batch.events = [(); 3].map(|()| interrupted("a", number)).to_vec();
    batch.effects = vec![nudge("a", number as u32)];
    batch.finished = if number > 1 { vec![nudge("a", number as u32 - 1).key] } else { Vec::new() };
    batch.rows = vec![row("a", &number.to_le_bytes()), row("b", &number.to_le_bytes())].into();
    batch
}

fn live(directory: PathBuf, batches: u64) {
    let (mut store, archive) = open(options(directory)).expect("the store opens after any crash");
    let first = store.load().expect("loaded").mark.map_or(0, |mark| mark.number) + 1;
    let start = |saver| {
        let archive = archive.clone();
        thread::spawn(move || save_on_and_on(&archive, saver))
    };
    let savers: Vec<_> = (0..SAVERS).map(start).collect();
    for number in (first..).take_while(|number| number - first < batches) {
        store.commit(&numbered(number)).expect("committed");
        say(&format!("batch {number}"));
    }
    for saver in savers {
        saver.join().expect("it ends");
    }
}

/// One chain after another, every third state large enough to be a file.
fn save_on_and_on(archive: &Archive, saver: u64) {
    let life = RandomState::new().build_hasher().finish();
    let task = format!("t{saver}-{life:x}");
    let mut parent: Option<String> = None;
    for number in 0_u64.. {
        let id = format!("{task}-{number}");
        let size = if number % 3 == 0 { INLINE_MAX + 1 } else { 100 };
        let new: NewCheckpoint = checkpoint(&id, &task, parent.as_deref(), &body(&id, size));
        let Ok(safe) = archive.save_checkpoint(new).and_then(verger_store::Receipt::wait) else { return };
        say(&format!("checkpoint {}", safe.id));
        parent = Some(id);
        if std::env::var_os(VICTIM).is_none() && number == 5 {
            return;
        }
    }
}

fn body(id: &str, size: usize) -> Vec<u8> {
    id.bytes().cycle().take(size).collect()
}

/// One line at once, whoever else speaks.
fn say(line: &str) {
    if std::env::var_os(VICTIM).is_none() {
        return;
    }
    let mut out = std::io::stdout().lock();
    // If nobody listens any more, the victim is about to be killed.
    drop(writeln!(out, "{line}").and_then(|()| out.flush()));
}

fn examine(desk: &Desk, batches: u64, checkpoints: &BTreeSet<CheckpointId>, when: &str) {
    let (mut store, archive) = desk.open();
    assert_eq!(archive.check().expect("checked"), Vec::<String>::new(), "{when}");
    let loaded = store.load().expect("loaded");
    let number = loaded.mark.map_or(0, |mark| mark.number);
    assert!(number >= batches, "{when}: batch {batches} was acknowledged, and the last one is {number}");
    assert_eq!(archive.newest_event().expect("read"), 3 * number.cast_signed(), "{when}");
    assert!(loaded.rows.iter().all(|(_, content)| *content == number.to_le_bytes()), "{when}");
    let left: Vec<_> = loaded.unfinished.iter().map(|left| u64::from(left.effect.key.seq)).collect();
    assert_eq!(left, Vec::from_iter((number > 0).then_some(number)), "{when}");
    for id in checkpoints {
        let (info, found) =
            archive.checkpoint(id).expect("read").unwrap_or_else(|| panic!("{when}: {id} is lost"));
        let CheckpointBody::Intact(found) = found else { panic!("{when}: {id} is {found:?}") };
        assert_eq!(found, body(id.as_str(), found.len()), "{when}");
        assert!(
            info.parent.is_none_or(|parent| archive.checkpoint(&parent).expect("read").is_some()),
            "{when}"
        );
    }
    let unfinished = fs::read_dir(desk.path("checkpoints")).expect("a directory").filter_map(Result::ok);
    assert_eq!(unfinished.filter(|file| file.path().extension().is_some()).count(), 0, "{when}");
}
