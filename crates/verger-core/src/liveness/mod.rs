//! Whether anybody is there.

mod class;
mod machine;
mod policy;

pub use class::{Cause, FailureClass, LivenessStatus};
pub use machine::Liveness;
pub(crate) use machine::{Ask, ChannelState, Heard, Limits, Lost, Phase, Pinging, Reach};
pub use policy::{Beats, Pings, Policy};
