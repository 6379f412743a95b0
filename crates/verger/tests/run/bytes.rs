//! In a pipe: every byte comes through, in order, and everything around it is as without Verger.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use crate::program::Place;
use crate::wrapped::{run, wrapping};

#[test]
fn every_byte_comes_through_in_both_directions() {
    let place = Place::new();
    let _monitor = place.start();
    let sent: Vec<u8> =
        (0..3_000_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let mut command = wrapping(&place, &[], &["cat"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it can be run");
    let (mut input, copy) = (child.stdin.take().expect("it is piped"), sent.clone());
    let writing = thread::spawn(move || input.write_all(&copy));
    let mut got = Vec::new();
    child.stdout.take().expect("it is piped").read_to_end(&mut got).expect("it can be read");
    writing.join().expect("no panic").expect("all of it was taken");
    assert!(got == sent, "{} bytes of {} came", got.len(), sent.len());
    assert!(child.wait().expect("it is ours").success());
}

#[test]
fn output_and_errors_stay_apart_and_nothing_is_added_to_them() {
    let place = Place::new();
    let _monitor = place.start();
    let output = run(&place, &["sh", "-c", "printf out; printf err >&2"]);
    assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"out"[..], &b"err"[..]));
}

#[test]
fn output_and_errors_in_one_file_keep_their_order() {
    let place = Place::new();
    let _monitor = place.start();
    let path = place.path("both");
    let file = File::create(&path).expect("it is ours");
    let script = "i=0; while [ $i -lt 300 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done";
    let mut command = wrapping(&place, &[], &["sh", "-c", script]);
    command.stdin(Stdio::null()).stdout(file.try_clone().expect("a file")).stderr(file);
    assert!(command.status().expect("it can be run").success());
    let expected: String = (0..300).map(|i| format!("out {i}\nerr {i}\n")).collect();
    assert_eq!(std::fs::read_to_string(path).expect("it is ours"), expected);
}

#[test]
fn a_reader_that_leaves_ends_the_program_as_it_would_without_us() {
    let place = Place::new();
    let _monitor = place.start();
    let script = format!(
        r#"{} run --data-dir {} -- yes | head -n 1; echo ${{PIPESTATUS[0]}}"#,
        env!("CARGO_BIN_EXE_verger"),
        place.data().display()
    );
    let output = Command::new("bash").args(["-c", &script]).output().expect("bash");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "y\n141\n");
}

#[test]
fn what_a_program_leaves_running_that_ended_well_stays_and_nobody_waits_for_it() {
    let place = Place::new();
    let _monitor = place.start();
    let output = run(&place, &["sh", "-c", "sleep 300 & echo $!"]);
    let pid: u32 = String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number");
    assert!(crate::wrapped::is_alive(pid), "it was left on purpose");
    crate::wrapped::signal(pid, rustix::process::Signal::KILL);
}

#[test]
fn l28_a_program_finds_who_it_is_and_no_file_of_ours() {
    let place = Place::new();
    let _monitor = place.start();
    let script = "echo $VERGER_AGENT_ID $VERGER_TASK_ID $VERGER_INCARNATION; \
                  test -S $NOTIFY_SOCKET && echo socket; echo ${VERGER_URL%%:*} ${VERGER_TOKEN%%_*}; ls /proc/self/fd | wc -l";
    // Whoever runs this test may have left open files to it.
    let plain = Command::new("sh").args(["-c", "ls /proc/self/fd | wc -l"]).stdin(Stdio::null()).output();
    let open = String::from_utf8_lossy(&plain.expect("a shell").stdout).into_owned();
    let mut command = wrapping(&place, &["--agent", "me", "--task", "work"], &["sh", "-c", script]);
    let output = command.stdin(Stdio::null()).output().expect("it can be run");
    let expected = format!("me work 1\nsocket\nhttp vgt\n{open}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        expected,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
