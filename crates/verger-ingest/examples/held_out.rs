//! How the judgement fares on labelled runs: as they are, with things taken away, and on what was left out when its
//! numbers were chosen.
//!
//! ```text
//! cargo run --release -p verger-ingest --example held_out -- RUNS LABELS
//! ```
//!
//! RUNS holds one run per line (`verger inspect --format runs`), with `model`; LABELS one line per run with `run_id`,
//! `verdict` (`healthy`, `stuck`, `borderline`), `kind` and `from_step`, the step at which a person would call it
//! stuck. For the tables of what is left out, the weights of the judgement are chosen anew on the other runs, starting
//! from equal ones, and never from those that Verger ships. Only weights are chosen: what counts as progress stays.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};

use serde::Deserialize;
use verger_core::stuck::{Detector, Level, StepPrint, Weights};
use verger_ingest::{Call, Event, Format, Recording, Runs, read};

#[derive(Deserialize)]
struct Label {
    run_id: String,
    verdict: String,
    kind: Option<String>,
    from_step: Option<u32>,
}

#[derive(Deserialize)]
struct Origin {
    run_id: String,
    #[serde(default)]
    model: String,
}

/// A labelled run, as fingerprints with their numbers.
struct Case {
    label: Label,
    model: String,
    prints: Vec<(u32, StepPrint)>,
}

/// What is found in some runs.
#[derive(Clone, Copy, Default)]
struct Score {
    stuck: [u32; 2],
    healthy: [u32; 2],
    borderline: [u32; 2],
}

impl Score {
    fn add(&mut self, verdict: &str, flagged: bool) {
        let share = match verdict {
            "stuck" => &mut self.stuck,
            "healthy" => &mut self.healthy,
            _ => &mut self.borderline,
        };
        share[0] += u32::from(flagged);
        share[1] += 1;
    }

    fn and(self, other: Self) -> Self {
        let both = |one: [u32; 2], two: [u32; 2]| [one[0] + two[0], one[1] + two[1]];
        Self {
            stuck: both(self.stuck, other.stuck),
            healthy: both(self.healthy, other.healthy),
            borderline: both(self.borderline, other.borderline),
        }
    }

    /// A false alarm weighs as much as five misses.
    fn worth(self) -> i64 {
        i64::from(self.stuck[0]) - 5 * i64::from(self.healthy[0])
    }

    fn cells(self) -> String {
        [self.stuck, self.healthy, self.borderline].iter().fold(String::new(), |mut cells, [hit, all]| {
            let _ = write!(cells, " {hit} of {all} |");
            cells
        })
    }
}

/// The step at which a run is called stuck.
fn stuck_at(case: &Case, weights: &'static Weights) -> Option<u32> {
    let mut detector = Detector::with_weights(weights);
    case.prints
        .iter()
        .find(|(step, print)| Level::Stuck <= detector.observe(*step, print).level)
        .map(|(step, _)| *step)
}

fn score(cases: &[&Case], weights: Weights) -> Score {
    let weights: &'static Weights = Box::leak(Box::new(weights));
    let mut score = Score::default();
    for case in cases {
        score.add(&case.label.verdict, stuck_at(case, weights).is_some());
    }
    score
}

/// One weight of all, by name.
type Knob = (&'static str, fn(&mut Weights) -> &mut u32);

const KNOBS: [Knob; 8] = [
    ("barren", |weights| &mut weights.barren),
    ("alike", |weights| &mut weights.alike),
    ("hint", |weights| &mut weights.barren_with_a_hint),
    ("news", |weights| &mut weights.barren_with_news),
    ("prose", |weights| &mut weights.prose),
    ("redone", |weights| &mut weights.redone),
    ("recurred", |weights| &mut weights.recurred),
    ("in tests", |weights| &mut weights.recurred_in_tests),
];

/// What a weight may be.
const VALUES: [u32; 9] = [0, 4, 8, 12, 16, 20, 25, 30, 40];
/// How often each weight is chosen anew.
const ROUNDS: u32 = 2;

/// Chooses the weights on these runs: one after the other, each the middle of the values that do best.
fn choose(cases: &[&Case]) -> Weights {
    let mut weights = Weights {
        barren: 16,
        alike: 16,
        barren_with_a_hint: 16,
        barren_with_news: 16,
        prose: 16,
        redone: 16,
        recurred: 16,
        recurred_in_tests: 16,
    };
    for _ in 0..ROUNDS {
        for (_, knob) in KNOBS {
            let worths = VALUES.map(|value| {
                *knob(&mut weights) = value;
                score(cases, weights).worth()
            });
            let best = worths.iter().max().copied().unwrap_or_default();
            let good: Vec<u32> = VALUES
                .iter()
                .zip(worths)
                .filter(|(_, worth)| *worth == best)
                .map(|(value, _)| *value)
                .collect();
            *knob(&mut weights) = good[(good.len() - 1) / 2];
        }
    }
    weights
}

/// Something taken away from every call.
type Change = fn(&mut Call);

const CHANGES: [(&str, Change); 6] = [
    ("as recorded", |_| {}),
    ("names of tools made unknown", |call| call.tool = unknown(&call.tool)),
    ("the same, also where a command begins with the name", |call| {
        let name = unknown(&call.tool);
        if let Some(rest) = call.args.strip_prefix(&call.tool).filter(|_| !call.tool.is_empty()) {
            call.args = format!("{name}{rest}");
        }
        call.tool = name;
    }),
    ("error flags and exit codes removed", |call| (call.error, call.exit_code) = (None, None)),
    ("times removed", |call| (call.started_ms, call.ended_ms) = (None, None)),
    ("all of these removed", |call| {
        *call = Call {
            tool: unknown(&call.tool),
            args: std::mem::take(&mut call.args),
            result: std::mem::take(&mut call.result),
            ..Call::default()
        };
    }),
];

/// A name that says nothing, the same for the same tool.
fn unknown(tool: &str) -> String {
    format!("t{}", tool.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31) ^ u32::from(byte)) % 997)
}

