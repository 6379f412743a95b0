//! Tasks: who does what, whether it gets on, and when a failure may be declared (R06, R07).
//!
//! ```text
//!            no update > 30 min AND overdue AND unexplained        asked twice, 5 min, no answer
//! getting on ─────────────────────────────────────────────► stalled ──── heartbeats stopped ──► failure declared
//!     ▲                                                        │ └────── it is alive ─────────► people are told
//!     ├── an update, an explanation, more time ────────────────┘                                     │
//!     └── a sign that it lives, an update, another worker ◄──────────────────────────────────────────┘
//! any state ── done, failed, cancelled ──► over, and remembered so that nobody does it again
//! ```
//!
//! A stalled task does not mean a failed agent, so three conditions must hold together before a task is called
//! stalled, and the agent is asked before anything is concluded from it. It is a failure only if the question stays
//! unanswered *and* the heartbeats have stopped, or if the agent says itself that it cannot go on.
//!
//! When a task is finished or called off, that is remembered for [`Policy::remember_ended`]: recovery asks
//! [`Tasks::is_finished`] and is refused an assignment, so a finished task is never done twice.
//!
//! Tokens and money spent on a task are counted elsewhere.

mod decision;
mod index;
mod inquiry;
mod machine;
mod policy;
mod rows;
mod task;
mod view;
mod wake;
mod words;

#[cfg(test)]
mod tests;

pub use decision::{Assigned, Decided, Decision, Evidence, Explained, Refusal, Updated, WhyTold};
pub(crate) use inquiry::Inquiry;
pub use inquiry::{Failure, Spared, Verdict};
pub use machine::{Assignment, Start, Step, Tasks, Update};
pub use policy::Policy;
pub use task::TaskStatus;
pub(crate) use task::{Ended, Entry, Failed, Final, Task, Told};
pub use view::{Counts, TaskView};
