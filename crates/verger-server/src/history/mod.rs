//! How agents were: written down from time to time, and read together with the journal (L46).

mod reading;
mod sampler;

pub use reading::Stretch;
pub use sampler::{Sampler, Sampling};
