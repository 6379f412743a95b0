//! Whether an agent gets on, judged from what it does and what comes of it.
//!
//! Every coding agent compares calls for equality; most that are stuck never make the same call three times in a
//! row. Here a step counts by what it brought: something learned, something changed, or nothing.

mod call;
mod detector;
mod gain;
mod history;
mod judgement;
mod memory;
mod outcome;
mod print;
mod recurrence;
mod sketch;
mod standstill;
mod vocabulary;
mod words;

pub use detector::{Detector, NUDGE, REFUSE, STUCK};
pub use judgement::{Evidence, Judgement, Kind, Level, STEPS_MAX};
pub use print::{Role, StepPrint, ToolStep};

#[cfg(test)]
mod tests;
