//! Checkpoints: one body for each state, a chain that holds, and nothing believed that has changed.

use std::fs;

use verger_core::id::TaskId;
use verger_core::recovery::{Content, walk};
use verger_store::{Archive, BODY_MAX, CheckpointBody, CheckpointRefusal, Error, INLINE_MAX, NewCheckpoint};

use crate::desk::{Desk, at, checkpoint, save};

/// A body that is a file; no two of them are the same.
fn large(number: u8) -> Vec<u8> {
    vec![number; INLINE_MAX + 1]
}

fn refusal(result: Result<verger_store::Saved, Error>) -> CheckpointRefusal {
    match result {
        Err(Error::Checkpoint(refusal)) => refusal,
        other => panic!("it is refused, not {other:?}"),
    }
}

fn body(archive: &Archive, id: &str) -> CheckpointBody {
    archive.checkpoint(&id.into()).expect("read").expect("known").1
}

fn listed(archive: &Archive, task: &str) -> Vec<String> {
    let list = archive.checkpoints(&task.into(), None, 99).expect("listed");
    list.iter().map(|info| info.id.to_string()).collect()
}

fn files(desk: &Desk) -> usize {
    fs::read_dir(desk.path("checkpoints")).expect("a directory").count()
}

#[test]
fn l27_a_state_is_kept_with_its_place_in_the_chain() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    let first = save(&archive, checkpoint("c1", "t", None, b"one")).expect("saved");
    let second = save(&archive, checkpoint("c2", "t", Some("c1"), &large(2))).expect("saved");
    assert_eq!(first.hash.0, *blake3::hash(b"one").as_bytes());
    assert_eq!(body(&archive, "c1"), CheckpointBody::Intact(b"one".to_vec()));
    assert_eq!(body(&archive, "c2"), CheckpointBody::Intact(large(2)));
    let list = archive.checkpoints(&"t".into(), None, 99).expect("listed");
    assert_eq!(list[0].parent, Some("c1".into()));
    assert_eq!((list[0].hash, list[0].at), (second.hash, at(1_000)));
    assert_eq!(
        archive.checkpoints(&"t".into(), Some(list[0].number), 99).expect("listed")[0].id,
        "c1".into()
    );
    assert!(archive.checkpoint(&"c3".into()).expect("read").is_none());
}

#[test]
fn the_same_state_is_on_disk_once() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    for id in ["c1", "c2", "c3"] {
        save(&archive, checkpoint(id, id, None, &large(1))).expect("saved");
    }
    assert_eq!(files(&desk), 1);
    assert_eq!(body(&archive, "c3"), CheckpointBody::Intact(large(1)));
}

#[test]
fn a_parent_must_be_there_and_of_the_same_task() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    save(&archive, checkpoint("c1", "t", None, b"one")).expect("saved");
    let unknown = refusal(save(&archive, checkpoint("c2", "t", Some("c0"), b"two")));
    assert_eq!(unknown.to_string(), "the parent c0 is not known");
    let other = refusal(save(&archive, checkpoint("c2", "u", Some("c1"), b"two")));
    assert_eq!(other.to_string(), "the parent c1 is a checkpoint of task t");
    let own = refusal(save(&archive, checkpoint("c2", "t", Some("c2"), b"two")));
    assert_eq!(own, CheckpointRefusal::ParentUnknown("c2".into()));
    assert_eq!((listed(&archive, "t"), listed(&archive, "u")), (vec!["c1".to_owned()], vec![]));
}

#[test]
fn l26_a_write_that_is_tried_again_changes_nothing() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    let first = save(&archive, checkpoint("c1", "t", None, b"one")).expect("saved");
    let late = NewCheckpoint { at: at(9_000), ..checkpoint("c1", "t", None, b"one") };
    let again = save(&archive, late).expect("it is there");
    assert!(again.again && !first.again);
    assert_eq!((again.at, again.hash), (first.at, first.hash));
    for differs in [
        checkpoint("c1", "t", None, b"other"),
        checkpoint("c1", "u", None, b"one"),
        checkpoint("c1", "t", Some("c1"), b"one"),
    ] {
        assert_eq!(refusal(save(&archive, differs)), CheckpointRefusal::Differs("c1".into()));
    }
    assert_eq!(body(&archive, "c1"), CheckpointBody::Intact(b"one".to_vec()));
}

#[test]
fn a_checkpoint_without_a_name_gets_one_that_no_other_has() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    let unnamed = || NewCheckpoint { id: None, ..checkpoint("", "t", None, b"one") };
    let ids = [(); 3].map(|()| save(&archive, unnamed()).expect("saved").id.to_string());
    let hash = blake3::hash(b"one").to_hex();
    assert_eq!(ids, [1, 2, 3].map(|number| format!("cp-{number}-{}", &hash.as_str()[..8])));
}

