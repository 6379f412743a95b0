//! Limits on what agents use: tokens, money, time, memory, processor.
//!
//! ```text
//! Fine ──near: 80 %, said once──► Near ──over──► Exceeded ──new life, new task, new window, raised limit──► Fine
//! ```
//!
//! What is counted (tokens, money, time) is over its limit once it is; what is sampled (memory, processor) must be
//! over it for a while, so that a spike ends nobody. Beyond a limit the machine only says that an end is wanted:
//! modes, budgets and freezes are the fleet's.
//!
//! What agents say of their use is not believed blindly. A total that goes backwards counts nothing and is not
//! counted again on its way up, and one that jumps further than a model could answer is dropped: a counter that
//! overflowed must not end a healthy agent.

mod account;
mod counter;
mod fleet;
mod gauge;
mod meter;
mod policy;
#[cfg(test)]
mod tests;

pub(crate) use account::TaskMeter;
pub use account::{Account, Load};
pub(crate) use counter::Counter;
pub use counter::Used;
pub use fleet::FleetUse;
pub(crate) use gauge::Gauge;
pub(crate) use meter::Meter;
pub use meter::{Breach, Change, Level, Resource, Step};
pub use policy::{Limits, Policy};
