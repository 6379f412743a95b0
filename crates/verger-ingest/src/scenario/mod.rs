//! Scenarios: runs that people write down in short, with what the judgement must make of them.
//!
//! A file holds a list of them in YAML; the book's page on scenarios describes every word. [`parse`] reads a file,
//! [`Scenario::play`] lets the judgement see the run and compares.

mod file;
mod words;

use std::fmt;

use verger_core::stuck::Kind;

use crate::inspect::{Finding, inspect};
use crate::run::Run;

pub use file::{ScenarioError, parse};

/// A run, and what must be found in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// What happens in it, as a sentence.
    pub name: String,
    /// Where it was seen or reported.
    pub source: Option<String>,
    /// What it is an example of, as one word.
    pub class: Option<String>,
    /// What must be found.
    pub expected: Expected,
    /// What the agent does.
    pub run: Run,
}

/// What must be found in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Nothing: it must never be called stuck.
    Quiet,
    /// It must be called stuck.
    Stuck {
        /// Not before this step.
        from: u32,
        /// At this step at the latest.
        by: u32,
        /// As this kind, if that matters.
        kind: Option<Kind>,
    },
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quiet => write!(f, "quiet"),
            Self::Stuck { from, by, kind } => {
                write!(f, "stuck at a step from {from} to {by}")?;
                kind.map_or(Ok(()), |kind| write!(f, ", as `{}`", kind.name()))
            }
        }
    }
}

/// What came of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was found.
    pub finding: Finding,
    /// Whether it was as expected.
    pub passed: bool,
}

impl Scenario {
    /// Lets the judgement see the run.
    pub fn play(&self) -> Outcome {
        let finding = inspect(&self.run);
        let passed = match &self.expected {
            Expected::Quiet => finding.stuck_at.is_none(),
            Expected::Stuck { from, by, kind } => {
                finding.stuck_at.is_some_and(|at| (*from..=*by).contains(&at))
                    && kind.is_none_or(|kind| finding.kind == Some(kind))
            }
        };
        Outcome { finding, passed }
    }
}