#[test]
fn what_is_too_large_is_refused_before_it_is_written() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    let refused = refusal(save(&archive, checkpoint("c1", "t", None, &vec![0; BODY_MAX + 1])));
    assert_eq!(refused, CheckpointRefusal::TooLarge(BODY_MAX + 1));
    assert_eq!(files(&desk), 0);
}

#[test]
fn l27_what_the_disk_has_changed_is_found_and_the_chain_goes_on_before_it() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    let mut parent = None;
    for number in 1..=4 {
        let id = format!("c{number}");
        save(&archive, checkpoint(&id, "t", parent.as_deref(), &large(number))).expect("saved");
        parent = Some(id);
    }
    let file = |number| desk.path("checkpoints").join(blake3::hash(&large(number)).to_hex().as_str());
    let mut changed = large(3);
    changed[7] ^= 1;
    fs::write(file(3), changed).expect("a disk that lies");
    fs::remove_file(file(4)).expect("a disk that forgets");
    assert_eq!(body(&archive, "c3"), CheckpointBody::Damaged);
    assert_eq!(body(&archive, "c4"), CheckpointBody::Missing);

    let task = TaskId::from("t");
    let surveyed = archive.survey(&task, 10_000).expect("surveyed");
    let contents: Vec<_> = surveyed.iter().map(|found| found.content).collect();
    assert_eq!(contents, [Content::Intact, Content::Intact, Content::Damaged, Content::Missing]);
    let chain = walk(&task, &surveyed, 10_000);
    assert_eq!(chain.newest().expect("something is left").id, "c2".into());
    assert_eq!(chain.skipped_count(), 2);

    let healed = checkpoint("c5", "t", Some("c2"), &large(3));
    save(&archive, healed).expect("saved");
    assert_eq!(
        body(&archive, "c3"),
        CheckpointBody::Intact(large(3)),
        "the same state, written again, heals it"
    );
}

#[test]
fn a_row_that_was_changed_by_hand_is_found() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    save(&archive, checkpoint("c1", "t", None, b"one")).expect("saved");
    let hand = rusqlite::Connection::open(desk.path("verger.db")).expect("a person with sqlite3");
    hand.execute("UPDATE checkpoint_bodies SET content = x'00'", []).expect("changed");
    assert_eq!(body(&archive, "c1"), CheckpointBody::Damaged);
    assert_eq!(archive.survey(&"t".into(), 9).expect("surveyed")[0].content, Content::Damaged);
}

#[test]
fn what_was_not_finished_is_gone_after_the_next_start() {
    let desk = Desk::new();
    drop(desk.open());
    fs::write(desk.path("checkpoints/17.tmp"), b"half").expect("a crash while it was written");
    let (_store, archive) = desk.open();
    assert_eq!(files(&desk), 0);
    assert_eq!(archive.sweep_files().expect("swept"), 0);
}

#[test]
fn a_file_that_nothing_refers_to_is_removed_once_it_is_old() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    let refused = checkpoint("c1", "t", Some("nowhere"), &large(1));
    refusal(save(&archive, refused));
    save(&archive, checkpoint("c2", "t", None, &large(2))).expect("saved");
    assert_eq!(archive.sweep_files().expect("swept"), 0, "it may belong to a save that is under way");
    for entry in fs::read_dir(desk.path("checkpoints")).expect("a directory") {
        let file = fs::File::options().append(true).open(entry.expect("an entry").path()).expect("a file");
        file.set_modified(std::time::UNIX_EPOCH).expect("its age is set");
    }
    assert_eq!(archive.sweep_files().expect("swept"), 1);
    assert_eq!(body(&archive, "c2"), CheckpointBody::Intact(large(2)));
    assert_eq!(files(&desk), 1);
}

#[test]
fn l26_a_checkpoint_that_waits_is_kept_as_a_whole_until_it_is_written() {
    let desk = Desk::new();
    let (_engine, archive) = desk.open();
    let new = checkpoint("c1", "t", None, b"one");
    let id = archive.queue_checkpoint(new.clone()).wait().expect("it is kept");
    archive.queue_checkpoint(NewCheckpoint { body: b"other".to_vec(), ..new.clone() }).wait().expect("again");
    assert_eq!(archive.queued_checkpoint(&id).expect("a read"), Some(new.clone()), "the first holds");
    save(&archive, new).expect("it is written");
    archive.forget_queued_checkpoint(id.clone()).wait().expect("it is dropped");
    assert_eq!(archive.queued_checkpoint(&id).expect("a read"), None);
    let info = archive.checkpoint_info(&id).expect("a read").expect("it is there");
    assert_eq!((info.size, info.small.as_deref()), (Some(3), Some(&b"one"[..])));
}
