//! A scenario file as people write it → scenarios.

use std::cell::Cell;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use verger_core::stuck::Kind;

use super::words::Words;
use super::{Expected, Scenario};
use crate::run::{Call, Event, Run, Step, Talker};

/// Steps of one scenario, once it is written out.
const STEPS_MAX: u32 = 100_000;
/// Rounds of all repetitions in a file, those without a step in them too.
const ROUNDS_MAX: u32 = 1_000_000;
/// Bytes of what is said, called and answered in a file, once it is written out.
const TEXT_MAX: usize = 64 << 20;
/// Repetitions inside repetitions, and steps inside steps.
const DEPTH_MAX: usize = 8;
/// When every scenario begins: 2026-01-01, 09:00.
const BEGIN_MS: i64 = 1_767_258_000_000;
/// How long an agent thinks before a step, and how long a call takes, unless it is said.
const USUAL: Duration = Duration::from_secs(2);

/// What is wrong with a scenario file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// It is no YAML of this shape.
    #[error("{0}")]
    Syntax(String),
    /// One of its scenarios makes no sense.
    #[error("scenario `{scenario}`: {problem}")]
    Wrong {
        /// Which.
        scenario: String,
        /// Why.
        problem: String,
    },
}

/// Reads a file of scenarios.
pub fn parse(text: &str) -> Result<Vec<Scenario>, ScenarioError> {
    let options = serde_saphyr::options! { with_snippet: false };
    let file: File = serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| ScenarioError::Syntax(error.to_string()))?;
    if file.scenarios.is_empty() {
        return Err(ScenarioError::Syntax("it holds no scenario".to_owned()));
    }
    let mut room = Room { rounds: ROUNDS_MAX, text: TEXT_MAX };
    file.scenarios
        .into_iter()
        .map(|written| {
            let name = written.name.clone();
            written_out(written, &mut room)
                .map_err(|problem| ScenarioError::Wrong { scenario: name, problem })
        })
        .collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    scenarios: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    class: Option<String>,
    expect: Expect,
    #[serde(default)]
    by: Option<u32>,
    #[serde(default)]
    kind: Option<String>,
    steps: Vec<WrittenStep>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Expect {
    Quiet,
    Stuck,
}

/// A step, or several that are repeated together.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct WrittenStep {
    call: Option<String>,
    args: Option<Value>,
    result: Option<String>,
    error: Option<bool>,
    exit: Option<i32>,
    took: Option<String>,
    after: Option<String>,
    agent: Option<String>,
    user: Option<String>,
    program: Option<String>,
    output: Option<WrittenOutput>,
    steps: Option<Vec<WrittenStep>>,
    times: Option<u32>,
    each: Option<Vec<Item>>,
    stuck_by: Option<u32>,
}

#[derive(Clone, Copy, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct WrittenOutput {
    files_changed: Option<u32>,
    tests_passed: Option<u32>,
    tests_failed: Option<u32>,
}

/// An item of `each`: a text, or several.
#[derive(Deserialize)]
#[serde(from = "Value")]
struct Item(Vec<String>);

impl From<Value> for Item {
    fn from(value: Value) -> Self {
        let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match value {
            Value::Array(texts) => Self(texts.into_iter().map(text).collect()),
            other => Self(vec![text(other)]),
        }
    }
}

fn written_out(written: Written, room: &mut Room) -> Result<Scenario, String> {
    let words = Words { room: Cell::new(room.text), ..Words::default() };
    let mut play = Play { words, rounds: room.rounds, now_ms: BEGIN_MS, ..Play::default() };
    for step in &written.steps {
        play.step(step)?;
    }
    *room = Room { rounds: play.rounds, text: play.words.room.get() };
    if play.steps.is_empty() {
        return Err("it has no steps".to_owned());
    }
    let last = play.steps.len() as u32;
    let expected = match written.expect {
        Expect::Quiet if written.by.is_some() || play.window.is_some() || written.kind.is_some() => {
            return Err("`by`, `kind` and `stuck_by` belong to `expect: stuck`".to_owned());
        }
        Expect::Quiet => Expected::Quiet,
        Expect::Stuck => {
            let (from, by) = play.window.unwrap_or((1, last));
            let by = written.by.unwrap_or(by);
            if last < by || by < from {
                return Err(format!("`by: {by}` is outside its steps, {from} to {last}"));
            }
            Expected::Stuck { from, by, kind: written.kind.as_deref().map(kind).transpose()? }
        }
    };
    let run = Run { id: written.name.clone(), steps: play.steps };
    Ok(Scenario { name: written.name, source: written.source, class: written.class, expected, run })
}

fn kind(name: &str) -> Result<Kind, String> {
    Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let names = Kind::ALL.map(Kind::name).join(", ");
        format!("no kind is called `{name}`; there are {names}")
    })
}

/// What a file may still become: a few lines of repetitions can stand for more than fits into any memory.
struct Room {
    rounds: u32,
    text: usize,
}

