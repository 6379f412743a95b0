//! Prints what a run shows, with every false alarm and every missed fault: the way to look into a seed.
//!
//! `SEED=3 DAYS=2 AGENTS=50 cargo test --release -p verger-sim --test explore -- --ignored --nocapture`

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Instant;

use verger_sim::harness::{Mode, MonitorFaults, Options, run_with};

fn setting<T: FromStr>(name: &str, default: T) -> T {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
#[ignore = "for people: prints one run"]
fn a_run_explains_itself() {
    let options = Options {
        seed: setting("SEED", 1),
        days: setting("DAYS", 7.0),
        agents: setting("AGENTS", 100),
        faults: setting("FAULTS", true),
        mode: Mode::Full,
    };
    let faults = if setting("MONITOR_FAULTS", options.faults) {
        MonitorFaults::seeded(options.seed)
    } else {
        MonitorFaults::scripted([])
    };
    let began = Instant::now();
    let finished = run_with(&options, faults, &mut ());
    let shown = setting("SHOW", 20);
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for alarm in finished.judgement.false_alarms() {
        let reason = alarm.reason.replace(|c: char| c.is_ascii_digit() || c == '.', "");
        *reasons.entry(reason).or_default() += 1;
    }
    for (reason, count) in &reasons {
        println!("{count:>6} false alarms: {reason}");
    }
    for wrong in finished.wrong.iter().take(shown) {
        println!("wrong: {wrong}");
    }
    for alarm in finished.judgement.false_alarms().take(shown) {
        println!("false alarm at {} about {}: {}", alarm.began, alarm.agent, alarm.reason);
    }
    for finding in finished.judgement.findings.iter().filter(|finding| finding.is_missed()).take(shown) {
        println!("missed: {:?} allowed after {:?}", finding.fault, finding.allowance);
    }
    println!("{}", serde_json::to_string_pretty(&finished.report).unwrap());
    println!("digest {} after {:?}", finished.digest, began.elapsed());
}
