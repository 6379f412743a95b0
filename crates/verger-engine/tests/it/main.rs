//! The production loop on a bench: a store and an outbox in memory, a clock set by hand.

mod bench;
mod bounded;
mod doubt;
mod write_then_act;
