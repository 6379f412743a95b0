//! L24, X11: a failing dependency behind a hundred agents gets no more calls than those that try whether it works.

use verger_sim::harness::{MonitorFaults, Options, run_with};

#[test]
fn l24_calls_to_a_failing_dependency_behind_a_hundred_agents_fall_to_the_half_open_quota() {
    let options = Options { seed: 1, days: 1.0, agents: 100, ..Options::default() };
    let finished = run_with(&options, MonitorFaults::scripted([]), &mut (), &mut ());
    let services = &finished.report.services;
    assert!(services.wanted_in_vain > 300, "{services:?}");
    assert!(services.made_in_vain * 4 < services.wanted_in_vain, "{services:?}");
    for checker in ["failing-services-are-spared", "no-breaker-refuses-for-ever", "every-message-ends"] {
        assert_eq!(finished.report.checkers[checker], "ok", "{checker}");
    }
}
