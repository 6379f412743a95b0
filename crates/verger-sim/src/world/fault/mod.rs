//! What goes wrong in a world: one fault per file, and when each strikes.

mod alternation;
mod around;
mod course;
mod error_loop;
mod exact_loop;
mod exhaustion;
mod kind;
mod near_loop;
mod runaway;
mod schedule;
mod skew;

pub(crate) use alternation::Alternation;
pub(crate) use around::pass;
pub(crate) use error_loop::ErrorLoop;
pub(crate) use exact_loop::ExactLoop;
pub(crate) use exhaustion::Exhaustion;
pub use kind::FaultKind;
pub(crate) use near_loop::NearLoop;
pub(crate) use runaway::Runaway;
pub(crate) use schedule::strike;
pub(crate) use skew::set_wrong as set_clocks_wrong;
