//! Data that cannot be used at all: said before anything is watched, with what to do about it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::program::{Place, said};

#[test]
fn a_directory_of_somebody_else_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::new(folder.path(), None);
    let program = place.start();
    assert!(program.end().success());
    let everybody = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.path(), everybody).expect("it is ours");
    let said = if rustix::process::geteuid().is_root() {
        // The program's own folder may be closed to others, too; a file that is open already is not.
        let program = fs::File::open(env!("CARGO_BIN_EXE_verger")).expect("it is there");
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]);
        command.arg("/proc/self/fd/0").stdin(program);
        command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(place.data());
        said(&command.output().expect("it can be started"))
    } else {
        let nobody = fs::Permissions::from_mode(0o000);
        fs::set_permissions(place.data(), nobody).expect("it is ours");
        let said = place.refused();
        fs::set_permissions(place.data(), fs::Permissions::from_mode(0o700)).expect("it is ours");
        said
    };
    for expected in ["Permission denied", "verger.lock", "must own the data directory", "chown -R", "VG0206"]
    {
        assert!(said.contains(expected), "{expected} is not in\n{said}");
    }
}

#[test]
fn a_directory_whose_disk_is_not_mounted_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    symlink(folder.path().join("not-mounted"), folder.path().join("data")).expect("it can be made");
    let place = Place::new(folder.path(), None);
    let said = place.refused();
    for expected in ["data", "VG0206"] {
        assert!(said.contains(expected), "{expected} is not in\n{said}");
    }
    assert!(!folder.path().join("not-mounted").exists(), "nothing was made where it should not be");
}

#[test]
fn a_second_monitor_on_the_same_data_is_told_who_is_there_and_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::new(folder.path(), None);
    let first = place.start();
    let said = place.refused();
    for expected in [&format!("(process {})", first.id()), "verger agents", "VG0205"] {
        assert!(said.contains(expected), "{expected} is not in\n{said}");
    }
    first.ready();
    let database = place.doctor("database");
    assert_eq!(database["status"], "ok", "{database}");
    assert!(
        database["text"].as_str().is_some_and(|text| text.contains(&first.id().to_string())),
        "{database}"
    );
}