/// A scenario that is being written out.
#[derive(Default)]
struct Play {
    steps: Vec<Step>,
    words: Words,
    now_ms: i64,
    /// The steps within which the verdict must fall.
    window: Option<(u32, u32)>,
    /// How many steps around this one hold it.
    depth: usize,
    /// Rounds that may still be made.
    rounds: u32,
}

impl Play {
    /// A step, as often as it says.
    fn step(&mut self, step: &WrittenStep) -> Result<(), String> {
        let rounds = match (step.times, &step.each) {
            (Some(_), Some(_)) => {
                return Err("`times` and `each` are two ways to repeat; give one".to_owned());
            }
            (Some(times), None) => times,
            (None, Some(items)) => items.len() as u32,
            (None, None) if step.stuck_by.is_some() => {
                return Err("`stuck_by` counts rounds; it needs `times` or `each`".to_owned());
            }
            (None, None) => return self.once(step),
        };
        if DEPTH_MAX <= self.words.rounds.len() {
            return Err(format!("more than {DEPTH_MAX} repetitions inside each other"));
        }
        let from = self.next();
        let outer = self.words.item.clone();
        for round in 1..=rounds {
            let left = self.rounds.checked_sub(1);
            self.rounds = left.ok_or_else(|| format!("more than {ROUNDS_MAX} rounds in this file"))?;
            self.words.rounds.push(round);
            if let Some(item) = step.each.as_ref().and_then(|items| items.get(round as usize - 1)) {
                self.words.item.clone_from(&item.0);
            }
            self.once(step)?;
            self.words.rounds.pop();
            if step.stuck_by == Some(round) {
                self.window = Some((from, self.next() - 1));
            }
        }
        self.words.item = outer;
        match step.stuck_by {
            Some(by) if by == 0 || rounds < by => Err(format!("`stuck_by: {by}` of {rounds} rounds")),
            _ => Ok(()),
        }
    }

    fn next(&self) -> u32 {
        self.steps.len() as u32 + 1
    }

    fn once(&mut self, step: &WrittenStep) -> Result<(), String> {
        if let Some(steps) = &step.steps {
            if step.deeds() > 0 {
                return Err("a step is either a deed or holds `steps`, not both".to_owned());
            }
            if DEPTH_MAX <= self.depth {
                return Err(format!("more than {DEPTH_MAX} `steps` inside each other"));
            }
            self.depth += 1;
            steps.iter().try_for_each(|step| self.step(step))?;
            self.depth -= 1;
            return Ok(());
        }
        if step.deeds() != 1 {
            return Err(format!(
                "step {}: give one of call, agent, user, program, output, steps",
                self.next()
            ));
        }
        if STEPS_MAX <= self.next() {
            return Err(format!("more than {STEPS_MAX} steps"));
        }
        self.pass(step.after.as_deref())?;
        self.words.step = self.next();
        self.words.second = (self.now_ms / 1_000).unsigned_abs();
        let i = self.next();
        let event = self.event(step)?;
        if self.words.room.get() == 0 {
            return Err(format!("more than {} MiB of text in this file", TEXT_MAX >> 20));
        }
        self.steps.push(Step { i, event });
        Ok(())
    }

    fn event(&mut self, step: &WrittenStep) -> Result<Event, String> {
        let filled =
            |text: &Option<String>| text.as_deref().map(|text| self.words.fill(text)).unwrap_or_default();
        if let Some(WrittenOutput { files_changed, tests_passed, tests_failed }) = step.output {
            return Ok(Event::Output { files_changed, tests_passed, tests_failed });
        }
        for (from, text) in
            [(Talker::Agent, &step.agent), (Talker::User, &step.user), (Talker::Other, &step.program)]
        {
            if text.is_some() {
                return Ok(Event::Message { from, text: filled(text) });
            }
        }
        let call = Call {
            tool: filled(&step.call),
            args: step.args.as_ref().map(|args| self.args(args)).unwrap_or_default(),
            result: filled(&step.result),
            error: step.error.or_else(|| step.exit.map(|exit| exit != 0)),
            exit_code: step.exit,
            started_ms: Some(self.now_ms),
            ended_ms: None,
        };
        self.pass(step.took.as_deref())?;
        Ok(Event::Call(Call { ended_ms: Some(self.now_ms), ..call }))
    }

    /// Arguments as they come from an agent: text as it is, anything else as JSON.
    fn args(&self, args: &Value) -> String {
        match args {
            Value::String(text) => self.words.fill(text),
            other => self.filled(other).to_string(),
        }
    }

    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.words.fill(text).into(),
            Value::Array(values) => values.iter().map(|value| self.filled(value)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), self.filled(value))).collect()
            }
            other => other.clone(),
        }
    }

    /// Time passes.
    fn pass(&mut self, span: Option<&str>) -> Result<(), String> {
        let span = span.map_or(Ok(USUAL), duration)?;
        self.now_ms = self.now_ms.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX));
        Ok(())
    }
}

