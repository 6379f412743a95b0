//! Seeded worlds that drive the production engine with a virtual clock.

pub mod rng;
pub mod world;
