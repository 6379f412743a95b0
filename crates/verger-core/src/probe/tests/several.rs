//! Several probes make one state; advisory ones do not.

use super::*;
use State::{Degraded, Healthy, Unhealthy, Unknown};

fn three() -> Agent {
    let advisory = ProbeSpec { included: false, ..ProbeSpec::new("advice", 4) };
    Agent::with(&[ProbeSpec::new("a", 1), ProbeSpec::new("b", 2), ProbeSpec::new("c", 3), advisory])
}

/// The state after all these checks: a probe's name and `+`, `-`, `t` or `?` for each.
fn after(agent: &mut Agent, script: &[(&str, &str)]) -> State {
    for (name, outcomes) in script {
        for c in outcomes.chars() {
            agent.check(name, outcome(c));
        }
    }
    agent.probes.state()
}

#[test]
fn p04_all_passing_is_healthy_some_failing_degraded_most_failing_unhealthy() {
    for (script, state) in [
        (&[("a", "+")] as &[_], Healthy),
        (&[("a", "+"), ("b", "+"), ("c", "+")], Healthy),
        (&[("a", "+"), ("b", "-"), ("c", "+")], Degraded),
        (&[("a", "---"), ("b", "+"), ("c", "+")], Degraded),
        (&[("a", "---"), ("b", "--"), ("c", "--")], Degraded),
        (&[("a", "---")], Degraded),
        (&[("a", "---"), ("b", "---"), ("c", "+")], Unhealthy),
        (&[("a", "---"), ("b", "---")], Unhealthy),
        (&[("a", "---"), ("b", "---"), ("c", "---")], Unhealthy),
    ] {
        assert_eq!(after(&mut three(), script), state, "{script:?}");
    }
}

#[test]
fn p04_half_of_the_probes_is_not_most() {
    let mut agent = Agent::with(&[ProbeSpec::new("a", 1), ProbeSpec::new("b", 2)]);
    assert_eq!(after(&mut agent, &[("a", "---"), ("b", "+")]), Degraded);
    assert_eq!(after(&mut agent, &[("b", "---")]), Unhealthy);
    assert_eq!(after(&mut agent, &[("b", "+")]), Degraded, "some checks pass");
    assert_eq!(after(&mut agent, &[("b", "+"), ("a", "+")]), Degraded);
    assert_eq!(after(&mut agent, &[("a", "+")]), Healthy);
}

#[test]
fn p04_an_advisory_probe_is_shown_and_does_not_count() {
    let mut agent = three();
    assert_eq!(after(&mut agent, &[("advice", "---")]), Unknown, "nothing that counts was checked");
    assert_eq!(after(&mut agent, &[("a", "+"), ("b", "+"), ("c", "+")]), Healthy);
    let view = agent.probes.view().expect("it has probes");
    assert_eq!((view.failure_count, view.probes.len()), (0, 4));
    assert_eq!(view.summary, "All health checks passing; advisory: advice 3 in a row (Check failed)");
    assert!(view.probes[3].last.as_ref().is_some_and(|last| !last.is_healthy()));
    agent.configure(&[ProbeSpec { included: true, ..agent.spec("advice") }]);
    assert_eq!(agent.probes.state(), Unhealthy, "the only one, and it counts now");
}

#[test]
fn p04_the_summary_names_what_fails_and_what_recovers() {
    let mut agent = three();
    after(&mut agent, &[("a", "+"), ("b", "---+"), ("c", "t")]);
    let view = agent.probes.view().expect("it has probes");
    assert_eq!(
        view.summary,
        "2 of 3 health checks failing: b recovering, 1 of 2 passes, \
         c 1 in a row (Health check timed out after 3.0s)"
    );
    assert_eq!(view.failure_count, 1);
}

