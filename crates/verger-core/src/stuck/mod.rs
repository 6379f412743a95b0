//! Whether an agent gets on, judged from what it does and what comes of it.
//!
//! Agents that compare calls for equality miss most of the stuck ones, which hardly ever make the same call three
//! times in a row. Here a step counts by what it brought. *Progress is that something new was learned or changed*;
//! two counters grow while there is none:
//!
//! - *Standstill* grows with every step that brings nothing, the faster the more it resembles steps before it, and
//!   is gone as soon as something new is learned or changed.
//! - *Recurrence* counts how often the very same trouble came back, the same change was made again or the same
//!   thing was said, whatever was learned and changed in between.
//!
//! What is new is found by comparing, not by understanding: an answer is new if it has lines that were not told or
//! written before, a change if its text was not written there before, and of an answer only what the call did not
//! say itself counts. A few words of several languages help to tell a refusal from an acknowledgement and a question
//! from a deed (`vocabulary`); no tool is known by its name.
//!
//! Text never gets here: the edge makes a [`StepPrint`] of each step, of at most 256 bytes, in time bounded whatever
//! the text. A [`Detector`] is of fixed size and needs no more than the last 64 of them to go on after a restart;
//! only patience with something that is waited for begins anew then.
//!
//! Deliberately absent: time, but for what tells calls issued together and patience from haste; how long a wait may
//! last is judged elsewhere. So are the agent's thoughts, which differ each time and prove nothing.

mod call;
mod detector;
mod gain;
mod history;
mod judgement;
mod memory;
mod outcome;
mod print;
mod recurrence;
mod remembered;
mod sketch;
mod standstill;
mod stored;
mod vocabulary;
mod weights;
mod words;

pub use detector::{Detector, NUDGE, REFUSE, STUCK};
pub use judgement::{Evidence, Judgement, Kind, Level, STEPS_MAX};
pub use print::{Role, StepPrint, ToolStep};
pub use weights::Weights;

#[cfg(test)]
mod tests;
