//! One call in words, and the fingerprints that the edge makes of it.

use verger_core::fingerprint::{CallPrint, ResultPrint};
use verger_core::stuck::{StepPrint, ToolStep};
use verger_core::time::{AgentTime, Span};

/// A tool, what it was asked, and what it answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) tool: &'static str,
    pub(crate) args: String,
    pub(crate) result: String,
    pub(crate) failed: bool,
    pub(crate) brings: Brings,
}

/// What a call brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Brings {
    /// Something is known that was not.
    News,
    /// Something is changed.
    Change,
    /// Nothing: it failed, or found nothing.
    Nothing,
}

impl Told {
    /// A call that did what it was to do, or says nothing else.
    pub(crate) fn new(tool: &'static str, args: String, result: impl Into<String>) -> Self {
        Self { tool, args, result: result.into(), failed: false, brings: Brings::News }
    }

    /// A call of which the sender says that it failed.
    pub(crate) fn failed(tool: &'static str, args: String, result: impl Into<String>) -> Self {
        Self { failed: true, ..Self::barren(tool, args, result) }
    }

    /// A call that changes something.
    pub(crate) fn change(tool: &'static str, args: String, result: impl Into<String>) -> Self {
        Self { brings: Brings::Change, ..Self::new(tool, args, result) }
    }

    /// A call that finds nothing.
    pub(crate) fn barren(tool: &'static str, args: String, result: impl Into<String>) -> Self {
        Self { brings: Brings::Nothing, ..Self::new(tool, args, result) }
    }

    /// What is called.
    pub(crate) fn call(&self) -> CallPrint {
        CallPrint::of(self.tool, &self.args)
    }

    /// What came of it.
    pub(crate) fn result(&self, took: Option<Span>) -> ResultPrint {
        ResultPrint::of(&self.result, self.failed, took)
    }

    /// The whole step. Where the sender says when things happen, and how long the call took, both are known.
    pub(crate) fn step(&self, ended: Option<AgentTime>, took: Option<Span>) -> Box<StepPrint> {
        let ended_ms = ended.map(|at| at.0);
        let took = took.and_then(|took| i64::try_from(took.as_millis()).ok());
        Box::new(StepPrint::of_call(&ToolStep {
            tool: self.tool,
            args: &self.args,
            result: &self.result,
            error: self.failed.then_some(true),
            exit_code: None,
            started_ms: ended_ms.zip(took).map(|(at, took)| at - took),
            ended_ms,
        }))
    }
}

/// An object of JSON with these texts.
pub(crate) fn json(fields: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(fields.iter().map(|(key, text)| key.len() + text.len() + 8).sum());
    for (key, text) in fields {
        out.push_str(if out.is_empty() { "{\"" } else { ",\"" });
        out.push_str(key);
        out.push_str("\":\"");
        for letter in text.chars() {
            match letter {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                letter => out.push(letter),
            }
        }
        out.push('"');
    }
    out.push('}');
    out
}
