//! The judge and the queen: what a worker's verdicts say about it, and whether a person is to hear of it.
//!
//! ```text
//! steps, checks ──► Trend ──assessment──► Draft ──► Tickets ──triage──► dismissed, or people are told once
//!                  (the judge)                     (the queen)              people decide ──► over
//! ```
//!
//! The judge is conservative, and the queen is a second gate behind it. Neither pauses a worker, and neither
//! decides about its end: that is left to people.

mod entry;
pub mod judge;
mod policy;
mod queen;
mod ticket;
mod tickets;
mod trend;
mod worker;
mod workers;

pub use entry::{Answer, Ending, Entry, Stage};
pub use policy::{JudgePolicy, Policy, QueenPolicy};
pub use queen::{Advice, Criterion, Opinion, Ruling, Sight, Triage, triage};
pub use ticket::{Draft, Field, Flaw, Refusal, Report, Severity, Stalling, Ticket, Why};
pub use tickets::{Change, DecideError, RaiseError, Tickets};
pub use trend::{Assessment, Checked, Seen, Standing, Trend, Verdict};
pub use worker::{Step, Worker};
pub(crate) use workers::{WORKERS_MAX, Workers};

#[cfg(test)]
mod tests;
