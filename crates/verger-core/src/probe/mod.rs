//! What probes say of an agent: Healthy, Degraded, Unhealthy or Unknown (004 §5.2).
//!
//! ```text
//! spec ──► ProbeHealth ──start──► a probe runs outside ──result──► ProbeHealth ──► state, summary
//! ```
//!
//! A probe looks from the outside at one thing: an endpoint, a port, a process. Each has its own thresholds; the
//! agent's state is made of all that count. Running probes is not done here: a start goes out, a result comes
//! back, and what does not come back is the monitor's fault and nobody else's.

mod aggregate;
mod finding;
mod health;
mod outcome;
mod policy;
mod track;

pub use health::{Change, Ignored, Probe, ProbeHealth, ProbesView, Run, spread};
pub use outcome::{Outcome, ProbeResult, Reported};
pub use policy::{PROBES_MAX, ProbeSpec, SpecFlaw, SpecRefusal, check};
pub use track::{State, Track};

#[cfg(test)]
mod tests;
