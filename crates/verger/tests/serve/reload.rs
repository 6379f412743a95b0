//! The configuration is loaded again while agents beat and people ask (X15).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use rustix::process::Signal;

use crate::program::{Place, Program, until};

/// How often the configuration was loaded again, and how often what was found was refused.
fn reloads(program: &Program) -> (u64, u64) {
    let text = program.text("/metrics");
    let of = |result: &str| {
        let line = format!("verger_config_reloads_total{{result=\"{result}\"}} ");
        let found = text.lines().find_map(|found| found.strip_prefix(&line));
        found.and_then(|count| count.parse().ok()).expect("it is counted")
    };
    (of("done"), of("refused"))
}

/// Asks for it as an operator does, and waits until it was looked at.
fn reload(program: &Program) -> (u64, u64) {
    let before = reloads(program);
    program.signal(Signal::HUP);
    until("the configuration is loaded again", || Some(reloads(program)).filter(|after| *after != before))
}

/// Beats and asks on connections of their own while `during` runs. Every request must be answered well.
fn under_load(program: &Program, during: impl FnOnce()) {
    let (ends, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for agent in 0..4 {
            let (ends, answered) = (&ends, &answered);
            scope.spawn(move || {
                while !ends.load(Ordering::Relaxed) {
                    let beat = format!(r#"{{"agentId":"load-{agent}","status":"busy"}}"#);
                    let got = program.as_nobody("POST /v1/heartbeats", &beat);
                    assert!((200..300).contains(&got.status), "{got:?}");
                    assert_eq!(program.as_admin("GET /v1/agents", "").status, 200);
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        until("the load is on", || (answered.load(Ordering::Relaxed) > 8).then_some(()));
        during();
        ends.store(true, Ordering::Relaxed);
    });
}

/// One change in every section that does not need another start, each upon the last.
const SECTIONS: [&str; 25] = [
    "mode: full\n",
    "durability: strict\n",
    "retention:\n  history: 2d\n",
    "messages:\n  urgent: 1m\n",
    "notify:\n  command: [\"true\"]\n",
    "orchestrator:\n  webhook:\n    url: http://127.0.0.1:9/verger\n",
    "termination:\n  command: [\"true\"]\n",
    "spawn:\n  command: [\"true\"]\n",
    "health_monitoring:\n  health_check:\n    interval_seconds: 5\n",
    "fleet:\n  nudges: 7 in 1h\n",
    "writes:\n  timeout: 20s\n",
    "recovery:\n  attempts_max: 2\n",
    "correlation:\n  agents_min: 6\n",
    "resources:\n  near: 70%\n",
    "waste:\n  absence: 5h\n",
    "cardinality:\n  agents_max: 900\n",
    "breakers:\n  tool:\n    failure_threshold: 4\n",
    "tasks:\n  quiet: 20m\n",
    "judge:\n  check_interval: 3m\n",
    "queen:\n  more_time: 20m\n",
    "limits:\n  agent:\n    tokens: 5000000\n",
    "roles:\n  night:\n    progress:\n      stuck_after: 50m\n",
    "traffic:\n  batch: 100\n",
    "telemetry:\n  metrics: {agents_max: 5}\n  traces: {endpoint: http://127.0.0.1:9}\n",
    "agents:\n  load-0: {termination: {command: [\"true\"]}}\n",
];

/// Keys at the top that are not among these, and why not.
const ELSEWHERE: [(&str, &str); 3] = [
    ("listen", "it needs another start"),
    ("data_dir", "it needs another start"),
    ("access", "certificates are exchanged in a test of their own"),
];

#[test]
fn x15_no_section_is_forgotten_when_they_are_loaded_again() {
    let schema = verger_config::schema();
    let keys = schema["properties"].as_object().expect("keys");
    let tried = SECTIONS.iter().filter_map(|section| section.split_once(':')).map(|(name, _)| name);
    let mut known: Vec<_> = tried.chain(ELSEWHERE.iter().map(|(name, _)| *name)).collect();
    known.sort_unstable();
    let mut all: Vec<_> = keys.keys().map(String::as_str).collect();
    all.sort_unstable();
    assert_eq!(known, all);
}

#[test]
fn x15_every_section_is_loaded_again_under_load_and_no_request_is_dropped() {
    let place = Place::new();
    place.configure("mode: observe\n");
    let program = place.start();
    under_load(&program, || {
        let mut text = String::new();
        for (number, section) in SECTIONS.iter().enumerate() {
            text.push_str(section);
            place.configure(&text);
            // That the file changed may be noticed before the signal is: then it is loaded twice.
            let (done, refused) = reload(&program);
            assert!(done > number as u64 && refused == 0, "{section}: {}", place.log());
        }
    });
    let log = place.log();
    assert!(log.contains("`mode` is full, was observe"), "{log}");
    assert!(log.contains("`retention.history` is 2d, was 30d"), "{log}");
    // The last ones hold: so many in a body, and so many agents by their names.
    let two_hundred = r#"{"agentId":"load-0"}"#.to_owned() + "\n";
    let answer = program.as_nobody("POST /v1/heartbeats", &two_hundred.repeat(200));
    assert_eq!(answer.body["accepted"], 100, "{}", answer.body);
    assert!(program.text("/metrics").contains("verger_health_state_by_instance{"));
}

#[test]
fn x15_a_wrong_file_changes_nothing_and_says_everything_that_is_wrong() {
    let place = Place::new();
    place.configure("mode: full\n");
    let program = place.start();
    under_load(&program, || {
        place.configure("mode: everything\nretentoin:\n  history: 2d\n");
        assert_eq!(reload(&program).0, 0, "{}", place.log());
    });
    let log = place.log();
    assert!(log.contains("so nothing was changed"), "{log}");
    assert!(log.contains("verger.yaml:1:7") && log.contains("did you mean `retention`?"), "{log}");
    let metrics = program.text("/metrics");
    assert!(metrics.contains("verger_config_last_reload_successful 0\n"), "{metrics}");
    // What holds is what held before: in mode `full` an agent that loops and is deaf is ended, here in vain.
    place.configure("mode: full\n");
    until("it is right again", || (reload(&program).0 > 0).then_some(()));
    assert!(program.text("/metrics").contains("verger_config_last_reload_successful 1\n"));
    assert!(!place.log().contains("`mode` is"), "it never was anything else: {}", place.log());
}

#[test]
fn x15_thresholds_hold_at_once_and_without_a_signal() {
    let place = Place::new();
    place.configure(
        "mode: observe\nroles:\n  default:\n    repetition:\n      repeats: 500\n      repeats_stuck: 1000\n",
    );
    let program = place.start();
    program.loop_agent("a");
    let state = || program.get("/v1/agents/a")["state"].clone();
    assert_eq!(state(), "HEALTHY", "hundreds are allowed");
    place.configure("mode: observe\n");
    program.loop_agent("a");
    until("the file is noticed", || {
        program.loop_agent("a");
        (state() == "STUCK").then_some(())
    });
    assert_eq!(reloads(&program), (1, 0));
}

#[test]
fn x15_who_is_told_changes_without_a_restart() {
    let place = Place::new();
    place.configure("mode: escalate\n");
    let program = place.start();
    program.loop_agent("a");
    program.event("a", "ESCALATION_TRIGGERED");
    let tells = |name: &str| {
        format!(
            "notify:\n  command: [\"sh\", \"-c\", \"echo $VERGER_AGENT_ID >> {{here}}/{name}\"]\n  events: [ESCALATION_TRIGGERED]\n"
        )
    };
    place.configure(&tells("first"));
    assert_eq!(reload(&program).1, 0, "{}", place.log());
    program.loop_agent("b");
    assert_eq!(place.file("first"), "b\n", "what was before is not told");
    place.configure(&tells("second"));
    assert_eq!(reload(&program).1, 0, "{}", place.log());
    program.loop_agent("c");
    assert_eq!(place.file("second"), "c\n");
    assert_eq!(place.file("first"), "b\n");
}

#[test]
fn x15_what_needs_another_start_is_said_and_the_rest_holds() {
    let place = Place::new();
    place.configure("mode: full\n");
    let program = place.start_with("127.0.0.1:0", &[]);
    // The flag goes before the file, so a port in the file changes nothing; a folder of data is a flag here too.
    place.configure("mode: nudge\nlisten: 127.0.0.1:1\n");
    reload(&program);
    let log = place.log();
    assert!(log.contains("`mode` is nudge, was full") && !log.contains("`listen`"), "{log}");
    assert_eq!(program.as_nobody("GET /health", "").status, 200);
}
