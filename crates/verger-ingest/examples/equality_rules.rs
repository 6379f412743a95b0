//! What rules that compare calls for equality find in recorded runs, next to Verger's judgement.
//!
//! ```text
//! cargo run --release --example equality_rules -- RUNS [LABELS]
//! ```
//!
//! RUNS holds one run per line (`verger inspect --format runs`), LABELS one line per run with `run_id`, `verdict`
//! (`healthy`, `stuck`, `borderline`) and `from_step`, the step at which a person would call it stuck. Without labels, the
//! table says how many runs each rule flags. The rules are re-implemented from their published behaviour; delay is counted
//! from `from_step`, cost is the time per step on one core, reading not included.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::hint::black_box;
use std::io::{self, Write};
use std::time::Instant;

use serde::Deserialize;
use verger_core::stuck::{Detector, Level, Role, StepPrint, ToolStep};

/// How often each run is judged again to measure what it costs.
const TIMES: u32 = 40;

#[derive(Deserialize)]
struct Run {
    run_id: String,
    steps: Vec<Step>,
}

/// A step of `runs`; equality is that of the full text, whose hash is given where the text was cut.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Step {
    i: u32,
    kind: String,
    name: String,
    args: String,
    args_sha: Option<String>,
    result: String,
    result_sha: Option<String>,
    error: Option<bool>,
    returncode: Option<i32>,
    thought: String,
    role: String,
    text: String,
}

impl Step {
    fn is_call(&self) -> bool {
        self.kind == "tool"
    }

    fn is_from_user(&self) -> bool {
        self.kind == "message" && self.role == "user"
    }

    /// What is called, as equality rules see it.
    fn call(&self) -> (&str, &str) {
        (&self.name, self.args_sha.as_deref().unwrap_or(&self.args))
    }

    fn outcome(&self) -> &str {
        self.result_sha.as_deref().unwrap_or(&self.result)
    }
}

#[derive(Deserialize)]
struct Label {
    run_id: String,
    verdict: String,
    from_step: Option<u32>,
}

/// The step at which a rule fires, if it does.
type Rule = fn(&[Step]) -> Option<u32>;

const RULES: [(&str, Rule); 6] = [
    ("OpenHands SDK", openhands),
    ("Roo Code (4th identical call)", |steps| streak(steps, 4)),
    ("Gemini CLI (cycles up to 5, five laps)", gemini),
    ("opencode, Cline soft (3rd identical)", |steps| streak(steps, 3)),
    ("Qwen Code (6 duplicates in a turn)", qwen),
    ("Verger", verger),
];

/// The same call so many times in a row; what is said in between does not count.
fn streak(steps: &[Step], times: usize) -> Option<u32> {
    let calls: Vec<&Step> = steps.iter().filter(|step| step.is_call()).collect();
    let same = |window: &&[&Step]| window.iter().all(|step| step.call() == window[0].call());
    calls.windows(times).find(same).map(|window| window[times - 1].i)
}

/// A cycle of one to five calls, five times in a row; results are not looked at.
fn gemini(steps: &[Step]) -> Option<u32> {
    let calls: Vec<&Step> = steps.iter().filter(|step| step.is_call()).collect();
    (1..=calls.len()).find_map(|end| {
        let seen = &calls[..end];
        let cycles = |length: usize| {
            seen.len() >= 5 * length
                && seen[seen.len() - 5 * length..]
                    .windows(length + 1)
                    .all(|window| window[0].call() == window[length].call())
        };
        (1..=5).any(cycles).then(|| seen[end - 1].i)
    })
}

/// The same call six times since the last word of the person.
fn qwen(steps: &[Step]) -> Option<u32> {
    let mut counts: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for step in steps {
        if step.is_from_user() {
            counts.clear();
        } else if step.is_call() {
            let count = counts.entry(step.call()).or_default();
            *count += 1;
            if *count == 6 {
                return Some(step.i);
            }
        }
    }
    None
}

/// Call, thought and result the same four times; the same call failing four times; three messages of the agent in a
/// row; two calls in turns, six long. All within the last twenty events (ten calls) since the person's last word.
fn openhands(steps: &[Step]) -> Option<u32> {
    let mut seen: Vec<&Step> = Vec::new();
    let mut said = 0;
    for step in steps {
        if step.is_from_user() {
            (seen, said) = (Vec::new(), 0);
        } else if step.is_call() {
            (said, seen) = (0, [seen, vec![step]].concat());
            if is_openhands_loop(&seen[seen.len().saturating_sub(10)..]) {
                return Some(step.i);
            }
        } else if step.role == "assistant" {
            said += 1;
            if said == 3 {
                return Some(step.i);
            }
        }
    }
    None
}

