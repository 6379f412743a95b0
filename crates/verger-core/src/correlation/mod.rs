//! Many agents that turn bad together: one incident, and nobody is ended for it.
//!
//! ```text
//! turned bad within the window, still bad       half as many, for a while; success of the provider;
//! ──────── share of a scope reached ────────►  Open  ──── silence; time; a person's word ────► Resolved
//!                                              frozen ──── freeze_max; a person's word ──► open, not frozen
//! ```
//!
//! When a host loses its network, a provider its service or the fleet its disk, the cause is in none of the
//! agents, and ending them destroys their work without bringing anything back. So a scope ([`Scope`]) of which a
//! large share turned bad within a window has one incident, which stands for those of its agents, and while it is
//! frozen Verger ends and respawns nobody in it. What was bad long before says nothing about what happens now: it
//! counts neither as affected nor among those it is compared with.
//!
//! Nothing here holds an agent. Each agent keeps its [`Membership`] and hands it in with every fact; the machine
//! keeps counters for each scope, so a million agents cost it nothing and no fact needs more than a look into a
//! few ordered maps. After a restart the counters are made again from the memberships
//! ([`recall`](Correlation::recall)); only incidents, reset times and stops under way are stored.

mod incident;
mod machine;
mod people;
mod policy;
mod review;
mod scope;
mod stops;
mod tally;
#[cfg(test)]
mod tests;

pub use incident::{Change, Ending, Freeze, IncidentView, OutageView, Thaw};
pub(crate) use incident::{Incident, Outage};
pub use machine::{Correlation, Step};
pub use people::Order;
pub use policy::Policy;
pub(crate) use scope::Bad;
pub use scope::{Kind, Membership, Scope};
pub use stops::Held;
pub(crate) use stops::Stops;
