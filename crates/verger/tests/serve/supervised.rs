//! Who watches the watcher (X08): systemd, and somebody outside who is called for as long as all is well.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::collector::Collector;
use crate::program::{ANY_PORT, Place, Program, until};

/// What systemd hears next.
fn heard(socket: &UnixDatagram) -> String {
    let mut words = [0; 512];
    let length = socket.recv(&mut words).expect("it is told something");
    String::from_utf8_lossy(&words[..length]).into_owned()
}

/// Goes on to the first that begins so.
fn next(socket: &UnixDatagram, begin: &str) -> String {
    loop {
        let words = heard(socket);
        if words.starts_with(begin) {
            return words;
        }
    }
}

fn listening(socket: UnixDatagram) -> UnixDatagram {
    socket.set_read_timeout(Some(Duration::from_mins(1))).expect("a time");
    socket
}

/// A loop that hangs: a tracer holds its thread, and nothing but it, after the next thing that it waited for; not before,
/// so that nobody waits for a thread that it was about to wake.
struct Hanging(Child);

impl Hanging {
    fn begin(program: &Program) -> Self {
        let threads = fs::read_dir(format!("/proc/{}/task", program.pid())).expect("it runs");
        let names = threads.map_while(Result::ok).map(|thread| thread.path());
        let is_engine = |thread: &Path| {
            fs::read_to_string(thread.join("comm")).is_ok_and(|name| name.trim() == "verger-engine")
        };
        let engine = names.into_iter().find(|thread| is_engine(thread)).expect("the loop has a thread");
        let thread = engine.file_name().expect("its number").to_string_lossy().into_owned();
        let mut tracer = Command::new("strace")
            .args([
                "-p",
                &thread,
                "-e",
                "trace=futex",
                "-e",
                "inject=futex:delay_exit=300s",
                "-o",
                "/dev/null",
            ])
            .stderr(Stdio::piped())
            .spawn()
            .expect("strace is missing: run `scripts/setup tools`");
        let mut said = String::new();
        let mut output = BufReader::new(tracer.stderr.take().expect("it is piped"));
        while !said.contains(" attached") {
            assert_ne!(output.read_line(&mut said).expect("text"), 0, "strace says: {said}");
        }
        Self(tracer)
    }

    /// It goes on.
    fn end(mut self) {
        kill_process(Pid::from_child(&self.0), Signal::TERM).expect("it is ours");
        self.0.wait().expect("it is ours");
    }
}

impl Drop for Hanging {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn x08_systemd_hears_that_it_is_ready_loads_turns_and_ends() {
    let place = Place::new();
    let path = place.path("notify");
    let socket = listening(UnixDatagram::bind(&path).expect("a socket"));
    place.configure("mode: nudge\n");
    let variables = [("NOTIFY_SOCKET", path.as_path()), ("WATCHDOG_USEC", Path::new("2000000"))];
    let program = place.start_with(ANY_PORT, &variables);
    let ready = next(&socket, "READY=1");
    assert!(ready.contains(&format!("STATUS=watching, at http://{}", program.address)), "{ready}");
    assert_eq!(next(&socket, "WATCHDOG"), "WATCHDOG=1");
    assert_eq!(next(&socket, "WATCHDOG"), "WATCHDOG=1", "again and again");
    program.signal(Signal::HUP);
    let reloading = next(&socket, "RELOADING=1");
    let at = reloading.split_once("MONOTONIC_USEC=").expect("since when").1;
    assert!(at.parse::<u64>().is_ok_and(|micros| micros > 0), "{reloading}");
    assert_eq!(next(&socket, "READY"), "READY=1", "whatever became of it");
    assert!(program.end(Signal::TERM).success());
    assert!(next(&socket, "STOPPING").starts_with("STOPPING=1"));
}

#[test]
fn x08_a_socket_may_have_a_name_that_is_in_no_folder() {
    let place = Place::new();
    let name = format!("verger-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).expect("a name");
    let socket = listening(UnixDatagram::bind_addr(&address).expect("a socket"));
    let named = format!("@{name}");
    let _program = place.start_with(ANY_PORT, &[("NOTIFY_SOCKET", Path::new(&named))]);
    assert!(heard(&socket).starts_with("READY=1\n"));
}

#[test]
fn x08_a_watchdog_is_not_fed_while_the_loop_hangs_though_the_program_answers() {
    let place = Place::new();
    let path = place.path("notify");
    let socket = listening(UnixDatagram::bind(&path).expect("a socket"));
    let variables = [("NOTIFY_SOCKET", path.as_path()), ("WATCHDOG_USEC", Path::new("1000000"))];
    let program = place.start_with(ANY_PORT, &variables);
    next(&socket, "WATCHDOG");
    let hanging = Hanging::begin(&program);
    // Far longer than its time: whoever feeds it does so twice in a second.
    socket.set_read_timeout(Some(Duration::from_secs(4))).expect("a time");
    let mut words = [0; 64];
    until("nothing is heard any more", || socket.recv(&mut words).is_err().then_some(()));
    assert_eq!(program.as_nobody("GET /health", "").status, 200, "it still answers");
    hanging.end();
    let socket = listening(socket);
    assert_eq!(next(&socket, "WATCHDOG"), "WATCHDOG=1", "the loop turns again");
}

#[test]
fn x08_somebody_outside_is_called_for_as_long_as_the_loop_judges() {
    let (collector, place) = (Collector::at(0), Place::new());
    let url = format!("http://127.0.0.1:{}/ping/key", collector.port);
    place.configure(&format!("telemetry:\n  dead_man:\n    url: {url}\n    interval: 1s\n"));
    let program = place.start();
    let calls = || collector.calls().len();
    until("it is called", || (calls() >= 2).then_some(()));
    assert_eq!(collector.calls()[0].line, "GET /ping/key");
    let withheld = || program.metric("verger_dead_man_calls_total{result=\"withheld\"}");
    assert!(withheld() < 1.0);
    let hanging = Hanging::begin(&program);
    until("it is not called", || (withheld() >= 1.0).then_some(()));
    let (before, seen) = (calls(), withheld());
    until("nor later", || (withheld() >= seen + 2.0).then_some(()));
    assert_eq!(calls(), before, "nothing was heard meanwhile");
    assert!(
        place.log().contains("is not called, because the monitor does not do its work"),
        "{}",
        place.log()
    );
    hanging.end();
    until("it is called again", || (calls() > before).then_some(()));
    collector.answer(500);
    let failed = || program.metric("verger_dead_man_calls_total{result=\"failed\"}");
    until("a failure is counted", || (failed() >= 1.0).then_some(()));
    until("and told", || place.log().contains("the dead-man's switch was not reached").then_some(()));
    assert!(!place.log().contains("/ping/key"), "a path often holds a secret: {}", place.log());
}
