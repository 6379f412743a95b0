//! How it starts, ends, comes back and refuses.

use rustix::process::Signal;

use crate::program::{Place, is_absent, until};

#[test]
fn a_new_user_starts_it_and_sees_an_agent_that_reported() {
    let place = Place::new();
    let program = place.start();
    assert!(
        program.welcome.contains("admin.token") && program.welcome.contains("curl"),
        "{}",
        program.welcome
    );
    let beat = program.as_nobody("POST /v1/heartbeats", r#"{"agentId":"hello"}"#);
    assert_eq!((beat.status, &beat.body["accepted"]), (202, &1.into()));
    assert_eq!(program.as_admin("GET /v1/agents/hello", "").body["state"], "HEALTHY");
    assert_eq!(program.as_nobody("GET /v1/agents/hello", "").status, 401, "reading needs a token");
}

#[test]
fn it_ends_when_it_is_asked_to_with_nothing_lost_and_code_0() {
    for signal in [Signal::TERM, Signal::INT] {
        let place = Place::new();
        let program = place.start();
        program.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a"}"#);
        assert_eq!(program.end(signal).code(), Some(0), "{}", place.log());
        assert!(is_absent(&place.data().join("verger.url")));
        let program = place.start();
        let agent = program.as_admin("GET /v1/agents/a", "");
        assert_eq!(agent.body["metrics"]["totalHeartbeats"], 1, "vital signs are written before an end");
    }
}

#[test]
fn l41_what_was_acknowledged_is_there_after_kill_9() {
    let place = Place::new();
    let program = place.start();
    program.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a","taskId":"t"}"#);
    let saved =
        program.as_admin("POST /v1/checkpoints", r#"{"taskId":"t","agentId":"a","state":{"step":7}}"#);
    assert_eq!(saved.status, 201, "{:?}", saved.body);
    assert_eq!(program.as_admin("POST /v1/agents/a/escalate", r#"{"reason":"look"}"#).status, 202);
    program.kill();
    let program = place.start();
    let id = saved.body["id"].as_str().expect("a name");
    let kept = program.as_admin(&format!("GET /v1/checkpoints/{id}"), "");
    assert_eq!((&kept.body["state"]["step"], &kept.body["hash"]), (&7.into(), &saved.body["hash"]));
    assert_eq!(program.as_admin("GET /v1/agents/a", "").body["agentId"], "a");
    assert_eq!(program.event("a", "ESCALATION_TRIGGERED")["data"]["reason"], "look");
}

#[test]
fn a_second_monitor_on_the_same_data_is_refused_and_says_who_is_there() {
    let place = Place::new();
    let first = place.start();
    let second = place.refused();
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(1));
    assert!(said.contains("in use by another monitor (process "), "{said}");
    assert_eq!(first.as_nobody("GET /health", "").status, 200, "the first is not disturbed");
}

#[test]
fn a_wrong_configuration_is_told_in_full_and_starts_nothing() {
    let place = Place::new();
    place.configure("lisen: 127.0.0.1:1\nmode: kill\nretention:\n  events: soon\n");
    let refused = place.refused();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1));
    for problem in ["verger.yaml:1:1", "did you mean `listen`?", "verger.yaml:2:7", "verger.yaml:4:11"] {
        assert!(said.contains(problem), "{problem} is not in\n{said}");
    }
    assert!(is_absent(&place.data()), "nothing was made");
}

#[test]
fn a_secret_that_is_missing_or_that_others_may_read_starts_nothing() {
    let place = Place::new();
    let webhook =
        "orchestrator:\n  webhook:\n    url: http://127.0.0.1:9/x\n    secret_file: \"{here}/secret\"\n";
    place.configure(webhook);
    let refused = place.refused();
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("could not read the secret"));
    std::fs::write(place.path("secret"), "0123456789abcdef").expect("it is ours");
    let refused = place.refused();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("chmod 600"));
    assert!(is_absent(&place.data()), "nothing was made");
}

#[test]
fn l46_what_is_older_than_it_is_kept_for_goes_while_the_monitor_runs() {
    let place = Place::new();
    place.configure("retention:\n  events: 1s\n");
    let program = place.start();
    for agent in ["a", "b"] {
        program.as_nobody("POST /v1/heartbeats", &format!(r#"{{"agentId":"{agent}"}}"#));
        program.as_admin(&format!("POST /v1/agents/{agent}/escalate"), r#"{"reason":"look"}"#);
    }
    // The newest event of all stays, so that its number is never given out again; it is the other agent's.
    let events = || program.as_admin("GET /v1/agents/a/events", "").body["items"].as_array().map(Vec::len);
    until("old events are gone", || (events() == Some(0)).then_some(()));
    assert_eq!(program.as_admin("GET /v1/agents/a", "").status, 200, "the agent itself stays");
}

#[test]
fn a_backup_made_while_it_runs_is_a_monitor_of_its_own() {
    let (place, other) = (Place::new(), Place::new());
    let program = place.start();
    program.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a","taskId":"t"}"#);
    program.as_admin("POST /v1/checkpoints", r#"{"id":"c1","taskId":"t","agentId":"a","state":1}"#);
    std::fs::create_dir(other.data()).expect("a folder");
    let copy = other.data().join("verger.db");
    let backup = |file: &std::path::Path| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_verger"));
        command.arg("backup").arg(file).arg("--data-dir").arg(place.data()).output().expect("it can be run")
    };
    let made = backup(&copy);
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    assert_eq!(backup(&copy).status.code(), Some(1), "nothing is written over");
    let restored = other.start();
    assert_eq!(restored.as_admin("GET /v1/checkpoints/c1", "").body["state"], 1);
    assert_eq!(restored.as_admin("GET /v1/agents/a", "").status, 200);
    program.kill();
    assert_eq!(backup(&other.path("late.db")).status.code(), Some(5), "nobody is there to make it");
}
