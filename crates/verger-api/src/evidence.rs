//! Why: what was measured, against which limit, and what follows from it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
}
