//! Why: what was measured, against which limit, and what follows from it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Time;
use crate::words::words;

words! {
    /// What a finding means for the agent's state.
    pub enum Verdict {
        /// Too little is known.
        Undecided = "undecided",
        /// All is well.
        Normal = "normal",
        /// Counts only together with a finding of another kind.
        Note = "note",
        /// Warning signs.
        Degraded = "degraded",
        /// No progress.
        Stuck = "stuck",
        /// In an error loop, or broken.
        Failing = "failing",
    }
}

/// One finding about one agent. It travels with every change of state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// What was looked at, as in `tool-silence`.
    pub signal: String,
    /// What was measured, with its unit, as in `17m`.
    pub value: String,
    /// The limit it was held against, with its unit.
    pub threshold: String,
    /// What follows from it.
    pub verdict: Verdict,
    /// The finding as a sentence.
    pub text: String,
    /// Whether it rests on signals of proven origin. Unverified evidence never leads to a termination.
    #[serde(default)]
    pub verified: bool,
    /// The steps that it rests on, if the agent goes round in circles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stretch: Option<Stretch>,
}

/// Steps of an agent that came to nothing, one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stretch {
    /// What it is that goes round, as in `fruitless-search`.
    pub kind: String,
    /// The first step of it, counted from the first that was heard of this agent.
    pub since_step: u32,
    /// When that was heard of.
    pub since: Time,
    /// Steps that came to nothing, also those that are no longer named.
    pub count: u32,
    /// The most of them that are alike.
    pub alike: u32,
    /// The last ones, in order; at most 16.
    pub steps: Vec<StretchStep>,
}

/// One step of a stretch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StretchStep {
    /// Its number, counted from the first that was heard of this agent.
    pub step: u32,
    /// When it was heard of.
    pub at: Time,
    /// What was called; nothing if something was said.
    pub tool: Option<String>,
}