fn is_openhands_loop(seen: &[&Step]) -> bool {
    let action = |step: &Step| (step.call().0.to_owned(), step.call().1.to_owned(), step.thought.clone());
    let same_action = |one: &Step, other: &Step| action(one) == action(other);
    let same = |one: &Step, other: &Step| same_action(one, other) && one.outcome() == other.outcome();
    let last = |count: usize| seen.len().checked_sub(count).map(|from| &seen[from..]);
    let repeats = last(4).is_some_and(|four| four.iter().all(|step| same(step, four[0])));
    let fails = last(4)
        .is_some_and(|four| four.iter().all(|step| same_action(step, four[0]) && step.error == Some(true)));
    let turns =
        last(6).is_some_and(|six| (2..6).all(|at| same(six[at], six[at - 2])) && !same(six[0], six[1]));
    repeats || fails || turns
}

fn verger(steps: &[Step]) -> Option<u32> {
    let mut detector = Detector::default();
    steps.iter().find(|step| Level::Stuck <= detector.observe(step.i, &print(step)).level).map(|step| step.i)
}

fn print(step: &Step) -> StepPrint {
    if !step.is_call() {
        let role = match step.role.as_str() {
            "assistant" => Role::Agent,
            "user" => Role::User,
            _ => Role::Other,
        };
        return StepPrint::of_message(role, &step.text);
    }
    StepPrint::of_call(&ToolStep {
        tool: &step.name,
        args: &step.args,
        result: &step.result,
        error: step.error,
        exit_code: step.returncode,
        started_ms: None,
        ended_ms: None,
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or("usage: equality_rules RUNS [LABELS]")?;
    let runs: Vec<Run> = lines(&path)?;
    let labels: Vec<Label> = arguments.next().map_or(Ok(Vec::new()), |path| lines(&path))?;
    let labels: BTreeMap<&str, &Label> = labels.iter().map(|label| (label.run_id.as_str(), label)).collect();
    let out = &mut io::stdout().lock();
    writeln!(
        out,
        "| rule | stuck caught | healthy flagged | borderline flagged | median delay | µs per step |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|")?;
    for (name, rule) in RULES {
        let flagged: BTreeMap<&str, u32> =
            runs.iter().filter_map(|run| Some((run.run_id.as_str(), rule(&run.steps)?))).collect();
        let share = |verdict: &str| share(verdict, &flagged, &labels);
        let delay = delay(&flagged, &labels).map_or("-".to_owned(), |steps| format!("{steps} steps"));
        let (stuck, healthy, borderline) = (share("stuck"), share("healthy"), share("borderline"));
        let cost = cost(rule, &runs);
        if labels.is_empty() {
            writeln!(out, "| {name} | {} of {} runs flagged | | | | {cost:.2} |", flagged.len(), runs.len())?;
        } else {
            writeln!(out, "| {name} | {stuck} | {healthy} | {borderline} | {delay} | {cost:.2} |")?;
        }
    }
    Ok(())
}

fn lines<T: for<'de> Deserialize<'de>>(path: &str) -> Result<Vec<T>, Box<dyn std::error::Error>> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let parsed = text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str);
    Ok(parsed.collect::<Result<_, _>>().map_err(|error| format!("{path}: {error}"))?)
}

/// How many runs of a verdict are flagged, of how many.
fn share(verdict: &str, flagged: &BTreeMap<&str, u32>, labels: &BTreeMap<&str, &Label>) -> String {
    let all: Vec<_> = labels.values().filter(|label| label.verdict == verdict).collect();
    let hit = all.iter().filter(|label| flagged.contains_key(label.run_id.as_str())).count();
    format!("{hit} of {}", all.len())
}

/// Steps between a person's verdict and the rule's, in the middle.
fn delay(flagged: &BTreeMap<&str, u32>, labels: &BTreeMap<&str, &Label>) -> Option<i64> {
    let of = |label: &&&Label| {
        let (at, from) = (flagged.get(label.run_id.as_str())?, label.from_step?);
        (label.verdict == "stuck").then(|| i64::from(*at) - i64::from(from))
    };
    let mut delays: Vec<i64> = labels.values().filter_map(|label| of(&label)).collect();
    delays.sort_unstable();
    delays.get(delays.len() / 2).copied()
}

/// Microseconds per step, each run judged as a whole, to its end or to where the rule fires; for each the shortest of
/// several times, in which nobody else had the processor.
fn cost(rule: Rule, runs: &[Run]) -> f64 {
    let (mut steps, mut seconds) = (0_usize, 0.0);
    for run in runs {
        let end = rule(&run.steps);
        steps += end.map_or(run.steps.len(), |end| run.steps.iter().filter(|step| step.i <= end).count());
        let time = || {
            let begin = Instant::now();
            black_box(rule(black_box(&run.steps)));
            begin.elapsed()
        };
        seconds += (0..TIMES).map(|_| time()).min().unwrap_or_default().as_secs_f64();
    }
    seconds * 1e6 / steps.max(1) as f64
}
