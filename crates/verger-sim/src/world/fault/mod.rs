//! What goes wrong in a world: one fault per file, and when each strikes.

mod alternation;
mod course;
mod crash;
mod error_loop;
mod exact_loop;
mod exhaustion;
mod freeze;
mod group;
mod host_loss;
mod kind;
mod near_loop;
mod outage;
mod partition;
mod runaway;
mod schedule;
mod skew;

pub(crate) use alternation::Alternation;
pub(crate) use error_loop::ErrorLoop;
pub(crate) use exact_loop::ExactLoop;
pub(crate) use exhaustion::Exhaustion;
pub(crate) use group::pass;
pub use kind::FaultKind;
pub(crate) use near_loop::NearLoop;
pub(crate) use runaway::Runaway;
pub(crate) use schedule::strike;
pub(crate) use skew::set_wrong as set_clocks_wrong;
