//! L29, X14: however often the monitor dies, no task is recovered more often than its limits allow, and no finished
//! work is done again.

use verger_sim::harness::{CrashPoint, MonitorFault, MonitorFaults, Options, run_with};
use verger_sim::world::SimTime;

const MINUTE: u64 = 60_000;

/// The monitor dies every few minutes, at rest or in the midst of a commit, for seconds up to minutes.
fn deaths(days: u64) -> Vec<(SimTime, MonitorFault)> {
    let mut number = 17_u64;
    let mut draw = |below: u64| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (number >> 33) % below
    };
    let mut at = SimTime(MINUTE);
    let mut script = Vec::new();
    while at < SimTime(days * 24 * 60 * MINUTE) {
        let point = match draw(40) {
            0 => CrashPoint::BeforeCommit,
            1 => CrashPoint::AfterCommit,
            _ => CrashPoint::Idle,
        };
        let down = 1_000 + draw(60) * 1_000;
        script.push((at, MonitorFault::Crash { point, down, reboot: draw(3) == 0 }));
        at = at + (MINUTE / 2 + draw(3 * MINUTE));
    }
    script
}

#[test]
fn l29_no_limit_of_recovery_is_exceeded_across_a_thousand_restarts() {
    let options = Options { seed: 5, days: 3.0, agents: 40, ..Options::default() };
    let finished = run_with(&options, MonitorFaults::scripted(deaths(3)), &mut (), &mut ());
    let report = &finished.report;
    assert!(report.monitor.restarts >= 1_000, "{} restarts", report.monitor.restarts);
    assert!(report.recovery.attempted > 0, "nothing was recovered at all");
    for checker in
        ["recovery-within-its-limits", "no-redo-of-finished-work", "no-effect-twice-beyond-the-allowed-once"]
    {
        assert_eq!(report.checkers[checker], "ok", "{checker}");
    }
}
