//! Numbers of processes that became another's, forced in a pid namespace (X10, promise 9).

use std::fs;
use std::process::{Child, Command};

use verger_act::process::{Identity, Mark, OpenError, Tree};

use crate::run::{IMPATIENT, again, alone};

/// Tells the test that it runs in a namespace of its own.
const INSIDE: &str = "VERGER_TEST_INSIDE";

#[test]
fn x10_a_stranger_with_a_recycled_number_is_never_touched() {
    if std::env::var_os(INSIDE).is_some() {
        return inside();
    }
    let _alone = alone();
    let test = again("recycled::x10_a_stranger_with_a_recycled_number_is_never_touched", INSIDE);
    let mut namespace = Command::new("unshare");
    namespace.args(["--pid", "--fork", "--mount-proc", "--kill-child"]);
    if !rustix::process::geteuid().is_root() {
        namespace.args(["--user", "--map-root-user"]);
    }
    let output = namespace.arg(test.get_program()).args(test.get_args()).env(INSIDE, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{output:?}");
}

fn inside() {
    for _ in 0..20 {
        // Both live for less than a moment, so that in most rounds even their start times are the same.
        let (gone, mark) = (sleeper(), Mark::random());
        let meant = Identity::of(gone.id()).expect("it runs");
        let mut tree = Tree::new(meant, mark);
        assert_eq!(tree.processes(), [meant]);
        end(gone);
        fs::write("/proc/sys/kernel/ns_last_pid", (meant.pid - 1).to_string())
            .expect("it is allowed in a namespace of our own");
        let stranger = sleeper();
        assert_eq!(stranger.id(), meant.pid, "the number was not given again");
        let found = Identity::of(stranger.id()).expect("it runs");
        assert!(!meant.is_same() && !meant.is_alive());
        assert!(matches!(meant.open(), Err(OpenError::Gone)));
        assert_eq!(Tree::of_record(tree.record()).processes(), []);
        let stopped = tree.stop(IMPATIENT);
        assert!(stopped.is_complete() && stopped.ended.is_empty(), "{stopped:?}");
        assert!(found.is_alive(), "a stranger was ended");
        end(stranger);
    }
}

fn sleeper() -> Child {
    Command::new("sleep").arg("300").spawn().expect("a program")
}

fn end(mut child: Child) {
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
}
