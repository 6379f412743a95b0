//! Clocks and pauses (L42): the monitor stands still or its wall clock is set, and nobody is blamed for it.
//!
//! Limits are seconds here, and the pause is longer than every one of them. `VERGER_PAUSE_SECS` makes it longer still, as
//! `make soak` does.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::herd::{self, Herd, LONGER_THAN_ANY_LIMIT};
use crate::program::{ANY_PORT, Place, Program, until};
use crate::tools::tool;

/// For how long the monitor stands still.
fn pause() -> Duration {
    let said = std::env::var("VERGER_PAUSE_SECS").ok().and_then(|secs| secs.parse().ok());
    Duration::from_secs(said.unwrap_or(10))
}

fn observed(program: &Program) -> u64 {
    program.get("/v1/fleet")["monitor"]["observedSeconds"].as_u64().expect("a number")
}

/// Until the monitor has seen enough for any limit to have passed, had it been running.
fn watch_on(program: &Program) {
    let enough = observed(program) + LONGER_THAN_ANY_LIMIT;
    until("it watches on", || (observed(program) >= enough).then_some(()));
}

/// The settings are as fast as this test relies on: whoever should beat and does not is found.
fn silence_is_noticed(program: &Program, herd: Herd) {
    herd.end();
    until("silence is noticed", || {
        let alarms = herd::alarms(program);
        herd::BEATING.iter().all(|agent| alarms.iter().any(|alarm| alarm.contains(agent))).then_some(())
    });
}

#[test]
fn l42_a_monitor_that_stood_still_blames_nobody_and_says_that_it_was_blind() {
    let place = Place::new();
    let program = place.configure(herd::FAST).start();
    let herd = Herd::start(&program);
    until("all are well", || herd::all_are_well(&program).then_some(()));
    watch_on(&program);
    program.signal(Signal::STOP);
    let (stopped, tried) = (Instant::now(), herd.tried());
    until("the pause is over", || (stopped.elapsed() >= pause() && herd.tried() > tried).then_some(()));
    program.signal(Signal::CONT);
    let blind = until("it knows that it was blind", || {
        let fleet = program.get("/v1/fleet");
        let times = fleet["monitor"]["blindTimes"].as_array().cloned().unwrap_or_default();
        times.into_iter().find(|time| time["cause"] == "paused")
    });
    assert!(blind["from"].as_str() < blind["until"].as_str(), "{blind}");
    watch_on(&program);
    assert_eq!(herd::alarms(&program), Vec::<String>::new());
    until("all are well again", || herd::all_are_well(&program).then_some(()));
    silence_is_noticed(&program, herd);
}

/// A monitor whose wall clock is set by writing into a file.
struct Faked {
    place: Place,
    clock: PathBuf,
    library: PathBuf,
}

impl Faked {
    fn new() -> Self {
        let (place, library) = (Place::new(), tool("libfaketime.so"));
        place.configure(herd::FAST);
        let faked = Self { clock: place.path("clock"), place, library };
        faked.set("+0");
        faked
    }

    fn set(&self, step: &str) {
        fs::write(&self.clock, format!("{step}\n")).expect("it is ours");
    }

    fn start(&self, listen: &str) -> Program {
        let one = Path::new("1");
        let variables = [
            ("LD_PRELOAD", self.library.as_path()),
            ("FAKETIME_TIMESTAMP_FILE", self.clock.as_path()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", one),
            ("FAKETIME_NO_CACHE", one),
        ];
        self.place.start_with(listen, &variables)
    }
}

#[test]
fn l42_a_wall_clock_that_is_set_forwards_and_back_changes_nothing() {
    let faked = Faked::new();
    let program = faked.start(ANY_PORT);
    let herd = Herd::start(&program);
    until("all are well", || herd::all_are_well(&program).then_some(()));
    let events = || program.get("/v1/agents/beats-0/events")["items"].as_array().map(Vec::len);
    let before = events();
    for step in ["+1h", "-1h", "+40d", "-3d"] {
        faked.set(step);
        until("its clock shows it", || shows(&program, step).then_some(()));
        watch_on(&program);
        assert_eq!(herd::alarms(&program), Vec::<String>::new(), "after {step}");
        assert!(herd::all_are_well(&program), "after {step}");
        assert!(events() >= before, "nothing is too old to be kept because of {step}");
    }
    silence_is_noticed(&program, herd);
}

#[test]
fn l42_a_wall_clock_that_was_set_while_the_monitor_was_down_changes_nothing() {
    let faked = Faked::new();
    let mut program = faked.start(ANY_PORT);
    let herd = Herd::start(&program);
    until("all are well", || herd::all_are_well(&program).then_some(()));
    for step in ["+2d", "-2d"] {
        let (address, seen) = (program.address.clone(), observed(&program));
        program.kill();
        faked.set(step);
        program = faked.start(&address);
        assert!(shows(&program, step), "its clock was set while it was down");
        assert!(observed(&program) < seen + 3_600, "days that nobody saw do not count");
        watch_on(&program);
        assert_eq!(herd::alarms(&program), Vec::<String>::new(), "after {step}");
        until("all are well again", || herd::all_are_well(&program).then_some(()));
    }
    herd.end();
}

/// Whether the monitor's wall clock is off by about this much.
fn shows(program: &Program, step: &str) -> bool {
    let at =
        |value: &Value| value.as_str().and_then(|text| text.parse().ok()).map(verger_api::Time::as_millis);
    let shown = at(&program.get("/v1/fleet")["at"]).expect("a time");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is later");
    let off = shown - i64::try_from(now.as_millis()).expect("it is not that late");
    let (number, unit) = step.split_at(step.trim_end_matches(['h', 'd']).len());
    let unit = match unit {
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => 1,
    };
    (off - number.parse::<i64>().expect("a number") * unit).abs() < 600_000
}