#[test]
fn p04_a_probe_that_is_removed_counts_no_more() {
    let mut agent = three();
    assert_eq!(after(&mut agent, &[("a", "---"), ("b", "---"), ("c", "+")]), Unhealthy);
    agent.configure(&[agent.spec("b"), agent.spec("c")]);
    assert_eq!(agent.probes.state(), Degraded);
    agent.configure(&[agent.spec("c")]);
    assert_eq!(agent.probes.state(), Healthy);
    agent.configure(&[]);
    assert_eq!((agent.probes.state(), agent.probes.view()), (Unknown, None));
    assert_eq!(agent.probes.deadline(agent.now), None);
}

#[test]
fn p04_a_probe_that_is_added_or_looks_at_something_else_knows_nothing_yet() {
    let mut agent = Agent::new();
    agent.checks("+");
    agent.configure(&[agent.spec("http"), ProbeSpec::new("tcp", 2)]);
    assert_eq!(agent.probes.state(), Healthy, "what is not known yet is no failure");
    agent.checks("---");
    assert_eq!(agent.probes.state(), Degraded, "one of two");
    agent.configure(&[ProbeSpec { target: 9, ..agent.spec("http") }, agent.spec("tcp")]);
    assert_eq!(agent.probes.state(), Unknown);
    assert_eq!(agent.probes.probe(&"http".into()).and_then(|probe| probe.last.clone()), None);
}

#[test]
fn p03_every_error_of_every_probe_is_listed_and_nothing_is_changed() {
    let mut agent = Agent::new();
    let wrong = [
        ProbeSpec {
            interval: Span::millis(999),
            timeout: Span::millis(99),
            failure_threshold: 0,
            success_threshold: 6,
            ..ProbeSpec::new("Http", 1)
        },
        ProbeSpec { timeout: Span::secs(5), failure_threshold: 11, ..ProbeSpec::new("tcp", 2) },
        ProbeSpec { interval: Span::millis(300_001), success_threshold: 0, ..ProbeSpec::new("tcp", 3) },
        ProbeSpec::new("", 4),
        ProbeSpec::new(&"a".repeat(51), 5),
    ];
    let before = agent.probes.clone();
    let refusal = agent.probes.configure(at(9), &wrong, &mut agent.changes).expect_err("all are wrong");
    let long = "a".repeat(51);
    let name = "a name must be 1 - 50 lowercase letters and digits";
    assert_eq!(
        refusal.flaws.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            &format!("probe `Http`: {name}"),
            "probe `Http`: Interval must be 1 second - 5 minutes",
            "probe `Http`: Timeout must be 100ms - Interval",
            "probe `Http`: FailureThreshold must be 1-10",
            "probe `Http`: SuccessThreshold must be 1-5",
            "probe `tcp`: Timeout must be 100ms - Interval",
            "probe `tcp`: FailureThreshold must be 1-10",
            "probe `tcp`: Interval must be 1 second - 5 minutes",
            "probe `tcp`: SuccessThreshold must be 1-5",
            "probe `tcp`: another probe of this agent has this name",
            &format!("probe ``: {name}"),
            &format!("probe `{long}`: {name}"),
        ]
    );
    assert_eq!(agent.probes, before);
}

#[test]
fn p03_the_limits_themselves_are_allowed() {
    let edges = |interval, timeout, failure_threshold, success_threshold| ProbeSpec {
        interval,
        timeout,
        failure_threshold,
        success_threshold,
        ..ProbeSpec::new("p", 1)
    };
    assert_eq!(check(&[edges(Span::secs(1), Span::millis(100), 1, 1)]), Ok(()));
    assert_eq!(check(&[edges(Span::minutes(5), Span::millis(299_999), 10, 5)]), Ok(()));
    let many = |count| (0..count).map(|n| ProbeSpec::new(&format!("p{n}"), n)).collect::<Vec<_>>();
    assert_eq!(check(&many(16)), Ok(()));
    assert_eq!(
        check(&many(17)).expect_err("too many").to_string(),
        "probe `p16`: an agent has at most 16 probes"
    );
}
