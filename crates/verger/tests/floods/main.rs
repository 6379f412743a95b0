//! The real program under floods, while a few agents that do nothing wrong go on beating.
//!
//! ```text
//! made-up names, huge bodies, readers that do not read, silent connections ──► verger serve ◄── good agents
//!                 413, 429, 431, 503 ◄──                                           └──► every beat is taken
//! ```
//!
//! Its memory stays under the bound that `docs/src/concepts/load.md` states. `FLOOD=full` (`make floods`, part of
//! `make soak`) is the flood in full; without it a smaller one. Times are printed, and not held against anybody.

mod good;
mod memory;
mod names;
#[expect(dead_code, reason = "the test of the program in ordinary use needs all of it")]
#[path = "../serve/program.rs"]
mod program;
mod raw;
mod readers;
mod seats;
mod weight;

use std::io::Write;

/// Whether it is the flood in full.
fn is_full() -> bool {
    std::env::var("FLOOD").is_ok_and(|flood| flood == "full")
}

/// So many in full, else so many.
fn scaled(full: usize, short: usize) -> usize {
    if is_full() { full } else { short }
}

/// A line for whoever runs the tests. Nothing is left to be done if it cannot be written.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
