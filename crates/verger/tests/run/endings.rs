//! How a program ended is how `verger run` ends.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::program::Place;
use crate::wrapped::{run, signal, wrapping};

#[test]
fn codes_and_signals_are_passed_through() {
    let place = Place::new();
    let _monitor = place.start();
    let scripts =
        ["exit 0", "exit 1", "exit 42", "exit 255", "kill -TERM $$", "kill -KILL $$", "kill -INT $$"];
    for script in scripts {
        let plain = Command::new("sh").args(["-c", script]).status().expect("a shell");
        let wrapped = run(&place, &["sh", "-c", script]).status;
        assert_eq!((wrapped.code(), wrapped.signal()), (plain.code(), plain.signal()), "{script}");
    }
}

#[test]
fn a_program_that_cannot_be_started_is_told_as_shells_do() {
    let place = Place::new();
    let _monitor = place.start();
    let missing = run(&place, &["no-such-program"]);
    assert_eq!(missing.status.code(), Some(127));
    assert!(
        String::from_utf8_lossy(&missing.stderr).contains("no-such-program: No such file"),
        "{missing:?}"
    );
    let path = place.path("forbidden");
    std::fs::write(&path, "x").expect("it is ours");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("it is ours");
    assert_eq!(run(&place, &[path.to_str().expect("a path")]).status.code(), Some(126));
}

#[test]
fn signals_for_the_wrapper_reach_the_program() {
    let place = Place::new();
    let _monitor = place.start();
    for (name, number) in [("TERM", Signal::TERM), ("HUP", Signal::HUP), ("USR1", Signal::USR1)] {
        let script = format!("trap 'exit 7' {name}; echo ready; while :; do sleep 0.02; done");
        let mut command = wrapping(&place, &[], &["sh", "-c", &script]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("it can be run");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line).expect("it is ready");
        signal(child.id(), number);
        assert_eq!(child.wait().expect("it is ours").code(), Some(7), "{name}");
    }
}

#[test]
fn what_was_ignored_stays_ignored() {
    let place = Place::new();
    let _monitor = place.start();
    let inner = format!(
        "trap '' HUP; exec {} run --data-dir {} -- grep SigIgn /proc/self/status",
        env!("CARGO_BIN_EXE_verger"),
        place.data().display()
    );
    let output = Command::new("sh").args(["-c", &inner]).output().expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mask = text.trim().rsplit_once('\t').and_then(|(_, mask)| u64::from_str_radix(mask, 16).ok());
    assert_eq!(mask.map(|mask| mask & 1), Some(1), "{text}");
}