impl WrittenStep {
    /// How many deeds it names.
    fn deeds(&self) -> usize {
        let said = [self.agent.is_some(), self.user.is_some(), self.program.is_some()];
        let done = [self.call.is_some(), self.output.is_some()];
        said.iter().chain(&done).filter(|named| **named).count()
    }
}

/// `500ms`, `90s`, `10m`, `2h`.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no length of time; write it as 500ms, 90s, 10m or 2h");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let count: u32 = digits.parse().map_err(|_| wrong())?;
    let unit = match &text[digits.len()..] {
        "ms" => Duration::from_millis(1),
        "s" => Duration::from_secs(1),
        "m" => Duration::from_mins(1),
        "h" => Duration::from_hours(1),
        _ => return Err(wrong()),
    };
    Ok(unit * count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(body: &str) -> Result<Scenario, ScenarioError> {
        parse(&format!("scenarios:\n- name: s\n{body}")).map(|mut scenarios| scenarios.remove(0))
    }

    #[test]
    fn repetitions_are_written_out_with_their_counters_and_times() {
        let scenario = one("  expect: stuck
  steps:
  - user: go
  - times: 2
    stuck_by: 2
    steps:
    - {call: ls, args: {path: 'd{n}'}, result: 'round {n}', took: 3s, exit: 1}
    - {agent: 'saw {it2}', each: [[a, b], [c, d]]}
  - {output: {files_changed: 2}, after: 1m}
")
        .unwrap();
        let texts: Vec<_> = scenario
            .run
            .steps
            .iter()
            .map(|step| match &step.event {
                Event::Call(call) => {
                    let took = call.ended_ms.unwrap() - call.started_ms.unwrap();
                    format!("{} {} {} {} {:?} {took}", step.i, call.tool, call.args, call.result, call.error)
                }
                Event::Message { from, text } => format!("{} {from:?} {text}", step.i),
                Event::Output { files_changed, .. } => format!("{} {files_changed:?}", step.i),
            })
            .collect();
        insta::assert_snapshot!(texts.join("\n"), @r#"
        1 User go
        2 ls {"path":"d1"} round 1 Some(true) 3000
        3 Agent saw b
        4 Agent saw d
        5 ls {"path":"d2"} round 2 Some(true) 3000
        6 Agent saw b
        7 Agent saw d
        8 Some(2)
        "#);
        assert_eq!(scenario.expected, Expected::Stuck { from: 2, by: 7, kind: None });
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_the_reason() {
        let wrong = |body: &str| one(body).expect_err(body).to_string();
        let said = [
            "  expect: quiet\n  steps: []\n",
            "  expect: quiet\n  steps: [{call: a, agent: b}]\n",
            "  expect: quiet\n  steps: [{args: a}]\n",
            "  expect: quiet\n  steps: [{call: a, times: 2, stuck_by: 1}]\n",
            "  expect: stuck\n  steps: [{call: a, times: 2, stuck_by: 3}]\n",
            "  expect: stuck\n  steps: [{call: a, stuck_by: 3}]\n",
            "  expect: stuck\n  steps: [{call: a, times: 2, each: [b]}]\n",
            "  expect: stuck\n  by: 9\n  steps: [{call: a, times: 2}]\n",
            "  expect: stuck\n  kind: dance\n  steps: [{call: a, times: 2}]\n",
            "  expect: stuck\n  steps: [{call: a, after: soon}]\n",
            "  expect: stuck\n  steps: [{call: a, times: 4294967295}]\n",
            "  expect: loud\n  steps: [{call: a}]\n",
            "  expect: quiet\n  steps: [{cal: a}]\n",
        ];
        insta::assert_snapshot!(said.map(wrong).join("\n"));
    }

    #[test]
    fn x13_a_few_lines_do_not_become_more_than_fits_into_memory() {
        let wrong = |steps: &str| {
            one(&format!("  expect: quiet\n  steps: [{steps}]\n")).expect_err(steps).to_string()
        };
        assert_eq!(
            wrong("{times: 4294967295, steps: []}"),
            "scenario `s`: more than 1000000 rounds in this file"
        );
        let long = "x".repeat(1 << 20);
        let told = "scenario `s`: more than 64 MiB of text in this file";
        assert_eq!(wrong(&format!("{{agent: {long}, times: 90}}")), told);
        let filled = "'{it}'".repeat(90).replace("''", "");
        assert_eq!(wrong(&format!("{{agent: {filled}, each: [{long}]}}")), told);
        let deep = |levels| format!("{}{{call: a}}{}", "{steps: [".repeat(levels), "]}".repeat(levels));
        assert!(one(&format!("  expect: quiet\n  steps: [{}]\n", deep(8))).is_ok());
        assert_eq!(wrong(&deep(9)), "scenario `s`: more than 8 `steps` inside each other");
        assert!(wrong(&deep(5_000)).starts_with("recursion limit exceeded"));
    }
}
