//! The transitions of 004 §5.2, with its defaults: three failures, two passes.

use super::*;
use State::{Degraded, Healthy, Unhealthy, Unknown};

#[test]
fn p04_an_instance_begins_unknown() {
    let agent = Agent::new();
    let view = agent.probes.view().expect("it has a probe");
    assert_eq!((view.state, view.last_checked_at, view.failure_count), (Unknown, None, 0));
    assert_eq!(view.summary, "Health not yet determined");
}

#[test]
fn p04_unknown_to_healthy_first_check_passes() {
    assert_eq!(Agent::new().checks("+"), [Healthy]);
}

#[test]
fn p04_unknown_to_unhealthy_first_check_fails_with_the_failure_threshold_reached() {
    let mut agent = Agent::with(&[ProbeSpec { failure_threshold: 1, ..ProbeSpec::new("http", 1) }]);
    assert_eq!(agent.checks("-"), [Unhealthy]);
}

#[test]
fn p04_unknown_to_degraded_below_the_failure_threshold() {
    assert_eq!(Agent::new().checks("-"), [Degraded]);
}

#[test]
fn p04_healthy_to_degraded_some_checks_failing() {
    assert_eq!(Agent::new().checks("+-"), [Healthy, Degraded]);
}

#[test]
fn p04_healthy_to_unhealthy_failure_threshold_consecutive_failures() {
    assert_eq!(Agent::new().checks("+---"), [Healthy, Degraded, Degraded, Unhealthy]);
    let mut agent = Agent::with(&[ProbeSpec { failure_threshold: 1, ..ProbeSpec::new("http", 1) }]);
    assert_eq!(agent.checks("+-"), [Healthy, Unhealthy], "without a step between");
}

#[test]
fn p04_degraded_to_healthy_success_threshold_consecutive_passes() {
    assert_eq!(Agent::new().checks("-++"), [Degraded, Degraded, Healthy]);
    assert_eq!(Agent::new().checks("-+-++"), [Degraded, Degraded, Degraded, Degraded, Healthy], "in a row");
}

#[test]
fn p04_degraded_to_unhealthy_failure_threshold_consecutive_failures() {
    assert_eq!(Agent::new().checks("---"), [Degraded, Degraded, Unhealthy]);
    let states = Agent::new().checks("--+--+---");
    assert_eq!(states[..8], [Degraded; 8], "in a row");
    assert_eq!(states[8], Unhealthy);
}

#[test]
fn p04_unhealthy_to_degraded_some_checks_passing() {
    assert_eq!(Agent::new().checks("---+").last(), Some(&Degraded));
    assert_eq!(Agent::new().checks("---+---").last(), Some(&Unhealthy), "and back");
}

#[test]
fn p04_unhealthy_to_healthy_success_threshold_consecutive_passes() {
    assert_eq!(Agent::new().checks("---++").last(), Some(&Healthy));
    let mut agent = Agent::with(&[ProbeSpec { success_threshold: 1, ..ProbeSpec::new("http", 1) }]);
    assert_eq!(agent.checks("---+"), [Degraded, Degraded, Unhealthy, Healthy], "without a step between");
}

#[test]
fn p04_health_check_cycle_detects_unhealthy() {
    let mut agent = Agent::new();
    agent.checks("---");
    let changes: Vec<_> = agent.changes.iter().filter_map(state_change).collect();
    assert_eq!(changes, [(Unknown, Degraded), (Degraded, Unhealthy)], "004 §10.2");
}

fn state_change(change: &Change) -> Option<(State, State)> {
    match change {
        Change::StateChanged { from, to, .. } => Some((*from, *to)),
        Change::Start { .. } | Change::Lost { .. } | Change::ProbeChanged { .. } => None,
    }
}

#[test]
fn p04_health_aggregation_failure_threshold_respected() {
    let mut agent = Agent::new();
    assert_eq!(agent.checks("+--").last(), Some(&Degraded), "004 §10.1");
    assert_eq!(agent.probes.view().map(|view| view.failure_count), Some(2));
}

#[test]
fn p04_a_timeout_is_a_failure_and_not_unknown() {
    assert_eq!(Agent::new().checks("t"), [Degraded]);
    let mut agent = Agent::new();
    assert_eq!(agent.checks("+ttt").last(), Some(&Unhealthy));
    let summary = agent.probes.view().expect("it has a probe").summary;
    assert_eq!(summary, "1 of 1 health checks failing: http 3 in a row (Health check timed out after 3.0s)");
}

#[test]
fn x01_what_the_monitor_could_not_find_out_changes_no_counter() {
    let mut agent = Agent::new();
    assert_eq!(agent.checks("?"), [Unknown]);
    assert_eq!(agent.checks("--??"), [Degraded; 4]);
    assert_eq!(agent.probes.view().map(|view| view.failure_count), Some(2));
    assert!(agent.probes.view().expect("one").summary.ends_with("; http: nothing found out in 2 checks"));
    let checked_at = agent.probes.last_checked_at;
    assert_eq!(agent.checks("?"), [Degraded]);
    assert_eq!(agent.probes.last_checked_at, checked_at, "nothing was checked");
    assert_eq!(agent.checks("-"), [Unhealthy], "the third failure in a row");
    assert_eq!(agent.checks("?+?+"), [Unhealthy, Degraded, Degraded, Healthy]);
    assert_eq!(agent.probes.view().expect("one").summary, "All health checks passing");
}

#[test]
fn p04_the_age_of_a_state_counts_from_its_change_and_not_from_the_last_check() {
    let mut agent = Agent::new();
    agent.checks("+");
    let since = agent.now;
    agent.checks("++++");
    let view = agent.probes.view().expect("it has a probe");
    assert_eq!((view.state_changed_at, view.last_checked_at), (since, Some(agent.now)));
    assert_eq!(view.state_age(agent.now), Span::secs(20));
}

#[test]
fn p04_thresholds_that_change_while_it_runs_count_from_the_next_check() {
    let mut agent = Agent::new();
    assert_eq!(agent.checks("+--").last(), Some(&Degraded));
    agent.configure(&[ProbeSpec { failure_threshold: 5, success_threshold: 1, ..agent.spec("http") }]);
    assert_eq!(agent.checks("--"), [Degraded; 2], "four of five");
    assert_eq!(agent.checks("-+"), [Unhealthy, Healthy]);
}

#[test]
fn p04_what_was_found_is_believed_for_three_intervals() {
    let mut agent = Agent::new();
    assert_eq!((agent.probes.finding(agent.now), agent.probes.believed_until()), (None, None));
    for outcome in [Outcome::Failed; 3] {
        let run = agent.started("http");
        let result = agent.result("http", run, outcome);
        agent.probes.on_result(agent.now, &result, &mut agent.changes).unwrap();
    }
    let until = agent.probes.believed_until().expect("there is a result");
    assert_eq!(until, agent.now + Span::secs(3 * 5 + 3));
    assert!(agent.probes.finding(until - Span::millis(1)).is_some());
    assert_eq!(agent.probes.finding(until), None);
}
