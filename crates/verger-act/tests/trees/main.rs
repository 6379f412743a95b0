//! Trees of real processes: found, looked at and ended.

mod archive;
mod ends;
mod forest;
mod groups;
mod looks;
mod recycled;
mod run;
mod stopping;
