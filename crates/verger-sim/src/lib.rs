//! Seeded worlds that drive the production engine with a virtual clock.

pub mod check;
pub mod harness;
pub mod rng;
pub mod trace;
pub mod world;

pub use harness::Mode;
