//! The store on a real disk: what it keeps, what it refuses, and what is left of it after a crash.

mod backup;
mod checkpoints;
mod crash;
mod desk;
mod engine;
mod facts;
mod failing;
mod hostile;
mod incidents;
mod journal;
mod opening;
mod retention;
