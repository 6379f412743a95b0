//! What judging progress costs: time per step and memory per agent.
//!
//! `cargo run --release -p verger-core --example stuck_cost [ROUNDS]` prints one line per mix of sizes, the best of
//! that many rounds. The first has the sizes seen in recorded runs: arguments of 86 bytes in the median and 240 on
//! average, answers of 230 and 370, cut at 700. The others have 30 KB, of which a bounded part is read.
#![expect(clippy::print_stdout, reason = "it is a program that prints")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "it measures real time; the core does not"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use verger_core::stuck::{Detector, StepPrint, ToolStep};

/// Lengths of arguments and of answers, one after the other: quartiles and tail of the recorded runs.
const RECORDED: [(usize, usize); 10] = [
    (20, 40),
    (29, 69),
    (50, 140),
    (86, 229),
    (86, 229),
    (120, 480),
    (198, 700),
    (198, 700),
    (776, 700),
    (850, 380),
];

fn main() {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(500);
    println!("fingerprint {} bytes, agent {} bytes", size_of::<StepPrint>(), size_of::<Detector>());
    println!("{:<28} {:>14} {:>12} {:>8}", "mix of sizes, per step", "fingerprint", "judgement", "both");
    measure("as recorded", &RECORDED, rounds);
    measure("answers of 30 KB", &[(86, 30_000)], rounds);
    measure("arguments of 30 KB", &[(30_000, 229)], rounds);
}

fn measure(name: &str, sizes: &[(usize, usize)], rounds: usize) {
    let texts: Vec<(String, String)> = (0..200).map(|n| step(n, sizes[n % sizes.len()])).collect();
    let steps: Vec<ToolStep<'_>> = texts
        .iter()
        .map(|(args, result)| ToolStep { tool: "run", args, result, ..ToolStep::default() })
        .collect();
    let mut prints: Vec<StepPrint> = Vec::with_capacity(steps.len());
    let printed = best(rounds, || {
        prints.clear();
        prints.extend(steps.iter().map(|step| StepPrint::of_call(black_box(step))));
    });
    let judged = best(rounds, || {
        let mut detector = Detector::default();
        for (at, print) in prints.iter().enumerate() {
            black_box(detector.observe(at as u32, black_box(print)));
        }
    });
    let [print_us, judge_us] = [printed, judged].map(|time| time.as_secs_f64() * 1e6 / steps.len() as f64);
    println!("{name:<28} {print_us:>11.2} µs {judge_us:>9.2} µs {:>5.2} µs", print_us + judge_us);
}

/// The shortest of these rounds: the one in which nobody else had the processor.
fn best(rounds: usize, mut round: impl FnMut()) -> Duration {
    let mut time = || {
        let begun = Instant::now();
        round();
        begun.elapsed()
    };
    (0..rounds).map(|_| time()).min().unwrap_or_default()
}

/// Arguments and an answer of these lengths: shell commands and edits in JSON, pages of code with line numbers.
fn step(number: usize, (args, result): (usize, usize)) -> (String, String) {
    let mut command = format!("{{\"command\":\"grep -rn handler_{} src/module_{number}", number % 7);
    while command.len() + 2 < args {
        command = format!("{command}\\nlet value_{} = parse(input, {number})?;", command.len());
    }
    command += "\"}";
    let mut answer = String::new();
    while answer.len() < result {
        let line = answer.len() / 40;
        let name = number * 31 + line % 13;
        answer = format!("{answer}{line:>6}: fn handler_{name}(state: &State) -> Outcome {{\n");
    }
    answer.truncate(result);
    (command, answer)
}
