//! `verger terminate` ends all that a program started, and keeps what it left.

use std::fs;

use serde_json::Value;

use crate::program::{Place, until};
use crate::wrapped::{Wrapped, bearing, is_alive, record};

/// Quick, for tests; nobody decides anything by himself here.
pub(crate) const QUICK: &str = "roles:\n  default:\n    intervention:\n      cleanup_timeout: 4s\n";

/// A tree that does not want to end: sessions of its own, forks that lose their parent, and nobody hears SIGTERM. Each
/// of its processes has the word in its environment, but for one that has nothing in it and only its name.
pub(crate) fn stubborn(word: &str) -> String {
    format!(
        "trap '' TERM; echo the last words; export WORD={word}; \
         setsid sh -c 'trap \"\" TERM; sleep 1001 & wait; sleep 1002' & \
         (setsid sh -c '(trap \"\" TERM; exec sleep 1003) &' &) ; \
         (env -i bash -c 'trap \"\" TERM; (exec -a {word} sleep 1004) & ' &) ; \
         (env -i setsid bash -c 'trap \"\" TERM; exec -a {word} sleep 1005' &) ; \
         while :; do sleep 1; done"
    )
}

#[test]
fn l22_all_that_a_program_started_ends_and_its_final_state_is_kept() {
    let place = Place::new();
    let monitor = place.configure(QUICK).start();
    let word = format!("stubborn-{}", std::process::id());
    let script = stubborn(&word);
    let mut wrapped = Wrapped::start(&place, &monitor, &word, &["bash", "-c", &script]);
    until("the whole tree", || (bearing(&word).len() >= 7).then_some(()));
    let ordered = place.run(&["terminate", &word, "--reason", "a test"], &[]);
    assert!(ordered.status.success(), "{ordered:?}");
    wrapped.wait();
    until("nobody is left", || bearing(&word).is_empty().then_some(()));
    let event = monitor.event(&word, "AGENT_TERMINATED");
    assert!(event["data"]["reason"].is_string(), "{event}");
    assert_eq!(record(&place, &word), None, "nothing is left for the monitor to do");
    let kept = final_state(&place, &word);
    assert!(kept["state"]["output"].as_str().is_some_and(|text| text.contains("the last words")), "{kept}");
    let names = kept["state"]["variables"].as_array().cloned().unwrap_or_default();
    assert!(names.contains(&"VERGER_TOKEN".into()) && !kept.to_string().contains("vgt_"), "{kept}");
    assert!(!kept["state"]["openFiles"].as_array().cloned().unwrap_or_default().is_empty(), "{kept}");
}

#[test]
fn l22_a_program_that_cleans_up_has_the_time_for_it() {
    let place = Place::new();
    let monitor = place.start();
    let file = place.path("cleaned");
    let script = format!("trap 'echo done > {}; exit 0' TERM; while :; do sleep 0.05; done", file.display());
    let mut wrapped = Wrapped::start(&place, &monitor, "tidy", &["sh", "-c", &script]);
    place.run(&["terminate", "tidy", "--reason", "a test"], &[]);
    wrapped.wait();
    assert_eq!(place.file("cleaned"), "done\n");
    monitor.event("tidy", "AGENT_TERMINATED");
}

#[test]
fn x10_nobody_else_is_touched_by_the_number_of_a_process() {
    let place = Place::new();
    let monitor = place.configure(QUICK).start();
    let mut wrapped = Wrapped::start(&place, &monitor, "other", &["sleep", "600"]);
    let mut stranger = std::process::Command::new("sleep").arg("600").spawn().expect("a stranger");
    // The record of a run whose numbers became another's.
    let mut forged = record(&place, "other").expect("it runs");
    let members = [forged["tree"]["root"].clone()].map(|mut member| {
        member["pid"] = stranger.id().into();
        member
    });
    forged["tree"]["root"]["pid"] = stranger.id().into();
    forged["tree"]["members"] = Value::from(members.to_vec());
    let file =
        fs::read_dir(place.data().join("run")).expect("records").flatten().next().expect("a record").path();
    fs::write(file, forged.to_string()).expect("it is ours");
    place.run(&["terminate", "other", "--reason", "a test"], &[]);
    monitor.event("other", "AGENT_TERMINATED");
    assert!(is_alive(stranger.id()), "a stranger was touched");
    stranger.kill().and_then(|()| stranger.wait()).expect("it is ours");
    crate::wrapped::signal(wrapped.wrapper(), rustix::process::Signal::TERM);
    wrapped.wait();
}

pub(crate) fn final_state(place: &Place, agent: &str) -> Value {
    until("a final state", || {
        let files = fs::read_dir(place.data().join("final-states")).ok()?.flatten();
        let states =
            files.filter_map(|file| serde_json::from_slice::<Value>(&fs::read(file.path()).ok()?).ok());
        states.into_iter().find(|state| state["agentId"] == agent)
    })
}
