//! Circuit breakers: who calls something that keeps failing is told so at once, instead of waiting for it again.
//!
//! One breaker stands before each thing that an agent depends on (a tool, the checkpoints' store, an API, its own
//! recovery), and a shared one may stand before what many agents depend on. [`Breakers`] holds all of them, and
//! [`Writes`] the checkpoints that wait behind one that is open.

mod call;
mod change;
mod index;
mod machine;
mod name;
mod pause;
mod policy;
mod registry;
mod room;
mod rows;
mod view;
mod window;
mod writes;

#[cfg(test)]
mod tests;

pub use call::{CallResult, FailureKind, Mode, Outcome, PermitNumber, Refusal, Refused, Reported, State};
pub use change::{Change, Reason, Transition};
pub use machine::Breaker;
pub(crate) use machine::Phase;
pub use name::{BreakerName, Kind, NameError};
pub use policy::{Bounds, Policies, Policy, WritesPolicy};
pub use registry::{BreakerHandle, Breakers, Denied, NoPermit, Permit, Unknown};
pub use rows::BreakerRow;
pub use view::{BreakerView, Counts};
pub(crate) use window::Window;
pub(crate) use writes::{InFlight, Queue};
pub use writes::{QueueView, Submitted, WriteChange, WriteOutcome, WriteStep, Writes};
