//! What goes wrong in a world: one fault per file.

mod kind;

pub use kind::FaultKind;
