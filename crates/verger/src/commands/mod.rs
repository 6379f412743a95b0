//! One file per command.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod serve;
pub(crate) mod simulate;
