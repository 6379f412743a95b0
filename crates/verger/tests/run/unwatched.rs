//! Without a monitor: one is started, or the program runs all the same and is watched when there is one.

use std::fs;
use std::net::TcpListener;
use std::process::Stdio;

use rustix::process::Signal;

use crate::program::{ANY_PORT, Place, until};
use crate::wrapped::{monitor_sees, run, signal, wrapping};

/// The process that has the data of a place.
fn monitor_of(place: &Place) -> Option<u32> {
    let data = place.data().display().to_string();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let numbers = processes.filter_map(|process| process.file_name().to_str()?.parse::<u32>().ok());
    numbers.into_iter().find(|pid| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        words.contains(&format!(" serve --data-dir {data}"))
    })
}

#[test]
fn a_monitor_is_started_if_none_runs_and_outlives_the_program() {
    let place = Place::new();
    let mut command = wrapping(&place, &["--agent", "first"], &["true"]);
    let first = command.env("VERGER_LISTEN", ANY_PORT).stdin(Stdio::null()).output().expect("it can be run");
    let pid = until("a monitor", || monitor_of(&place));
    let said = String::from_utf8_lossy(&first.stderr).into_owned();
    let again = run(&place, &["true"]);
    let listed = place.run(&["agents"], &[]);
    signal(pid, Signal::TERM);
    assert!(first.status.success() && said.lines().count() == 1, "{said}");
    assert!(said.contains("no monitor ran, so one was started: http://127.0.0.1:"), "{said}");
    assert!(again.stderr.is_empty(), "{again:?}");
    assert!(String::from_utf8_lossy(&listed.stdout).contains("first"), "{listed:?}");
    until("the monitor ends", || monitor_of(&place).is_none().then_some(()));
}

#[test]
fn without_a_monitor_a_program_runs_and_one_that_comes_later_is_told_of_it() {
    let place = Place::new();
    let listener = TcpListener::bind(ANY_PORT).expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    drop(listener);
    let url = format!("http://{address}");
    let mut command =
        wrapping(&place, &["--agent", "early", "--url", &url], &["sh", "-c", "echo runs; exec sleep 600"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it can be run");
    let monitor = place.start_with(&address, &[]);
    until("it is known", || (monitor_sees(&monitor, "early")["state"] == "HEALTHY").then_some(()));
    signal(child.id(), Signal::TERM);
    child.wait().expect("it is ours");
    monitor.event("early", "AGENT_TERMINATED");
}

#[test]
fn x10_an_agent_runs_once_and_a_program_inside_another_is_a_part_of_it() {
    let place = Place::new();
    let monitor = place.start();
    let wrapped = crate::wrapped::Wrapped::start(&place, &monitor, "one", &["sleep", "600"]);
    let second = wrapping(&place, &["--agent", "one"], &["true"]).output().expect("it can be run");
    assert_eq!(second.status.code(), Some(4), "{second:?}");
    drop(wrapped);
    let (verger, data) = (env!("CARGO_BIN_EXE_verger"), place.data().display().to_string());
    let inner =
        [verger, "run", "--data-dir", &data, "--agent", "inner", "--", "sh", "-c", "echo $VERGER_AGENT_ID"];
    let mut command = wrapping(&place, &["--agent", "outer"], &inner);
    let output = command.stdin(Stdio::null()).output().expect("it can be run");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "outer\n", "{output:?}");
}
