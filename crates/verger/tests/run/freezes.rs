//! What is a freeze, and what is not.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::program::{Place, until};
use crate::wrapped::{Wrapped, monitor_sees, signal};

#[test]
fn h02_a_program_that_somebody_stops_is_found_frozen_within_five_seconds_and_back_when_it_goes_on() {
    let place = Place::new();
    let monitor = place.start();
    let wrapped = Wrapped::start(&place, &monitor, "frozen", &["sleep", "600"]);
    let (program, _) = wrapped.processes(&place);
    signal(program, Signal::STOP);
    let stopped = Instant::now();
    let seen = until("it is found", || {
        let agent = monitor_sees(&monitor, "frozen");
        (agent["liveness"]["cause"] == "event-loop-freeze").then_some(agent)
    });
    // The preset allows 5 s; this machine may be busy with other tests.
    println!("found after {:?}", stopped.elapsed());
    assert_eq!(seen["liveness"]["status"], "unresponsive");
    signal(program, Signal::CONT);
    until("it is back", || {
        let agent = monitor_sees(&monitor, "frozen");
        (agent["liveness"]["cause"].is_null() && agent["state"] == "HEALTHY").then_some(())
    });
}

#[test]
fn h03_the_end_of_a_program_is_told_with_how_it_ended() {
    let place = Place::new();
    let monitor = place.start();
    for (agent, number, said) in [("killed", Signal::KILL, "signal 9"), ("ended", Signal::TERM, "signal 15")]
    {
        let mut wrapped = Wrapped::start(&place, &monitor, agent, &["sleep", "600"]);
        signal(wrapped.processes(&place).0, number);
        wrapped.wait();
        let event = monitor.event(agent, "AGENT_TERMINATED");
        assert!(event["data"]["reason"].as_str().is_some_and(|reason| reason.contains(said)), "{event}");
    }
}

#[test]
fn h02_a_program_whose_own_watchdog_is_overdue_is_frozen() {
    let place = Place::new();
    let monitor = place.start();
    let script = "python3 -c 'import os,socket,time; s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM); \
                  s.connect(os.environ[\"NOTIFY_SOCKET\"]); s.send(b\"READY=1\\nWATCHDOG_USEC=4000000\"); time.sleep(600)'";
    let _wrapped = Wrapped::start(&place, &monitor, "dog", &["sh", "-c", script]);
    until("it is found", || {
        (monitor_sees(&monitor, "dog")["liveness"]["cause"] == "event-loop-freeze").then_some(())
    });
}

/// Long enough for several pings.
pub(crate) const A_WHILE: Duration = Duration::from_secs(8);
