//! The last steps before a program runs, and control groups where they can be had (L22).

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::{Pid, getsid};
use verger_act::process::{Cgroup, Entry, Identity, Mark, RUN_VARIABLE, Tree, enter};

use crate::run::{IMPATIENT, again, alone, bearers, process, until};

/// Tells the test to become the program, and in which group.
const ENTER: &str = "VERGER_TEST_ENTER";
const GROUP: &str = "VERGER_TEST_GROUP";
const TEST: &str = "groups::l22_a_program_starts_in_a_session_and_a_group_of_its_own_and_ends_with_all_in_it";

/// Nobody leaves a group: neither without the mark nor without the parent.
const FAMILY: &str = "(env -i setsid /bin/sh -c 'echo $$ > bare; exec sleep 300' &); trap '' TERM; \
                      setsid sleep 300 & echo $$ > root; wait; sleep 300";

#[tokio::test]
async fn l22_a_program_starts_in_a_session_and_a_group_of_its_own_and_ends_with_all_in_it() {
    if std::env::var_os(ENTER).is_some() {
        return become_the_program();
    }
    let _alone = alone();
    let (mark, folder) = (Mark::random(), tempfile::tempdir().unwrap());
    let group = Cgroup::create(&mark);
    let mut command = again(TEST, ENTER);
    command.env(RUN_VARIABLE, mark.variable(None)).current_dir(folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.env(GROUP, group.as_ref().map(|group| group.path().to_owned()).unwrap_or_default());
    let mut child = command.spawn().unwrap();
    let root = Identity::of(child.id()).unwrap();
    assert_eq!(process(&folder.path().join("root")).await, root, "it kept its number and its start");
    let pid = Pid::from_child(&child);
    assert_eq!(getsid(Some(pid)).unwrap(), pid, "it leads a session");
    let bare = process(&folder.path().join("bare")).await;
    let mut tree = Tree::new(root, mark.clone());
    if let Some(group) = &group {
        tree = tree.in_cgroup(group.clone());
        assert!(tree.processes().contains(&bare), "it is in the group");
        assert_eq!(Cgroup::at(group.path(), &mark).as_ref(), Some(group), "another process finds it again");
    } else {
        tree.spare(&bare);
    }
    assert!(tree.stop(IMPATIENT).is_complete());
    child.wait().unwrap();
    assert_eq!(bearers(&mark), Vec::<u32>::new());
    let Some(group) = group else { return };
    assert!(!bare.is_alive());
    until("it is removed", || {
        group.remove();
        !group.path().exists()
    })
    .await;
}

fn become_the_program() {
    let mark = std::env::var(RUN_VARIABLE).expect("a mark");
    let mark = Mark::try_from(mark).expect("a mark");
    let group = std::env::var_os(GROUP).map(PathBuf::from).expect("a path");
    let entry = Entry { session: true, terminal: false, cgroup: Some((&group, &mark)) };
    let error = enter(entry, OsStr::new("sh"), ["-c", FAMILY]);
    panic!("{error}");
}

#[test]
fn a_program_that_is_not_there_is_told() {
    let error = enter(Entry::default(), OsStr::new("/no/such/program"), [""; 0]);
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}
