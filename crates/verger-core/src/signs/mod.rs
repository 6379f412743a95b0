//! The detectors: each looks at one kind of sign in what an agent does.
//!
//! A detector observes facts as they come in and, when asked, holds what it has seen against a policy. How it
//! remembers (windows, ring sizes, what ends a streak) is fixed beside its state; what is too much is policy.
//! So observing needs no policy, a changed threshold applies at once to what was already seen, and the state
//! is plain enough to be written down and read back.
//!
//! No finding is an answer too: too little data is neither health nor illness.

pub mod context;
pub mod errors;
pub mod output;
pub mod repetition;
pub mod steps;
pub mod tokens;

use crate::evidence::{Measure, Severity, Sign};

pub use context::ContextUse;
pub use errors::Errors;
pub use output::Outputs;
pub use repetition::{Novelty, Repetition};
pub use steps::Steps;
pub use tokens::TokenUse;

/// One finding of one detector, before the fleet stamps it with trust.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// What was looked at.
    pub sign: Sign,
    /// What was measured.
    pub value: Measure,
    /// The limit it was held against.
    pub threshold: Measure,
    /// How much it weighs.
    pub severity: Severity,
}
