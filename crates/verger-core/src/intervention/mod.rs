//! What is done about an agent in trouble: remind it, ask people, stop it.

mod budget;
mod case;
mod nudge;
mod policy;

pub use budget::{Budget, Limit};
pub(crate) use case::{Case, Delivery, Granted, Ladder, Nudging, Stopping};
pub use nudge::{inquiry_text, nudge_text};
pub use policy::{FleetLimits, Policy};
