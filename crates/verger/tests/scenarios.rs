//! Every scenario comes out as it is written (L06, L10, X20).
//!
//! They were written from what people report about loop detectors, before the rules were known, and say what a person
//! would want. Half of them must stay quiet.

mod support;

use std::collections::BTreeMap;
use std::fs;

use verger_ingest::scenario::{self, Expected, Scenario};

/// What detectors cry wolf at. Each must be among the scenarios at least three times.
const FALSE_ALARMS: [&str; 10] = [
    "polling",
    "paging",
    "batch",
    "retest",
    "constant-success",
    "outage",
    "parallel",
    "person",
    "long-build",
    "change-of-course",
];

fn scenarios() -> Vec<Scenario> {
    let folder = support::root().join("crates/verger/tests/scenarios");
    support::files(&folder, ".yaml")
        .iter()
        .flat_map(|path| {
            let text = fs::read_to_string(path).expect("a readable file");
            scenario::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        })
        .collect()
}

#[test]
fn x20_every_scenario_comes_out_as_it_is_written() {
    let differs = |scenario: &Scenario| {
        let outcome = scenario.play();
        let got = outcome.finding.stuck_at.map_or("quiet".to_owned(), |at| format!("stuck at step {at}"));
        (!outcome.passed).then(|| format!("{}: expected {}, got {got}", scenario.name, scenario.expected))
    };
    let different: Vec<String> = scenarios().iter().filter_map(differs).collect();
    assert!(different.is_empty(), "{} scenarios differ:\n{}", different.len(), different.join("\n"));
}

#[test]
fn half_of_the_scenarios_must_stay_quiet_and_every_false_alarm_is_there_three_times() {
    let scenarios = scenarios();
    let quiet: Vec<_> = scenarios.iter().filter(|scenario| scenario.expected == Expected::Quiet).collect();
    assert!(
        60 <= scenarios.len() && scenarios.len() <= 2 * quiet.len(),
        "{} of {}",
        quiet.len(),
        scenarios.len()
    );
    let mut classes: BTreeMap<&str, usize> = BTreeMap::new();
    for class in quiet.iter().filter_map(|scenario| scenario.class.as_deref()) {
        *classes.entry(class).or_default() += 1;
    }
    let missing: Vec<_> =
        FALSE_ALARMS.iter().filter(|class| classes.get(*class).is_none_or(|count| *count < 3)).collect();
    assert_eq!(missing, Vec::<&&str>::new());
}

#[test]
fn no_two_scenarios_have_the_same_name() {
    let scenarios = scenarios();
    let mut names: Vec<_> = scenarios.iter().map(|scenario| &scenario.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}
