//! Every scenario comes out as it is written, or is known not to (L06, L10, X20).
//!
//! They were written from what people report about loop detectors, before the rules were known, and say what a person
//! would want. Half of them must stay quiet.

mod support;

use std::collections::{BTreeMap, BTreeSet};
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

/// Which scenarios come out otherwise is written down as well: neither may one more do so, nor may the list claim what
/// is mended.
#[test]
fn x20_every_scenario_comes_out_as_it_is_written_or_is_known_not_to() {
    let list = support::root().join("crates/verger/tests/scenarios/not-yet.txt");
    let list = fs::read_to_string(list).expect("a readable file");
    let known: BTreeSet<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    let mut found = BTreeSet::new();
    let mut news = Vec::new();
    for scenario in &scenarios() {
        let outcome = scenario.play();
        if outcome.passed {
            continue;
        }
        found.insert(scenario.name.clone());
        if !known.contains(scenario.name.as_str()) {
            let got = outcome.finding.stuck_at.map_or("quiet".to_owned(), |at| format!("stuck at step {at}"));
            news.push(format!("{}: expected {}, got {got}", scenario.name, scenario.expected));
        }
    }
    assert!(news.is_empty(), "{} scenarios differ:\n{}", news.len(), news.join("\n"));
    let mended: Vec<_> = known.iter().filter(|name| !found.contains(**name)).collect();
    assert_eq!(mended, Vec::<&&str>::new(), "take these off the list");
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
