//! What is bounded: the memory and the time that one commit may take.

use crate::bench::{Bench, Op};
use verger_engine::Settings;

#[test]
fn vital_signs_wait_for_their_second_unless_too_many_have_gathered() {
    let mut bench = Bench::with(Settings { rows_max: 3, ..Settings::default() });
    let before = bench.commits();
    for agent in [0, 1, 1] {
        bench.run(&Op::Heartbeat(agent));
    }
    assert_eq!(bench.commits(), before, "two rows have changed");
    bench.run(&Op::Heartbeat(2));
    assert_eq!(bench.commits(), before + 1, "three have, and no time has passed");
}
