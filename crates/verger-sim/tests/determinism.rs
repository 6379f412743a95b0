//! A run is a pure function of its options: the same seed gives the same bytes.

use verger_sim::harness::{Finished, MonitorFaults, Options, run_with};

fn run(seed: u64) -> Finished {
    let options = Options { seed, days: 0.5, agents: 20, ..Options::default() };
    run_with(&options, MonitorFaults::seeded(seed), &mut (), &mut ())
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let (first, second) = (run(7), run(7));
    assert_eq!(first.digest, second.digest);
    assert_eq!(serde_json::to_string(&first.report).unwrap(), serde_json::to_string(&second.report).unwrap());
}

#[test]
fn another_seed_gives_another_run() {
    assert_ne!(run(7).digest, run(8).digest);
}
