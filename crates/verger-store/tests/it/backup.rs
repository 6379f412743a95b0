//! `verger backup`: one file, made while everybody works, from which everything comes back.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use verger_engine::Store;
use verger_store::{Backup, CheckpointBody, INLINE_MAX, open};

use crate::desk::{Desk, at, batch, checkpoint, interrupted, nudge, options, row, save, told};

#[test]
fn a_backup_made_while_others_write_restores_everything_that_was_there() {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    let large = vec![5; INLINE_MAX + 1];
    save(&archive, checkpoint("c1", "t", None, b"small")).expect("saved");
    save(&archive, checkpoint("c2", "t", Some("c1"), &large)).expect("saved");
    archive.put_task("t".into(), Some("write it".into()), at(1)).wait().expect("kept");
    let mut first = batch(1, 10);
    first.events = vec![interrupted("a", 10)];
    first.effects = vec![nudge("a", 1)];
    first.rows = vec![row("a", b"state")].into();
    store.commit(&first).expect("committed");

    let file = desk.path("backup.db");
    let maker = std::thread::spawn({
        let (archive, file) = (archive.clone(), file.clone());
        move || archive.backup(&file)
    });
    for number in 2..200 {
        store.commit(&batch(number, number * 10)).expect("committed");
    }
    let made = maker.join().expect("it ends").expect("made");
    assert_eq!((made.bodies, made.lost), (1, 0));
    let found = fs::metadata(&file).expect("a file");
    assert_eq!((found.len(), found.permissions().mode() & 0o777), (made.bytes, 0o600));

    let other = Desk::new();
    fs::create_dir_all(other.root()).expect("an empty data directory");
    fs::copy(&file, other.path("verger.db")).expect("restored");
    let (mut restored, copy) = open(options(other.root())).expect("it opens");
    let loaded = restored.load().expect("loaded");
    assert_eq!((loaded.rows.len(), loaded.unfinished.len()), (1, 1));
    assert_eq!(copy.checkpoint(&"c2".into()).expect("read").expect("there").1, CheckpointBody::Intact(large));
    assert_eq!(copy.task(&"t".into()).expect("read").expect("there").text.as_deref(), Some("write it"));
    assert_eq!(copy.newest_event().expect("read"), 1);
    assert_eq!(copy.check().expect("checked"), Vec::<String>::new());
    let next = batch(loaded.mark.expect("a mark").number + 1, 5_000);
    restored.commit(&next).expect("and it goes on from there");
}

#[test]
fn a_body_that_is_lost_is_counted_and_the_rest_is_saved() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    let large = vec![5; INLINE_MAX + 1];
    save(&archive, checkpoint("c1", "t", None, &large)).expect("saved");
    save(&archive, checkpoint("c2", "t", None, b"small")).expect("saved");
    fs::remove_file(desk.path("checkpoints").join(blake3::hash(&large).to_hex().as_str())).expect("lost");
    let Backup { bodies, lost, .. } = archive.backup(&desk.path("backup.db")).expect("made");
    assert_eq!((bodies, lost), (0, 1));
}

#[test]
fn nothing_is_overwritten_and_nothing_half_is_left() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    fs::write(desk.path("backup.db"), b"theirs").expect("a file of that name");
    let error = archive.backup(&desk.path("backup.db")).expect_err("it is theirs");
    assert!(told(&error).contains("already exists"), "{}", told(&error));
    assert_eq!(fs::read(desk.path("backup.db")).expect("a file"), b"theirs");
    let nowhere = archive.backup(&desk.path("nowhere/backup.db")).expect_err("there is no such directory");
    assert!(told(&nowhere).starts_with("could not make the backup"), "{}", told(&nowhere));
    let left = fs::read_dir(desk.root()).expect("a directory").filter_map(Result::ok);
    assert_eq!(left.filter(|entry| entry.path().extension().is_some_and(|end| end == "tmp")).count(), 0);
}