fn cases(runs: &Runs, labels: &[Label], models: &BTreeMap<String, String>, change: Change) -> Vec<Case> {
    let labels: BTreeMap<&str, &Label> = labels.iter().map(|label| (label.run_id.as_str(), label)).collect();
    let labelled = runs.done.iter().filter_map(|run| Some((run, *labels.get(run.id.as_str())?)));
    labelled
        .map(|(run, label)| Case {
            model: models.get(&run.id).cloned().unwrap_or_default(),
            label: Label {
                run_id: label.run_id.clone(),
                verdict: label.verdict.clone(),
                kind: label.kind.clone(),
                from_step: label.from_step,
            },
            prints: run
                .steps
                .iter()
                .map(|step| {
                    let mut event = step.event.clone();
                    if let Event::Call(call) = &mut event {
                        change(call);
                    }
                    (step.i, event.print())
                })
                .collect(),
        })
        .collect()
}

/// Steps between a person's verdict and this one, in the middle.
fn delay(cases: &[Case]) -> Option<i64> {
    let of = |case: &Case| {
        let (at, from) = (stuck_at(case, &Weights::CHOSEN)?, case.label.from_step?);
        (case.label.verdict == "stuck").then(|| i64::from(at) - i64::from(from))
    };
    let mut delays: Vec<i64> = cases.iter().filter_map(of).collect();
    delays.sort_unstable();
    delays.get(delays.len() / 2).copied()
}

/// Which part a run belongs to. Healthy runs have no kind, so they are dealt out: in each part some are unseen.
fn kind_of(case: &Case, kinds: &[String]) -> String {
    case.label.kind.clone().unwrap_or_else(|| {
        let sum = case.label.run_id.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31) ^ u32::from(byte));
        kinds[sum as usize % kinds.len()].clone()
    })
}

/// One row for each part: chosen on the rest, measured on the part.
fn left_out(
    out: &mut impl Write,
    name: &str,
    cases: &[Case],
    part_of: &dyn Fn(&Case) -> String,
) -> io::Result<()> {
    let mut parts: Vec<String> = cases.iter().map(part_of).collect();
    parts.sort_unstable();
    parts.dedup();
    writeln!(
        out,
        "\n| {name} left out | stuck caught | healthy flagged | borderline flagged | weights chosen on the rest |"
    )?;
    writeln!(out, "|---|---|---|---|---|")?;
    let mut all = Score::default();
    for part in &parts {
        let (inside, rest): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(|case| part_of(case) == *part);
        let mut weights = choose(&rest);
        let found = score(&inside, weights);
        all = all.and(found);
        let chosen: Vec<String> = KNOBS.iter().map(|(_, knob)| knob(&mut weights).to_string()).collect();
        writeln!(out, "| {part} |{} {} |", found.cells(), chosen.join(" "))?;
        out.flush()?;
    }
    writeln!(out, "| **together** |{} |", all.cells())
}

fn lines<T: for<'de> Deserialize<'de>>(path: &str) -> Result<Vec<T>, Box<dyn Error>> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let parsed = text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str);
    Ok(parsed.collect::<Result<_, _>>().map_err(|error| format!("{path}: {error}"))?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [runs_path, labels_path] = &arguments[..] else { return Err("usage: held_out RUNS LABELS".into()) };
    let labels: Vec<Label> = lines(labels_path)?;
    let origins: Vec<Origin> = lines(runs_path)?;
    let models = origins.into_iter().map(|origin| (origin.run_id, origin.model)).collect();
    let mut runs = Runs::default();
    read(&Recording::file(runs_path), Some(Format::Runs), &mut runs, &|_| {})?;
    let out = &mut io::stdout().lock();
    writeln!(out, "| runs | stuck caught | healthy flagged | borderline flagged | median delay |")?;
    writeln!(out, "|---|---|---|---|---|")?;
    for (name, change) in CHANGES {
        let cases = cases(&runs, &labels, &models, change);
        let found = score(&cases.iter().collect::<Vec<_>>(), Weights::CHOSEN);
        let delay = delay(&cases).map_or("-".to_owned(), |steps| steps.to_string());
        writeln!(out, "| {name} |{} {delay} |", found.cells())?;
    }
    let cases = cases(&runs, &labels, &models, |_| {});
    let mut kinds: Vec<String> = cases
        .iter()
        .filter(|case| case.label.verdict == "stuck")
        .filter_map(|case| case.label.kind.clone())
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    left_out(out, "model", &cases, &|case| case.model.clone())?;
    left_out(out, "kind", &cases, &|case| kind_of(case, &kinds))?;
    Ok(())
}
