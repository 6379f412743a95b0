//! One breaker is tested by scripts: what happens goes in, what it does comes out.

mod many;
mod names;
mod properties;
mod registry;
mod sharing;
mod sliding;
mod states;
mod writes;

use std::collections::BTreeMap;

use super::{Breaker, CallResult, Mode, Outcome, PermitNumber, Policy, Reported, Transition};
use crate::time::{Span, Timestamp};

/// As long as a slow call takes in scripts.
const SLOW: Span = Span::secs(30);

fn at(secs: u64) -> Timestamp {
    Timestamp::ZERO + Span::secs(secs)
}

/// Runs a script and tells what the breaker did, a line for each.
///
/// A step is a time in seconds and what happens then: `ok`, `fail`, `slow-fail`, `outage`, `slow` or `unmade` is the end of a call
/// that did not ask; `ask a` is the question of a call, and `a ok` its end; then `wake`, `reset`, `mode …`.
fn run(policy: &Policy, script: &str) -> String {
    play(policy, script).log.join("\n")
}

fn play<'a>(policy: &'a Policy, script: &str) -> Trial<'a> {
    let mut trial = Trial { breaker: Breaker::new(at(0)), policy, permits: BTreeMap::new(), log: Vec::new() };
    for step in script.split(',') {
        let words: Vec<&str> = step.split_whitespace().collect();
        let [time, rest @ ..] = words.as_slice() else { panic!("an empty step") };
        trial.step(at(time.trim_end_matches('s').parse().expect("seconds")), rest);
    }
    trial
}

struct Trial<'a> {
    breaker: Breaker,
    policy: &'a Policy,
    permits: BTreeMap<String, PermitNumber>,
    log: Vec<String>,
}

impl Trial<'_> {
    fn step(&mut self, now: Timestamp, words: &[&str]) {
        let mut out: Vec<Transition> = Vec::new();
        let mut said = None;
        match words {
            ["wake"] => self.breaker.wake(now, self.policy, &mut out),
            ["reset"] => self.breaker.reset(now, &mut out),
            ["mode", mode] => self.breaker.set_mode(now, read_mode(mode), &mut out),
            ["ask", call] => match self.breaker.acquire(now, self.policy, &mut out) {
                Ok(permit) => {
                    self.permits.insert((*call).to_owned(), permit);
                    said = Some(format!("{call} passes"));
                }
                Err(refusal) => said = Some(format!("{call} is refused: {refusal}")),
            },
            [call, result] => {
                let permit = self.permits[*call];
                let reported = self.breaker.report(now, permit, read_outcome(result), self.policy, &mut out);
                said = (reported != Reported::Counted).then(|| format!("{call} is {reported:?}"));
            }
            [result] => self.breaker.observe(now, read_outcome(result), self.policy, &mut out),
            _ => panic!("what is {words:?}?"),
        }
        let changes = out.iter().map(|change| format!("{} -> {}: {}", change.from, change.to, change.reason));
        self.log.extend(changes.chain(said).map(|line| format!("{now} {line}")));
    }
}

fn read_outcome(word: &str) -> Outcome {
    match word {
        "ok" => Outcome { result: CallResult::Ok, took: Some(Span::millis(20)) },
        "slow" => Outcome { result: CallResult::Ok, took: Some(SLOW) },
        "fail" => CallResult::Failed.into(),
        "slow-fail" => Outcome { result: CallResult::Failed, took: Some(SLOW) },
        "outage" => CallResult::Outage.into(),
        "unmade" => CallResult::NotMade.into(),
        _ => panic!("what is {word}?"),
    }
}

fn read_mode(word: &str) -> Mode {
    let modes = [Mode::Normal, Mode::ForcedOpen, Mode::Disabled, Mode::MetricsOnly];
    modes.into_iter().find(|mode| mode.to_string() == word).expect("a mode")
}
