//! Programs with which nothing is wrong, however still they are.

use crate::freezes::A_WHILE;
use crate::program::{Place, Program, until};
use crate::terminal::Terminal;
use crate::wrapped::{Wrapped, monitor_sees, signal};

/// Limits as short as a test: whoever shows nothing for a second is asked, and for three is stuck.
const IMPATIENT: &str = "roles:\n  default:\n    startup_grace: 1s\n";

fn stays_healthy(monitor: &Program, agent: &str) {
    std::thread::park_timeout(A_WHILE);
    let seen = monitor_sees(monitor, agent);
    assert_eq!(seen["state"], "HEALTHY", "{seen}");
    assert_eq!(seen["liveness"]["cause"], serde_json::Value::Null, "{seen}");
}

#[test]
fn h04_a_sleeper_and_a_silent_worker_stay_healthy() {
    let place = Place::new();
    let monitor = place.configure(IMPATIENT).start();
    let _sleeper = Wrapped::start(&place, &monitor, "sleeper", &["sleep", "600"]);
    let busy = "i=0; while [ $i -lt 100000000 ]; do i=$((i+1)); done";
    let _worker = Wrapped::start(&place, &monitor, "worker", &["nice", "sh", "-c", busy]);
    stays_healthy(&monitor, "sleeper");
    let seen = monitor_sees(&monitor, "worker");
    assert_eq!(
        (&seen["state"], &seen["liveness"]["cause"]),
        (&"HEALTHY".into(), &serde_json::Value::Null),
        "{seen}"
    );
}

#[test]
fn h03_a_program_that_waits_at_its_prompt_stays_healthy() {
    let place = Place::new();
    let monitor = place.configure(IMPATIENT).start();
    let verger = env!("CARGO_BIN_EXE_verger");
    let words = format!("{verger} run --data-dir {} --agent prompt -- python3 -q", place.data().display());
    let terminal = Terminal::running(&place, "prompt", &words);
    terminal.shows(">>>");
    until("it answers", || (monitor_sees(&monitor, "prompt")["state"] == "HEALTHY").then_some(()));
    stays_healthy(&monitor, "prompt");
    terminal.line("6*7").shows("42");
}

#[test]
fn x01_a_pause_of_everything_is_held_against_nobody() {
    use rustix::process::Signal;
    let place = Place::new();
    let monitor = place.start();
    let wrapped = Wrapped::start(&place, &monitor, "paused", &["sleep", "600"]);
    let (program, keeper) = wrapped.processes(&place);
    let all = [program, keeper, wrapped.wrapper(), monitor.pid()];
    for pid in all {
        signal(pid, Signal::STOP);
    }
    std::thread::park_timeout(A_WHILE);
    for pid in all {
        signal(pid, Signal::CONT);
    }
    until("all goes on", || (monitor_sees(&monitor, "paused")["state"] == "HEALTHY").then_some(()));
    let seen = monitor.as_admin("GET /v1/agents/paused/events?type=agent-disconnected", "");
    assert_eq!(seen.body["items"].as_array().map(Vec::len), Some(0), "{}", seen.body);
}
