//! When probes run, and which results count.

use super::*;
use crate::probe::health::SLACK;

fn starts(changes: &[Change]) -> Vec<(String, u64, u32)> {
    let started = |change: &Change| match change {
        Change::Start { probe, run, failures, .. } => Some((probe.to_string(), *run, *failures)),
        Change::Lost { .. } | Change::ProbeChanged { .. } | Change::StateChanged { .. } => None,
    };
    changes.iter().filter_map(started).collect()
}

#[test]
fn x14_first_starts_are_spread_over_the_interval() {
    let interval = Span::secs(60);
    let mut tenths = [0; 10];
    for seed in 0..10_000 {
        let start = spread(seed, interval);
        assert!(start < interval);
        tenths[(start.as_millis() / 6_000) as usize] += 1;
    }
    assert!(tenths.iter().all(|count| (850..1_150).contains(count)), "{tenths:?}");
    assert_eq!(spread(5, interval), spread(5, interval), "the same from the same");
    assert_eq!(spread(5, Span::ZERO), Span::ZERO);
    assert!(spread(u64::MAX, Span::FOREVER) <= Span::FOREVER);
}

#[test]
fn x14_probes_of_one_agent_and_of_two_start_at_different_times() {
    let first = |seed, name: &str| {
        let mut probes = ProbeHealth::default();
        probes.begin(at(0), Incarnation::FIRST, seed, &mut Vec::new());
        probes.configure(at(0), &[ProbeSpec::new(name, 1)], &mut Vec::new()).unwrap();
        probes.deadline(at(0))
    };
    assert_ne!(first(1, "http"), first(2, "http"));
    assert_ne!(first(1, "http"), first(1, "tcp"));
    assert_eq!(first(1, "http"), first(1, "http"));
}

#[test]
fn p04_a_probe_keeps_its_place_in_the_interval_however_long_it_takes() {
    let mut agent = Agent::new();
    let run = agent.started("http");
    let first = agent.now;
    let result = agent.result("http", run, Outcome::Passed);
    agent.probes.on_result(first + Span::millis(2_900), &result, &mut agent.changes).unwrap();
    assert_eq!(agent.probes.deadline(first + Span::millis(2_900)), Some(first + Span::secs(5)));
    agent.probes.wake(first + Span::millis(17_300), &mut agent.changes);
    let result = agent.result("http", run + 1, Outcome::Passed);
    agent.probes.on_result(first + Span::millis(18_000), &result, &mut agent.changes).unwrap();
    assert_eq!(
        agent.probes.deadline(first + Span::secs(18)),
        Some(first + Span::secs(20)),
        "none is made up for"
    );
}

#[test]
fn p04_one_run_at_a_time() {
    let mut agent = Agent::new();
    agent.started("http");
    agent.changes.clear();
    for millis in (0..5_000).step_by(100) {
        agent.probes.wake(agent.now + Span::millis(millis).min(Span::secs(3) + SLACK), &mut agent.changes);
    }
    assert_eq!(starts(&agent.changes), []);
}

#[test]
fn x01_a_run_of_which_nothing_comes_back_is_given_up_and_blames_nobody() {
    let mut agent = Agent::new();
    agent.checks("+");
    let run = agent.started("http");
    let lost_at = agent.now + Span::secs(3) + SLACK;
    agent.changes.clear();
    assert_eq!(agent.probes.deadline(agent.now), Some(lost_at));
    agent.probes.wake(lost_at - Span::millis(1), &mut agent.changes);
    assert_eq!(agent.changes, []);
    agent.probes.wake(lost_at, &mut agent.changes);
    assert_eq!(agent.changes[0], Change::Lost { probe: "http".into(), run });
    assert_eq!(agent.probes.state(), State::Healthy);
    let late = agent.result("http", run, Outcome::Failed);
    let ignored = agent.probes.on_result(lost_at, &late, &mut agent.changes);
    assert_eq!(ignored, Err(Ignored::NotAwaited));
    assert_eq!(agent.checks("---").last(), Some(&State::Unhealthy), "and the next one runs");
}

#[test]
fn p04_results_that_come_twice_late_or_out_of_order_change_nothing() {
    let mut agent = Agent::new();
    let first = agent.started("http");
    let failed = agent.result("http", first, Outcome::Failed);
    assert_eq!(agent.probes.on_result(agent.now, &failed, &mut agent.changes), Ok(()));
    assert_eq!(agent.probes.on_result(agent.now, &failed, &mut agent.changes), Err(Ignored::NotAwaited));
    let second = agent.started("http");
    let before = agent.probes.clone();
    for run in [first, second + 1, u64::MAX] {
        let other = agent.result("http", run, Outcome::Passed);
        let ignored = agent.probes.on_result(agent.now, &other, &mut agent.changes);
        assert_eq!(ignored, Err(Ignored::NotAwaited), "{run}");
    }
    let unknown = agent.result("tcp", second, Outcome::Passed);
    assert_eq!(agent.probes.on_result(agent.now, &unknown, &mut agent.changes), Err(Ignored::UnknownProbe));
    assert_eq!(agent.probes, before);
}

