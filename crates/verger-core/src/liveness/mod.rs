//! Whether anybody is there.

mod class;

pub use class::{Cause, FailureClass, LivenessStatus};
