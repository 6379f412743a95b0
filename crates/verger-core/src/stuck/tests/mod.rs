//! Runs made up here: each shape once, in a few lines, and what is said about it.

mod healthy;
mod hostile;
mod looping;
mod properties;
mod waiting;

use super::{Detector, Judgement, Kind, Level, Role, StepPrint, ToolStep};

/// A step of a made-up run.
#[derive(Clone, Debug)]
enum Step {
    Call { tool: String, args: String, result: String, error: Option<bool>, at: Option<(i64, i64)> },
    Said(Role, String),
}

impl Step {
    fn print(&self) -> StepPrint {
        match self {
            Self::Call { tool, args, result, error, at } => StepPrint::of_call(&ToolStep {
                tool,
                args,
                result,
                error: *error,
                exit_code: None,
                started_ms: at.map(|(started, _)| started),
                ended_ms: at.map(|(_, ended)| ended),
            }),
            Self::Said(role, text) => StepPrint::of_message(*role, text),
        }
    }

    /// The same, begun and ended at these seconds.
    fn at(mut self, started: i64, ended: i64) -> Self {
        if let Self::Call { at, .. } = &mut self {
            *at = Some((started * 1_000, ended * 1_000));
        }
        self
    }
}

fn call(tool: &str, args: impl Into<String>, result: impl Into<String>) -> Step {
    Step::Call { tool: tool.to_owned(), args: args.into(), result: result.into(), error: None, at: None }
}

fn shell(command: &str, result: impl Into<String>) -> Step {
    call("bash", format!("{{\"command\":{command:?}}}"), result)
}

fn failed(tool: &str, args: impl Into<String>, result: impl Into<String>) -> Step {
    Step::Call {
        tool: tool.to_owned(),
        args: args.into(),
        result: result.into(),
        error: Some(true),
        at: None,
    }
}

/// A write of `body` into `file`, acknowledged as such tools do: always in the same words.
fn write(file: &str, body: &str) -> Step {
    let args = format!("{{\"file_path\":{file:?},\"content\":{body:?}}}");
    call("Write", args, format!("The file {file} has been updated."))
}

fn replace(file: &str, old: &str, new: &str) -> Step {
    let args = format!("{{\"file_path\":{file:?},\"old_string\":{old:?},\"new_string\":{new:?}}}");
    call("Edit", args, format!("The file {file} has been updated."))
}

/// Made-up text, different for each number: `lines` lines of words that occur nowhere else.
fn prose(number: usize, lines: usize) -> String {
    let word = |at: usize| {
        let letters = |mut n: usize| {
            let mut word = String::new();
            while word.len() < 6 {
                word.push((b'a' + (n % 26) as u8) as char);
                n = n / 26 + 7 * (word.len() + 1);
            }
            word
        };
        letters(number.wrapping_mul(7919).wrapping_add(at.wrapping_mul(104_729)))
    };
    joined((0..lines).map(|line| [word(3 * line), word(3 * line + 1), word(3 * line + 2)].join(" ")))
}

fn joined(lines: impl Iterator<Item = String>) -> String {
    lines.fold(String::new(), |text, line| text + &line + "\n")
}

fn judgements(steps: &[Step]) -> Vec<Judgement> {
    let mut detector = Detector::default();
    steps.iter().enumerate().map(|(at, step)| detector.observe(at as u32, &step.print())).collect()
}

/// The step at which the run is first called stuck, and of what kind.
fn stuck(steps: &[Step]) -> Option<(usize, Kind)> {
    let judgements = judgements(steps);
    let at = judgements.iter().position(|judgement| judgement.level >= Level::Stuck)?;
    judgements[at].kind.map(|kind| (at, kind))
}

#[track_caller]
fn assert_healthy(steps: &[Step]) {
    let found =
        judgements(steps).into_iter().enumerate().find(|(_, judgement)| judgement.level >= Level::Stuck);
    if let Some((at, judgement)) = found {
        panic!("called stuck at step {at}: {judgement}, {:?}", judgement.evidence.steps());
    }
}

#[track_caller]
fn assert_stuck(steps: &[Step], by: usize) -> Kind {
    match stuck(steps) {
        Some((at, kind)) if at <= by => kind,
        Some((at, kind)) => panic!("called stuck only at step {at} ({})", kind.name()),
        None => {
            let most = judgements(steps).iter().map(|judgement| judgement.evidence.points).max();
            panic!("never called stuck; at most {most:?} points")
        }
    }
}