#[test]
fn p04_a_result_of_a_former_life_is_not_this_ones() {
    let mut agent = Agent::new();
    agent.checks("---");
    let unhealthy_at = agent.now;
    let run = agent.started("http");
    let former = agent.result("http", run, Outcome::Failed);
    agent.changes.clear();
    agent.probes.begin(agent.now, Incarnation(2), 8, &mut agent.changes);
    let [Change::StateChanged { from, to, lasted, summary }] = &agent.changes[..] else {
        panic!("{:?}", agent.changes)
    };
    assert_eq!((*from, *to, *lasted), (State::Unhealthy, State::Unknown, agent.now.since(unhealthy_at)));
    assert_eq!(summary, "Health not yet determined");
    let ignored = agent.probes.on_result(agent.now, &former, &mut agent.changes);
    assert_eq!(ignored, Err(Ignored::FormerLife));
    let view = agent.probes.view().expect("it has a probe");
    assert_eq!((view.state, view.state_changed_at, view.last_checked_at), (State::Unknown, agent.now, None));
    let new_run = agent.started("http");
    assert_ne!(new_run, run, "numbers are not used again");
    agent.probes.begin(agent.now, Incarnation(2), 9, &mut agent.changes);
    assert_eq!(agent.started("http"), new_run, "a life begins once");
}

#[test]
fn p04_nothing_is_probed_when_the_life_is_over() {
    let mut agent = Agent::new();
    agent.checks("+");
    let run = agent.started("http");
    let late = agent.result("http", run, Outcome::Failed);
    agent.probes.end(agent.now);
    assert_eq!(agent.probes.deadline(agent.now), None);
    agent.changes.clear();
    agent.probes.wake(at(9_999), &mut agent.changes);
    assert_eq!(agent.probes.on_result(agent.now, &late, &mut agent.changes), Err(Ignored::FormerLife));
    assert_eq!((agent.changes.len(), agent.probes.state()), (0, State::Healthy), "what was found stays");
}

#[test]
fn p04_a_probe_that_is_changed_while_it_runs_forgets_that_run_only_if_it_looks_elsewhere() {
    let mut agent = Agent::new();
    let run = agent.started("http");
    agent.configure(&[ProbeSpec { interval: Span::secs(60), ..agent.spec("http") }]);
    let result = agent.result("http", run, Outcome::Passed);
    assert_eq!(agent.probes.on_result(agent.now, &result, &mut agent.changes), Ok(()));
    assert_eq!(agent.probes.deadline(agent.now), Some(agent.now + Span::secs(60)));
    agent.configure(&[ProbeSpec { interval: Span::secs(2), timeout: Span::secs(1), ..agent.spec("http") }]);
    assert_eq!(agent.probes.deadline(agent.now), Some(agent.now + Span::secs(2)), "sooner from now on");
    let run = agent.started("http");
    agent.configure(&[ProbeSpec { target: 2, ..agent.spec("http") }]);
    let result = agent.result("http", run, Outcome::Passed);
    assert_eq!(agent.probes.on_result(agent.now, &result, &mut agent.changes), Err(Ignored::NotAwaited));
    let run = agent.started("http");
    agent.configure(&[]);
    agent.configure(&[ProbeSpec::new("http", 2)]);
    let result = agent.result("http", run, Outcome::Passed);
    assert_eq!(agent.probes.on_result(agent.now, &result, &mut agent.changes), Err(Ignored::NotAwaited));
}

#[test]
fn l03_a_degraded_agent_is_checked_twice_as_often() {
    let mut agent = Agent::with(&[ProbeSpec { interval: Span::secs(60), ..ProbeSpec::new("http", 1) }]);
    agent.checks("+");
    agent.probes.hurry(agent.now, true);
    assert_eq!(agent.probes.deadline(agent.now), Some(agent.now + Span::secs(30)));
    agent.checks("+");
    assert_eq!(agent.probes.deadline(agent.now), Some(agent.now + Span::secs(30)));
    agent.probes.hurry(agent.now, false);
    agent.checks("+");
    assert_eq!(agent.probes.deadline(agent.now), Some(agent.now + Span::secs(60)));
    let mut agent = Agent::with(&[ProbeSpec {
        interval: Span::secs(1),
        timeout: Span::millis(900),
        ..ProbeSpec::new("http", 1)
    }]);
    agent.probes.hurry(agent.now, true);
    agent.checks("+");
    assert_eq!(
        agent.probes.deadline(agent.now),
        Some(agent.now + Span::secs(1)),
        "never more than once a second"
    );
}

#[test]
fn p01_a_run_learns_what_the_one_before_found() {
    let mut agent = Agent::new();
    agent.checks("--");
    agent.changes.clear();
    let run = agent.started("http");
    assert_eq!(starts(&agent.changes), [("http".to_owned(), run, 2)]);
    let before = agent.probes.probe(&"http".into()).and_then(|probe| probe.last.as_ref());
    assert_eq!(before.map(Reported::text), Some("Check failed".to_owned()));
}

#[test]
fn x13_what_a_probe_says_is_kept_in_bounds() {
    let mut agent = Agent::new();
    let run = agent.started("http");
    let long = "ä".repeat(2_000);
    let result = ProbeResult {
        description: Some(long.as_str().into()),
        error: Some(long.as_str().into()),
        data: Some(long.as_str().into()),
        ..agent.result("http", run, Outcome::Failed)
    };
    agent.probes.on_result(agent.now, &result, &mut agent.changes).unwrap();
    let last = agent.probes.probe(&"http".into()).and_then(|probe| probe.last.clone()).expect("a result");
    let length = |text: Option<std::sync::Arc<str>>| text.map(|text| text.chars().count());
    assert_eq!((length(last.description), length(last.error), last.data), (Some(500), Some(500), None));
    let summary = agent.probes.view().expect("it has a probe").summary;
    assert_eq!(summary, format!("1 of 1 health checks failing: http 1 in a row ({})", "ä".repeat(80)));
}
