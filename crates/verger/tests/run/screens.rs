//! On a terminal: a person at the keyboard notices nothing.

use std::fs;

use crate::freezes::A_WHILE;
use crate::program::{Place, until};
use crate::terminal::Terminal;
use crate::wrapped::monitor_sees;

/// The words that run something under Verger as this agent.
fn under_verger(place: &Place, agent: &str, words: &str) -> String {
    let (verger, data) = (env!("CARGO_BIN_EXE_verger"), place.data());
    format!("{verger} run --data-dir {} --agent {agent} -- {words}", data.display())
}

/// What the screen shows with and without Verger, after the same keys.
fn both(place: &Place, words: &str, play: impl Fn(&Terminal) -> String) -> (String, String) {
    let plain = play(&Terminal::running(place, "plain", words));
    let wrapped = play(&Terminal::running(place, "wrapped", &under_verger(place, "screen", words)));
    (plain, wrapped)
}

#[test]
fn vim_looks_and_behaves_as_without_us() {
    let place = Place::new();
    let _monitor = place.start();
    let file = place.path("text");
    fs::write(&file, "one\ntwo\nthree\n").expect("it is ours");
    let words = format!("vim -u NONE -N -n -i NONE {}", file.display());
    let (plain, wrapped) = both(&place, &words, |terminal| {
        terminal.shows("three");
        terminal
            .types(&["G", "o"])
            .types(&["four", "Escape"])
            .types(&["1", "G", "x", ":", "2", "d", "Enter"]);
        terminal.types(&[":", "s", "e", "t", " ", "n", "u", "Enter"]);
        terminal.shows_that("the edited text", |screen| screen.contains("3 four") && !screen.contains("two"))
    });
    assert_eq!(plain, wrapped);
}

#[test]
fn less_pages_and_searches_as_without_us() {
    let place = Place::new();
    let _monitor = place.start();
    let file = place.path("text");
    let text: String = (0..500).map(|line| format!("line {line}\n")).collect();
    fs::write(&file, text).expect("it is ours");
    let (plain, wrapped) = both(&place, &format!("env LESS= less {}", file.display()), |terminal| {
        terminal.shows("line 22");
        terminal.types(&["Space"]).shows("line 45");
        terminal.types(&["/"]).line("line 30[0]");
        terminal.shows("line 322")
    });
    assert_eq!(plain, wrapped);
}

#[test]
fn top_draws_its_screen_and_gives_it_back() {
    let place = Place::new();
    let _monitor = place.start();
    let terminal = Terminal::with_shell(&place, "top");
    terminal.line(&format!("{}; echo over $?", under_verger(&place, "top", "top -d 1")));
    let screen = terminal.shows("PID USER");
    assert!(screen.contains("load average"), "{screen}");
    terminal.types(&["q"]).shows("over 0");
}

#[test]
fn a_shell_with_jobs_behaves_as_without_us() {
    let place = Place::new();
    let _monitor = place.start();
    let shell = "env PS1='$ ' PROMPT_COMMAND= bash --norc --noprofile -i";
    let (plain, wrapped) = both(&place, shell, |terminal| {
        terminal.shows("$");
        terminal.line("sleep 500");
        terminal.shows_that("the job runs", |screen| screen.contains("sleep 500"));
        std::thread::park_timeout(std::time::Duration::from_millis(300));
        terminal.types(&["C-z"]).shows("Stopped");
        terminal.line("jobs | wc -l").shows("\n1");
        terminal.line("fg").shows_that("it is back", |screen| screen.matches("sleep 500").count() >= 3);
        std::thread::park_timeout(std::time::Duration::from_millis(300));
        terminal.types(&["C-c"]).prompt().line("echo code $?").shows("code 130");
        terminal.line("stty -a | grep -o 'intr = ^C'; tty | grep -c pts").shows("intr = ^C\n1")
    });
    assert_eq!(plain, wrapped);
}

#[test]
fn a_window_that_changes_its_size_reaches_the_program() {
    let place = Place::new();
    let _monitor = place.start();
    let script = "bash -c 'trap \"stty size\" WINCH; stty size; while :; do sleep 0.1; done'";
    let terminal = Terminal::running(&place, "size", &under_verger(&place, "size", script));
    terminal.shows("24 80");
    terminal.resize(100, 30);
    terminal.shows("30 100");
}

#[test]
fn ctrl_c_ends_the_program_and_the_shell_sees_it() {
    let place = Place::new();
    let _monitor = place.start();
    let terminal = Terminal::with_shell(&place, "interrupt");
    terminal.line(&under_verger(&place, "interrupt", "sh -c 'echo runs; exec sleep 500'")).shows("\nruns");
    terminal.types(&["C-c"]).prompt().line("echo code $?").shows("code 130");
    terminal.line("stty -a | grep -o ' .icanon\\| icanon'").shows("\n icanon");
}

#[test]
fn h03_ctrl_z_gives_the_shell_back_and_is_no_freeze() {
    let place = Place::new();
    let monitor = place.start();
    let terminal = Terminal::with_shell(&place, "stop");
    terminal.line(&under_verger(&place, "stopped", "sh -c 'echo runs; exec sleep 500'")).shows("\nruns");
    until("it answers", || (monitor_sees(&monitor, "stopped")["state"] == "HEALTHY").then_some(()));
    terminal.types(&["C-z"]).prompt().shows("Stopped");
    terminal.line("stty -a | grep -o ' .icanon\\| icanon'").shows("\n icanon");
    std::thread::park_timeout(A_WHILE);
    let seen = monitor_sees(&monitor, "stopped");
    assert_eq!(seen["liveness"]["cause"], serde_json::Value::Null, "{seen}");
    assert_eq!(seen["waitingOn"]["kind"], "person", "{seen}");
    terminal.line("fg");
    until("it is back", || monitor_sees(&monitor, "stopped")["waitingOn"].is_null().then_some(()));
    terminal.types(&["C-c"]).prompt().line("echo code $?").shows("code 130");
    monitor.event("stopped", "AGENT_TERMINATED");
}

#[test]
fn a_program_in_the_background_goes_on_and_comes_back() {
    let place = Place::new();
    let _monitor = place.start();
    let terminal = Terminal::with_shell(&place, "background");
    terminal.line(&under_verger(&place, "background", "sh -c 'echo runs; exec cat'")).shows("\nruns");
    terminal.types(&["C-z"]).prompt().shows("Stopped");
    terminal.line("bg; echo typed to the shell").shows("\ntyped to the shell");
    terminal.line("fg").shows_that("it is back", |screen| screen.matches("verger run").count() >= 3);
    terminal.line("typed to cat").shows("typed to cat\ntyped to cat");
    terminal.types(&["C-d"]).prompt().line("echo code $?").shows("code 0");
}
