//! Fifty trees grown at random, each ended without a trace (L22).

use std::fmt::Write;

use crate::run::{IMPATIENT, PATIENT, Run};

/// A small generator: seed and place give the same tree each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Writes the scripts of a process and all below it, and says how many there are. Each tells its number in a file.
fn grow(chance: &mut Chance, depth: u64, scripts: &mut Vec<String>) -> usize {
    let place = scripts.len();
    scripts.push(String::new());
    let mut text = String::new();
    if chance.below(3) == 0 {
        text.push_str("trap '' TERM HUP\n");
    }
    let below = if depth == 0 { 0 } else { chance.below(4) };
    for _ in 0..below {
        let child = grow(chance, depth - 1, scripts);
        let start = match chance.below(5) {
            0 => format!("setsid sh ./s{child} &"),
            1 => format!("(setsid sh ./s{child} &)"),
            2 => format!("(sh ./s{child} &)"),
            // Group leaders cannot lead a session; so `setsid` forks, and its parent ends.
            3 => format!("setsid setsid --fork sh ./s{child} &"),
            _ => format!("sh ./s{child} &"),
        };
        writeln!(text, "{start}").expect("a string takes any text");
    }
    writeln!(text, "echo $$ > p{place}").expect("a string takes any text");
    text.push_str(match chance.below(5) {
        0 => "kill -STOP $$\nsleep 300\n",
        1 => "exec sleep 300\n",
        // It has ended, and what it started has lost its parent.
        2 if below > 0 && place > 0 => "exit\n",
        3 => "while :; do sleep 0.05; done\n",
        _ => "sleep 300 &\nwait\nsleep 300\n",
    });
    scripts[place] = text;
    place
}

#[tokio::test]
async fn l22_fifty_random_trees_end_and_leave_no_orphan() {
    for seed in 0..50 {
        let mut scripts = Vec::new();
        grow(&mut Chance(seed), 3, &mut scripts);
        let start = if seed % 2 == 0 { Run::script } else { Run::adopted };
        let mut run = start("until [ -e go ]; do sleep 0.01; done; exec sh ./s0");
        for (place, text) in scripts.iter().enumerate() {
            std::fs::write(run.file(&format!("s{place}")), text).unwrap();
        }
        std::fs::write(run.file("go"), "").unwrap();
        for place in 0..scripts.len() {
            run.written(&format!("p{place}")).await;
        }
        let patience = if scripts.iter().any(|text| text.contains("trap")) { IMPATIENT } else { PATIENT };
        let stopped = run.tree.stop(patience);
        assert!(stopped.is_complete(), "seed {seed}: {stopped:?}");
        assert_eq!(run.bearers(), Vec::<u32>::new(), "seed {seed}");
    }
}
