//! 004 §5.2, row by row, and what holds whatever happens.

mod laws;
mod runs;
mod several;
mod states;

use super::*;
use crate::id::Incarnation;
use crate::time::{Span, Timestamp};

fn at(secs: u64) -> Timestamp {
    Timestamp::ZERO + Span::secs(secs)
}

/// An agent with probes, to which time passes.
struct Agent {
    probes: ProbeHealth,
    now: Timestamp,
    changes: Vec<Change>,
}

impl Agent {
    fn with(specs: &[ProbeSpec]) -> Self {
        let mut agent = Self { probes: ProbeHealth::default(), now: at(0), changes: Vec::new() };
        agent.probes.begin(agent.now, Incarnation::FIRST, 7, &mut agent.changes);
        agent.configure(specs);
        agent
    }

    /// One with the default probe of 004 under the name `http`.
    fn new() -> Self {
        Self::with(&[ProbeSpec::new("http", 1)])
    }

    fn configure(&mut self, specs: &[ProbeSpec]) {
        self.probes.configure(self.now, specs, &mut self.changes).expect("they are right");
    }

    fn spec(&self, name: &str) -> ProbeSpec {
        self.probes.probe(&name.into()).expect("it is there").spec.clone()
    }

    /// Lets time pass until the probe runs; tells the number of that run.
    fn started(&mut self, name: &str) -> u64 {
        for _ in 0..10_000 {
            if let Some(Run::Running { run, .. }) = self.probes.probe(&name.into()).map(|probe| probe.run) {
                return run;
            }
            self.now = self.probes.deadline(self.now).expect("something is due");
            self.probes.wake(self.now, &mut self.changes);
        }
        panic!("{name} does not start");
    }

    fn result(&self, name: &str, run: u64, outcome: Outcome) -> ProbeResult {
        ProbeResult {
            probe: name.into(),
            run,
            incarnation: self.probes.incarnation.unwrap_or(Incarnation::FIRST),
            outcome,
            description: None,
            error: None,
            duration: Span::secs(3),
            data: None,
        }
    }

    /// The state after one more check of this probe.
    fn check(&mut self, name: &str, outcome: Outcome) -> State {
        let run = self.started(name);
        let result = self.result(name, run, outcome);
        assert_eq!(self.probes.on_result(self.now, &result, &mut self.changes), Ok(()));
        self.probes.state()
    }

    /// The states after each of these checks of `http`: `+` passed, `-` failed, `t` timed out, `?` inconclusive.
    fn checks(&mut self, script: &str) -> Vec<State> {
        script.chars().map(|c| self.check("http", outcome(c))).collect()
    }
}

fn outcome(c: char) -> Outcome {
    match c {
        '+' => Outcome::Passed,
        '-' => Outcome::Failed,
        't' => Outcome::TimedOut,
        _ => Outcome::Inconclusive,
    }
}
