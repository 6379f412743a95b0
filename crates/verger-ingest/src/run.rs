//! One run of an agent, whichever program recorded it.

use verger_core::stuck::{Role, StepPrint, ToolStep};

use crate::read::Sink;

/// A recorded run, whole. Most readers need only its steps, one after another: see [`Sink`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// How the recording calls it.
    pub id: String,
    /// Its steps, in the order in which they were finished.
    pub steps: Vec<Step>,
}

/// Something that an agent did or that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its number in the run; the recording's own where it has one, else counted from 0.
    pub i: u32,
    /// What it was.
    pub event: Event,
}

/// What a step is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A tool was called and answered.
    Call(Call),
    /// Something was said.
    Message {
        /// By whom.
        from: Talker,
        /// What.
        text: String,
    },
    /// What the work has come to.
    Output {
        /// Files that differ from before.
        files_changed: Option<u32>,
        /// Tests that passed.
        tests_passed: Option<u32>,
        /// Tests that failed.
        tests_failed: Option<u32>,
    },
}

impl Event {
    /// Its fingerprint, by which it is judged.
    pub fn print(&self) -> StepPrint {
        match self {
            Self::Call(call) => StepPrint::of_call(&ToolStep {
                tool: &call.tool,
                args: &call.args,
                result: &call.result,
                error: call.error,
                exit_code: call.exit_code,
                started_ms: call.started_ms,
                ended_ms: call.ended_ms,
            }),
            Self::Message { from, text } => StepPrint::of_message(from.role(), text),
            Self::Output { files_changed, tests_passed, tests_failed } => {
                StepPrint::of_output(*files_changed, *tests_passed, *tests_failed)
            }
        }
    }
}

/// A tool call and what came back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// What it was given: JSON, or text as it came.
    pub args: String,
    /// What it answered; empty if that was not recorded.
    pub result: String,
    /// Whether it failed, where the recording says so.
    pub error: Option<bool>,
    /// The exit code of a command.
    pub exit_code: Option<i32>,
    /// When it was called, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// When it answered.
    pub ended_ms: Option<i64>,
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Talker {
    /// The agent.
    Agent,
    /// The person or program that it works for.
    User,
    /// The program around the agent.
    Other,
}

impl Talker {
    fn role(self) -> Role {
        match self {
            Self::Agent => Role::Agent,
            Self::User => Role::User,
            Self::Other => Role::Other,
        }
    }

    /// By the word for it in chat formats.
    pub(crate) fn named(role: &str) -> Self {
        match role {
            "assistant" | "agent" | "model" | "gemini" | "ai" => Self::Agent,
            "user" | "human" => Self::User,
            _ => Self::Other,
        }
    }
}

/// Keeps whole runs: for small recordings and for tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// Those that are read to their end.
    pub done: Vec<Run>,
    /// What could not be read.
    pub flaws: Vec<crate::Flaw>,
    open: Vec<Run>,
}

impl Sink for Runs {
    fn step(&mut self, run: &str, step: Step) {
        match self.open.iter_mut().find(|open| open.id == run) {
            Some(open) => open.steps.push(step),
            None => self.open.push(Run { id: run.to_owned(), steps: vec![step] }),
        }
    }

    fn end(&mut self, run: &str) {
        let at = self.open.iter().position(|open| open.id == run);
        let run = at.map_or_else(|| Run { id: run.to_owned(), steps: Vec::new() }, |at| self.open.remove(at));
        self.done.push(run);
    }

    fn flaw(&mut self, flaw: crate::Flaw) {
        self.flaws.push(flaw);
    }
}
