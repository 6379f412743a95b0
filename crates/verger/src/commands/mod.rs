//! One file per command.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod inspect;
pub(crate) mod remote;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod service;
pub(crate) mod simulate;
