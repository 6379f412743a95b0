//! A program that fails is brought back, within limits that nobody gets around.

use std::fs;
use std::process::{Child, Stdio};

use rustix::process::Signal;

use crate::program::{Place, until};
use crate::wrapped::{record, signal, wrapping};

/// Waits as short as a test.
const SHORT_WAITS: &str = "recovery:\n  backoff: [1s, 1s, 1s]\n  jitter_percent: 0%\n  burst_limit: 9 in 1m\n  agent_limit: 9 in 1h\n";

/// Starts it under `--restart`; what each of its lives says goes to a file.
fn start(place: &Place, agent: &str, end: &str) -> Child {
    let said = place.path("said");
    let script = format!(
        "echo \"$VERGER_INCARNATION $VERGER_ATTEMPT $VERGER_CHECKPOINT [$VERGER_RECOVERY_CONTEXT]\" >> {}; {end}",
        said.display()
    );
    let mut command =
        wrapping(place, &["--agent", agent, "--task", "work", "--restart"], &["bash", "-c", &script]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it can be run")
}

fn lives(place: &Place) -> Vec<String> {
    fs::read_to_string(place.path("said")).unwrap_or_default().lines().map(ToOwned::to_owned).collect()
}

#[test]
fn l28_a_program_that_fails_is_brought_back_with_checkpoint_context_and_a_new_life() {
    let place = Place::new();
    let monitor = place.configure(SHORT_WAITS).start();
    let mut child = start(&place, "again", "exec sleep 600");
    until("the first life", || (lives(&place).len() == 1).then_some(()));
    let saved =
        monitor.as_admin("POST /v1/checkpoints", r#"{"taskId":"work","agentId":"again","state":{"step":7}}"#);
    let id = saved.body["id"].as_str().expect("a checkpoint").to_owned();
    let pid = until("the record", || record(&place, "again")?["tree"]["root"]["pid"].as_u64());
    signal(u32::try_from(pid).expect("a number"), Signal::KILL);
    let second = until("the second life", || lives(&place).get(1).cloned());
    assert!(second.starts_with(&format!("2 1 {id} [")), "{second}");
    assert!(second.contains("ended by signal 9"), "{second}");
    monitor.event("again", "RECOVERY_INITIATED");
    until("it is watched", || (monitor.get("/v1/tasks/work/recovery")["status"] == "watching").then_some(()));
    // An order ends it for good.
    place.run(&["terminate", "again", "--reason", "a test"], &[]);
    child.wait().expect("it is ours");
    assert_eq!(lives(&place).len(), 2);
    assert_eq!(record(&place, "again"), None);
}

#[test]
fn l29_after_the_attempts_that_are_allowed_people_must_look_also_if_the_monitor_was_restarted() {
    let place = Place::new();
    let monitor = place.configure(SHORT_WAITS).start();
    let mut child = start(&place, "failing", "sleep 0.5; exit 3");
    until("two lives", || (lives(&place).len() >= 2).then_some(()));
    monitor.kill();
    let monitor = place.start();
    until("people must look", || {
        let recovery = monitor.as_admin("GET /v1/tasks/work/recovery", "").body;
        (recovery["status"] == "human-review").then_some(())
    });
    assert_eq!(lives(&place).len(), 4, "one life, and three attempts: {:?}", lives(&place));
    signal(child.id(), Signal::INT);
    assert_eq!(child.wait().expect("it is ours").code(), Some(3), "as its last life ended");
}
