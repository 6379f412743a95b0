//! `verger doctor` (R12) and `/ready` (X08): what is wrong is named, with what to do about it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::program::{Place, exchange, until};
use crate::tools::tool;

/// What the doctor says of one thing, and with which code it ends.
fn check(place: &Place, arguments: &[&str], variables: &[(&str, &str)], name: &str) -> (Value, Option<i32>) {
    let output = place.run(&[&["doctor", "--json"], arguments].concat(), variables);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let found: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let checks = found["checks"].as_array().cloned().unwrap_or_default();
    let check = checks.into_iter().find(|check| check["name"] == name);
    (check.unwrap_or_else(|| panic!("nothing of {name} in {said}")), output.status.code())
}

/// Something else that answers every request with this, at a port of its own. Gives its address.
fn somebody_else(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it has one");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            while lines.next().is_some_and(|line| !line.is_empty()) {}
            drop(lines);
            let text = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
                answer.len()
            );
            // Whoever hung up is not interested.
            let _ = stream.write_all(text.as_bytes());
        }
    });
    format!("http://{address}")
}

#[test]
fn r12_a_monitor_that_is_dead_another_program_and_an_older_monitor_are_told_apart() {
    let place = Place::new();
    let program = place.start();
    assert_eq!(check(&place, &[], &[], "monitor").0["status"], "ok");
    program.kill();
    let (dead, code) = check(&place, &[], &[], "monitor");
    assert_eq!((&dead["status"], code), (&"fail".into(), Some(1)), "{dead}");
    assert!(dead["advice"].as_str().is_some_and(|advice| advice.contains("verger serve")), "{dead}");

    let (taken, code) = check(&place, &["--url", &somebody_else("<html>hello</html>")], &[], "monitor");
    assert_eq!((&taken["status"], code), (&"fail".into(), Some(1)), "{taken}");
    assert!(taken["advice"].as_str().is_some_and(|advice| advice.contains("another program")), "{taken}");

    let older = somebody_else(r#"{"status":"ok","version":"0.0.1","uptimeSeconds":7}"#);
    let (older, _) = check(&place, &["--url", &older], &[], "monitor");
    assert_eq!(older["status"], "warn", "{older}");
    assert!(older["text"].as_str().is_some_and(|text| text.contains("0.0.1")), "{older}");
}

#[test]
fn r12_a_wrong_clock_a_full_disk_and_an_open_folder_are_named() {
    let place = Place::new();
    let _program = place.start();
    assert_eq!(check(&place, &[], &[], "clock").0["status"], "ok");
    let library = tool("libfaketime.so").display().to_string();
    let ahead =
        [("LD_PRELOAD", library.as_str()), ("FAKETIME", "+2h"), ("FAKETIME_DONT_FAKE_MONOTONIC", "1")];
    let (clock, _) = check(&place, &[], &ahead, "clock");
    assert_eq!(clock["status"], "warn", "{clock}");
    assert!(clock["text"].as_str().is_some_and(|text| text.contains("differ by 2 hours")), "{clock}");

    // There is never any room in a file system that the kernel makes up.
    let (disk, code) = check(&place, &["--data-dir", "/proc"], &[], "disk");
    assert_eq!(
        (&disk["status"], &disk["text"], code),
        (&"fail".into(), &"0 MB free".into(), Some(1)),
        "{disk}"
    );

    fs::set_permissions(place.data(), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let (open, _) = check(&place, &[], &[], "data");
    assert!(open["text"].as_str().is_some_and(|text| text.contains("open to other users")), "{open}");
    let missing = place.path("nowhere").display().to_string();
    let (missing, _) = check(&place, &["--data-dir", &missing], &[], "data");
    assert_eq!(missing["status"], "warn", "{missing}");
}

#[test]
fn r12_who_is_not_let_in_is_told_why() {
    let place = Place::new();
    let program = place.start();
    let url = format!("http://{}", program.address);
    let wrong = [("VERGER_URL", url.as_str()), ("VERGER_TOKEN", "vgt_wrong")];
    assert_eq!(check(&place, &[], &wrong, "access").0["status"], "fail");
    let watched = check(&place, &[], &[("VERGER_AGENT_ID", "a")], "token").0;
    assert_eq!(watched["status"], "warn", "{watched}");
    assert!(watched["text"].as_str().is_some_and(|text| text.contains("VERGER_AGENT_ID")), "{watched}");
}

#[test]
fn r12_a_port_that_is_taken_and_a_configuration_that_is_missing_start_nothing_and_say_what_to_do() {
    let (place, other) = (Place::new(), Place::new());
    let program = place.start();
    let taken = other.run(&["serve", "--listen", &program.address], &[]);
    let said = String::from_utf8_lossy(&taken.stderr).into_owned();
    assert_eq!(taken.status.code(), Some(1), "{said}");
    assert!(said.contains(&program.address) && said.contains("--listen"), "{said}");
    let missing = other.path("none.yaml").display().to_string();
    let refused = other.run(&["serve", "--config", &missing], &[]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("none.yaml"), "{said}");
}

/// A person who keeps the database to themselves, until this is dropped.
struct Locked(std::process::Child);

impl Locked {
    fn by_hand(place: &Place) -> Self {
        let mut shell = Command::new("sqlite3")
            .arg("-batch")
            .arg(place.data().join("verger.db"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sqlite3 is missing: run `scripts/setup tools`");
        let mut asks = shell.stdin.take().expect("it is piped");
        writeln!(asks, ".timeout 60000\nBEGIN IMMEDIATE;\nSELECT 'locked';").expect("it reads");
        let mut said = String::new();
        BufReader::new(shell.stdout.take().expect("it is piped")).read_line(&mut said).expect("it answers");
        assert_eq!(said, "locked\n");
        shell.stdin = Some(asks);
        Self(shell)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn x08_a_monitor_that_cannot_write_is_not_ready_and_is_again_when_it_can() {
    let place = Place::new();
    let fast =
        "roles:\n  default:\n    startup_grace: 0\n    liveness: {beats: {interval: 500ms, timeout: 2s}}\n";
    let program = place.configure(fast).start();
    program.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a"}"#);
    assert_eq!(program.as_nobody("GET /ready", "").status, 200);
    let locked = Locked::by_hand(&place);
    // Something to write. Whoever sends it waits for its answer until there is one.
    let beat = || {
        let _ = TcpStream::connect(&program.address).and_then(|stream| {
            stream.set_read_timeout(Some(Duration::from_millis(200)))?;
            exchange(stream, &program.address, "POST /v1/heartbeats", &[], r#"{"agentId":"a"}"#)
        });
    };
    let missing = until("it is not ready", || {
        beat();
        Some(program.as_nobody("GET /ready", "")).filter(|got| got.status == 503)
    });
    assert_eq!(
        (&missing.body["ready"], &missing.body["missing"][0]["part"]),
        (&false.into(), &"store".into())
    );
    assert_eq!(program.as_nobody("GET /health", "").status, 200, "it runs all the same");
    let (ready, code) = check(&place, &[], &[], "ready");
    assert_eq!((&ready["status"], code), (&"fail".into(), Some(1)), "{ready}");
    drop(locked);
    until("it is ready again", || {
        beat();
        (program.as_nobody("GET /ready", "").status == 200).then_some(())
    });
    let events = program.get("/v1/agents/a/events")["items"].to_string();
    assert!(!events.contains("DEGRADED"), "what it could not see is held against nobody: {events}");
    assert_eq!(check(&place, &[], &[], "ready").0["status"], "ok");
}

#[test]
fn what_is_shown_while_the_disk_cannot_be_written_is_said_not_to_be_on_it() {
    let place = Place::new();
    let program = place.start();
    program.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a"}"#);
    let (here, away) = (place.data().join("verger.db"), place.path("away"));
    fs::rename(&here, &away).expect("it is ours");
    let shown = until("it is said", || {
        Some(program.as_admin("GET /v1/agents/a", ""))
            .filter(|got| got.head.contains("verger-store: unwritten since 20"))
    });
    assert_eq!((shown.status, &shown.body["agentId"]), (200, &"a".into()));
    assert!(String::from_utf8_lossy(&place.run(&["fleet"], &[]).stdout).contains("cannot be written"));
    fs::rename(&away, &here).expect("it is ours");
    until("it is on disk", || {
        (!program.as_admin("GET /v1/agents/a", "").head.contains("verger-store")).then_some(())
    });
}
