//! Limits on what a program uses, on a real one.

use crate::program::Place;
use crate::wrapped::Wrapped;

#[test]
fn l12_a_program_that_holds_more_memory_than_it_may_is_ended() {
    let place = Place::new();
    let monitor = place
        .configure(
            "mode: full\ncorrelation:\n  look_around: 0s\nresources:\n  sustained: 6s\nlimits:\n  agent:\n    memory_mb: 100\n",
        )
        .start();
    let script = "x = bytearray(300_000_000)\nimport time\ntime.sleep(600)";
    let mut wrapped = Wrapped::start(&place, &monitor, "large", &["python3", "-c", script]);
    wrapped.wait();
    let event = monitor.event("large", "AGENT_TERMINATED");
    let ordered = monitor.event("large", "TERMINATION_ORDERED");
    assert!(
        ordered["data"]["reason"].as_str().is_some_and(|reason| reason.contains("memory")),
        "{ordered} {event}"
    );
}
